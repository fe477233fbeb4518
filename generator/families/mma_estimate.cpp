#include "generator/families/mma_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/family.h"
#include "generator/families/mma_candidates.h"
#include "generator/machine/occupancy.h"
#include "generator/plan/launch_plan.h"
#include "tmm/families/mma/rules.h"

namespace tmm {
namespace {

// ldmatrix and the copies into shared memory move so many bytes a clock.
constexpr double kSharedBytesPerClock = 128;
// What an SM gets out of the L2 cache while all of them read.
constexpr double kCacheBytesPerClock = 32;
// The part of what runs beside the slowest of them that shows nevertheless.
constexpr double kOverlapLoss = 0.1;
// Beside the products, a scheduler's time goes to addresses and barriers.
constexpr double kBestEfficiency = 0.85;

// Turns of the load units that 32 accesses of fewer than 16 bytes cost, and those of a copy that realigns, which reads twice and
// shifts by some 20 instructions of a thread while no other copies are under way: fitted to measurements on an H200.
constexpr int kWidestAccess = 8;
constexpr double kNarrowCopies = 8;
constexpr double kRealignedCopies = 35;

constexpr double kClocksPerMicrosecond = 1.7e3;
// Below so many warps an SM's four tensor cores do not find enough independent work.
constexpr double kWarpsWanted = 4.8;
// The part by which products take longer in blocks that look for the matrix's edges.
constexpr double kEdges = 0.1;
// Microseconds of a phase, and those that it waits for memory, which are shared by the loads that are under way together.
constexpr double kPhase = 0.05;
constexpr double kLoad = 0.9;
constexpr double kMemoryBytesPerMicrosecond = 4.3e6;
// How much longer memory takes where an operand of few rows or columns has them side by side, and the other lies along K: 4096x16x4096
// takes 15.3 us and 11008x32x4096 31.7, where 16x4096x4096 takes 11.7 nt and 11.1 tn, and 8x11008x4096 nt 25.6.
constexpr double kCrossed = 1.25;
constexpr std::int64_t kFew = 32;
// The rate at which an SM stores its results.
constexpr double kStoredBytesPerMicrosecond = 2e4;
// Storing takes so many times as long where results leave one by one, since C's rows may start at any multiple of 16 bits: 197x197x64 nt
// batch=192 takes 50 us, 65 cubed batch=1000 64, 4096x1001x2048 nt 62.
constexpr double kSingleStores = 4;
// Microseconds of a launch; of each wave of blocks, which begins with nothing in the blocks' pipelines; and of the kernel that adds parts
// up, beside what these take of memory.
constexpr double kFixed = 0.9;
constexpr double kWave = 0.3;
constexpr double kSecondKernel = 0.9;
constexpr double kSummedBytesPerMicrosecond = 6e6;
constexpr double kPartialBytes = 4;
// How the three times come together: 1 adds them, infinity takes the longest.
constexpr double kNorm = 3.5;

// Multiply-adds of an SM in a clock, at most, by mma.sync with 16-bit operands and sums in float.
double rate(const DeviceInfo& device) {
    switch (device.compute_capability()) {
        // mma.sync reaches this part of the 2048 of wgmma, and does not reach the rate of the later units either.
        case 90:
        case 100:
        case 103: return 0.6 * 2048;
        case 80: return 1024;
        case 87: return 512;
        // GPUs for graphics multiply at half of that rate where sums are floats.
        default: return 256;
    }
}

// The part of that rate that the way of the operands through the caches and shared memory leaves.
double efficiency(const KernelConfig& c, const KernelSignature& s, const DeviceInfo& device) {
    // What a block does for 16 of k, in clocks of the SM.
    const double products = 16.0 * c.block_m * c.block_n / rate(device);
    const double warps = static_cast<double>(c.warps_m) * c.warps_n;
    const double read = 32.0 * warps * (mma::warp_rows(c) + mma::warp_columns(c)) / kSharedBytesPerClock;
    const double written = 32.0 * (c.block_m + c.block_n) / kSharedBytesPerClock;
    const auto copies = [&](const mma::TileLayout& tile) {
        const double accesses = 16.0 * tile.outer / (32.0 * tile.access);
        return tile.realigned ? kRealignedCopies * accesses : tile.access < kWidestAccess ? kNarrowCopies * accesses : accesses;
    };
    const double shared = read + written + copies(mma::layout_a(c, s)) + copies(mma::layout_b(c, s));
    const double fetched = 32.0 * (c.block_m + c.block_n) / kCacheBytesPerClock;
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

PredictedTime mma_estimate(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    const KernelSignature s = signature_of(p);
    const double sms = std::max(1, device.sm_count);
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const auto all = static_cast<double>(blocks_of(c, p.m, p.n, p.batch));
    const double resident = std::max(
        c.min_blocks, blocks_per_sm(device, mma::threads(c), mma_registers(c, s), shared_bytes_of(c, main_signature(p, c))).blocks);
    const double busiest = std::ceil(all / sms);
    const double waves = std::ceil(busiest / resident);
    const double phases = std::ceil(std::ceil(k / c.split_k) / c.block_k);
    const double tile = static_cast<double>(c.block_m) * c.block_n;

    const double warps = std::min(resident, all / sms) * mma::threads(c) / 32;
    const double products = rate(device) * efficiency(c, s, device) * std::clamp(warps / kWarpsWanted, 0.05, 1.0);
    const double edges = c.boundary == boundary::exact ? 1 : 1 + kEdges;
    const double multiplying = edges * busiest * tile * phases * c.block_k / (products * kClocksPerMicrosecond);
    const double waiting = waves * phases * (kPhase + kLoad / std::max(1, c.stages - (c.async_copy != 0 ? 1 : 0)));
    const double parts = partial_results(c) > 1 ? kPartialBytes * partial_results(c) * m * n * batch : 0;
    const double bytes = batch * ((m + n) * k * size_of(p.type_a) + m * n * size_of(p.type_c)) + 2 * parts;
    const double memory = (is_crossed(p) ? kCrossed : 1) * bytes / kMemoryBytesPerMicrosecond;
    const PredictedTime together = norm_of(kNorm, {{.arithmetic = multiplying}, {.latency = waiting}, {.memory = memory}});

    const bool singly = s.align_c == 2 && partial_results(c) == 1;
    const double storing = (singly ? kSingleStores : 1) * busiest * tile * size_of(p.type_c) / kStoredBytesPerMicrosecond;
    const double adding = parts > 0 ? kSecondKernel + parts / kSummedBytesPerMicrosecond : 0;
    return together + PredictedTime{.latency = kFixed + kWave * waves, .results = storing, .other_kernels = adding};
}

}  // namespace tmm
