#include "generator/cost_model_skinny.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/launch_plan.h"
#include "generator/occupancy.h"
#include "tmm/skinny.h"

namespace tmm {
namespace {

constexpr double kClocksPerMicrosecond = 1.9e3;
constexpr double kSchedulers = 4;
constexpr double kMemoryBytesPerMicrosecond = 4.4e6;
// Until a stage that is asked for has come.
constexpr double kLatency = 0.78;
// Issue slots of a warp: of an FMA, two of whose operands often stand in one bank; of a tile.
constexpr double kSlotsOfFma = 1.3;
constexpr double kSlotsOfTile = 136;
// With few warps: how much longer, with 8 on an SM; and how much longer than its slots a warp alone takes.
constexpr double kFewWarps = 0.13;
constexpr double kChain = 1.38;
// Clocks of shared memory for a warp's vector.
constexpr double kClocksOfVector = 4.4;
constexpr double kNorm = 3.57;
constexpr double kFixed = 1.56;
// Of a block that no other goes on beside: its first tile and the sums of lanes and slices; and of each byte of a stage.
constexpr double kFill = 3.42;
constexpr double kFillByte = 2.67e-5;
constexpr double kReduce = 2.45;
constexpr double kReducedBytesPerMicrosecond = 8.18e6;
constexpr double kPartialBytes = 4;

}  // namespace

double skinny_estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const double partials = c.split_k > 1 ? 2 * kPartialBytes * c.split_k * m * n * batch : 0;
    const double memory = (batch * ((m + n) * k + m * n) * size_of(p.type_a) + partials) / kMemoryBytesPerMicrosecond;

    const KernelSignature signature = main_signature(p, c);
    const double warps = skinny::warps(c);
    const int registers = std::min(255, 60 + c.thread_m * c.thread_n + 4 * c.thread_n);
    const double resident =
        std::max(c.min_blocks, blocks_per_sm(device, skinny::threads(c), registers, skinny::shared_bytes(c, signature)).blocks);
    const double busiest = std::ceil(static_cast<double>(skinny::blocks(c, p.m, p.n, p.batch)) / std::max(1, device.sm_count));
    const double at_once = std::min(busiest, resident);
    const double waves = std::ceil(busiest / resident);
    const double tiles = std::ceil(std::ceil(k / c.split_k) / c.block_k);

    const double lines = static_cast<double>(skinny::slice_depth(c)) / skinny::kLine;
    const double vectors = lines * (c.thread_m + c.thread_n);
    const double slots = lines * skinny::kVector * c.thread_m * c.thread_n * kSlotsOfFma + vectors + kSlotsOfTile;
    const double issuing = warps * slots / kSchedulers * (1 + kFewWarps * 8 / (at_once * warps));
    const double reading = warps * vectors * kClocksOfVector;
    const double multiplying = tiles * std::max(busiest * std::max(issuing, reading), waves * slots * kChain) / kClocksPerMicrosecond;
    const double waiting = busiest * tiles / (at_once * (c.stages - skinny::refill_behind(c))) * kLatency;

    const double together = std::pow(std::pow(memory, kNorm) + std::pow(multiplying, kNorm) + std::pow(waiting, kNorm), 1 / kNorm);
    const double filling = kFill * waves + kFillByte * skinny::stage_bytes(c);
    return kFixed + filling + together + (partials > 0 ? kReduce + partials / kReducedBytesPerMicrosecond : 0);
}

}  // namespace tmm
