// What TMM_MODE=record writes: a shapes file of all products that were called, with how often and how much, ready for tmm-tune.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace tmm::dropin {

// Thread-safe.
class ShapeRecord {
public:
    // shape: a line of a shapes file. work: the call's multiply-adds. seconds: what it took, where somebody waited for its end.
    void add(const std::string& shape, double work, std::optional<double> seconds);
    // Calls of the shape so far.
    long count(const std::string& shape) const;
    // The shapes, those first that took the most time, all their calls together; or were the most work, where no call's time is known.
    std::string text() const;
    // Replaces the file by text(); false, with errno set, where it can't.
    bool write(const std::string& file) const;

private:
    struct Calls {
        long count = 0;
        long timed = 0;
        double work = 0;
        // Those of the timed calls alone.
        double seconds = 0;
        double timed_work = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::string, Calls> shapes_;
};

}  // namespace tmm::dropin
