#include "generator/schedule/packing.h"

#include <algorithm>
#include <cmath>

#include "generator/machine/occupancy.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pack/strips.h"

namespace tmm {
namespace {

// The depth of K for which blocks that multiply take about as long as others take for a piece. As many pieces, one after the other, hold
// nobody up.
constexpr std::int64_t kDepthOfPiece = 128;

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

PackedStrips packed_strips(const GemmProblem& problem, const KernelConfig& config) {
    if (!leaves_strips_to_pack(config) || pack::packs_beside(config)) return {};
    const Extent main = main_extent(problem, config);
    const auto few = [](std::int64_t lines) { return lines <= pack::kMostStripLines ? static_cast<int>(lines) : 0; };
    return {.columns = pack::packs_a(config) ? few(problem.n - main.columns) : 0,
            .rows = pack::packs_b(config) ? few(problem.m - main.rows) : 0};
}

std::int64_t pieces_of_strips(const Schedule& s) {
    return strips::pieces(s.packed.columns, s.packed.rows, s.main.rows, s.main.columns).all() * s.product.batch;
}

int blocks_for_strips(const Schedule& s, int cluster, const DeviceInfo& device) {
    if (!s.packed.any()) return 0;
    const std::int64_t pieces = pieces_of_strips(s);
    const std::int64_t spare = sms_with_room(s.blocks, device);
    const std::int64_t most = std::max<std::int64_t>(1, s.product.k / kDepthOfPiece);
    const std::int64_t wanted = std::clamp(spare, (pieces + most - 1) / most, pieces);
    return static_cast<int>((wanted + cluster - 1) / cluster * cluster);
}

PackingBeside packing_beside(const Schedule& s, const DeviceInfo& device) {
    if (!pack::packs_beside(s.config)) return {};
    // Where no SM has room to spare, all is packed before. More packers would push blocks that multiply to SMs that have as many already
    // (392 blocks, 1792 cubed: 294 instead of 223 us).
    const auto packers = static_cast<double>(std::min<std::int64_t>(sms_with_room(s.blocks, device), pack::kMostPackers));
    const std::int64_t squares = (pack::packs_a(s.config) ? pack::tiles(s.main.rows, pack::kTile, 1) : 0) +
                                 (pack::packs_b(s.config) ? pack::tiles(s.main.columns, pack::kTile, 1) : 0);
    const double fmas = static_cast<double>(s.config.block_m) * s.config.block_n * pack::kTile * s.config.min_blocks;
    const double packed_meanwhile =
        kPackersTime * (fmas / (kShareOfFmas * device.profile.fmas_per_clock)) * packers / (static_cast<double>(squares) * kClocksOfSquare);
    const double before = std::max(kLeastBefore, 1 - packed_meanwhile);
    return {.packers = static_cast<int>(packers),
            .first_row = static_cast<int>(std::ceil(before * static_cast<double>(rows_of_squares(s.product))))};
}

std::optional<std::string> why_not_packed_beside(const Schedule& s) {
    if (s.product.batch != 1) return "packers serve one product: batch is 1";
    if (s.packing.packers == 0) return "blocks in whole waves leave no place for such as pack";
    if (s.packing.first_row >= rows_of_squares(s.product)) return "K is too short for packers to pack a part";
    return std::nullopt;
}

double share_packed_before(const Schedule& s) {
    if (!pack::packs_beside(s.config)) return 1;
    return s.packing.first_row / std::max(1.0, static_cast<double>(rows_of_squares(s.product)));
}

}  // namespace tmm
