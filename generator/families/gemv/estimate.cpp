#include "generator/families/gemv/gemv.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/families/family.h"
#include "generator/machine/occupancy.h"
#include "tmm/families/gemv/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {
namespace {

constexpr double kSchedulers = 4;
constexpr double kShareOfMemory = 4.5 / 4.6;
// Pieces of a row shorter than a sector bring it whole; those shorter than two are slower.
constexpr double kSectorBytes = 32;
constexpr double kShortPieces = 0.14;
// Issue slots that a warp takes for a load of 16 bytes, with its way through the cache; for an FMA with its conversions; and for an
// addition of sums.
constexpr double kSlotsOfLoad = 20;
// Issue slots for an element where each lane's element lies in a line of memory of its own. They come from strips of 12 columns of 1100
// cubed and of four columns of 10000x100x1000 on an H200; counted as wavefronts of the cache they would be 128.
constexpr double kSlotsOfScattered = 80;
// Issue slots for 16 bytes that come in two chunks and are shifted into place.
constexpr double kSlotsOfChunks = 61;
// So many warps of an SM shift them as fast as it issues.
constexpr double kWarpsOfChunks = 8;
constexpr double kSlotsOfFma = 2.6;
constexpr double kSlotsOfSum = 8.5;
// Latencies of memory that a phase waits for.
constexpr double kLoads = 0.5 / 0.68;
// Latencies that each phase waits by itself for loads in chunks, where lines run along K and where they do not; and what a wave of
// blocks takes besides.
constexpr double kChunksAlongK = 0.22 / 0.68;
constexpr double kChunks = 2.1 / 0.68;
constexpr double kWaveOfChunks = 1.6 / 0.68;
constexpr double kLaunches = 1.6 / 0.7;
// The part of what a second kernel costs that adding parts up does.
constexpr double kReduce = 1.5 / 2.1;
// How the three times come together: 1 adds them, infinity takes the longest.
constexpr double kNorm = 2.14;
constexpr int kAccessBytes = 16;
// Launches that a strip takes at least; and the part of its time by which it holds up the product that it runs beside.
constexpr double kShortestStrip = 4 / 0.7;
constexpr double kBeside = 0.35;
// Where rows of the many run across K, a strip's blocks take a sector of each, and so many times as long: 5000 cubed tn bf16 takes 507 us
// on an H100 in tiles that leave 8 columns to a strip, and 385 in others.
constexpr double kSectorsOfRows = 6;

// What a thread reads of a line at once.
struct LineRead {
    int neighbours;
    int alignment;
    bool in_chunks;
};
LineRead line_read(const GemmProblem& p, const KernelConfig& c, int neighbours, int alignment) {
    return {neighbours, alignment, gemv::comes_in_chunks(c, p.type_a, alignment, neighbours)};
}
LineRead line_of_many(const GemmProblem& p, const KernelConfig& c) {
    const KernelSignature s = signature_of(p);
    return line_read(p, c, gemv::many_along_k(c, s) ? gemv::k_step(c) : c.thread_n, c.swap_ab ? s.align_a : s.align_b);
}
// What a thread reads at once of a line of the few rows, where these run along K. Else each of its elements lies by itself; where
// neighbouring threads read the same ones, the model counts as many of these as an access would bring as one.
LineRead line_of_few(const GemmProblem& p, const KernelConfig& c) {
    const KernelSignature s = signature_of(p);
    if (gemv::few_along_k(c, s)) return line_read(p, c, gemv::k_step(c), c.swap_ab ? s.align_b : s.align_a);
    return {gemv::k_step(c), kAccessBytes, false};
}

double slots_of(const LineRead& line, const GemmProblem& p, const KernelConfig& c) {
    if (line.in_chunks) return kSlotsOfChunks;
    const int bytes = line.neighbours * size_of(p.type_a);
    return kSlotsOfLoad * bytes / std::min({bytes, line.alignment, c.vector_width * size_of(p.type_a)});
}

PredictedTime time_of(const GemmProblem& p, const KernelConfig& c, const DeviceInfo& device) {
    const MachineProfile& machine = device.profile;
    const KernelSignature s = signature_of(p);
    const bool along_k = gemv::many_along_k(c, s);
    const auto [few, many, k, batch] = std::array{static_cast<double>(c.swap_ab ? p.n : p.m), static_cast<double>(c.swap_ab ? p.m : p.n),
                                                  static_cast<double>(p.k), static_cast<double>(p.batch)};
    const double element = size_of(p.type_a);
    const double threads = gemv::threads(c);
    const double warps = threads / 32;
    const double sums = static_cast<double>(c.block_m) * c.thread_n;

    const int registers = static_cast<int>(std::min(255.0, 48 + 1.2 * sums * sum_bytes(p) / 4 + registers_read_ahead(p, c)));
    const double resident = std::max(1, blocks_per_sm(device, gemv::threads(c), registers, gemv::shared_bytes(c, s)).blocks);
    const double busiest = std::ceil(static_cast<double>(blocks_of(c, p.m, p.n, p.batch)) / std::max(1, device.sm_count));
    const double phases = std::ceil(std::ceil(k / c.split_k) / c.block_k);

    const double piece = along_k ? std::min(c.block_k * element, 512.0) : c.block_n * element;
    const double more = std::max(1.0, kSectorBytes / piece) * (1 + kShortPieces * std::max(0.0, 2 * kSectorBytes / piece - 0.5));
    const double memory =
        batch * ((many * more + few) * k * element + few * many * size_of(p.type_c)) / (kShareOfMemory * machine.memory_bytes);

    const double steps = gemv::k_step(c);
    const LineRead line = line_of_many(p, c);
    const bool few_are_scattered = along_k && !gemv::few_along_k(c, s);
    const double loading = c.block_m * (few_are_scattered ? steps * kSlotsOfScattered : slots_of(line_of_few(p, c), p, c)) +
                           (along_k ? c.thread_n : steps) * slots_of(line, p, c);
    // Additions across a warp's lanes that run along K, and across the threads that do.
    const double adding = (along_k ? 10 * sums : 0) + static_cast<double>(c.block_m) * c.block_n / threads * gemv::threads_k(c);
    const double slots = phases * (loading + sums * steps * kSlotsOfFma * slots_of_warp_fma(device, sum_type(p))) + adding * kSlotsOfSum;
    const double too_few = line.in_chunks ? std::max(1.0, kWarpsOfChunks / (std::min(busiest, resident) * warps)) : 1.0;
    const double issuing = too_few * busiest * warps * slots / (kSchedulers * machine.fma_clock);
    const double waves = std::ceil(busiest / resident);
    const double waiting = machine.memory_latency * waves *
                           (line.in_chunks ? phases * (along_k ? kChunksAlongK : kChunks) + kWaveOfChunks : phases / c.stages * kLoads);

    return norm_of(kNorm, {{.memory = memory}, {.arithmetic = issuing}, {.latency = waiting}}) +
           PredictedTime{.latency = kLaunches * machine.launch, .other_kernels = c.split_k > 1 ? kReduce * machine.second_kernel : 0};
}

}  // namespace

int registers_read_ahead(const GemmProblem& p, const KernelConfig& c) {
    if (c.family != family::gemv) return 0;
    constexpr int register_bytes = 4;
    const int many = c.stages * c.thread_n * (line_of_many(p, c).in_chunks ? 2 : 1);
    return (many + c.block_m) * gemv::k_step(c) * size_of(p.type_a) / register_bytes;
}

PredictedTime gemv_estimate(const Schedule& schedule, const DeviceInfo& device) {
    return time_of(schedule.product, schedule.config, device);
}

PredictedTime with_strips(const PredictedTime& product, const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& p = schedule.product;
    double strips = 0;
    for (const EdgeProduct& edge : schedule.edges) {
        GemmProblem strip = p;
        strip.m = edge.extent.rows;
        strip.n = edge.extent.columns;
        const bool by_sectors =
            !gemv::many_along_k(edge.config, signature_of(p)) && edge.config.block_n * size_of(p.type_a) <= kSectorBytes;
        const double time = (by_sectors ? kSectorsOfRows : 1) * time_of(strip, edge.config, device).total();
        strips += std::max(kShortestStrip * device.profile.launch, time);
    }
    return longest_of({product, {.other_kernels = strips}}) + PredictedTime{.other_kernels = kBeside * strips};
}

}  // namespace tmm
