// What TMM_MODE=record writes: a shapes file of all products that were called, with how often and how much, ready for tmm-tune.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace tmm::dropin {

// What the shapes are sorted by: the seconds that their calls took, or the multiply-adds where nobody waits for a call's end.
enum class Measure { time, work };

// Thread-safe.
class ShapeRecord {
public:
    explicit ShapeRecord(Measure measure) : measure_(measure) {}

    // shape: a line of a shapes file. amount: the call's seconds or multiply-adds.
    void add(const std::string& shape, double amount);
    // The shapes, those first of which there was most, all their calls together.
    std::string text() const;
    // Replaces the file by text(); false, with errno set, where it can't.
    bool write(const std::string& file) const;

private:
    struct Calls {
        long count = 0;
        double amount = 0;
    };

    const Measure measure_;
    mutable std::mutex mutex_;
    std::map<std::string, Calls> shapes_;
};

}  // namespace tmm::dropin
