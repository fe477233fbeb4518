// The shapes of one device of which nobody knows who multiplies them faster: the library and tmm's candidates take turns at the program's
// own calls until the times tell. What takes time is done by threads of the library's own, the kernels' compiling by processes of theirs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/dropin/cublas/choices.h"
#include "runtime/dropin/cublas/problem_table.h"
#include "runtime/dropin/cublas/product.h"
#include "runtime/dropin/cublas/shape_race.h"
#include "runtime/dropin/cublas/timed_calls.h"

namespace tmm::dropin {

class Racing;

// A shape that is being decided. Never destroyed: calls may be within it.
struct RacedShape {
    enum class Stage { choosing, timing_library, choosing_next, racing, decided };

    Racing* racing = nullptr;
    Choices* choices = nullptr;
    Decision* decision = nullptr;
    tmmGemmProblem_t problem = {};
    std::string text;

    // What stands below is under the lock, which is held for moments only.
    std::mutex mutex;
    Stage stage = Stage::choosing;
    ShapeRace race;
    std::atomic<std::int64_t> calls = 0;
    // Calls that are timed and not done.
    std::vector<TimedCall*> pending;
    std::vector<std::string> candidates;
    double predicted_us = 0;
    // The i-th is the candidate of side i + 1; null where it could not be prepared.
    std::vector<const ReadyPlan*> plans;
    // The database knows of it.
    const ReadyPlan* remembered = nullptr;
};

// Thread-safe. Never destroyed.
class Racing {
public:
    // races: shapes that nobody knows are raced; else they are left to the library. on_gpu: times are taken by events.
    Racing(bool races, bool on_gpu);

    // Has the shape chosen for. Takes microseconds.
    void begin(Choices& choices, Decision& decision, const tmmGemmProblem_t& problem);

    struct Side {
        // tmm's; null: the library's.
        const ReadyPlan* plan = nullptr;
        // Set where the time is wanted: begun, and to be given to end_timed().
        TimedCall* timed = nullptr;
    };
    // Whose turn the call is. The stream is not captured.
    Side turn(RacedShape& shape, void* stream);
    void end(TimedCall* call, bool is_valid) noexcept;
    // A plan of the shape could not run.
    void forfeit(RacedShape& shape, const ReadyPlan* plan);

private:
    // What is known of a shape so far: tmm's best, or its fastest where the library serves.
    struct Verdict {
        bool is_tmms = false;
        const ReadyPlan* fastest = nullptr;
        double us_of_tmm = 0;
        double us_of_cublas = 0;

        std::string words() const;
    };
    void enqueue(RacedShape& shape);
    void start_thread();
    void work();
    RacedShape* next_shape();
    void choose(RacedShape& shape);
    void choose_next(RacedShape& shape);
    void remember(RacedShape& shape);
    // Before the process ends.
    void end() noexcept;
    bool is_worth_another(const RacedShape& shape);

    // Under the shape's lock.
    Verdict verdict_of(const RacedShape& shape) const;
    void poll(RacedShape& shape);
    void advance(RacedShape& shape);
    void publish(RacedShape& shape, const ReadyPlan* plan);
    void settle(RacedShape& shape, const std::string& words);

    EventPool* pool() { return on_gpu_ ? &events_ : nullptr; }

    const bool races_;
    const bool on_gpu_;
    EventPool events_;
    // Verdicts that are being written down.
    std::atomic<int> saving_ = 0;
    // The process is within exit(): nothing is begun any more.
    std::atomic<bool> is_ending_ = false;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::vector<RacedShape*> all_;
    std::vector<RacedShape*> queue_;
    int threads_ = 0;
    int idle_ = 0;
};

// Ends a turn that the library took.
void end_timed(TimedCall* call, bool is_valid) noexcept;

}  // namespace tmm::dropin
