// What TMM_MODE=record writes: a shapes file of all products that were called, with how often and how long, ready for tmm-tune.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace tmm::dropin {

// Thread-safe.
class ShapeRecord {
public:
    // shape: a line of a shapes file.
    void add(const std::string& shape, double seconds);
    // The shapes, those first that took the most time of all their calls together.
    std::string text() const;
    // Replaces the file by text(); false, with errno set, where it can't.
    bool write(const std::string& file) const;

private:
    struct Calls {
        long count = 0;
        double seconds = 0;
    };

    mutable std::mutex mutex_;
    std::map<std::string, Calls> shapes_;
};

}  // namespace tmm::dropin
