#include "generator/families/mma/mma.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/family.h"
#include "generator/machine/occupancy.h"
#include "tmm/families/mma/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

// The part of the L2 cache's rate that an SM's threads get while all of them read.
constexpr double kShareOfL2 = 32.0 / 75;
// The part of what runs beside the slowest of them that shows nevertheless.
constexpr double kOverlapLoss = 0.1;
// Beside the products, a scheduler's time goes to addresses and barriers.
constexpr double kBestEfficiency = 0.85;

// Turns of the load units that 32 accesses of fewer than 16 bytes cost, and those of a copy that realigns, which reads twice and
// shifts by some 20 instructions of a thread while no other copies are under way: fitted to measurements on an H200. A copy that realigns
// takes so much longer in tiles with an edge: 17 cubed batch=8000 takes 45 us on an H100, and 21 where elements are read one by one.
constexpr int kWidestAccess = 8;
constexpr double kNarrowCopies = 8;
constexpr double kRealignedCopies = 35;
constexpr double kRealignedEdges = 1.5;

constexpr double kShareOfClock = 1.7 / 1.9;
// Below so many warps an SM's four tensor cores do not find enough independent work.
constexpr double kWarpsWanted = 4.8;
// The part by which products take longer in blocks that look for the matrix's edges.
constexpr double kEdges = 0.1;
// Clocks of a phase, and the latencies of memory that it waits for, which are shared by the loads that are under way together.
constexpr double kClocksOfPhase = 95;
constexpr double kLoads = 0.9 / 0.68;
constexpr double kShareOfMemory = 4.3 / 4.6;
// How much longer memory takes where an operand of few rows or columns has them side by side, and the other lies along K: 4096x16x4096
// takes 15.3 us and 11008x32x4096 31.7, where 16x4096x4096 takes 11.7 nt and 11.1 tn, and 8x11008x4096 nt 25.6.
constexpr double kCrossed = 1.25;
constexpr std::int64_t kFew = 32;
// The part of the rate at which an SM stores its results.
constexpr double kShareOfStores = 20.0 / (30 * 1.9);
// Storing takes so many times as long where results leave one by one, since C's rows may start at any multiple of 16 bits: 197x197x64 nt
// batch=192 takes 50 us, 65 cubed batch=1000 64, 4096x1001x2048 nt 62.
constexpr double kSingleStores = 4;
// Launches that a call takes; latencies of each wave of blocks, which begins with nothing in the blocks' pipelines; and of what a second
// kernel costs the part that adding parts up does, which come out of the L2 cache, beside what these take of memory.
constexpr double kLaunches = 0.9 / 0.7;
constexpr double kWave = 0.3 / 0.68;
constexpr double kSecondKernel = 0.9 / 2.1;
constexpr double kSummedOfL2 = 6e3 / (132 * 75 * 1.9);
// How the three times come together: 1 adds them, infinity takes the longest.
constexpr double kNorm = 3.5;

// How much of the tiles that cover a length exists, and the part of them that reaches beyond it.
struct Cover {
    double filled = 1;
    double at_edge = 0;
};

Cover cover_of(double length, double tile) {
    const double tiles = std::ceil(length / tile);
    return {.filled = length / (tiles * tile), .at_edge = tiles * tile > length ? 1 / tiles : 0};
}

// Turns of the load units for 16 of k of one operand's tile.
double copy_turns(const mma::TileLayout& tile, const Cover& outer, const Cover& depth) {
    const double accesses = 16.0 * tile.outer / (32.0 * tile.access);
    if (tile.realigned) return kRealignedCopies * accesses * (1 + kRealignedEdges * (1 - (1 - outer.at_edge) * (1 - depth.at_edge)));
    if (tile.access == 1 && !tile.async_copy) return kNarrowCopies * accesses * outer.filled * depth.filled;
    if (tile.chunk < kWidestAccess) return accesses;
    return tile.access < tile.chunk ? kNarrowCopies * accesses : accesses;
}

// Multiply-adds of an SM in a clock.
double rate_of(const GemmProblem& p, const MachineProfile& machine) {
    if (p.type_a == ElementType::s8) return machine.mma_8_per_clock;
    return p.type_a == ElementType::f64 ? machine.mma_64_per_clock : machine.mma_16_per_clock;
}

// The part of that rate that the way of the operands through the caches and shared memory leaves.
double efficiency(const GemmProblem& p, const KernelConfig& c, const KernelSignature& s, const MachineProfile& machine) {
    // What a block does for 16 of k, in clocks of the SM.
    const double products = 16.0 * c.block_m * c.block_n / rate_of(p, machine);
    const double bytes = 16.0 * size_of(p.type_a);
    const double warps = static_cast<double>(c.warps_m) * c.warps_n;
    const double read = bytes * warps * (mma::warp_rows(c) + mma::warp_columns(c)) / machine.shared_bytes_per_clock;
    const double written = bytes * (c.block_m + c.block_n) / machine.shared_bytes_per_clock;
    const Cover depth = cover_of(std::ceil(static_cast<double>(p.k) / c.split_k), c.block_k);
    const double shared = read + written + copy_turns(mma::layout_a(c, s), cover_of(static_cast<double>(p.m), c.block_m), depth) +
                          copy_turns(mma::layout_b(c, s), cover_of(static_cast<double>(p.n), c.block_n), depth);
    const double fetched = bytes * (c.block_m + c.block_n) / (kShareOfL2 * machine.l2_bytes_per_clock);
    const double computed = products / kBestEfficiency;
    const double slowest = std::max({computed, shared, fetched});
    return products / (slowest + kOverlapLoss * (computed + shared + fetched - slowest));
}

bool is_crossed(const GemmProblem& p) {
    const bool a_along_k = p.op_a == Operation::none;
    const bool b_along_k = p.op_b == Operation::transpose;
    return (p.n <= kFew && !b_along_k && a_along_k) || (p.m <= kFew && !a_along_k && b_along_k);
}

}  // namespace

PredictedTime mma_estimate(const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    const MachineProfile& machine = device.profile;
    const KernelSignature& s = schedule.signature;
    const double sms = std::max(1, device.sm_count);
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const auto all = static_cast<double>(schedule.blocks);
    const double resident =
        std::max(c.min_blocks, blocks_per_sm(device, mma::threads(c), mma_registers(c, s), shared_bytes_of(c, s)).blocks);
    const double busiest = std::ceil(all / sms);
    const double waves = std::ceil(busiest / resident);
    const double phases = std::ceil(std::ceil(k / c.split_k) / c.block_k);
    const double tile = static_cast<double>(c.block_m) * c.block_n;

    const double warps = std::min(resident, all / sms) * mma::threads(c) / 32;
    const double products = rate_of(p, machine) * efficiency(p, c, s, machine) * std::clamp(warps / kWarpsWanted, 0.05, 1.0);
    const double edges = c.boundary == boundary::exact ? 1 : 1 + kEdges;
    const double multiplying = edges * busiest * tile * phases * c.block_k / (products * kShareOfClock * machine.tensor_clock);
    const double waiting =
        waves * phases *
        (kClocksOfPhase / machine.tensor_clock + kLoads * machine.memory_latency / std::max(1, c.stages - (c.async_copy != 0 ? 1 : 0)));
    const double parts = partial_results(c) > 1 ? sum_bytes(p) * partial_results(c) * m * n * batch : 0;
    const double bytes = batch * ((m + n) * k * size_of(p.type_a) + m * n * size_of(p.type_c)) + 2 * parts;
    const double memory = (is_crossed(p) ? kCrossed : 1) * bytes / (kShareOfMemory * machine.memory_bytes);
    const PredictedTime together = norm_of(kNorm, {{.arithmetic = multiplying}, {.latency = waiting}, {.memory = memory}});

    const bool singly = s.align_c < 4 && partial_results(c) == 1;
    const double stored = singly ? kSingleStores * tile * cover_of(m, c.block_m).filled * cover_of(n, c.block_n).filled : tile;
    const double storing = busiest * stored * size_of(p.type_c) / (kShareOfStores * machine.stored_bytes_per_clock * machine.tensor_clock);
    const double adding = parts > 0 ? kSecondKernel * machine.second_kernel + parts / (kSummedOfL2 * l2_bytes(device)) : 0;
    return together + PredictedTime{.latency = kLaunches * machine.launch + kWave * machine.memory_latency * waves,
                                    .results = storing,
                                    .other_kernels = adding};
}

}  // namespace tmm
