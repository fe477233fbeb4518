// Reads one line of a shapes file: its sizes and keys, and the problem that they make. Readers of other programs' lists fill the same keys.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {

// "key=value" pairs that --set gives; they win over a line's own keys.
using ShapeOverrides = std::vector<std::pair<std::string, std::string>>;

// Says why a text is refused, from which character on, and what would be accepted. The place lies outside of the text if an override is at
// fault. Callers who know the names of file and line catch it.
struct ShapeFault {
    const char* place = nullptr;
    std::string what;
    std::string remedy;
};

// One size, or a range first:last:step with both ends in it, or first:last:auto, a size that varies.
struct Sizes {
    i64 first = 0;
    i64 last = 0;
    i64 step = 1;
    bool varies = false;
    const char* place = nullptr;

    std::size_t count() const { return varies ? 1 : static_cast<std::size_t>((last - first) / step) + 1; }
    i64 at(std::size_t i) const { return varies ? last : first + static_cast<i64>(i) * step; }
};

struct ShapeLine {
    // The keys that are no field of a problem, or say more than one.
    enum : std::size_t { kLayout = kProblemFieldCount, kAlpha, kBeta, kKeyCount };

    Sizes m, n, k;
    // The fields that the line names.
    GemmProblem named;
    bool column_major = false;
    double alpha = 1;
    double beta = 0;
    // The place at which each key was given; null if it was not.
    std::array<const char*, kKeyCount> places{};

    bool names(std::size_t key) const { return places[key] != nullptr; }
};

// Messages describe a line so.
inline constexpr const char* kLineHelp = "write M N K, like 1000 1000 1000 or 1000x1000x1000, then key=value pairs";

// All of these throw ShapeFault.
// Reads the words of a line: sizes, then key=value pairs.
ShapeLine parse_shape_line(const std::vector<std::string_view>& words, const ShapeOverrides& overrides);
// Reads one of the sizes; what is its name in messages.
Sizes parse_sizes(std::string_view text, const char* what);
// Sets a key to a value.
void set_key(ShapeLine& line, std::string_view key, std::string_view value);
void apply_overrides(ShapeLine& line, const ShapeOverrides& overrides);
// Makes the problem of one size each, with defaults for what the line does not name. It is row-major whatever the line's layout.
GemmProblem make_problem(const ShapeLine& line, i64 m, i64 n, i64 k);

}  // namespace tmm
