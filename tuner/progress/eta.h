// Says how long a run still takes, from what its problems took so far. A search seldom measures all of its candidates.
#pragma once

#include <map>
#include <optional>

namespace tmm {

// What bounds the time of a run's searches; 0 stands for no bound.
struct Pace {
    double budget_seconds = 0;
    // Seconds after which a search ends once it has so many results (tuner/search/sampling.h).
    double problem_seconds = 0;
    int least_results = 0;
};

// The seconds of all calls are those since the run's start, and never go back.
class Eta {
public:
    Eta() = default;
    Eta(int problems, const Pace& pace) : pace_(pace), problems_(problems) {}

    void add_problem() { ++problems_; }
    // worker tells concurrent problems apart.
    void begin_problem(int worker, double now);
    // done: the problem's candidates that have an outcome, at its begin those that an earlier run measured.
    void update(int worker, int done, int candidates);
    // The problem's turn ended without a result, and it may have another turn.
    void leave_problem(int worker) { current_.erase(worker); }
    void end_problem(int worker, double now);

    int problems() const { return problems_; }
    int problems_done() const { return problems_done_; }

    struct Expected {
        // Part of the run that is done, from 0 to 1.
        double share = 0;
        // Nothing where no problem has told yet how long it takes, and nothing bounds it.
        std::optional<double> seconds = {};
    };
    Expected expected(double now) const;

private:
    struct Current {
        double start = 0;
        int candidates = 0;
        // The first number that was said to be done, and the last.
        std::optional<int> known = {};
        int done = 0;
    };
    // Seconds of the whole problem, never less than it has taken.
    std::optional<double> expected_of(const Current& current, double now) const;

    Pace pace_;
    int problems_ = 0;
    int problems_done_ = 0;
    double seconds_done_ = 0;
    std::map<int, Current> current_;
};

}  // namespace tmm
