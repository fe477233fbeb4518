#include "generator/families/tma_limits.h"

#include <algorithm>
#include <cstdint>

namespace tmm {

std::optional<std::string> why_no_tma(const GemmProblem& p, const DeviceInfo& device, bool stores) {
    if (!device.has_tma()) return "TMA needs compute capability 9.0 or more";
    constexpr std::int64_t longest = std::int64_t{1} << 40;
    if (std::max(p.lda, p.stride_a) >= longest / size_of(p.type_a) || std::max(p.ldb, p.stride_b) >= longest / size_of(p.type_b) ||
        (stores && std::max(p.ldc, p.stride_c) >= longest / size_of(p.type_c)))
        return "TMA takes rows and matrices less than 2^40 bytes apart";
    // TMA's coordinates end at 2^31; a tile may begin, or end, 2^12 beyond the matrix.
    constexpr std::int64_t last = (std::int64_t{1} << 31) - (1 << 12);
    if (std::max({p.m, p.n, p.k, p.batch}) > last) return "TMA's coordinates end at 2^31";
    return std::nullopt;
}

}  // namespace tmm
