// A record as text: a shapes file whose comments say how often each shape was called and how long it took, ready for tmm-tune.
#pragma once

#include <functional>
#include <map>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/dropin/record/call_counts.h"

namespace tmm::dropin {

// All memory comes from the resource, and nothing depends on the program's locale, so that it works in handlers of signals.
class RecordText {
public:
    explicit RecordText(std::pmr::memory_resource& memory) : shapes_(&memory), others_(&memory) {}

    // Adds what a record says. Lines that are not a record's stay as they are. False where the text is no shapes file.
    bool read(std::string_view text);
    // shape: a line of a shapes file.
    void add(std::string_view shape, const Calls& calls);
    // The shapes, those first that took the most time, all their calls together; or were the most work, where no call's time is known. Then
    // the other lines.
    std::pmr::string text() const;

private:
    using Shapes = std::pmr::map<std::pmr::string, Calls, std::less<>>;
    struct Line {
        const Shapes::value_type* shape;
        // Seconds, or multiply-adds.
        double amount;
    };
    std::pmr::vector<Line> lines(bool& timed, double& total) const;

    Shapes shapes_;
    // Whole lines, with the shape that stands in each.
    std::pmr::vector<std::pair<std::string_view, std::string_view>> others_;
};

// Whether the text could be a shapes file: each line is empty, a comment, or begins with a number.
bool looks_like_shapes(std::string_view text) noexcept;

}  // namespace tmm::dropin
