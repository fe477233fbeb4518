// "Did you mean …?": the known name that a mistyped one is closest to.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace tmm {

// Letters to insert, delete or replace (Levenshtein's distance).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row[b.size()];
}

// The result is nothing where no name is close enough to be what was meant.
inline std::optional<std::string_view> nearest_name(std::string_view name, const std::vector<std::string_view>& names) {
    constexpr std::size_t kLongest = 32;
    if (name.size() > kLongest) return std::nullopt;
    std::optional<std::string_view> nearest;
    std::size_t least = name.size() / 3 + 2;
    for (const std::string_view candidate : names) {
        const std::size_t distance = edit_distance(name, candidate);
        // Where every letter differs nothing of the name was meant.
        if (distance < std::min(least, candidate.size())) {
            least = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

}  // namespace tmm
