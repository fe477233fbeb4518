#include "generator/families/simt/simt.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/family.h"
#include "generator/families/gemv/gemv.h"
#include "generator/machine/occupancy.h"
#include "generator/schedule/packing.h"
#include "host/portable_math.h"
#include "tmm/families/simt/rules.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pack/rules.h"

namespace tmm {
namespace {

constexpr double kSchedulers = 4;
// Issue slots that a warp takes for an FMA, with what comes on top in a thread tile of more than 64 elements, and where one operand or both
// are read along K; for a read of 4 elements; for each k besides; for a copy of a vector, with what comes on top where the vector is
// turned, where it passes through registers, where it is turned in registers, and where the copy looks for the matrix's edges; and for a
// tile's barrier.
constexpr double kSlotsOfFma = 1;
constexpr double kLargeThreadTile = 0.095;
constexpr double kOneAlongK = 0.185;
constexpr double kBothAlongK = 0.252;
constexpr double kSlotsOfRead = 1.37;
constexpr double kSlotsOfK = 4.21;
constexpr double kSlotsOfCopy = 10.3;
constexpr double kSlotsOfTurning = 5.28;
constexpr double kSlotsOfSyncCopy = 31.5;
constexpr double kSlotsOfTurningInRegisters = 85.5;
constexpr double kSlotsOfEdges = 6.57;
constexpr double kSlotsOfTile = 7.1;
// The part by which FMAs take longer in a thread tile of 12 columns and fewer than 8 rows, and by which they take less in one of 12 rows:
// 48 cubed, batch=2000, takes 18.8 us in thread tiles of 12x2, and 21.8 in those of 2x12.
constexpr double kTwelveColumns = 0.13;
constexpr double kTwelveRows = 0.04;
// Issue slots where the copy engine brings tiles: those that a warp takes for an FMA, with a factor for thread tiles of more rows than
// columns; and those that all of a block's warps together take for one tile, for which they wait, signal, and say what to bring.
constexpr double kSlotsOfFmaWithTma = 1.025;
constexpr double kMoreRowsThanColumns = 1.04;
constexpr double kSlotsOfTmaTile = 250;
// Clocks of shared memory for a warp's access to vectors of 4.
constexpr double kClocksOfVector = 2.27;
// The part by which issuing takes longer where an SM holds few warps, given for 8 of them.
constexpr double kFewWarps = 0.0209;
// The same where a block is a single warp, which multiplies nothing while it copies.
constexpr double kLoneWarp = 0.1;
// A warp's own latency: clocks for each issue slot and for each k of a tile; latencies of memory for loads; and the part of the L2 cache's
// rate at which TMA brings a stage.
constexpr double kChain = 1.63;
constexpr double kChainOfK = 0.239;
constexpr double kLoads = 0.686 / 0.68;
constexpr double kStageOfL2 = 1 / (30 * 75 * 1.9e-3);
// Blocks that share tiles are at different k at a time, and find less in the caches.
constexpr double kSharedTiles = 1.09;
// Latencies of memory for a wave's first tiles and its results, where no other block of the SM goes on meanwhile.
constexpr double kFills = 5.5 / 0.68;
// The part of a phase that a block's first tiles take before there is anything to multiply: among 1,640 configs of 19 products of up to 400
// k on an H100, tiles 32 deep took 1.12 times as long, beside their predictions, as tiles 8 deep.
constexpr double kFirstPhase = 0.45;
// The part of memory's time that is in the way of the products, as its rate in parts of memory's.
constexpr double kInTheWay = 11 / 4.6;
// The part of its rate at which memory by itself would move all bytes, and how sharply the time for that bounds the whole from below.
constexpr double kStreamed = 4.4 / 4.6;
// The part of the L2 cache's rate at which all blocks together bring the operands, most of them out of it.
constexpr double kBroughtOfL2 = 7e3 / (132 * 75 * 1.9);
constexpr double kStreamNorm = 6;
// The part by which an operand takes longer for each additional piece where the rows of its tiles are shorter than a line of 128 bytes.
constexpr double kShortPieces = 0.376;
constexpr double kLineBytes = 128;
// The norm lies between 1, where memory's time is added to the rest, and infinity, where the longer of the two counts alone.
constexpr double kNorm = 1.25;
constexpr double kLaunches = 0.348 / 0.7;
// What packing costs, in second kernels, and the part of memory's rate at which it copies.
constexpr double kPack = 3 / 2.1;
constexpr double kPacked = 3.6 / 4.6;
// Latencies of memory that a block takes for a square, however little of the square exists: 2 x 100000 squares of 10 x 10 took 740 us on an
// H200.
constexpr double kSquare = 1.95 / 0.68;
// The part by which a pack takes longer that multiplies a strip, too; and the latencies that a place on an SM takes for each piece of the
// strip's sums: twice what it took where blocks had eleven of them (65 cubed, batch=500), since it was measured nowhere else.
constexpr double kPackedStrip = 0.1;
constexpr double kPieceOfStrip = 3.7 / 0.68;
// What blocks that pack beside the product take from it, in second kernels, by a few shapes on an H200: 1024 and 2048 cubed, with one or
// both operands packed.
constexpr double kPackers = 3 / 2.1;
// What adding parts up costs, in second kernels, and the part of the L2 cache's rate at which it goes.
constexpr double kReduce = 2.45 / 2.1;
constexpr double kReducedOfL2 = 8.18e3 / (132 * 75 * 1.9);
// The part of the SMs' places that clusters of more than two blocks can take: an H200's groups of SMs leave some that no whole cluster
// fits.
constexpr double kClusterPlaces = 0.945;
// Meetings of a cluster for each doubling of its number of parts, and the part of its rate at which its blocks show each other their sums.
constexpr double kClusterSum = 0.406 / 0.35;
constexpr double kClusterRate = 4 / (2.34 * 3.5);
// Clocks for each doubling of a block's slices, and for each of the slices' sums.
constexpr double kSliceSum = 292.5;
constexpr double kSliceElement = 0.0195;

constexpr int kVectorBytes = 16;
constexpr int kRegisterBytes = 4;

struct Tile {
    bool by_tma;
    bool more_rows_than_columns;
    // Where a side of the thread tile is 12, how many times as long its FMAs take.
    double of_twelve;
    simt::TileLayout a;
    simt::TileLayout b;
    double fmas;
    double reads;
    double warps;
    ElementType sums;
};

Tile tile_of(const KernelConfig& c, const KernelSignature& s) {
    // A thread reads up to 4 elements at once.
    const int vector = std::min(4, kVectorBytes / size_of(s.type_a));
    return {.by_tma = simt::brings_by_tma(c),
            .more_rows_than_columns = c.thread_m > c.thread_n,
            .of_twelve = c.thread_m == 12                     ? 1 - kTwelveRows
                         : c.thread_n == 12 && c.thread_m < 8 ? 1 + kTwelveColumns
                                                              : 1,
            .a = simt::layout_a(c, s),
            .b = simt::layout_b(c, s),
            .fmas = static_cast<double>(c.thread_m) * c.thread_n,
            .reads = std::ceil(static_cast<double>(c.thread_m) / vector) + std::ceil(static_cast<double>(c.thread_n) / vector),
            .warps = simt::threads(c) / 32.0,
            .sums = sum_type(s)};
}

int registers(const KernelConfig& c, const Tile& tile, const DeviceInfo& device) {
    const bool reads_ahead = tile.a.lines_along_k || tile.b.lines_along_k;
    const double most = registers_for(device, simt::threads(c) * c.min_blocks);
    const int words = size_of(tile.sums) / kRegisterBytes;
    return static_cast<int>(std::min(most, 44 + words * (1.1 * tile.fmas + 2.5 * (c.thread_m + c.thread_n) * (reads_ahead ? 2 : 1))));
}

double slots_of_fma(const Tile& tile, const DeviceInfo& device) {
    if (tile.by_tma)
        return slots_of_warp_fma(device, tile.sums) * kSlotsOfFmaWithTma * (tile.more_rows_than_columns ? kMoreRowsThanColumns : 1);
    const double large = tile.fmas > 64 ? kLargeThreadTile : 0;
    const double along_k = tile.a.lines_along_k && tile.b.lines_along_k   ? kBothAlongK
                           : tile.a.lines_along_k || tile.b.lines_along_k ? kOneAlongK
                                                                          : 0;
    return slots_of_warp_fma(device, tile.sums) * kSlotsOfFma * (1 + large) * (1 + along_k) * tile.of_twelve;
}

double slots_of_copy(const KernelConfig& c, const simt::TileLayout& layout) {
    const bool turned = simt::is_turned(layout);
    const double edges = c.boundary == boundary::exact || layout.padded ? 0 : kSlotsOfEdges;
    if (layout.async_copy) return kSlotsOfCopy + (turned ? kSlotsOfTurning : 0) + edges;
    if (c.async_copy == 0) return kSlotsOfCopy + kSlotsOfSyncCopy + (turned ? kSlotsOfTurning : 0) + edges;
    return kSlotsOfCopy + kSlotsOfTurningInRegisters + edges;
}

// Issue slots of a warp for one tile of block_k.
double slots(const KernelConfig& c, const Tile& tile, const DeviceInfo& device) {
    const double per_k = tile.fmas * slots_of_fma(tile, device) + tile.reads * kSlotsOfRead + kSlotsOfK;
    if (tile.by_tma) return per_k * simt::slice_depth(c) + kSlotsOfTmaTile / tile.warps;
    const auto copies = [&](const simt::TileLayout& layout) {
        const double accesses = static_cast<double>(layout.outer) * c.block_k / layout.vector / simt::threads(c);
        return accesses * slots_of_copy(c, layout);
    };
    return per_k * simt::slice_depth(c) + copies(tile.a) + copies(tile.b) + kSlotsOfTile;
}

// What the busiest SM does.
struct Work {
    // Blocks that run at once or one after the other.
    double blocks;
    // All blocks' phases of block_k, and those that follow each other in one place of the SM.
    double phases;
    double phases_in_line;
    // How often a place begins anew, with nothing in its pipeline.
    double fills;
    // Parts that all SMs leave to be added up.
    double parts;
};

// A block's tiles along K. A few k beyond whole tiles take time in proportion to their number.
double phases_of_item(const KernelConfig& c, double k) {
    const double depth = std::ceil(k / c.split_k);
    const double left = std::fmod(depth, c.block_k);
    if (simt::leaves_k(c) && 2 * left <= c.block_k) return depth / c.block_k;
    return std::ceil(depth / c.block_k);
}

Work whole_tiles(double blocks, double phases, double resident, int cluster, const DeviceInfo& device) {
    // Clusters first come to SMs of their own, and to SMs that hold other clusters when those are taken.
    const double at_once = sms_for_clusters(device, cluster, static_cast<int>(resident)) * resident;
    const double spread = std::ceil(blocks / sms_for_clusters(device, cluster));
    const double busiest = blocks <= at_once ? std::min(resident, spread) : std::ceil(blocks * resident / at_once);
    const double waves = std::ceil(busiest / resident);
    return {.blocks = busiest, .phases = busiest * phases, .phases_in_line = waves * phases, .fills = waves, .parts = 0};
}

Work shared_work(const Schedule& schedule, const DeviceInfo& device) {
    const KernelConfig& c = schedule.config;
    const PhaseLine& line = schedule.line;
    const auto tiles = static_cast<double>(schedule.blocks - line.tiles);
    const double sms = std::max(1, device.sm_count);
    const double waves = std::ceil(tiles / (sms * c.min_blocks));
    const double sharing = std::ceil(static_cast<double>(line.blocks) / sms);
    const auto phases = static_cast<double>(line.phases);
    const double stretch = static_cast<double>(line.tiles) * phases / std::max(1.0, static_cast<double>(line.blocks));
    return {.blocks = sharing + tiles / sms,
            .phases = sharing * stretch + tiles / sms * phases,
            .phases_in_line = stretch + waves * phases,
            .fills = waves + std::ceil(stretch / phases) + 1,
            .parts = static_cast<double>(line.tiles + line.blocks)};
}

// The number of additional pieces of lines that an operand's tile brings from memory for each piece that its elements need.
double extra_pieces(const simt::TileLayout& layout, ElementType type) {
    return std::max(0.0, kLineBytes / (simt::matrix_columns(layout) * size_of(type)) - 1);
}

}  // namespace

double sum_of_parts_estimate(double bytes, const DeviceInfo& device) {
    return kReduce * device.profile.second_kernel + bytes / (kReducedOfL2 * l2_bytes(device));
}

PredictedTime simt_estimate(const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    const MachineProfile& machine = device.profile;
    const KernelSignature& s = schedule.signature;
    const Tile tile = tile_of(c, s);
    const Extent& main = schedule.main;
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const auto all = static_cast<double>(schedule.blocks);
    const double resident =
        std::max(c.min_blocks, blocks_per_sm(device, simt::threads(c), registers(c, tile, device), simt::shared_bytes(c, s)).blocks);
    const double phases = phases_of_item(c, k);
    const Work work = c.stream_k != 0 ? shared_work(schedule, device) : whole_tiles(all, phases, resident, c.cluster, device);
    const double busiest = work.blocks;

    // The time of a phase of so many blocks on an SM is what its busiest scheduler issues or what all warps read of shared memory,
    // whichever takes longer; the chain is a warp's own latency.
    const auto issuing = [&](double at_once) {
        const double warps = std::max(1.0, at_once * tile.warps);
        const double slots_of_scheduler =
            slots(c, tile, device) * std::ceil(warps / kSchedulers) * (1 + kFewWarps * 8 / warps) * (tile.warps > 1 ? 1 : 1 + kLoneWarp);
        const double reading = simt::slice_depth(c) * tile.reads * kClocksOfVector * warps;
        return std::max(slots_of_scheduler, reading) / machine.fma_clock;
    };
    const double stage = static_cast<double>(size_of(p.type_a)) * c.block_k * (c.block_m + c.block_n);
    const double chain = std::max(
        (slots(c, tile, device) * kChain + simt::slice_depth(c) * kChainOfK) / machine.fma_clock,
        (kLoads * machine.memory_latency + (tile.by_tma ? stage / (kStageOfL2 * machine.l2_bytes_per_clock * machine.tensor_clock) : 0)) /
            std::max(1, c.stages - (c.async_copy != 0 ? 1 : 0)));
    const double full = std::min(busiest, resident);
    // Blocks of the last wave have the SM for themselves, and fill it less; where packers come and go, some SMs get one more.
    const double even = busiest - (work.fills - 1) * resident;
    const double last = pack::packs_beside(c) && all > device.sm_count ? std::min(resident, even + 1) : even;
    const auto phase = [&](double at_once) { return longest_of({{.arithmetic = issuing(at_once)}, {.latency = chain}}); };
    const PredictedTime products =
        c.stream_k != 0
            ? kSharedTiles * longest_of({{.arithmetic = work.phases * issuing(full) / full}, {.latency = work.phases_in_line * chain}})
            : (phases + kFirstPhase) * ((work.fills - 1) * phase(full) + phase(last));
    const PredictedTime multiplying = products + PredictedTime{.latency = kFills * machine.memory_latency * work.fills / resident};

    // Clusters that find no place in what seems one whole wave, since other kernels hold some places, run after it, alone. For sliced tiles
    // it is known how many blocks an SM holds; large clusters hardly ever find all that seem free.
    const bool left_over = c.cluster > (c.slice_k > 1 ? 2 : 4) && work.fills == 1 && all > kClusterPlaces * resident * device.sm_count;
    const PredictedTime alone = left_over ? phases * phase(1) : PredictedTime{};

    const double partials = c.stream_k != 0          ? 2.0 * sum_bytes(p) * work.parts * c.block_m * c.block_n
                            : partial_results(c) > 1 ? 2.0 * sum_bytes(p) * partial_results(c) * m * n * batch
                                                     : 0;
    const double pieces = kShortPieces * (m * extra_pieces(tile.a, p.type_a) + n * extra_pieces(tile.b, p.type_a));
    const double bytes = batch * ((m + n + pieces) * k * size_of(p.type_a) + m * n * size_of(p.type_c)) + partials;
    const PredictedTime memory = {.memory = bytes / (kInTheWay * machine.memory_bytes)};
    const PredictedTime streaming = {.memory = bytes / (kStreamed * machine.memory_bytes)};
    const double tiles = std::ceil(static_cast<double>(main.rows) / c.block_m) * std::ceil(static_cast<double>(main.columns) / c.block_n);
    const PredictedTime bringing = {.memory = batch * tiles * (c.block_m + c.block_n) * k * size_of(p.type_a) /
                                              (kBroughtOfL2 * l2_bytes(device))};
    PredictedTime time = norm_of(kStreamNorm, {norm_of(kNorm, {multiplying + alone, memory}), streaming, bringing});
    time.latency += kLaunches * machine.launch;
    if (c.pack_ab != 0) {
        const double packed = batch * ((pack::packs_a(c) ? m * k : 0) + (pack::packs_b(c) ? n * k : 0)) * size_of(p.type_a);
        const auto squares = static_cast<double>((pack::packs_a(c) ? pack::tiles(p.m, p.k, p.batch) : 0) +
                                                 (pack::packs_b(c) ? pack::tiles(p.n, p.k, p.batch) : 0));
        const double copying = std::max(2 * packed / (kPacked * machine.memory_bytes),
                                        squares * kSquare * machine.memory_latency / (std::max(1, device.sm_count) * pack::kBlocksPerSm));
        const double packing = kPack * machine.second_kernel + copying * share_packed_before(schedule);
        time.other_kernels += packing * (schedule.packed.any() ? 1 + kPackedStrip : 1);
        time.other_kernels +=
            kPieceOfStrip * machine.memory_latency * static_cast<double>(pieces_of_strips(schedule)) / (device.sm_count * resident);
        if (pack::packs_beside(c)) time.other_kernels += kPackers * machine.second_kernel;
    }
    if (partials > 0) time.other_kernels += sum_of_parts_estimate(partials, device);
    if (c.cluster > 1)
        time.results += kClusterSum * machine.cluster_sync * portable::log2(c.cluster) * work.fills +
                        static_cast<double>(sum_bytes(p)) * c.block_m * c.block_n / (kClusterRate * machine.cluster_bytes);
    if (c.slice_k > 1)
        time.results +=
            (kSliceSum * portable::log2(c.slice_k) * work.fills + kSliceElement * c.slice_k * c.block_m * c.block_n) / machine.fma_clock;
    return with_strips(time, schedule, device);
}

}  // namespace tmm
