#include "generator/families/simt/packing_beside.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "generator/families/family.h"
#include "generator/machine/occupancy.h"
#include "generator/plan/launch_plan.h"
#include "tmm/steps/pack/rules.h"

namespace tmm {
namespace {

// Measurements on an H200, beside blocks that multiply (2048 cubed nt): clocks that a packer's square takes, and the part of its rate of
// FMAs that an SM reaches.
constexpr double kClocksOfSquare = 3500;
constexpr double kShareOfFmas = 106.0 / 128;
// The product waits for packers that keep up only just: they are to be done in so much of the time that the first wave multiplies.
constexpr double kPackersTime = 0.9;
// The part of the operands that is packed before in any case, since the first stretches of tiles must not wait (2048 cubed: an eighth takes
// 326 us, 3/16 322).
constexpr double kLeastBefore = 3.0 / 16;

std::int64_t rows_of_squares(const GemmProblem& problem) {
    return (problem.k + pack::kTile - 1) / pack::kTile;
}

}  // namespace

PackingBeside packing_beside(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    if (!pack::packs_beside(config)) return {};
    const Extent extent = main_extent(problem, config);
    // Where no SM has room to spare, all is packed before. More packers would push blocks that multiply to SMs that have as many already
    // (392 blocks, 1792 cubed: 294 instead of 223 us).
    const std::int64_t spare = sms_with_room(blocks_of(config, extent.rows, extent.columns, problem.batch), device);
    const auto packers = static_cast<double>(std::min<std::int64_t>(spare, pack::kMostPackers));
    const std::int64_t squares = (pack::packs_a(config) ? pack::tiles(extent.rows, pack::kTile, 1) : 0) +
                                 (pack::packs_b(config) ? pack::tiles(extent.columns, pack::kTile, 1) : 0);
    const double fmas = static_cast<double>(config.block_m) * config.block_n * pack::kTile * config.min_blocks;
    const double packed_meanwhile =
        kPackersTime * (fmas / (kShareOfFmas * device.profile.fmas_per_clock)) * packers / (static_cast<double>(squares) * kClocksOfSquare);
    const double before = std::max(kLeastBefore, 1 - packed_meanwhile);
    return {.packers = static_cast<int>(packers),
            .first_row = static_cast<int>(std::ceil(before * static_cast<double>(rows_of_squares(problem))))};
}

std::optional<std::string> why_not_packed_beside(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    if (problem.batch != 1) return "packers serve one product: batch is 1";
    const PackingBeside packing = packing_beside(problem, config, device);
    if (packing.packers == 0) return "blocks in whole waves leave no place for such as pack";
    if (packing.first_row >= rows_of_squares(problem)) return "K is too short for packers to pack a part";
    return std::nullopt;
}

double share_packed_before(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
    if (!pack::packs_beside(config)) return 1;
    return packing_beside(problem, config, device).first_row / std::max(1.0, static_cast<double>(rows_of_squares(problem)));
}

}  // namespace tmm
