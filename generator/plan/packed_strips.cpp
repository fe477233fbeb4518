#include "generator/plan/packed_strips.h"

#include <algorithm>

#include "generator/families/family.h"
#include "generator/machine/occupancy.h"
#include "generator/plan/geometry.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pack/strips.h"

namespace tmm {
namespace {

// The depth of K for which blocks that multiply take about as long as others take for a piece. As many pieces, one after the other, hold
// nobody up.
constexpr std::int64_t kDepthOfPiece = 128;

}  // namespace

PackedStrips packed_strips(const GemmProblem& problem, const KernelConfig& config) {
    if (!leaves_strips_to_pack(config) || pack::packs_beside(config)) return {};
    const Extent main = main_extent(problem, config);
    const auto few = [](std::int64_t lines) { return lines <= pack::kMostStripLines ? static_cast<int>(lines) : 0; };
    return {.columns = pack::packs_a(config) ? few(problem.n - main.columns) : 0,
            .rows = pack::packs_b(config) ? few(problem.m - main.rows) : 0};
}

StripSums strip_sums(const GemmProblem& problem, const Tiling& tiling, std::int64_t begin) {
    const auto bytes = [&](int lines, std::int64_t outer) {
        return pack::strip_elements(lines, outer, problem.k, problem.batch) * sum_bytes(problem);
    };
    const std::int64_t of_rows = begin + bytes(tiling.packed.columns, tiling.main.rows);
    return {.of_columns = begin, .of_rows = of_rows, .end = of_rows + bytes(tiling.packed.rows, tiling.main.columns)};
}

std::int64_t pieces_of_strips(const GemmProblem& problem, const Tiling& tiling) {
    const PackedStrips& strips = tiling.packed;
    return strips::pieces(strips.columns, strips.rows, tiling.main.rows, tiling.main.columns).all() * problem.batch;
}

int blocks_for_strips(const GemmProblem& problem, const KernelConfig& config, const Tiling& tiling, const DeviceInfo& device) {
    if (!tiling.packed.any()) return 0;
    const std::int64_t pieces = pieces_of_strips(problem, tiling);
    const std::int64_t spare = sms_with_room(blocks_of(config, tiling.main.rows, tiling.main.columns, problem.batch), device);
    const std::int64_t most = std::max<std::int64_t>(1, problem.k / kDepthOfPiece);
    const std::int64_t wanted = std::clamp(spare, (pieces + most - 1) / most, pieces);
    const std::int64_t cluster = cluster_size_of(config);
    return static_cast<int>((wanted + cluster - 1) / cluster * cluster);
}

}  // namespace tmm
