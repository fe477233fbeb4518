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
constexpr double kL2BytesPerClock = 64;
constexpr double kStoredBytesPerClock = 20;
constexpr double kClocksPerMicrosecond = 1.9e3;
// Under load, at the power limit.
constexpr double kTensorClocksPerMicrosecond = 1.7e3;
constexpr double kMemoryBytesPerMicrosecond = 4.4e6;
constexpr double kShortPieces = 0.08;
// From a copy's issue to its landing, L2 missed.
constexpr double kMemoryLatency = 0.9;
constexpr double kStagesRead = 1.5;
// A launch, the first tiles, the last results.
constexpr double kFixed = 2.6;
constexpr double kPaddedBytesPerMicrosecond = 3e6;
constexpr double kSecondKernel = 2.0;
constexpr double kClusterSum = 0.6;
constexpr double kClusterBytesPerMicrosecond = 3e4;
constexpr double kClusterStart = 0.5;
constexpr double kEachSharer = 0.15;

// The system's, of each block's shared memory.
constexpr std::int64_t kReservedSharedBytes = 1024;
constexpr int kMostStages = 16;
// The fewer rows of C are the instruction's columns where they are not more than these.
constexpr std::int64_t kMostSwappedRows = 256;
// Tiles with a deeper stage than two rows of 128 bytes are no wider than that, so that some stages fit.
constexpr int kWidestDeepTile = 192;

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
constexpr int kColumns[] = {8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256};

// Of boxes that begin within a line the L2 is asked for two lines a row instead of one.
constexpr double kSplitLines = 1.7;

// Blocks along the right operand that share their tile of the left one, and along the left one that share their tile of the right one.
struct Sharing {
    int multicast_a, multicast_b;
};
constexpr Sharing kSharings[] = {{1, 1}, {2, 1}, {1, 2}};
// Few rows that all blocks need.
constexpr Sharing kThinSharings[] = {{4, 1}, {1, 4}};
constexpr std::int64_t kMostThinRows = 128;
// Worth the cluster only where the L2 is asked for much.
constexpr Sharing kWideSharings[] = {{4, 1}, {1, 4}, {2, 2}, {4, 2}, {2, 4}};

double ceil_divide(double a, double b) {
    return std::ceil(a / b);
}

// Lines for each row of a box. Rows that TMA can't bring as they are get padded; so are those of planes.
double lines(i64 columns, i64 ld, ElementType type, int planes) {
    constexpr i64 line = 128;
    constexpr i64 needed = 16;
    if (planes > 1) type = planes::type_of(planes);
    const bool padded = planes > 1 || ld * size_of(type) % needed != 0;
    return (padded ? pad::padded_ld(columns, type) : ld) * size_of(type) % line == 0 ? 1 : kSplitLines;
}
double lines_of_a(const GemmProblem& p, int planes) {
    return lines(stored_columns_a(p), p.lda, p.type_a, planes);
}
double lines_of_b(const GemmProblem& p, int planes) {
    return lines(stored_columns_b(p), p.ldb, p.type_b, planes);
}

// The SMs of a GPC are no multiple of 4 or 8: some take no part where clusters are as large.
double sms_for_clusters(int sms, int size) {
    constexpr double taken = 0.91;
    return size <= 2 ? sms : std::max(1.0, std::floor(taken * sms / size)) * size;
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
        const double tiles = tiles_left * tiles_right * static_cast<double>(problem.batch);
        const bool many = tiles > device.sm_count;
        const bool few = 2 * tiles < device.sm_count;
        const bool takes_turns = many && min_blocks == 1 && planes == 1 && !left_is_b && rows.warps_m * rows.warps_n == 1 && block_n >= 64;
        const auto add_sharing = [&](const Sharing& sharing) {
            const bool shares = sharing.multicast_a * sharing.multicast_b > 1;
            if (shares && (few || min_blocks > 1)) return;
            if (tiles_right < sharing.multicast_a || tiles_left < sharing.multicast_b) return;
            config.multicast_a = sharing.multicast_a;
            config.multicast_b = sharing.multicast_b;
            configs.push_back(config);
        };
        for (config.ping_pong = 0; config.ping_pong <= (takes_turns ? 1 : 0); ++config.ping_pong) {
            if (config.ping_pong) config.stages = stages_that_fit(config, signature, device);
            if (config.stages < 2) continue;
            for (const int raster : {0, 8, 16}) {
                if (raster != 0 && (!many || 2 * tiles_left <= raster)) continue;
                config.raster = raster;
                for (const Sharing& sharing : kSharings) add_sharing(sharing);
            }
            config.raster = 0;
            if (std::min(problem.m, problem.n) <= kMostThinRows)
                for (const Sharing& sharing : kThinSharings) add_sharing(sharing);
            if (lines_of_a(problem, planes) + lines_of_b(problem, planes) > 2)
                for (const Sharing& sharing : kWideSharings) add_sharing(sharing);
        }
    };
    for (const int swap : {0, 1}) {
        const i64 right = swap ? problem.m : problem.n;
        const double squares = ceil_divide(static_cast<double>(problem.m), wgmma::kRows) *
                               ceil_divide(static_cast<double>(problem.n), wgmma::kRows) * static_cast<double>(problem.batch);
        const bool small = squares < 2 * device.sm_count && problem.n >= wgmma::kRows;
        if (swap && problem.m > kMostSwappedRows && !small && !left_is_b) continue;
        for (const Rows& rows : kRows) {
            for (const int block_n : kColumns) {
                // Columns far beyond the matrix are wasted; narrow tiles of a wide one load the left operand again and again.
                if (block_n >= 2 * right && block_n > 8) continue;
                if (block_n < 64 && right > i64{4} * block_n && !small) continue;
                // Few rows are bound by memory, and the more blocks an SM holds, the more evenly they share it.
                const int most_blocks = swap ? 4 : 3;
                for (const int block_k : {row_elements, 2 * row_elements, 4 * row_elements}) {
                    if (block_k > 2 * row_elements && rows.block_m + block_n > kWidestDeepTile) continue;
                    for (int min_blocks = 1; min_blocks <= most_blocks; ++min_blocks) add(rows, block_n, block_k, min_blocks, swap);
                }
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
    const double sms = sms_for_clusters(std::max(1, device.sm_count), wgmma::cluster_size(c));
    const double element = size_of(s.type_a) * c.planes;

    const double phases = std::max(1.0, ceil_divide(ceil_divide(k, c.split_k), c.block_k));
    const double columns = wgmma::group_n(c);
    const double instructions =
        static_cast<double>(c.block_m) / wgmma::kRows * c.warps_n * c.block_k / wgmma::k_step(s) * wgmma::products(c.planes);
    const double products = wgmma::kRows * columns * 16 / kProductsPerClock;
    // From registers or not, the left operand's words are read once for each instruction.
    const double operands = (wgmma::kRows + columns) * 32 / kSharedBytesPerClock;
    const double lines_a = lines_of_a(problem, c.planes);
    const double lines_b = lines_of_b(problem, c.planes);
    const double lines_left = c.swap_ab ? lines_b : lines_a;
    const double lines_right = c.swap_ab ? lines_a : lines_b;
    // What comes to the SM, and what the L2 is asked for, of which blocks that share tiles save each other some.
    const double bytes_per_line = c.block_k * element / (kL2BytesPerClock * kClocksPerMicrosecond);
    const double arrival = (c.block_m + c.block_n) * bytes_per_line;
    const double requests = (lines_left * c.block_m / c.multicast_a + lines_right * c.block_n / c.multicast_b) * bytes_per_line;
    const double phase = std::max({instructions * std::max(products, operands) / kTensorClocksPerMicrosecond, arrival, requests});
    // All SMs store at about the same time.
    const double epilogue = static_cast<double>(c.block_m) * c.block_n * size_of(s.type_c) / (kStoredBytesPerClock * kClocksPerMicrosecond);

    const auto blocks = static_cast<double>(wgmma::blocks(c, problem.m, problem.n, problem.batch));
    const double resident = blocks_per_sm(c, s, device);
    const double busiest = ceil_divide(blocks, sms);
    const double epilogues = c.ping_pong ? 1 : busiest;
    const double arithmetic = busiest * phases * phase + epilogues * epilogue;
    // Of a block's stages one is read, and the one before it often still.
    const double in_flight = (c.stages - kStagesRead) * std::min(resident, busiest);
    const double latency = busiest * phases / in_flight * kMemoryLatency;

    // Operands that are padded are read and written once more.
    const double padded = (pad::pads_a(c) ? batch * m * k : 0.0) + (pad::pads_b(c) ? batch * n * k : 0.0);
    const double padding = padded > 0 ? kSecondKernel + 2.0 * padded * element / kPaddedBytesPerMicrosecond : 0.0;
    // Floats are read, and written as planes; and there is a kernel that looks whether it is needed.
    const double splitting = c.planes > 1 ? 2 * kSecondKernel + batch * (m + n) * k * (4.0 + element) / kPaddedBytesPerMicrosecond : 0.0;
    const double partials = partial_results(c) > 1 ? 2.0 * 4.0 * partial_results(c) * m * n : 0.0;
    const double bytes = batch * ((m + n) * k * element + m * n * size_of(problem.type_c) + partials);
    // Blocks that have done their work read nothing while others go on. And short pieces of many rows are slower than long ones of few.
    const double at_once = std::min(blocks, sms * std::min(resident, static_cast<double>(c.min_blocks)));
    const double even = blocks / (ceil_divide(blocks, at_once) * at_once);
    const double pieces = static_cast<double>(wgmma::kRowBytes) / (c.block_k * size_of(s.type_a));
    const double memory = bytes / (kMemoryBytesPerMicrosecond * std::max(0.1, even) * (1 - kShortPieces * pieces));
    const double sums_bytes = 4.0 * c.block_m * c.block_n;
    // What is not the longest still stands in its way.
    const double longest = std::max({arithmetic, latency, memory});
    const double beside = 0.15 * (arithmetic + latency + memory - longest + busiest * phases * requests);
    return kFixed + padding + splitting + longest + beside + (partial_results(c) > 1 ? kSecondKernel : 0.0) +
           (c.cluster > 1 ? kClusterSum + sums_bytes / kClusterBytesPerMicrosecond : 0.0) +
           (wgmma::multicast(c) > 1 ? kClusterStart + kEachSharer * wgmma::multicast(c) : 0.0);
}

}  // namespace tmm
