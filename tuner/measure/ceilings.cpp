#include "tuner/measure/ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <new>
#include <random>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/error.h"
#include "base/text/environment.h"
#include "generator/compile/kernel_cache.h"
#include "runtime/plan/executable_plan.h"
#include "tmm/checks/ceilings/args.h"
#include "tuner/measure/timing.h"

namespace tmm {
namespace {

constexpr std::int64_t kReadBytesEmulated = 1 << 16;
constexpr int kGapLaunches = 1000;
constexpr int kGapLaunchesEmulated = 4;
// At most this many of a sweep's launch shapes, all within this factor of the fastest, are timed again; a floor is the least of their
// medians.
constexpr std::size_t kMostKept = 4;
constexpr double kKeepWithin = 1.03;
// The values that are read: a prime number of them, so that their pattern repeats at no power of two.
constexpr std::size_t kValues = 1048573;
// Rounds of the first look at the multiplying kernel.
constexpr int kFirstRounds = 64;

i64 ceil_div(i64 a, i64 b) {
    return (a + b - 1) / b;
}

template <class Args>
void launch(Device& device, const LoadedKernel& kernel, i64 blocks, int threads, const Args& args, Stream stream) {
    device.launch(kernel, {.grid = blocks, .threads = threads}, &args, sizeof args, stream);
}

std::int64_t round_up(std::int64_t bytes) {
    return ceil_div(bytes, 256) * 256;
}

using LaunchRounds = void (*)(Device&, const LoadedKernel&, i64 blocks, int threads, int rounds, float* sink, Stream);

template <class Args>
void launch_rounds(Device& device, const LoadedKernel& kernel, i64 blocks, int threads, int rounds, float* sink, Stream stream) {
    Args args;
    args.rounds = rounds;
    args.sink = sink;
    launch(device, kernel, blocks, threads, args, stream);
}

// A kernel that multiplies. The fastest of all that measure one arithmetic counts, so another instruction (wgmma, which is faster than
// mma.sync where the GPU has it) takes more rows of this table.
struct MultiplyingKernel {
    Unit arithmetic;
    const char* instruction;
    const char* entry;
    int chains;
    // The unit that has the chains under way, thread or warp.
    const char* whose;
    // Floating-point operations of one step of all chains of a warp, and steps of a round.
    double flop;
    int steps;
    LaunchRounds launch;
    KernelSource (*source)();
    int least_compute_capability;
    bool emulated;
};

constexpr double kFfmaFlop = 2.0 * 32;
constexpr double kMma16Flop = 2.0 * 16 * 8 * 16;
constexpr double kMma8Flop = 2.0 * 16 * 8 * 8;

constexpr MultiplyingKernel ffma(const char* entry, int chains) {
    return {.arithmetic = Unit::ffma,
            .instruction = "FFMA",
            .entry = entry,
            .chains = chains,
            .whose = "thread",
            .flop = kFfmaFlop * chains,
            .steps = kFmaSteps,
            .launch = launch_rounds<FmaArgs>,
            .source = make_ceilings_source,
            .least_compute_capability = 0,
            .emulated = true};
}

constexpr MultiplyingKernel mma(Unit arithmetic, const char* entry, int chains) {
    return {.arithmetic = arithmetic,
            .instruction = "mma.sync",
            .entry = entry,
            .chains = chains,
            .whose = "warp",
            .flop = (arithmetic == Unit::tf32 ? kMma8Flop : kMma16Flop) * chains,
            .steps = kMmaSteps,
            .launch = launch_rounds<MmaArgs>,
            .source = make_mma_ceilings_source,
            .least_compute_capability = 80,
            .emulated = false};
}

constexpr MultiplyingKernel kMultiplyingKernels[] = {
    ffma("tmm_ceiling_fma_8", 8),
    ffma("tmm_ceiling_fma_16", 16),
    mma(Unit::bf16, "tmm_ceiling_mma_bf16_4", 4),
    mma(Unit::bf16, "tmm_ceiling_mma_bf16_16", 16),
    mma(Unit::f16, "tmm_ceiling_mma_f16_4", 4),
    mma(Unit::f16, "tmm_ceiling_mma_f16_16", 16),
    mma(Unit::tf32, "tmm_ceiling_mma_tf32_4", 4),
    mma(Unit::tf32, "tmm_ceiling_mma_tf32_16", 16),
};

// Distance in bytes from a vector's first byte.
std::int64_t misalignment(const std::byte* start) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(start) % kReadVectorBytes);
}

// A vector of which a part is in the range is read whole: the allocations that ranges lie in begin and end with a vector.
ReadRange in_vectors(const ByteRange& range) {
    const std::int64_t before = misalignment(range.start);
    return {.start = range.start - before, .vectors = ceil_div(before + range.bytes, kReadVectorBytes)};
}

ReadArgs read_args(const std::vector<ByteRange>& ranges, void* sink) {
    if (ranges.size() > static_cast<std::size_t>(kReadRanges)) throw std::invalid_argument("more ranges than the read kernel takes");
    ReadArgs args;
    for (std::size_t i = 0; i < ranges.size(); ++i) args.ranges[i] = in_vectors(ranges[i]);
    args.sink = static_cast<unsigned*>(sink);
    return args;
}

// Power, and with it the clock, may depend on what is read.
std::vector<float> normal_values() {
    std::mt19937 random(20240229);
    std::normal_distribution<float> normal;
    std::vector<float> values(kValues);
    for (float& value : values) value = normal(random);
    return values;
}

// One launch shape of a sweep.
struct Swept {
    CeilingLaunch launch = {};
    // The kernel, where one that multiplies is swept.
    const MultiplyingKernel* kernel = nullptr;
    std::function<Recorded(int launches)> record;
    // Units of work of one launch, so that times of different launch shapes compare.
    double work = 1;
    // Microseconds for a unit of work.
    double us = 0;
};

// A replay holds a multiple of the launches of a round.
struct Sweep {
    int round = 1;
    // Least time of a sample after the screening.
    double sample_us = 0;
    SettleOptions settle;
    int samples = 1;
};

// Screens all launch shapes by a round each, times the fastest again in turn, and gives the one with the least median.
Swept best_of(std::vector<Swept> swept, const Sweep& sweep) {
    for (Swept& one : swept) one.us = screening_time(one.record(sweep.round)) / one.work;
    std::stable_sort(swept.begin(), swept.end(), [](const Swept& x, const Swept& y) { return x.us < y.us; });
    const auto slow = std::find_if(swept.begin(), swept.end(), [&](const Swept& one) { return one.us > kKeepWithin * swept.front().us; });
    swept.erase(slow, swept.end());
    if (swept.size() > kMostKept) swept.resize(kMostKept);

    const int launches = launches_for(sweep.sample_us, swept.front().us * swept.front().work, sweep.round);
    std::vector<Sampler> samplers;
    for (const Swept& one : swept) samplers.push_back(sampler_of(std::make_shared<Recorded>(one.record(launches))));
    settle(samplers, sweep.settle);
    std::vector<std::vector<double>> times(swept.size());
    for (int sample = 0; sample < sweep.samples; ++sample)
        for (std::size_t i = 0; i < swept.size(); ++i) times[i].push_back(samplers[i]());
    for (std::size_t i = 0; i < swept.size(); ++i) swept[i].us = quantile(times[i], 0.5) / swept[i].work;
    return *std::min_element(swept.begin(), swept.end(), [](const Swept& x, const Swept& y) { return x.us < y.us; });
}

// Together with what comes before a clock settles, this makes less than two seconds on a GPU.
constexpr CeilingOptions kQuick{.settle = {.least_seconds = 0.1, .most_seconds = 0.2},
                                .sample_us = 300,
                                .samples = 9,
                                .read_bytes = std::int64_t{1} << 29,
                                .quick = true};
constexpr double kFlopOfFma = 2;

}  // namespace

std::string_view name_of(Unit arithmetic) {
    switch (arithmetic) {
        case Unit::ffma: return "ffma";
        case Unit::tf32: return "tf32";
        case Unit::f16: return "f16";
        case Unit::bf16: return "bf16";
        case Unit::f64: return "f64";
        case Unit::s8: return "s8";
    }
    return "?";
}

double DeviceCeilings::flop_per_us(Unit arithmetic) const {
    const auto found = multiplying.find(arithmetic);
    return found == multiplying.end() ? 0 : found->second.flop_per_us;
}

struct CeilingSweep::Kernels {
    struct Entry {
        int at_once;
        std::shared_ptr<const LoadedKernel> kernel;
    };
    std::vector<Entry> read;
    struct Multiplying {
        const MultiplyingKernel* row;
        std::shared_ptr<const LoadedKernel> kernel;
    };
    std::vector<Multiplying> multiplying;
    std::shared_ptr<const LoadedKernel> empty;
    DeviceBuffer sink;
};

std::string to_text(const CeilingLaunch& launch, const std::string& what, const std::string& whose) {
    const auto counted = [](int count, const std::string& thing) { return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s"); };
    return fmt::format("{} a {}, {} threads, {}", counted(launch.at_once, what), whose, launch.threads,
                       launch.blocks_per_sm == 0 ? "no block reads twice" : counted(launch.blocks_per_sm, "block") + " an SM");
}

KernelSource make_mma_ceilings_source() {
    KernelSource source{.name = "tmm_mma_ceilings", .text = "#include \"tmm/checks/ceilings/mma.cuh\"\n", .entries = {}};
    for (const MultiplyingKernel& row : kMultiplyingKernels)
        if (row.source == make_mma_ceilings_source) source.entries.push_back({row.entry, "tmm::MmaArgs"});
    return source;
}

CeilingSweep::CeilingSweep(std::shared_ptr<Device> device, std::set<Unit> arithmetics, const CeilingOptions& options)
    : device_(std::move(device)), arithmetics_(std::move(arithmetics)), options_(options), kernels_(std::make_unique<Kernels>()) {
    KernelLoader loader(device_, make_compiler(device_->info()), KernelCache(default_cache_directory()));
    const auto load = [&](const KernelSource& source, const std::string& entry) {
        auto result = loader.load(source, entry);
        if (const auto* failure = std::get_if<CompileFailure>(&result))
            throw Error(ExitStatus::no_compiler, fmt::format("{} does not compile: {}", entry, failure->log));
        return std::get<KernelLoader::Loaded>(std::move(result)).kernel;
    };
    for (const int loads : options_.quick ? std::vector{4, 8} : std::vector{1, 2, 4, 8})
        kernels_->read.push_back({.at_once = loads, .kernel = load(make_ceilings_source(), fmt::format("tmm_ceiling_read_{}", loads))});
    const DeviceInfo& info = device_->info();
    for (const MultiplyingKernel& row : kMultiplyingKernels)
        if (arithmetics_.contains(row.arithmetic) &&
            (info.emulated ? row.emulated : info.compute_capability() >= row.least_compute_capability))
            kernels_->multiplying.push_back({.row = &row, .kernel = load(row.source(), row.entry)});
    kernels_->empty = load(make_ceilings_source(), "tmm_ceiling_empty");
    kernels_->sink = DeviceBuffer(device_, 256);
}
CeilingSweep::~CeilingSweep() = default;

ReadFloor CeilingSweep::read(const ReadSets& sets, const SettleOptions& settling) const {
    const DeviceInfo& info = device_->info();
    std::vector<ReadArgs> args;
    for (const std::vector<ByteRange>& set : sets) args.push_back(read_args(set, kernels_->sink.data()));
    i64 vectors = 0;
    for (const ReadRange& range : args.front().ranges) vectors += range.vectors;

    std::vector<Swept> swept;
    std::set<std::tuple<int, int, i64>> seen;
    const auto add = [&](const Kernels::Entry& entry, int threads, int blocks_per_sm) {
        const i64 chunks = std::max<i64>(ceil_div(vectors, static_cast<i64>(entry.at_once) * threads), 1);
        const i64 blocks = blocks_per_sm == 0 ? chunks : std::min<i64>(chunks, static_cast<i64>(blocks_per_sm) * info.sm_count);
        if (!seen.emplace(entry.at_once, threads, blocks).second) return;
        swept.push_back({.launch = {.at_once = entry.at_once, .threads = threads, .blocks_per_sm = blocks == chunks ? 0 : blocks_per_sm},
                         .record = [this, &args, kernel = entry.kernel, blocks, threads](int count) {
                             const auto all = [&](Stream stream) {
                                 for (int i = 0; i < count; ++i)
                                     launch(*device_, *kernel, blocks, threads, args[static_cast<std::size_t>(i) % args.size()], stream);
                             };
                             return Recorded{.replay = device_->record(all), .launches = count};
                         }});
    };
    for (const Kernels::Entry& entry : kernels_->read) {
        if (info.emulated) {
            add(entry, 32, 1);
            continue;
        }
        for (const int threads : options_.quick ? std::vector{128, 512} : std::vector{128, 256, 512, 1024}) {
            for (const int blocks_per_sm : options_.quick ? std::vector{4} : std::vector{1, 2, 4, 8, 16})
                if (threads * blocks_per_sm <= info.max_threads_per_sm) add(entry, threads, blocks_per_sm);
            add(entry, threads, 0);
        }
    }
    const Swept best = best_of(
        std::move(swept), {.round = static_cast<int>(sets.size()), .sample_us = sample_us(), .settle = settling, .samples = samples()});
    return {.us = best.us, .launch = to_text(best.launch, "load")};
}

ReadSets CeilingSweep::sets_like(const std::vector<ByteRange>& set, std::int64_t count, DeviceBuffer& memory) const {
    std::int64_t held = 0;
    for (const ByteRange& range : set) held += round_up(range.bytes + kReadVectorBytes);
    memory = filled(held * count);
    ReadSets sets(static_cast<std::size_t>(count), set);
    const auto* next = static_cast<const std::byte*>(memory.data());
    for (std::vector<ByteRange>& ranges : sets)
        for (ByteRange& range : ranges) {
            range.start = next + misalignment(range.start);
            next += round_up(range.bytes + kReadVectorBytes);
        }
    return sets;
}

DeviceBuffer CeilingSweep::filled(std::int64_t bytes) const {
    DeviceBuffer memory(device_, static_cast<std::size_t>(bytes));
    auto* const start = static_cast<std::byte*>(memory.data());
    const std::vector<float> values = normal_values();
    for (std::int64_t done = 0; done < bytes;) {
        const std::int64_t part = std::min(bytes - done, static_cast<std::int64_t>(values.size() * sizeof(float)));
        device_->copy_to_device(start + done, values.data(), static_cast<std::size_t>(part));
        done += part;
    }
    return memory;
}

DeviceCeilings CeilingSweep::measure() const {
    DeviceCeilings ceilings;
    measure_reading(ceilings);
    for (const Unit arithmetic : arithmetics_)
        if (const std::optional<FlopRate> rate = measure_multiplying(arithmetic, device_->info().sm_count))
            ceilings.multiplying[arithmetic] = *rate;
    measure_launching(ceilings);
    return ceilings;
}

std::optional<FlopRate> CeilingSweep::measure_one_sm(Unit arithmetic) const {
    return measure_multiplying(arithmetic, 1);
}

// Two halves are read in turn, each far larger than the L2, so that neither is in the L2 when its turn comes.
void CeilingSweep::measure_reading(DeviceCeilings& ceilings) const {
    const DeviceInfo& info = device_->info();
    std::int64_t bytes = info.emulated ? kReadBytesEmulated : std::min(options_.read_bytes, info.memory_bytes / 8 / 256 * 256);
    DeviceBuffer memory;
    while (true) {
        try {
            memory = filled(2 * bytes);
            break;
        } catch (const std::bad_alloc&) {
            if (bytes <= 4 * info.l2_bytes) throw Error(ExitStatus::no_device, "too little memory is free to measure how fast it is read");
            bytes /= 2;
        }
    }
    const auto* const start = static_cast<const std::byte*>(memory.data());
    const ReadSets halves = {{{.start = start, .bytes = bytes}}, {{.start = start + bytes, .bytes = bytes}}};
    const ReadFloor floor = read(halves, options_.settle);
    ceilings.read_bytes = bytes;
    ceilings.read_bytes_per_us = static_cast<double>(bytes) / floor.us;
    ceilings.read_launch = floor.launch;
}

std::optional<FlopRate> CeilingSweep::measure_multiplying(Unit arithmetic, int sms) const {
    const DeviceInfo& info = device_->info();
    const auto swept_by = [&](const Kernels::Multiplying& entry, int threads, int blocks_per_sm, int rounds) {
        const i64 blocks = static_cast<i64>(blocks_per_sm) * sms;
        const MultiplyingKernel& row = *entry.row;
        const auto record = [this, &row, kernel = entry.kernel, threads, blocks, rounds](int count) {
            const auto all = [&](Stream stream) {
                for (int i = 0; i < count; ++i)
                    row.launch(*device_, *kernel, blocks, threads, rounds, static_cast<float*>(kernels_->sink.data()), stream);
            };
            return Recorded{.replay = device_->record(all), .launches = count};
        };
        return Swept{.launch = {.at_once = row.chains, .threads = threads, .blocks_per_sm = blocks_per_sm},
                     .kernel = &row,
                     .record = record,
                     .work = row.flop * row.steps * rounds * static_cast<double>(blocks * threads) / 32};
    };

    std::vector<Swept> swept;
    for (const Kernels::Multiplying& entry : kernels_->multiplying) {
        if (entry.row->arithmetic != arithmetic) continue;
        if (info.emulated) {
            swept.push_back(swept_by(entry, 32, 1, 1));
            continue;
        }
        for (const int threads : options_.quick&& sms > 1 ? std::vector{256} : std::vector{256, 512})
            // A second block would go to another SM.
            for (const int blocks_per_sm : sms > 1 ? std::vector{1, 2, 4} : std::vector{1}) {
                if (threads * blocks_per_sm > info.max_threads_per_sm) continue;
                // The rounds are so many that a launch is long compared with the cost of beginning and ending it.
                const double first_us = screening_time(swept_by(entry, threads, blocks_per_sm, kFirstRounds).record(1));
                const double rounds = kFirstRounds * std::max(options_.sample_us / first_us, 1.0);
                swept.push_back(swept_by(entry, threads, blocks_per_sm, static_cast<int>(std::min(rounds, 1e6))));
            }
    }
    if (swept.empty()) return std::nullopt;
    const Swept best = best_of(std::move(swept), {.round = 1, .sample_us = sample_us(), .settle = options_.settle, .samples = samples()});
    return FlopRate{.flop_per_us = 1 / best.us,
                    .instruction = best.kernel->instruction,
                    .launch = to_text(best.launch, "chain", best.kernel->whose),
                    .clock_mhz = device_->state().sm_clock_mhz};
}

void CeilingSweep::measure_launching(DeviceCeilings& ceilings) const {
    const bool emulated = device_->info().emulated;
    const auto record = [this](int count) {
        const auto all = [&](Stream stream) {
            for (int i = 0; i < count; ++i) launch(*device_, *kernels_->empty, 1, 32, EmptyArgs{}, stream);
        };
        return Recorded{.replay = device_->record(all), .launches = count};
    };
    const Swept gap =
        best_of({{.launch = {}, .record = record}},
                {.round = emulated ? kGapLaunchesEmulated : kGapLaunches, .sample_us = 0, .settle = options_.settle, .samples = samples()});
    ceilings.launch_gap_us = gap.us;
}

MeasuredRates measure_rates(const std::shared_ptr<Device>& device) {
    const CeilingSweep sweep(device, {Unit::ffma, Unit::bf16}, kQuick);
    MeasuredRates rates;
    // The first to run brings an idle device to its clock.
    if (const std::optional<FlopRate> one_sm = sweep.measure_one_sm(Unit::ffma)) rates.fmas_of_one_sm = one_sm->flop_per_us / kFlopOfFma;
    const DeviceCeilings ceilings = sweep.measure();
    rates.read_bytes = ceilings.read_bytes_per_us;
    rates.fmas = ceilings.flop_per_us(Unit::ffma) / kFlopOfFma;
    if (const auto mma = ceilings.multiplying.find(Unit::bf16); mma != ceilings.multiplying.end()) {
        rates.mma_16 = mma->second.flop_per_us / kFlopOfFma;
        rates.mma_clock = mma->second.clock_mhz;
    }
    rates.launch_gap = ceilings.launch_gap_us;
    return rates;
}

}  // namespace tmm
