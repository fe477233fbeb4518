#include "generator/compile/nvrtc_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace tmm {
namespace {

// Chips of embedded systems: their machine code runs on no other chip, and no other chip's runs on them. 10.1 is 11.0's first name.
constexpr std::array kEmbedded{53, 62, 72, 87, 88, 101, 110};

bool is_embedded(int architecture) {
    return std::find(kEmbedded.begin(), kEmbedded.end(), architecture) != kEmbedded.end();
}

// Machine code of one minor version runs on the later ones of the same major version.
bool runs_on(int architecture, int compute_capability) {
    if (architecture == compute_capability) return true;
    return architecture / 10 == compute_capability / 10 && architecture < compute_capability && !is_embedded(architecture) &&
           !is_embedded(compute_capability);
}

}  // namespace

NvrtcTarget nvrtc_target(const std::vector<int>& architectures, int compute_capability) {
    for (auto known = architectures.rbegin(); known != architectures.rend(); ++known) {
        if (!runs_on(*known, compute_capability)) continue;
        // From Hopper on, the suffix 'a' unlocks what only this architecture has; such code runs on no other.
        const bool own_instructions = *known == compute_capability && *known >= 90;
        return {fmt::format("sm_{}{}", *known, own_instructions ? "a" : ""), false};
    }
    const auto newer = std::upper_bound(architectures.begin(), architectures.end(), compute_capability);
    if (newer == architectures.begin()) return {};
    return {fmt::format("compute_{}", *std::prev(newer)), true};
}

}  // namespace tmm
