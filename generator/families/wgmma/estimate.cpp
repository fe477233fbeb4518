#include "generator/families/wgmma/wgmma.h"

#include <algorithm>
#include <cmath>

#include "generator/families/gemv/gemv.h"
#include "generator/machine/occupancy.h"
#include "host/portable_math.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pad/rules.h"

namespace tmm {
namespace {

// Clocks in each phase in which a block's only warpgroup waits for its products and for the next tiles, while no other uses the tensor
// cores.
constexpr double kClocksAlone = 38;

// The part of memory's rate that few blocks reach; they reach more where they fill more of the SMs.
constexpr double kReadByFew = 0.2;
// One of a block's stages is being read, and often the one before it still is.
constexpr double kStagesRead = 1.5;
// Short pieces of many rows are slower than long ones of few.
constexpr double kShortPieces = 0.045;
// The part of the L2 cache that an operand may take and still be there for the next band of tiles.
constexpr double kStaysInL2 = 0.7;
constexpr double kSplitLines = 1.8;
// What several clusters ask for, each on its own, costs memory so much more: 100x5120x5120 nt in tiles of 64 x 80 takes 24.6 microseconds,
// and 19.9 in pairs that share their 80 columns.
constexpr double kAskedAgain = 0.2;

// TMA asks for each row of few columns along M or N by itself, and all blocks ask for the same few lines. So many rows of 8 columns are
// hidden, and those beyond show: 4096x8x4096 takes 12.5 us where 64 blocks bring a quarter of B's rows each, 19.7 where 128 bring half.
// 4000x40x4000 takes 11.9 us where 63 blocks bring a quarter each, and 16.7 where 126 bring half.
constexpr double kFewColumns = 96;
constexpr double kClocksOfNarrowRow = 3.7e-5 * 1.9e3;
constexpr double kHiddenRows = 65536;

// Clocks that a tile's results take, however few they are, from the last product to where the next tile's take their place. Rows that
// begin or end within a line are stored in more pieces, and those of transposed products in pieces of 16 elements; rows that do not start
// at whole chunks pass through registers once more.
constexpr double kClocksOfStore = 722;
// Clocks for each box in which a warp's results leave.
constexpr double kClocksOfBox = 152;
// Clocks, where planes are multiplied, for each time that a warp has filled its boxes and waits for them to leave: 8192x8192x64 takes 124
// us on an H200 in tiles of 192x64 with two stages, which leave room for all boxes of a tile, and 146 with three.
constexpr double kClocksOfRound = 200;
constexpr double kSplitBoxes = 1.4;
constexpr double kSplitStores = 2.4;
constexpr double kTransposedStores = 1.5;
// Sums that the warpgroups of an SM pass so in a clock, however many warpgroups and however wide a tile: 777x1555x333 tt of bf16 takes 6.6
// us on an H200 in tiles of 64x160 that one warpgroup stores, and 7.2 where two do.
constexpr double kShiftedPerClock = 17;
constexpr double kShiftedTransposed = 4;
// Latencies of memory for each box of C, where C is read, that finds no room before the sums are ready.
constexpr double kLateBox = 0.56 / 0.68;

// The parts of memory's rate at which operands are padded and split.
constexpr double kPadded = 4.8 / 4.6;
constexpr double kSplit = 3 / 4.6;
// How many times as long a tile takes whose parts of K are the blocks of one cluster, more than two or more than four: they have to find
// room beside each other, and all wait for the slowest. 512x512x32768 bf16 takes 43.4 us on an H100 in eight parts of a cluster and 32.7 in
// four parts without one, where the terms alone give 43 and 46.
constexpr double kManyParts = 1.1;
constexpr double kVeryManyParts = 1.15;
// Meetings of a cluster that its start takes where blocks share tiles, and for each that shares.
constexpr double kClusterStart = 0.6 / 0.35;
constexpr double kEachSharer = 0.15 / 0.35;
// The part of it that shows behind a kernel that pads or splits operands, during which the clusters may start. Over all recorded shapes
// half fits best; that tile of 64x160 takes as long in clusters of two.
constexpr double kClusterStartShown = 0.5;
// Sums of planes are added up in registers while products go on.
constexpr double kPromoting = 1.25;
// Second kernels: the one that makes planes of floats, and the one after the product that looks whether it is needed.
constexpr double kPlanes = 5.6 / 2.1;
// What is not the longest still stands in its way; all the more where an SM has few tiles of block_k, since nothing hides the first ones'
// arrival and the last results: so much of it where it has one, and half where it has two. 12345x128x64 BF16 takes 4.2 us on an H100 where
// each SM has one, and 3.1 where three blocks share it.
constexpr double kInTheWay = 0.2;
constexpr double kInTheWayOfOne = 0.6;

double ceil_divide(double a, double b) {
    return std::ceil(a / b);
}

// Rows that TMA can't bring as they are get padded; so are those of planes.
bool is_whole_lines(i64 columns, i64 ld, ElementType type, int planes) {
    constexpr i64 line = 128;
    constexpr i64 needed = 16;
    if (planes > 1) type = planes::type_of(planes);
    const bool padded = planes > 1 || ld * size_of(type) % needed != 0;
    return (padded ? pad::padded_ld(columns, type) : ld) * size_of(type) % line == 0;
}
bool a_is_whole_lines(const GemmProblem& p, int planes) {
    return is_whole_lines(stored_columns_a(p), p.lda, p.type_a, planes);
}
bool b_is_whole_lines(const GemmProblem& p, int planes) {
    return is_whole_lines(stored_columns_b(p), p.ldb, p.type_b, planes);
}

class WgmmaCost {
public:
    WgmmaCost(const Schedule& schedule, const DeviceInfo& device)
        : p_(schedule.product),
          c_(schedule.config),
          device_(device),
          machine_(device.profile),
          s_(schedule.signature),
          k_(static_cast<double>(p_.k)),
          batch_(static_cast<double>(p_.batch)),
          left_(static_cast<double>(c_.swap_ab ? schedule.main.columns : schedule.main.rows)),
          right_(static_cast<double>(c_.swap_ab ? schedule.main.rows : schedule.main.columns)),
          element_(size_of(s_.type_a) * c_.planes),
          blocks_(static_cast<double>(schedule.blocks)),
          sms_(sms_for_clusters(device, wgmma::cluster_size(c_))),
          resident_(
              std::max(1, blocks_per_sm(device, wgmma::threads(c_), wgmma::registers_at_launch(c_), wgmma::shared_bytes(c_, s_)).blocks)),
          busiest_(ceil_divide(blocks_, sms_)),
          phases_(std::max(1.0, ceil_divide(ceil_divide(k_, c_.split_k), c_.block_k))) {}

    PredictedTime estimate() const {
        const PredictedTime tiles = this->tiles();
        const PredictedTime waits = {.latency = busiest_ * phases_ / ((c_.stages - kStagesRead) * std::min(resident_, busiest_)) *
                                                machine_.memory_latency};
        const PredictedTime traffic = {.memory = memory()};
        // The longest counts in full, and the others' part that stands in its way.
        const double in_the_way = std::max(kInTheWay, kInTheWayOfOne / (busiest_ * phases_));
        const PredictedTime together = in_the_way * (tiles + waits + traffic + PredictedTime{.memory = busiest_ * phases_ * requests()}) +
                                       (1 - in_the_way) * longest_of({tiles, waits, traffic});
        const double parts = c_.cluster > 4 ? kVeryManyParts : c_.cluster > 2 ? kManyParts : 1;
        return (c_.planes > 1 ? kPromoting : 1) * parts * together +
               PredictedTime{.memory = narrow_rows(), .latency = machine_.launch, .other_kernels = other_kernels()} + clusters();
    }

private:
    double bytes_of_results() const { return static_cast<double>(c_.block_m) * c_.block_n * size_of(s_.type_c); }
    // Rows of C that do not start at whole chunks take time of their own.
    bool shifts_rows() const { return s_.align_c < 16; }
    // How many times as long results take to store because of where their rows end. Rows that are shifted are stored by single elements,
    // whose time is counted there.
    double pieces_of_results() const {
        if (shifts_rows() && !c_.swap_ab) return 1;
        if (wgmma::stages_narrow_rows(c_, s_)) return kSplitStores;
        if (c_.swap_ab) return kTransposedStores;
        if (c_.block_n * size_of(s_.type_c) % wgmma::kRowBytes == 0) return 1;
        return wgmma::stores_boxes(c_, s_) ? kSplitBoxes : kSplitStores;
    }
    double products_per_clock() const {
        if (size_of(s_.type_a) == 1) return machine_.wgmma_8_per_clock;
        return s_.compute == ComputeMode::tf32 ? machine_.wgmma_tf32_per_clock : machine_.wgmma_16_per_clock;
    }
    double bytes_of_partials() const {
        return partial_results(c_) > 1 ? 2.0 * sum_bytes(s_) * partial_results(c_) * batch_ * left_ * right_ : 0.0;
    }

    // Microseconds in which L2 gives an SM what a phase needs of one row or column.
    double line() const { return c_.block_k * element_ / (machine_.l2_bytes_per_clock * machine_.tensor_clock); }
    // Along N, columns are brought in whole slabs, of which the last may have more than the tile.
    double columns_brought() const {
        const wgmma::TileLayout right = wgmma::right_tile(c_, s_);
        return right.along_k ? c_.block_n : wgmma::slabs(right) * wgmma::row_elements(right);
    }
    // Microseconds of a phase's requests to L2, some of which blocks that share tiles save each other.
    double requests() const {
        const double lines_a = a_is_whole_lines(p_, c_.planes) ? 1 : kSplitLines;
        const double lines_b = b_is_whole_lines(p_, c_.planes) ? 1 : kSplitLines;
        const double lines_left = c_.swap_ab ? lines_b : lines_a;
        const double lines_right = c_.swap_ab ? lines_a : lines_b;
        return (lines_left * c_.block_m / c_.multicast_a + lines_right * columns_brought() / c_.multicast_b) * line();
    }
    PredictedTime phase() const {
        const double columns = wgmma::group_n(c_);
        const double instructions =
            static_cast<double>(c_.block_m) / wgmma::kRows * c_.warps_n * c_.block_k / wgmma::k_step(s_) * wgmma::products(c_.planes);
        const double products = wgmma::kRows * columns * wgmma::k_step(s_) / products_per_clock();
        // From registers or not, the left operand's words are read once for each instruction.
        const double operands = (wgmma::kRows + columns) * 32 / machine_.shared_bytes_per_clock;
        const double arrival = (c_.block_m + columns_brought()) * line();
        const bool alone = wgmma::consumers(c_) == 1 && c_.min_blocks == 1;
        const double multiplying =
            instructions * std::max(products, operands) / machine_.tensor_clock + (alone ? kClocksAlone / machine_.tensor_clock : 0);
        return longest_of({{.arithmetic = multiplying}, {.memory = arrival}, {.memory = requests()}});
    }
    double clocks_of_boxes() const {
        const double all = wgmma::boxes_of_tile(c_, s_);
        const double waits = ceil_divide(all, wgmma::boxes_at_once(c_, s_)) - 1;
        return kClocksOfBox * all + (c_.planes > 1 ? kClocksOfRound * waits : 0);
    }
    double epilogue() const {
        const double sums = static_cast<double>(c_.block_m) * c_.block_n;
        const double shifting =
            shifts_rows() ? (c_.swap_ab ? kShiftedTransposed : 1) * sums / (kShiftedPerClock * machine_.tensor_clock) : 0.0;
        const double late =
            s_.reads_c && wgmma::stores_boxes(c_, s_)
                ? kLateBox * machine_.memory_latency * std::max(0, wgmma::boxes_of_tile(c_, s_) - wgmma::boxes_of_warp(c_, s_))
                : 0.0;
        const double boxes = wgmma::stores_boxes(c_, s_) ? clocks_of_boxes() / machine_.tensor_clock : 0.0;
        // Other blocks of the SM multiply meanwhile.
        return (kClocksOfStore / machine_.tensor_clock + boxes + late) / std::min(resident_, busiest_) + shifting +
               pieces_of_results() * bytes_of_results() / (machine_.stored_bytes_per_clock * machine_.tensor_clock);
    }
    // What the busiest SM does for its tiles, were its operands there.
    PredictedTime tiles() const {
        const PredictedTime products = phases_ * phase();
        const PredictedTime stores = {.results = epilogue()};
        // With ping-pong, results leave while the next tile is multiplied, if that takes as long.
        const PredictedTime tile = c_.ping_pong ? longest_of({products, stores}) : products + stores;
        const PredictedTime last = c_.ping_pong ? stores : PredictedTime{};
        if (busiest_ * tile.total() <= machine_.power.after) return busiest_ * tile + last;
        // SMs that wait for the last ones spare these power.
        const double rounds = (busiest_ + blocks_ / sms_) / 2;
        const double moved = columns_brought() / c_.block_n / c_.block_m + 1.0 / c_.block_n;
        return rounds * (machine_.power.multiplying + machine_.power.moving * moved) * tile + last;
    }

    double share_of_bandwidth(double blocks) const { return std::min(1.0, kReadByFew + blocks / sms_); }
    double memory() const {
        // Blocks that have done their work read nothing while others go on, who read faster then.
        const double at_once = std::min(blocks_, sms_ * std::min(resident_, static_cast<double>(c_.min_blocks)));
        const double waves = std::floor(blocks_ / at_once);
        const double left_over = blocks_ - waves * at_once;
        const double even = blocks_ / (waves * at_once + (left_over > 0 ? left_over / share_of_bandwidth(left_over) : 0));
        // Clusters walk over the tiles in bands of rows. Where the right operand does not stay in the L2 cache, each band brings it anew.
        const double tiles_left = ceil_divide(left_, c_.block_m);
        const double tiles_right = ceil_divide(right_, c_.block_n);
        const double band = std::max(static_cast<double>(std::max(c_.raster, 1) * c_.multicast_b), std::floor(at_once / tiles_right));
        const bool stays = right_ * k_ * element_ < kStaysInL2 * static_cast<double>(device_.l2_bytes);
        const double passes = stays ? 1 : ceil_divide(tiles_left, band);
        const double results = (pieces_of_results() + (p_.reads_c ? 1 : 0)) * left_ * right_ * size_of(p_.type_c);
        const auto asked = [](double clusters) { return 1 + kAskedAgain * std::clamp(clusters - 1, 0.0, 1.0); };
        const double lines =
            left_ * asked(ceil_divide(tiles_right, c_.multicast_a)) + passes * right_ * asked(ceil_divide(tiles_left, c_.multicast_b));
        const double bytes = batch_ * (lines * k_ * element_ + results) + bytes_of_partials();
        const double pieces = static_cast<double>(wgmma::kRowBytes) / (c_.block_k * size_of(s_.type_a));
        return bytes / (machine_.memory_bytes * std::max(0.1, even) * (1 - kShortPieces * pieces));
    }

    // Microseconds for the narrow rows of both operands, as all blocks bring them.
    double narrow_rows() const {
        const auto rows = [&](const wgmma::TileLayout& tile, double extent, int sharers) {
            if (tile.along_k || extent >= kFewColumns) return 0.0;
            const double narrow = (kFewColumns - extent) / (kFewColumns - 8);
            return std::min(1.0, narrow) * blocks_ * phases_ * c_.block_k / sharers;
        };
        const double all = rows(wgmma::left_tile(c_, s_), left_, c_.multicast_a) + rows(wgmma::right_tile(c_, s_), right_, c_.multicast_b);
        return kClocksOfNarrowRow / machine_.tensor_clock * std::max(0.0, all - kHiddenRows);
    }

    double other_kernels() const {
        double total = partial_results(c_) > 1 ? machine_.second_kernel : 0.0;
        // Operands that are padded are read and written once more.
        const double m = c_.swap_ab ? right_ : left_;
        const double n = c_.swap_ab ? left_ : right_;
        const double padded = (pad::pads_a(c_) ? batch_ * m * k_ : 0.0) + (pad::pads_b(c_) ? batch_ * n * k_ : 0.0);
        if (padded > 0) total += machine_.second_kernel + 2 * padded * element_ / (kPadded * machine_.memory_bytes);
        // Floats are read, and written as planes; and there is a kernel that looks whether it is needed.
        if (c_.planes > 1)
            total += kPlanes * machine_.second_kernel + batch_ * (m + n) * k_ * (4.0 + element_) / (kSplit * machine_.memory_bytes);
        return total;
    }
    PredictedTime clusters() const {
        PredictedTime time;
        // A cluster has one tile: the next one's loads begin when its sums are stored.
        if (c_.cluster > 1)
            time.results = machine_.cluster_sync * std::ceil(busiest_ / resident_) * portable::log2(c_.cluster) +
                           sum_bytes(s_) * c_.block_m * c_.block_n / machine_.cluster_bytes;
        const bool hidden = c_.planes > 1 || pad::pads_a(c_) || pad::pads_b(c_);
        if (wgmma::multicast(c_) > 1)
            time.latency = (hidden ? kClusterStartShown : 1) * machine_.cluster_sync * (kClusterStart + kEachSharer * wgmma::multicast(c_));
        return time;
    }

    const GemmProblem& p_;
    const KernelConfig& c_;
    const DeviceInfo& device_;
    const MachineProfile& machine_;
    const KernelSignature& s_;
    // Rows of the left operand and columns of the right one; bytes of an element in all planes.
    double k_;
    double batch_;
    double left_;
    double right_;
    double element_;
    // Blocks, or tiles that blocks walk over; and how many the busiest SM has.
    double blocks_;
    double sms_;
    double resident_;
    double busiest_;
    // Tiles of block_k in a part of K.
    double phases_;
};

}  // namespace

PredictedTime wgmma_estimate(const Schedule& schedule, const DeviceInfo& device) {
    return with_strips(WgmmaCost(schedule, device).estimate(), schedule, device);
}

bool rows_are_whole_lines(const GemmProblem& problem, int planes) {
    return a_is_whole_lines(problem, planes) && b_is_whole_lines(problem, planes);
}

}  // namespace tmm
