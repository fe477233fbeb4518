#include "bench/recording/time_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "base/text/environment.h"
#include "base/text/side_by_side.h"
#include "bench/recording/recorded_times.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/text/text.h"
#include "tuner/compiling/candidate_compiler.h"
#include "tuner/compiling/compile_processes.h"
#include "tuner/measure/timing.h"
#include "tuner/options/tuning_options.h"
#include "tuner/search/candidates.h"
#include "tuner/search/compile_queue.h"
#include "tuner/search/variants.h"
#include "tuner/worker/worker_process.h"

namespace tmm::bench {
namespace {

// So many of the fastest are timed beside each other, and these times are recorded.
constexpr std::size_t kRunOffPlaces = 16;
// First samples slower than this many times the best are not refined.
constexpr double kHopeless = 3;
constexpr double kPoll_s = 0.05;
constexpr double kDeadline_s = 20;

TimingOptions timing_options(bool emulated, double best_us) {
    if (emulated) return {.sample_us = 200, .samples = 3, .total_us = 5000, .min_samples = 1, .abandon_above_us = kHopeless * best_us};
    return {.sample_us = 1000, .samples = 5, .total_us = 8000, .min_samples = 3, .abandon_above_us = kHopeless * best_us};
}

RunOffRequest run_off_request(bool emulated) {
    if (emulated) return {.configs = {}, .rounds = 5, .min_rounds = 3, .sample_us = 200, .total_us = 100000};
    return {.configs = {}, .rounds = 21, .min_rounds = 7, .sample_us = 1000, .total_us = 500000, .settle_us = 50000};
}

// A shape whose times are being recorded.
struct Recording {
    std::string shape;
    GemmProblem problem;
    // Its place among the shapes, whose kernels are compiled in their order.
    int place = 0;
    std::vector<Candidate> candidates = {};
    std::vector<std::optional<Measurement>> results = {};
    // The variants of the fastest are among the candidates. They come behind another shape, so that their kernels are compiled meanwhile.
    bool has_variants = false;
    double best_us = 0;
    double seconds = 0;
    double waited_seconds = 0;
};

// The shapes that are ready to be measured, and the kernels of all.
class Plan {
public:
    Plan(const DeviceInfo& device, RecordingFile& file, CandidateCompiler& compiler) : device_(device), file_(file), compiler_(compiler) {}

    // Makes the candidates of one shape after another, and has their kernels compiled, until it is stopped.
    void make(const std::vector<Shape>& shapes) {
        for (std::size_t i = 0; i < shapes.size() && !stopped_; ++i) {
            auto recording = std::make_unique<Recording>();
            recording->shape = to_text(shapes[i].problem);
            recording->problem = shapes[i].problem;
            recording->place = static_cast<int>(i) + 1;
            const auto before = file_.before().problems.find(recording->shape);
            if (before != file_.before().problems.end() && before->second.complete) continue;
            add(*recording, configs_to_record(recording->problem, device_));
            std::lock_guard lock(mutex_);
            ready_.push_back(std::move(recording));
            changed_.notify_all();
        }
        std::lock_guard lock(mutex_);
        all_made_ = true;
        changed_.notify_all();
    }

    // Adds candidates with what the file has of them.
    void add(Recording& recording, const std::vector<KernelConfig>& configs) {
        std::lock_guard lock(book_mutex_);
        const auto before = file_.before().problems.find(recording.shape);
        for (const KernelConfig& config : configs) {
            recording.candidates.push_back(make_candidate(recording.problem, config, device_, book_));
            recording.results.emplace_back();
            if (before != file_.before().problems.end()) {
                const auto time = before->second.times.find(fields_text(config));
                if (time != before->second.times.end()) take(recording, time->second);
            }
            if (recording.results.back()) continue;
            for (const PlannedKernel* kernel : recording.candidates.back().kernels)
                compiler_.request(kernel->source, recording.place, recording.place);
        }
    }

    // Waits for a shape; null once there is none left.
    std::unique_ptr<Recording> next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopped_ || all_made_ || !ready_.empty(); });
        if (stopped_ || ready_.empty()) return nullptr;
        auto recording = std::move(ready_.front());
        ready_.pop_front();
        return recording;
    }
    void put_behind_next(std::unique_ptr<Recording> recording) {
        std::lock_guard lock(mutex_);
        ready_.insert(ready_.begin() + std::min<std::ptrdiff_t>(std::ssize(ready_), 1), std::move(recording));
        changed_.notify_all();
    }
    void stop() {
        std::lock_guard lock(mutex_);
        stopped_ = true;
        changed_.notify_all();
    }

private:
    static void take(Recording& recording, const RecordedTime& time) {
        Measurement known{.outcome = time.outcome, .median_us = time.alone_us};
        if (known.outcome == Outcome::ok && (recording.best_us == 0 || known.median_us < recording.best_us))
            recording.best_us = known.median_us;
        recording.results.back() = std::move(known);
    }

    const DeviceInfo& device_;
    RecordingFile& file_;
    CandidateCompiler& compiler_;
    std::mutex book_mutex_;
    KernelBook book_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::unique_ptr<Recording>> ready_;
    bool all_made_ = false;
    std::atomic<bool> stopped_ = false;
};

// One worker, which takes shapes from the plan.
class Recorder {
public:
    Recorder(WorkerProcess& worker, Plan& plan, CandidateCompiler& compiler, RecordingFile& file, Progress& progress,
             const Interrupt& interrupt, const Budget& budget)
        : worker_(worker), plan_(plan), compiler_(compiler), file_(file), progress_(progress), interrupt_(interrupt), budget_(budget) {}

    // Returns how many shapes it has completed.
    int run() {
        int completed = 0;
        while (!is_over()) {
            auto recording = plan_.next();
            if (!recording) break;
            const auto start = SteadyClock::now();
            measure_all(*recording);
            recording->seconds += seconds_since(start);
            if (is_over() || lacks_results(*recording)) continue;
            if (!recording->has_variants) {
                recording->has_variants = true;
                const auto variants = variants_of_fastest(recording->problem, recording->candidates, recording->results);
                recording->place = 0;
                plan_.add(*recording, variants);
                if (!variants.empty()) {
                    plan_.put_behind_next(std::move(recording));
                    continue;
                }
            }
            if (!hold_run_off(*recording)) continue;
            file_.add(complete_line(recording->shape));
            ++completed;
            say(*recording);
        }
        return completed;
    }

private:
    bool is_over() const { return interrupt_.requested() || budget_.is_over(); }

    void say(const Recording& r) const {
        progress_.note(fmt::format("{}: {} configs in {:.1f} s, of which {:.1f} s went by waiting for kernels; the best alone {:.4g} µs",
                                   r.shape, r.candidates.size(), r.seconds, r.waited_seconds, r.best_us));
    }

    // Another run is to measure those that have no result for reasons that are not their own.
    bool lacks_results(const Recording& r) const {
        const auto lacking = std::count_if(r.results.begin(), r.results.end(), [](const auto& result) { return !result; });
        if (lacking > 0)
            progress_.note(
                fmt::format("{}: {} of {} configs have no result, and are left to another run", r.shape, lacking, r.results.size()));
        return lacking > 0;
    }

    void measure_all(Recording& r) {
        std::vector<std::size_t> missing;
        for (std::size_t i = 0; i < r.results.size(); ++i)
            if (!r.results[i]) missing.push_back(i);
        int seen = 0;
        prepared_.clear();
        while (!missing.empty() && !is_over()) {
            const auto ready =
                std::find_if(missing.begin(), missing.end(), [&](std::size_t i) { return is_compiled(compiler_, r.candidates[i]); });
            if (ready == missing.end()) {
                const auto start = SteadyClock::now();
                seen = compiler_.wait_for_more(seen, kPoll_s);
                r.waited_seconds += seconds_since(start);
                continue;
            }
            const std::size_t i = *ready;
            missing.erase(ready);
            auto result = rejection(r.candidates[i], results_of(compiler_, r.candidates[i]), worker_.device(), i == 0);
            if (!result) result = measure(r, r.candidates[i].config);
            if (!result) continue;
            if (result->outcome == Outcome::ok && (r.best_us == 0 || result->median_us < r.best_us)) r.best_us = result->median_us;
            file_.add(outcome_line(r.shape, r.candidates[i].config, result->outcome, result->median_us));
            r.results[i] = std::move(result);
        }
    }

    // Nothing where the run is over, or where the config is not to blame.
    std::optional<Measurement> measure(const Recording& r, const KernelConfig& config) {
        if (!prepare(r)) return std::nullopt;
        const auto answer = worker_.ask(MeasureRequest{.config = config, .timing = timing_options(worker_.device().emulated, r.best_us)},
                                        deadline(), left());
        if (const auto* reply = std::get_if<Reply>(&answer)) {
            const auto* measured = std::get_if<Measured>(reply);
            return measured ? std::optional(measured->measurement) : std::nullopt;
        }
        const auto* died = std::get_if<WorkerProcess::Died>(&answer);
        if (died && !died->from_outside) return Measurement{.outcome = Outcome::crashed, .detail = died->how};
        const auto* late = std::get_if<WorkerProcess::TimedOut>(&answer);
        if (late && !late->turn_is_over) return Measurement{.outcome = Outcome::timed_out};
        return std::nullopt;
    }

    double deadline() const { return worker_.device().emulated ? 10 * kDeadline_s : kDeadline_s; }
    double left() const { return budget_.left(); }

    // Returns true once a living worker holds the shape's operands.
    bool prepare(const Recording& r) {
        if (worker_.alive() && prepared_ == r.shape) return true;
        prepared_.clear();
        const KernelSource verify = make_verify_source();
        for (int seen = 0; !compiler_.result(identity_of(verify)); seen = compiler_.wait_for_more(seen, kPoll_s))
            if (is_over()) return false;
        if (!worker_.alive()) worker_.respawn();
        const auto answer = worker_.ask(PrepareRequest{.problem = r.problem, .seed = 1}, 5 * deadline(), left());
        const auto* reply = std::get_if<Reply>(&answer);
        if (!reply || !std::holds_alternative<Prepared>(*reply)) {
            if (!is_over()) progress_.note(fmt::format("{}: no operands and reference could be made", r.shape));
            return false;
        }
        prepared_ = r.shape;
        return true;
    }

    // Returns false where it came to no end.
    bool hold_run_off(const Recording& r) {
        std::vector<std::size_t> fastest = fastest_first(r.results);
        fastest.resize(std::min(fastest.size(), kRunOffPlaces));
        if (fastest.empty() || !prepare(r)) return false;
        RunOffRequest request = run_off_request(worker_.device().emulated);
        for (const std::size_t i : fastest) request.configs.push_back(r.candidates[i].config);
        const auto answer = worker_.ask(request, 6 * deadline(), left());
        const auto* reply = std::get_if<Reply>(&answer);
        const auto* done = reply ? std::get_if<RunOffDone>(reply) : nullptr;
        if (!done || done->finalists.size() != fastest.size()) {
            if (!is_over()) progress_.note(fmt::format("{}: its run-off came to no end", r.shape));
            return false;
        }
        for (std::size_t i = 0; i < fastest.size(); ++i) {
            const RunOffDone::Finalist& finalist = done->finalists[i];
            if (finalist.outcome == Outcome::ok)
                file_.add(run_off_line(r.shape, request.configs[i], quantile(finalist.samples_us, 0.5)));
            else
                file_.add(outcome_line(r.shape, request.configs[i], finalist.outcome, 0));
        }
        return true;
    }

    WorkerProcess& worker_;
    Plan& plan_;
    CandidateCompiler& compiler_;
    RecordingFile& file_;
    Progress& progress_;
    const Interrupt& interrupt_;
    const Budget& budget_;
    // The shape whose operands the worker holds.
    std::string prepared_;
};

constexpr std::size_t kBest = 256;
constexpr std::size_t kOthers = 40;
// The emulated device's times say nothing, and its kernels take long to compile.
constexpr std::size_t kBestEmulated = 12;
constexpr std::size_t kOthersEmulated = 4;
// So many of the best are recorded with overlap and without, as many as a search measures.
constexpr std::size_t kBothWays = 64;
// Others must be predicted to come within this factor of the best: the slowest kernels take seconds.
constexpr double kSlowest = 12;

// FNV-1a, 64 bits: an order that says nothing of how fast a config is.
std::uint64_t lot_of(const KernelConfig& config) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : fields_text(config)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

KernelConfig without_overlap(KernelConfig config) {
    config.overlap = 0;
    return config;
}

}  // namespace

ExitStatus record_times(const std::vector<Shape>& listed, const RecordingOptions& options, Progress& progress, const Interrupt& interrupt) {
    std::vector<std::unique_ptr<WorkerProcess>> workers;
    for (const int ordinal : options.ordinals) workers.push_back(std::make_unique<WorkerProcess>(ordinal, interrupt));
    const DeviceInfo device = workers.front()->device();
    for (const auto& worker : workers)
        if (worker->device().name != device.name)
            throw Error(ExitStatus::bad_input, fmt::format("{} and {} differ", device.name, worker->device().name), "--gpu",
                        "record each model of GPU into a file of its own");
    const std::vector<Shape> shapes = shapes_of(options.shard, with_sample_sizes(listed, device));
    RecordingFile file(options.file, device);
    // A worker and its thread here have a core each.
    const SearchCompiler search = make_search_compiler(device, 2 * static_cast<int>(workers.size()));
    CandidateCompiler compiler(search.compiler, KernelCache(default_cache_directory()), search.threads);
    compiler.request(make_verify_source(), -1, -1);
    const Budget budget(options.budget_seconds, options.start);
    Plan plan(device, file, compiler);
    std::atomic<int> completed = 0;

    std::vector<std::function<void()>> jobs{[&] { plan.make(shapes); }};
    for (auto& worker : workers)
        jobs.emplace_back([&, &one = *worker] {
            // Whatever ends one worker ends all, and the plan too.
            struct Stop {
                Plan& plan;
                ~Stop() { plan.stop(); }
            };
            std::optional<Stop> stop;
            Recorder recorder(one, plan, compiler, file, progress, interrupt, budget);
            try {
                completed += recorder.run();
            } catch (...) {
                stop.emplace(plan);
                throw;
            }
            if (interrupt.requested() || budget.is_over()) stop.emplace(plan);
        });
    run_side_by_side(jobs);
    const auto before = std::count_if(shapes.begin(), shapes.end(), [&](const Shape& shape) {
        const auto known = file.before().problems.find(to_text(shape.problem));
        return known != file.before().problems.end() && known->second.complete;
    });
    const auto whole = static_cast<std::size_t>(before + completed);
    progress.note(fmt::format("{} of {} shapes are complete in {}, {} of them by this run of {:.0f} s", whole, shapes.size(),
                              options.file.string(), completed.load(), seconds_since(options.start)));
    if (interrupt.requested()) return ExitStatus::interrupted;
    return whole == shapes.size() ? ExitStatus::done : ExitStatus::no_winner;
}

std::vector<KernelConfig> configs_to_record(const GemmProblem& problem, const DeviceInfo& device) {
    const std::size_t most = device.emulated ? kBestEmulated : kBest;
    const std::size_t others = device.emulated ? kOthersEmulated : kOthers;
    const SearchSpace space = search_space(problem, device, Effort::full);
    std::vector<KernelConfig> configs;
    std::vector<KernelConfig> rest;
    std::set<std::string> seen;
    for (const KernelConfig& config : space.candidates) {
        const bool is_first = seen.insert(fields_text(without_overlap(config))).second;
        if (seen.size() <= (is_first ? most : kBothWays))
            configs.push_back(config);
        else if (is_first)
            rest.push_back(config);
    }
    for (const RejectedConfig& rejected : space.rejections)
        if (!rejection_reason(problem, rejected.config, device)) rest.push_back(rejected.config);
    const CostModel model(problem, device);
    const double best = model.estimate(configs.front());
    std::erase_if(rest, [&](const KernelConfig& config) { return model.estimate(config) > kSlowest * best; });
    std::sort(rest.begin(), rest.end(), [](const KernelConfig& a, const KernelConfig& b) { return lot_of(a) < lot_of(b); });
    rest.resize(std::min(rest.size(), others));
    configs.insert(configs.end(), rest.begin(), rest.end());
    return configs;
}

}  // namespace tmm::bench
