#include "runtime/dropin/cublas/racing.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <thread>
#include <utility>

#include "runtime/dropin/cublas/call_table.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"
#include "runtime/dropin/record/shape_text.h"

namespace tmm::dropin {
namespace {

// Candidates of one shape, and the share of all shapes' time that a shape must have for more than one.
constexpr int kMostCandidates = 4;
constexpr double kShareWorthMore = 0.02;
// Microseconds that the calls of a shape must have taken before a kernel is compiled for it, and before a second one is. Programs whose
// sizes vary call each but a few times.
constexpr double kWorthCompiling = 20e3;
constexpr double kWorthMore = 100e3;
// Predictions are good to a factor of two: a candidate of which more than this is predicted is not worth its compiling.
constexpr double kHope = 1.5;
// Threads, each of which waits for one kernel at a time; half of the cores and a quarter of the free memory are enough for them.
constexpr int kMostThreads = 6;
constexpr std::int64_t kBytesOfCompiler = 256LL << 20;

int most_threads() {
    static const int most = [] {
        cpu_set_t cores;
        CPU_ZERO(&cores);
        const int usable = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
        const std::int64_t bytes = static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
        return static_cast<int>(
            std::clamp<std::int64_t>(std::min<std::int64_t>(usable / 2, bytes / 4 / kBytesOfCompiler), 1, kMostThreads));
    }();
    return most;
}

double time_of_calls(const RacedShape& shape) {
    return shape.decision->us_of_cublas * static_cast<double>(shape.calls);
}

std::string microseconds(double us) {
    char text[40];
    std::snprintf(text, sizeof text, us < 10 ? "%.2f us" : "%.1f us", us);
    return text;
}

}  // namespace

Racing::Racing(bool races, bool on_gpu) : races_(races), on_gpu_(on_gpu) {
    static std::mutex mutex;
    static auto* const all = new std::vector<Racing*>;
    const std::lock_guard lock(mutex);
    // A forked child that ends has nothing to write.
    static const unsigned owner = process_number();
    if (all->empty())
        std::atexit([] {
            if (process_number() != owner) return;
            for (Racing* const racing : *all) racing->end();
        });
    all->push_back(this);
}

void Racing::begin(Choices& choices, Decision& decision, const tmmGemmProblem_t& problem) {
    Decision::Who undecided = Decision::Who::undecided;
    // Another thread may have called for it meanwhile.
    if (!decision.who.compare_exchange_strong(undecided, Decision::Who::cublas)) return;
    auto* const shape = new RacedShape;
    shape->racing = this;
    shape->choices = &choices;
    shape->decision = &decision;
    shape->problem = problem;
    shape->text = shape_text(problem);
    decision.race.store(shape, std::memory_order_release);
    add_to_table(decision, shape->text);
    {
        const std::lock_guard lock(mutex_);
        all_.push_back(shape);
    }
    enqueue(*shape);
}

Racing::Side Racing::turn(RacedShape& shape, void* stream) {
    Side side;
    int number = ShapeRace::kLibrary;
    bool is_timed = false;
    {
        const std::unique_lock lock(shape.mutex, std::try_to_lock);
        if (!lock) {
            side.plan = shape.decision->who.load(std::memory_order_acquire) == Decision::Who::tmm
                            ? shape.decision->plan.load(std::memory_order_acquire)
                            : nullptr;
            return side;
        }
        ++shape.calls;
        poll(shape);
        const ShapeRace::Turn turn = shape.race.next();
        number = turn.side;
        // Before it is known whether the shape is raced at all, the library's times may turn out to be of use.
        is_timed = races_ && turn.is_timed;
        if (number != ShapeRace::kLibrary) side.plan = shape.plans[static_cast<std::size_t>(number - 1)];
    }
    if (is_timed) side.timed = begin_timed(shape, number, stream, pool());
    return side;
}

void Racing::end(TimedCall* call, bool is_valid) noexcept {
    if (!call) return;
    try {
        if (is_valid && stop_timed(*call, pool())) {
            RacedShape& shape = *call->shape;
            const std::lock_guard lock(shape.mutex);
            if (shape.stage != RacedShape::Stage::decided) {
                shape.pending.push_back(call);
                return;
            }
        }
    } catch (...) {
        // There is no memory to keep it.
    }
    discard(call, pool());
}

void end_timed(TimedCall* call, bool is_valid) noexcept {
    if (call) call->shape->racing->end(call, is_valid);
}

void Racing::forfeit(RacedShape& shape, const ReadyPlan* plan) {
    const std::lock_guard lock(shape.mutex);
    for (std::size_t i = 0; i < shape.plans.size(); ++i)
        if (shape.plans[i] == plan) shape.race.forfeit(static_cast<int>(i) + 1);
    advance(shape);
}

void Racing::poll(RacedShape& shape) {
    std::erase_if(shape.pending, [&](TimedCall* call) {
        const std::optional<double> us = time_of(*call);
        if (!us) return false;
        shape.race.note(call->side, *us);
        discard(call, pool());
        return true;
    });
    advance(shape);
}

// What follows from the times so far.
void Racing::advance(RacedShape& shape) {
    using Stage = RacedShape::Stage;
    if (shape.stage == Stage::timing_library && shape.race.knows_library()) {
        const double library = shape.race.time_of(ShapeRace::kLibrary);
        shape.decision->us_of_cublas = library;
        if (time_of_calls(shape) < kWorthCompiling) return;
        if (shape.predicted_us > kHope * library)
            return settle(shape,
                          "tmm is predicted to take " + microseconds(shape.predicted_us) + ", cuBLAS takes " + microseconds(library));
        shape.stage = Stage::choosing_next;
        enqueue(shape);
    } else if (shape.stage == Stage::racing && !shape.race.has_challenger()) {
        const int best = shape.race.best();
        publish(shape, best == ShapeRace::kLibrary ? nullptr : shape.plans[static_cast<std::size_t>(best - 1)]);
        shape.stage = Stage::choosing_next;
        enqueue(shape);
    }
}

void Racing::publish(RacedShape& shape, const ReadyPlan* plan) {
    Decision& decision = *shape.decision;
    decision.us_of_cublas = shape.race.time_of(ShapeRace::kLibrary);
    if (const int best = shape.race.best(); best != ShapeRace::kLibrary) decision.us_of_tmm = shape.race.time_of(best);
    if (plan) decision.plan.store(plan, std::memory_order_release);
    decision.who.store(plan ? Decision::Who::tmm : Decision::Who::cublas, std::memory_order_release);
}

void Racing::settle(RacedShape& shape, const std::string& words) {
    shape.stage = RacedShape::Stage::decided;
    for (TimedCall* const call : shape.pending) discard(call, pool());
    shape.pending.clear();
    const bool by_tmm = shape.decision->who.load(std::memory_order_relaxed) == Decision::Who::tmm;
    if (logs(LogLevel::info)) log(LogLevel::info, shape.text + (by_tmm ? ": by tmm, " : ": by cuBLAS, since ") + words);
    shape.decision->race.store(nullptr, std::memory_order_release);
}

void Racing::enqueue(RacedShape& shape) {
    bool needs_thread = false;
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(&shape);
        needs_thread = static_cast<int>(queue_.size()) > idle_ && threads_ < most_threads();
        if (needs_thread) ++threads_;
    }
    wanted_.notify_one();
    if (needs_thread) start_thread();
}

void Racing::start_thread() {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([this] { work(); }).detach();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        --threads_;
        log(LogLevel::error, "shapes are left to cuBLAS: no thread can be started");
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RacedShape* Racing::next_shape() {
    std::unique_lock lock(mutex_);
    ++idle_;
    wanted_.wait(lock, [&] { return !queue_.empty() && !is_ending_; });
    --idle_;
    // Choices are quick; of the rest the one with the most time comes first.
    const auto weight = [](const RacedShape* shape) {
        return shape->decision->us_of_cublas > 0 ? time_of_calls(*shape) : std::numeric_limits<double>::infinity();
    };
    const auto first = std::ranges::max_element(queue_, {}, weight);
    RacedShape* const shape = *first;
    queue_.erase(first);
    return shape;
}

void Racing::work() {
    while (true) {
        RacedShape& shape = *next_shape();
        try {
            RacedShape::Stage stage;
            {
                const std::lock_guard lock(shape.mutex);
                stage = shape.stage;
            }
            if (stage == RacedShape::Stage::choosing) choose(shape);
            if (stage == RacedShape::Stage::choosing_next) choose_next(shape);
        } catch (...) {
            log(LogLevel::error, shape.text + ": by cuBLAS, since there is too little memory");
            shape.decision->race.store(nullptr, std::memory_order_release);
        }
    }
}

void Racing::choose(RacedShape& shape) {
    const Choice choice = shape.choices->choose(shape.problem, races_, false);
    const std::lock_guard lock(shape.mutex);
    if (choice.candidate.empty()) {
        if (choice.plan) shape.decision->plan.store(choice.plan, std::memory_order_release);
        shape.decision->us_of_tmm = choice.us_of_tmm;
        shape.decision->us_of_cublas = choice.us_of_cublas;
        shape.decision->who.store(choice.plan ? Decision::Who::tmm : Decision::Who::cublas, std::memory_order_release);
        return settle(shape, choice.words);
    }
    shape.candidates = {choice.candidate};
    shape.predicted_us = choice.predicted_us;
    shape.stage = RacedShape::Stage::timing_library;
}

bool Racing::is_worth_another(const RacedShape& shape) {
    if (shape.plans.empty()) return true;
    if (shape.plans.size() >= kMostCandidates || time_of_calls(shape) < kWorthMore) return false;
    const std::lock_guard lock(mutex_);
    double all = 0;
    for (const RacedShape* other : all_) all += time_of_calls(*other);
    return time_of_calls(shape) >= kShareWorthMore * all;
}

void Racing::choose_next(RacedShape& shape) {
    if (!shape.plans.empty()) remember(shape);
    std::string reason = "none of tmm's kernels could be timed";
    while (is_worth_another(shape)) {
        const std::size_t place = shape.plans.size();
        if (place > 0 && shape.candidates.size() == 1) {
            for (std::string& config : shape.choices->candidates(shape.problem, kMostCandidates))
                if (config != shape.candidates.front()) shape.candidates.push_back(std::move(config));
        }
        if (place >= shape.candidates.size()) break;
        const ReadyPlan* const plan = shape.choices->prepare(shape.problem, shape.candidates[place], reason);
        const std::lock_guard lock(shape.mutex);
        shape.plans.push_back(plan);
        if (!plan) continue;
        shape.race.challenge(static_cast<int>(shape.plans.size()));
        shape.stage = RacedShape::Stage::racing;
        return;
    }
    const std::lock_guard lock(shape.mutex);
    const Verdict verdict = verdict_of(shape);
    settle(shape, verdict.fastest ? verdict.words() : reason);
}

Racing::Verdict Racing::verdict_of(const RacedShape& shape) const {
    Verdict verdict{.us_of_cublas = shape.race.time_of(ShapeRace::kLibrary)};
    const int best = shape.race.best();
    verdict.is_tmms = best != ShapeRace::kLibrary;
    for (std::size_t i = 0; i < shape.plans.size(); ++i) {
        const int side = static_cast<int>(i) + 1;
        const double us = shape.race.time_of(side);
        const bool is_faster = !verdict.fastest || us < verdict.us_of_tmm;
        if (!shape.plans[i] || us <= 0 || (verdict.is_tmms ? side != best : !is_faster)) continue;
        verdict.fastest = shape.plans[i];
        verdict.us_of_tmm = us;
    }
    return verdict;
}

std::string Racing::Verdict::words() const {
    const std::string times = microseconds(us_of_tmm) + ", cuBLAS " + microseconds(us_of_cublas);
    return is_tmms ? "raced: " + fastest->config + " took " + times : "tmm took " + times;
}

// The fastest of tmm's, whether it serves or not.
void Racing::remember(RacedShape& shape) {
    Verdict verdict;
    {
        const std::lock_guard lock(shape.mutex);
        verdict = verdict_of(shape);
        // A candidate that has lost changes nothing.
        if (!verdict.fastest || std::exchange(shape.remembered, verdict.fastest) == verdict.fastest) return;
        shape.decision->us_of_tmm = verdict.us_of_tmm;
        saving_.fetch_add(1);
    }
    shape.choices->remember(shape.problem, verdict.fastest->config, verdict.us_of_tmm, verdict.us_of_cublas);
    saving_.fetch_sub(1);
}

void Racing::end() noexcept {
    // A program ends no later than it would have by more than this.
    const auto last = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    const auto has_time = [&] { return std::chrono::steady_clock::now() < last; };
    is_ending_ = true;
    try {
        // Threads that could write it down may be waiting for a compiler.
        std::vector<RacedShape*> shapes;
        {
            // Calls that go on hold a shape's lock first.
            const std::lock_guard lock(mutex_);
            shapes = all_;
        }
        for (RacedShape* const shape : shapes)
            if (has_time()) remember(*shape);
    } catch (...) {
        // There is too little memory; the next process races anew.
    }
    const timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
    while (saving_ > 0 && has_time()) nanosleep(&millisecond, nullptr);
}

}  // namespace tmm::dropin
