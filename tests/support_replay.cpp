#include "support_replay.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "generator/error.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "support_temporary_directory.h"
#include "tuner/problem_tuner.h"
#include "tuner/timing.h"

namespace tmm::testing {
namespace {

// The times of a shape's configs beside each other. Only the fastest were in a run-off; the others' own times are scaled as theirs compare.
class TimesBeside {
public:
    explicit TimesBeside(const RecordedProblem& recorded) : recorded_(recorded) {
        std::vector<double> ratios;
        for (const auto& [config, time] : recorded.times)
            if (is_timed(time) && time.run_off_us > 0) ratios.push_back(time.run_off_us / time.alone_us);
        if (!ratios.empty()) ratio_ = quantile(std::move(ratios), 0.5);
    }

    double of(const RecordedTime& time) const { return time.run_off_us > 0 ? time.run_off_us : ratio_ * time.alone_us; }
    // 0 where no config passed.
    double fastest() const {
        double fastest = 0;
        for (const auto& [config, time] : recorded_.times)
            if (is_timed(time) && (fastest == 0 || of(time) < fastest)) fastest = of(time);
        return fastest;
    }

private:
    static bool is_timed(const RecordedTime& time) { return time.outcome == Outcome::ok && time.alone_us > 0; }

    const RecordedProblem& recorded_;
    double ratio_ = 1;
};

class RecordedWorker final : public WorkerConnection {
public:
    RecordedWorker(const RecordedProblem& recorded, const DeviceInfo& device) : recorded_(recorded), beside_(recorded), device_(device) {}

    const DeviceInfo& device() const override { return device_; }
    bool alive() const override { return true; }
    double start_seconds() const override { return 0; }
    void respawn() override {}
    Answer ask(const Request& request, double, double, const std::function<void(int)>&) override {
        if (const auto* measure = std::get_if<MeasureRequest>(&request)) return this->measure(measure->config);
        if (const auto* run_off = std::get_if<RunOffRequest>(&request)) return hold(*run_off);
        return Reply{Prepared{}};
    }

    const TimesBeside& beside() const { return beside_; }
    // Null where the config was not recorded.
    const RecordedTime* time_of(const KernelConfig& config) const {
        const auto time = recorded_.times.find(fields_text(config));
        return time == recorded_.times.end() ? nullptr : &time->second;
    }
    int requests() const { return requests_; }
    int unrecorded() const { return unrecorded_; }

private:
    Reply measure(const KernelConfig& config) {
        ++requests_;
        const RecordedTime* time = time_of(config);
        if (time == nullptr) {
            ++unrecorded_;
            return NotMeasured{"its time was not recorded"};
        }
        const double us = time->outcome == Outcome::ok ? time->alone_us : 0;
        return Measured{{.outcome = time->outcome, .median_us = us, .low_us = us, .high_us = us, .samples = us > 0 ? 1 : 0}};
    }

    Reply hold(const RunOffRequest& run_off) const {
        RunOffDone done;
        for (const KernelConfig& config : run_off.configs) done.finalists.push_back({.samples_us = {beside_.of(*time_of(config))}});
        return done;
    }

    const RecordedProblem& recorded_;
    TimesBeside beside_;
    const DeviceInfo& device_;
    int requests_ = 0;
    int unrecorded_ = 0;
};

// What a config's kernels came to when they were compiled is part of its recorded outcome.
class NoCompiler final : public CompileQueue {
public:
    void request(const KernelSource&, int) override {}
    void drop(int) override {}
    std::optional<Result> result(const KernelIdentity&) const override { return Result{.registers = 0, .spill_bytes = 0}; }
    int wait_for_more(int seen, double) const override { return seen; }
};

// Each candidate is written to the database before it runs, and after; on a disk that takes ten times as long as all else.
std::filesystem::path folder_in_memory() {
    const std::filesystem::path shared_memory = "/dev/shm";
    return access(shared_memory.c_str(), W_OK) == 0 ? shared_memory : std::filesystem::temp_directory_path();
}

struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
};

ReplayedSearch replay(const OpenProblem& problem, const RecordedProblem& recorded, const DeviceInfo& device, const Turn& turn) {
    const TemporaryDirectory directory(folder_in_memory());
    TuningDatabase database(directory.path() / "tmm.db", TuningDatabase::Mode::read_write_create);
    database.set_environment({.device = device});
    const std::unique_ptr<std::FILE, Close> nowhere(std::fopen("/dev/null", "w"));
    Progress progress(nowhere.get());
    const Interrupt interrupt;
    const TuningOptions options;
    const Budget budget(0, SteadyClock::now());
    RecordedWorker worker(recorded, device);
    NoCompiler compiler;
    const ProblemReport report = ProblemTuner(0, worker, compiler, database, progress, interrupt, options, budget).tune(problem, 0, turn);

    ReplayedSearch result{.shape = recorded.shape, .requests = worker.requests(), .unrecorded = worker.unrecorded()};
    const RecordedTime* winner = report.has_winner() ? worker.time_of(report.config) : nullptr;
    if (winner == nullptr)
        result.failure = report.reason;
    else
        result.regret = worker.beside().of(*winner) / worker.beside().fastest() - 1;
    return result;
}

}  // namespace

std::vector<ReplayedSearch> replay_searches(const RecordedProblem& recorded, const DeviceInfo& device, const std::vector<int>& budgets) {
    const Shape shape = parse_shape(recorded.shape);
    const auto turn = [](int budget) { return Turn{.most_candidates = budget}; };
    KernelBook book;
    const std::vector<Candidate> candidates = make_candidates(shape.problem, TuningOptions{}.effort, device, book,
                                                              most_candidates(turn(*std::max_element(budgets.begin(), budgets.end()))));
    std::vector<ReplayedSearch> searches;
    for (const int budget : budgets) {
        OpenProblem open{.shape = shape, .candidates = candidates};
        open.candidates.resize(std::min(candidates.size(), most_candidates(turn(budget))));
        open.left_out = candidates.size() - open.candidates.size();
        searches.push_back(replay(open, recorded, device, turn(budget)));
    }
    return searches;
}

RecordedTimes read_recording(const std::filesystem::path& file) {
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
    return parse_recorded_times(text, file.filename().string());
}

}  // namespace tmm::testing
