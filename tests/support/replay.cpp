#include "tests/support/replay.h"

#include <unistd.h>
#include <zlib.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/temporary_directory.h"
#include "tuner/measure/timing.h"
#include "tuner/run_off/race.h"
#include "tuner/search/earlier_decision.h"
#include "tuner/search/tune_problem.h"
#include "tuner/search/warm_start.h"

namespace tmm::testing {
namespace {

// The times of a shape's configs beside each other. Only the fastest were in a run-off; the others' own times are scaled as theirs compare.
class TimesBeside {
public:
    explicit TimesBeside(const bench::RecordedProblem& recorded) : recorded_(recorded) {
        std::vector<double> ratios;
        for (const auto& [config, time] : recorded.times)
            if (is_timed(time) && time.run_off_us > 0) ratios.push_back(time.run_off_us / time.alone_us);
        if (!ratios.empty()) ratio_ = quantile(std::move(ratios), 0.5);
    }

    double of(const bench::RecordedTime& time) const { return time.run_off_us > 0 ? time.run_off_us : ratio_ * time.alone_us; }
    // 0 where no config passed.
    double fastest() const {
        double fastest = 0;
        for (const auto& [config, time] : recorded_.times)
            if (is_timed(time) && (fastest == 0 || of(time) < fastest)) fastest = of(time);
        return fastest;
    }

private:
    static bool is_timed(const bench::RecordedTime& time) { return time.outcome == Outcome::ok && time.alone_us > 0; }

    const bench::RecordedProblem& recorded_;
    double ratio_ = 1;
};

// Noise that is the same for a config however often, and when, it is measured.
class Noise {
public:
    Noise(const ReplayOptions& options, const KernelConfig& config, std::string_view what)
        : deviation_(options.noise), random_(std::hash<std::string>{}(fmt::format("{} {} {}", options.seed, what, fields_text(config)))) {}

    double factor() { return std::exp(deviation_ * normal_(random_)); }

private:
    double deviation_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
};

// What searches of a shape asked for, in all sessions.
struct Spent {
    int asked = 0;
    int requests = 0;
    int unrecorded = 0;
    int samples = 0;
    int run_off_samples = 0;
    std::vector<double> request_us = {};
    double run_off_us = 0;
};

class RecordedWorker final : public WorkerConnection {
public:
    // most_asked: requests in all after which it is interrupted.
    RecordedWorker(const bench::RecordedProblem& recorded, const DeviceInfo& device, const ReplayOptions& options, int most_asked,
                   Spent& spent)
        : recorded_(recorded), beside_(recorded), device_(device), options_(options), most_asked_(most_asked), spent_(spent) {}

    const DeviceInfo& device() const override { return device_; }
    bool alive() const override { return true; }
    double start_seconds() const override { return 0; }
    void respawn() override {}
    Answer ask(const Request& request, double, double, const std::function<void(int)>&) override {
        if (std::holds_alternative<PrepareRequest>(request)) return Reply{Prepared{}};
        if (spent_.asked == most_asked_) return Interrupted{};
        ++spent_.asked;
        std::this_thread::sleep_for(std::chrono::duration<double>(options_.seconds_per_request));
        if (const auto* measure = std::get_if<MeasureRequest>(&request)) return this->measure(*measure);
        return hold(std::get<RunOffRequest>(request));
    }

private:
    // Null where the config was not recorded.
    const bench::RecordedTime* time_of(const KernelConfig& config) const {
        const auto time = recorded_.times.find(fields_text(config));
        return time == recorded_.times.end() ? nullptr : &time->second;
    }

    static int launches_of(double microseconds, double sample_us) {
        return static_cast<int>(std::clamp(std::ceil(sample_us / microseconds), 1.0, 512.0));
    }

    Reply measure(const MeasureRequest& request) {
        ++spent_.requests;
        const bench::RecordedTime* time = time_of(request.config);
        if (time == nullptr) {
            ++spent_.unrecorded;
            return NotMeasured{"its time was not recorded"};
        }
        spent_.request_us.push_back(0);
        if (time->outcome != Outcome::ok) return Measured{{.outcome = time->outcome}};
        const int launches = launches_of(time->alone_us, request.timing.sample_us);
        Noise noise(options_, request.config, "alone");
        const std::vector<double> samples = take_samples(request.timing, launches, 0, [&] { return time->alone_us * noise.factor(); });
        spent_.samples += static_cast<int>(samples.size());
        for (const double sample : samples) spent_.request_us.back() += sample * launches;
        return Measured{{.outcome = time->outcome,
                         .median_us = quantile(samples, 0.5),
                         .low_us = quantile(samples, 0.1),
                         .high_us = quantile(samples, 0.9),
                         .samples = static_cast<int>(samples.size())}};
    }

    Reply hold(const RunOffRequest& run_off) {
        std::vector<Noise> noise;
        std::vector<int> launches;
        std::vector<double> times;
        for (const KernelConfig& config : run_off.configs) {
            noise.emplace_back(options_, config, "beside");
            times.push_back(beside_.of(*time_of(config)));
            launches.push_back(launches_of(times.back(), run_off.sample_us));
        }
        auto samples = race(run_off, launches, 0, [&](std::size_t i) { return times[i] * noise[i].factor(); });
        RunOffDone done;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            spent_.run_off_samples += static_cast<int>(samples[i].size());
            for (const double sample : samples[i]) spent_.run_off_us += sample * launches[i];
            done.finalists.push_back({.samples_us = std::move(samples[i])});
        }
        return done;
    }

    const bench::RecordedProblem& recorded_;
    TimesBeside beside_;
    const DeviceInfo& device_;
    const ReplayOptions& options_;
    int most_asked_;
    Spent& spent_;
};

// What a config's kernels came to when they were compiled is part of its recorded outcome.
class NoCompiler final : public CompileQueue {
public:
    // The late candidate's product is compiled after so many requests to the worker.
    NoCompiler(const Candidate& late, int after, int breaks_after, const Spent& spent)
        : late_(late), after_(after), breaks_after_(breaks_after), spent_(spent) {}

    void request(const KernelSource&, int, int) override {}
    void drop(int) override {}
    std::optional<Result> result(const KernelIdentity& kernel) const override {
        if (breaks_after_ > 0 && spent_.requests >= breaks_after_ && !is_broken_) {
            is_broken_ = true;
            throw Error(ExitStatus::no_compiler, "it broke");
        }
        const bool is_late = late_.kernels[late_.main_kernel]->identity == kernel;
        if (is_late && spent_.requests < after_) return std::nullopt;
        return Result{.registers = 0, .spill_bytes = 0};
    }
    // Nothing else is left to be measured.
    int wait_for_more(int seen, double) const override {
        after_ = 0;
        return seen;
    }

private:
    const Candidate& late_;
    mutable int after_;
    int breaks_after_;
    const Spent& spent_;
    mutable bool is_broken_ = false;
};

// Each candidate is written to the database before it runs, and after; on a disk that takes ten times as long as all else.
std::filesystem::path folder_in_memory() {
    const std::filesystem::path shared_memory = "/dev/shm";
    return access(shared_memory.c_str(), W_OK) == 0 ? shared_memory : std::filesystem::temp_directory_path();
}

struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
};

// What a run that goes on knows to be fast, and what is known beforehand: of winners that ship a replay knows nothing.
std::vector<KernelConfig> remembered(const GemmProblem& problem, const ReplayOptions& options, TuningDatabase& database,
                                     const DeviceInfo& device) {
    const std::vector<MeasuredCandidate> rows = database.measurements(problem);
    std::vector<KernelConfig> configs = warm_start_configs(problem, {}, rows, device);
    std::erase_if(configs, [&](const KernelConfig& config) {
        return std::none_of(rows.begin(), rows.end(), [&](const MeasuredCandidate& row) { return row.config == config; });
    });
    configs.insert(configs.end(), options.known_fast.begin(), options.known_fast.end());
    return configs;
}

ReplayedSearch replay(PendingProblem problem, const bench::RecordedProblem& recorded, const DeviceInfo& device,
                      const ReplayOptions& options, const Turn& turn, KernelBook& book) {
    const TemporaryDirectory directory(folder_in_memory());
    const std::unique_ptr<std::FILE, Close> nowhere(std::fopen("/dev/null", "w"));
    Progress progress(nowhere.get());
    const Interrupt interrupt;
    TuningOptions tuning;
    tuning.effort = options.effort;
    // How fast this machine is must not end a search, unless its requests take time on purpose.
    const double forever = 1e9;
    const Budget budget(options.seconds_per_request > 0 ? 0 : forever, SteadyClock::now());
    Spent spent;
    const Candidate late = make_candidate(problem.shape.problem, options.late.value_or(problem.candidates.front().config), device, book);
    NoCompiler compiler(late, options.late_compiled_after, options.compiler_breaks_after, spent);
    ProblemReport report;
    for (std::size_t session = 0; session <= options.interruptions.size() + (options.compiler_breaks_after > 0 ? 1 : 0); ++session) {
        TuningDatabase database(directory.path() / "tmm.db", TuningDatabase::Mode::read_write_create);
        database.set_environment({.device = device});
        problem.known_fast = put_first(remembered(problem.shape.problem, options, database, device), problem.candidates,
                                       problem.shape.problem, device, book);
        const int most_asked = session < options.interruptions.size() ? spent.asked + options.interruptions[session] : -1;
        RecordedWorker worker(recorded, device, options, most_asked, spent);
        SearchContext context{.worker = worker,
                              .compiler = compiler,
                              .database = database,
                              .progress = progress,
                              .interrupt = interrupt,
                              .options = tuning,
                              .budget = budget};
        problem.phase = options.old_winner ? Phase::rematch : Phase::search;
        try {
            report = tune_problem(context, problem, 0, turn);
        } catch (const Error& error) {
            report.decision.reason = error.what();
        }
        if (report.has_winner()) break;
    }

    ReplayedSearch result{.shape = recorded.shape,
                          .requests = spent.requests,
                          .unrecorded = spent.unrecorded,
                          .samples = spent.samples,
                          .run_off_samples = spent.run_off_samples,
                          .request_us = spent.request_us,
                          .run_off_us = spent.run_off_us,
                          .reason = report.decision.reason};
    const auto winner = recorded.times.find(fields_text(report.decision.config));
    if (!report.has_winner() || winner == recorded.times.end()) {
        result.failure = report.decision.reason;
        return result;
    }
    const TimesBeside beside(recorded);
    result.winner = winner->first;
    result.is_upset = problem.earlier && is_upset(report, *problem.earlier);
    result.regret = beside.of(winner->second) / beside.fastest() - 1;
    return result;
}

}  // namespace

std::vector<ReplayedSearch> replay_searches(const bench::RecordedProblem& recorded, const DeviceInfo& device,
                                            const std::vector<ReplayOptions>& options) {
    const Shape shape = parse_shape(recorded.shape);
    // Shapes share kernels, whose texts take longer to make than all else.
    static auto* book = new KernelBook;
    std::map<Effort, std::vector<Candidate>> candidates;
    std::vector<ReplayedSearch> searches;
    for (const ReplayOptions& one : options) {
        std::vector<Candidate>& all = candidates[one.effort];
        if (all.empty()) all = make_candidates(shape.problem, one.effort, device, *book, kAllCandidates);
        const Turn turn{.most_candidates = one.most_candidates};
        PendingProblem open{.shape = shape, .candidates = all};
        open.shape.is_sample_size = one.is_sample_size;
        open.candidates.resize(std::min(all.size(), most_candidates(turn)));
        open.left_out = all.size() - open.candidates.size();
        if (one.old_winner) {
            std::erase_if(open.candidates,
                          [&](const Candidate& candidate) { return !recorded.times.contains(fields_text(candidate.config)); });
            open.earlier = TuningDatabase::Decision{.config = *one.old_winner};
        }
        searches.push_back(replay(std::move(open), recorded, device, one, turn, *book));
    }
    return searches;
}

bench::RecordedTimes read_recording(const std::filesystem::path& file) {
    const std::unique_ptr<gzFile_s, decltype(&gzclose)> stream(gzopen(file.c_str(), "rb"), gzclose);
    if (!stream) throw Error(ExitStatus::bad_input, "it can't be opened", file.string(), "name a recording");
    std::string text;
    std::vector<char> part(1 << 16);
    int count = 0;
    while ((count = gzread(stream.get(), part.data(), static_cast<unsigned>(part.size()))) > 0)
        text.append(part.data(), static_cast<std::size_t>(count));
    int status = Z_OK;
    const char* why = gzerror(stream.get(), &status);
    if (count < 0 || status != Z_OK) throw Error(ExitStatus::bad_input, why, file.string(), "compress the recording anew: gzip -9n");
    return bench::parse_recorded_times(text, file.filename().string());
}

}  // namespace tmm::testing
