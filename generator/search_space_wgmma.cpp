#include "generator/search_space_wgmma.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/launch_plan.h"
#include "tmm/pad.h"
#include "tmm/wgmma.h"

namespace tmm {
namespace {

// Multiply-adds of an SM in a clock, of 16-bit operands, bytes of shared memory read by wgmma, and bytes that L2 gives an SM on
// Hopper. Wider operands, whose k an instruction has less of, take as long an instruction.
constexpr double kProductsPerClock = 2048;
constexpr double kSharedBytesPerClock = 128;
constexpr double kL2BytesPerClock = 56;
constexpr double kClocksPerMicrosecond = 1.7e3;
constexpr double kMemoryBytesPerMicrosecond = 4.2e6;
// From a copy's issue to its landing, L2 missed.
constexpr double kMemoryLatency = 0.9;
// A launch, the first tiles, the last results.
constexpr double kFixed = 2.6;
constexpr double kPaddedBytesPerMicrosecond = 3e6;
constexpr double kSecondKernel = 2.0;
constexpr double kClusterSum = 0.8;

// The system's, of each block's shared memory.
constexpr std::int64_t kReservedSharedBytes = 1024;
constexpr int kMostStages = 12;
// The fewer rows of C are the instruction's columns where they are not more than these.
constexpr std::int64_t kMostSwappedRows = 256;

struct Rows {
    int block_m, warps_m, warps_n;
};
// Of products of planes. Sums of f16 products over more k would lose so much that is not the same each time, and so not made good in the
// end, that products of positive numbers were less exact than SGEMM's; over less they cost more additions and gain nothing. Of bf16
// products nothing is made good.
constexpr int promoted_depth(int planes) {
    return planes == 2 ? 64 : 16;
}
// 64 rows an instruction; one or two instructions a warpgroup.
constexpr Rows kRows[] = {{128, 2, 1}, {64, 1, 1}, {256, 2, 1}, {192, 3, 1}, {128, 1, 1}, {64, 1, 2}, {128, 1, 2}};
constexpr int kColumns[] = {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256};

double ceil_divide(double a, double b) {
    return std::ceil(a / b);
}

// As many stages as min_blocks blocks on an SM leave room for.
int stages_that_fit(KernelConfig config, const KernelSignature& signature, const DeviceInfo& device) {
    config.stages = 0;
    const std::int64_t fixed = wgmma::shared_bytes(config, signature);
    config.stages = 1;
    const std::int64_t stage = wgmma::pipeline_bytes(config, signature) + 16;
    const std::int64_t share =
        std::min(device.shared_bytes_per_block, device.shared_bytes_per_sm / config.min_blocks - kReservedSharedBytes);
    return static_cast<int>(std::min<std::int64_t>(kMostStages, (share - fixed) / stage));
}

double blocks_per_sm(const KernelConfig& c, const KernelSignature& s, const DeviceInfo& device) {
    const double by_shared =
        std::floor(static_cast<double>(device.shared_bytes_per_sm) / static_cast<double>(wgmma::shared_bytes(c, s) + kReservedSharedBytes));
    const double by_registers = std::floor(65536.0 / (wgmma::threads(c) * wgmma::registers_at_launch(c)));
    return std::max(1.0, std::min(by_shared, by_registers));
}

}  // namespace

std::vector<KernelConfig> wgmma_tiles(const GemmProblem& problem, const DeviceInfo& device, int planes) {
    std::vector<KernelConfig> configs;
    // tf32 takes a B whose rows run along N as the left operand only.
    const bool left_is_b = problem.compute == ComputeMode::tf32 && problem.op_b == Operation::none;
    const int row_elements = wgmma::kRowBytes / (planes > 1 ? 2 : size_of(problem.type_a));
    const auto add = [&](const Rows& rows, int block_n, int block_k, int min_blocks, int swap) {
        KernelConfig config{.family = family::wgmma,
                            .block_m = rows.block_m,
                            .block_n = block_n,
                            .block_k = block_k,
                            .vector_width = 8,
                            .boundary = boundary::hardware,
                            .min_blocks = min_blocks,
                            .swap_ab = swap,
                            .warps_m = rows.warps_m,
                            .warps_n = rows.warps_n,
                            .planes = planes,
                            .promote_k = planes > 1 ? promoted_depth(planes) : 0};
        KernelSignature signature = main_signature(problem, config);
        signature.align_a = signature.align_b = 16;
        config.stages = stages_that_fit(config, signature, device);
        if (config.stages < 2) return;
        const i64 left = swap ? problem.n : problem.m;
        const i64 right = swap ? problem.m : problem.n;
        const double tiles_left = ceil_divide(static_cast<double>(left), config.block_m);
        const double tiles_right = ceil_divide(static_cast<double>(right), config.block_n);
        const bool many = tiles_left * tiles_right > device.sm_count;
        for (const int raster : {0, 8, 16}) {
            if (raster != 0 && (!many || 2 * tiles_left <= raster)) continue;
            config.raster = raster;
            configs.push_back(config);
            if ((swap && !left_is_b) || 2 * tiles_left * tiles_right < device.sm_count || min_blocks > 1) continue;
            for (const int along_m : {0, 1}) {
                if ((along_m ? tiles_left : tiles_right) < 2) continue;
                KernelConfig shared = config;
                (along_m ? shared.multicast_b : shared.multicast_a) = 2;
                configs.push_back(shared);
            }
        }
    };
    for (const int swap : {0, 1}) {
        const i64 right = swap ? problem.m : problem.n;
        if (swap && problem.m > kMostSwappedRows && !left_is_b) continue;
        for (const Rows& rows : kRows) {
            for (const int block_n : kColumns) {
                // Columns far beyond the matrix are wasted; narrow tiles of a wide one load the left operand again and again.
                if (block_n >= 2 * right && block_n > 8) continue;
                if (block_n < 64 && right > i64{4} * block_n) continue;
                // Few rows are bound by memory, and the more blocks an SM holds, the more evenly they share it.
                const int most_blocks = swap ? 4 : 3;
                for (const int block_k : {row_elements, 2 * row_elements})
                    for (int min_blocks = 1; min_blocks <= most_blocks; ++min_blocks) add(rows, block_n, block_k, min_blocks, swap);
            }
        }
    }
    return configs;
}

KernelConfig wgmma_split(KernelConfig config, int split, int cluster) {
    config.split_k = split;
    config.cluster = cluster;
    // Clusters of parts are not walked over, so that the order of their tiles matters little.
    if (cluster > 1) config.raster = 0;
    return config;
}

double wgmma_estimate(const GemmProblem& problem, const KernelConfig& c, const DeviceInfo& device) {
    const KernelSignature s = main_signature(problem, c);
    const auto [m, n, k, batch] = std::array{static_cast<double>(problem.m), static_cast<double>(problem.n), static_cast<double>(problem.k),
                                             static_cast<double>(problem.batch)};
    const double sms = std::max(1, device.sm_count);
    const double element = size_of(s.type_a) * c.planes;

    const double phases = std::max(1.0, ceil_divide(ceil_divide(k, c.split_k), c.block_k));
    const double columns = wgmma::group_n(c);
    const double instructions =
        static_cast<double>(c.block_m) / wgmma::kRows * c.warps_n * c.block_k / wgmma::k_step(s) * wgmma::products(c.planes);
    const double products = wgmma::kRows * columns * 16 / kProductsPerClock;
    // From registers or not, the left operand's words are read once for each instruction.
    const double operands = (wgmma::kRows + columns) * 32 / kSharedBytesPerClock;
    const double from_l2 = (static_cast<double>(c.block_m) / c.multicast_a + static_cast<double>(c.block_n) / c.multicast_b) * c.block_k *
                           element / kL2BytesPerClock;
    const double phase = std::max(instructions * std::max(products, operands), from_l2);
    const double epilogue = static_cast<double>(c.block_m) * c.block_n / 24;

    const auto blocks = static_cast<double>(wgmma::blocks(c, problem.m, problem.n, problem.batch));
    const double resident = blocks_per_sm(c, s, device);
    const double busiest = ceil_divide(blocks, sms);
    const double arithmetic = busiest * (phases * phase + epilogue) / kClocksPerMicrosecond;
    const double in_flight = c.stages * std::min(resident, busiest);
    const double latency = busiest * phases / in_flight * kMemoryLatency;

    // Operands that are padded are read and written once more.
    const double padded = (pad::pads_a(c) ? batch * m * k : 0.0) + (pad::pads_b(c) ? batch * n * k : 0.0);
    const double padding = padded > 0 ? kSecondKernel + 2.0 * padded * element / kPaddedBytesPerMicrosecond : 0.0;
    // Floats are read, and written as planes; and there is a kernel that looks whether it is needed.
    const double splitting = c.planes > 1 ? 2 * kSecondKernel + batch * (m + n) * k * (4.0 + element) / kPaddedBytesPerMicrosecond : 0.0;
    const double partials = partial_results(c) > 1 ? 2.0 * 4.0 * partial_results(c) * m * n : 0.0;
    const double bytes = batch * ((m + n) * k * element + m * n * size_of(problem.type_c) + partials);
    // SMs that wait for the busiest read nothing.
    const double even = blocks / (busiest * sms);
    const double memory = bytes / (kMemoryBytesPerMicrosecond * std::min(1.0, std::max(0.1, even * 1.15)));
    // What is not the longest still stands in its way.
    const double longest = std::max({arithmetic, latency, memory});
    const double beside = 0.15 * (arithmetic + latency + memory - longest + busiest * phases * from_l2 / kClocksPerMicrosecond);
    return kFixed + padding + splitting + longest + beside + (partial_results(c) > 1 ? kSecondKernel : 0.0) +
           (c.cluster > 1 ? kClusterSum : 0.0);
}

}  // namespace tmm
