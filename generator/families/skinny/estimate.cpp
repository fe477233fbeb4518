#include "generator/families/skinny/skinny.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/simt/simt.h"
#include "generator/machine/occupancy.h"
#include "tmm/families/skinny/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

constexpr double kSchedulers = 4;
// Latencies of memory until a stage that is asked for has come, and the part of the L2 cache's rate at which its bytes come.
constexpr double kLatencies = 0.524 / 0.68;
constexpr double kShareOfL2 = 1 / (9.9 * 75 * 1.9e-3);
// Issue slots that a warp takes for an FMA, for a vector that it reads, and for a tile.
constexpr double kSlotsOfFma = 1.1;
constexpr double kSlotsOfVector = 1.69;
constexpr double kSlotsOfTile = 141;
// The part by which issuing takes longer where an SM holds few warps, given for 8 of them; and the part of its slots that a warp alone
// takes at least.
constexpr double kFewWarps = 0.22;
constexpr double kChain = 0.73;
// Clocks of shared memory for a warp's vector.
constexpr double kClocksOfVector = 4.55;
// The norm lies between 1, where the three times are added up, and infinity, where the longest counts alone.
constexpr double kNorm = 4.67;
constexpr double kLaunches = 0.815 / 0.7;
// A block that no other goes on beside: latencies of memory for its first tile and the sums of lanes and slices, and the part of the L2
// cache's rate at which the bytes of a stage come.
constexpr double kFills = 1.82 / 0.68;
constexpr double kShareOfL2AtFirst = 1 / (10.2 * 75 * 1.9e-3);
// Clocks of the copy engine for a line of a row that does not exist: 11008x16x4096 nt in tiles of 84 columns, of which the last lacks 80,
// takes 74 microseconds, where all else would take 48.
constexpr double kClocksOfMissingLine = 10;
constexpr int kAddresses = 24;
// ptxas takes more registers where there is room.
constexpr int kTakenBeyond = 24;
// Most registers that a thread may have.
constexpr int kMostRegisters = 255;

}  // namespace

int skinny_registers(const KernelConfig& c) {
    return c.thread_m * c.thread_n + skinny::kVector * (c.thread_n + skinny::kRowsAhead + 1) + kAddresses;
}

PredictedTime skinny_estimate(const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const MachineProfile& machine = device.profile;
    const double l2 = machine.l2_bytes_per_clock * machine.tensor_clock;
    const double partials = c.split_k > 1 ? 2.0 * sum_bytes(p) * c.split_k * m * n * batch : 0;
    const double memory = (batch * ((m + n) * k + m * n) * size_of(p.type_a) + partials) / machine.memory_bytes;

    const double warps = skinny::warps(c);
    const int registers = std::min(kMostRegisters, skinny_registers(c) + kTakenBeyond);
    const double resident =
        std::max(c.min_blocks, blocks_per_sm(device, skinny::threads(c), registers, skinny::shared_bytes(c, schedule.signature)).blocks);
    const double busiest = std::ceil(static_cast<double>(schedule.blocks) / std::max(1, device.sm_count));
    const double at_once = std::min(busiest, resident);
    const double waves = std::ceil(busiest / resident);
    const double tiles = std::ceil(std::ceil(k / c.split_k) / c.block_k);

    const double lines = static_cast<double>(skinny::slice_depth(c)) / skinny::kLine;
    const double vectors = lines * (c.thread_m + c.thread_n);
    const double slots = lines * skinny::kVector * c.thread_m * c.thread_n * kSlotsOfFma * slots_of_warp_fma(device) +
                         vectors * kSlotsOfVector + kSlotsOfTile;
    const double issuing = warps * slots / kSchedulers * (1 + kFewWarps * 8 / (at_once * warps));
    const double reading = warps * vectors * kClocksOfVector;
    const double multiplying = tiles * std::max(busiest * std::max(issuing, reading), waves * slots * kChain) / machine.clock;
    const double latency = kLatencies * machine.memory_latency + skinny::stage_bytes(c) / (kShareOfL2 * l2);
    const double waiting = busiest * tiles / (at_once * (c.stages - skinny::refill_behind(c))) * latency;

    const double many = c.swap_ab != 0 ? m : n;
    const double missing = std::ceil(many / c.block_n) * c.block_n - many;
    const double last_block = tiles * c.block_k / skinny::kLine * missing * kClocksOfMissingLine / machine.clock;

    const PredictedTime together = norm_of(kNorm, {{.memory = memory}, {.arithmetic = multiplying}, {.latency = waiting}});
    const double filling = kFills * machine.memory_latency * waves + skinny::stage_bytes(c) / (kShareOfL2AtFirst * l2);
    return longest_of({together, {.memory = last_block}}) +
           PredictedTime{.latency = kLaunches * machine.launch + filling,
                         .other_kernels = partials > 0 ? sum_of_parts_estimate(partials, device) : 0};
}

}  // namespace tmm
