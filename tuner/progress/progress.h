// Shows on stderr how far a run has come: a bar with an ETA on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/text/terminal.h"

namespace tmm {

// What bounds the time of a run's searches; 0 stands for no bound.
struct Pace {
    double budget_seconds = 0;
    // Seconds after which a search ends once it has so many results (tuner/search/sampling.h).
    double problem_seconds = 0;
    int least_results = 0;
};

// Says how long a run still takes, from what its problems took so far: a search seldom measures all of its candidates. The seconds of all
// calls are those since the run's start, and never go back.
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

// The class is thread-safe.
class Progress {
public:
    // Progress is shown as a bar where the stream is a terminal that can show one.
    explicit Progress(std::FILE* stream);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Gives the number of problems that the run has to tune, and what bounds its time.
    void start(int problems, const Pace& pace);
    // The run has one problem more than was said at the start.
    void add_problem();
    // worker tells concurrent problems apart; it is any number that the caller keeps to.
    void begin_problem(int worker, const std::string& name);
    // done: the problem's candidates that have an outcome; best_us is 0 where none has passed yet.
    void update(int worker, int done, int candidates, double best_us);
    // The problem's turn ended without a result; it may have another turn.
    void leave_problem(int worker);
    // result: what to say of the problem that is done, one line.
    void end_problem(int worker, const std::string& result);
    // Writes a line of its own.
    void note(const std::string& line);
    // Does so unless the run has the line already.
    void note_once(const std::string& line);
    // Takes the bar away.
    void finish();

private:
    struct Current {
        std::string name;
        int candidates = 0;
        int done = 0;
        double best_us = 0;
    };
    using Clock = std::chrono::steady_clock;

    double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    void draw(bool at_once);
    void line(const std::string& text);

    std::FILE* stream_;
    Screen screen_;
    StatusLine status_;
    std::mutex mutex_;
    std::map<int, Current> current_;
    std::set<std::string> noted_;
    Eta eta_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point last_draw_{};
};

// While this object lives, log lines take the place of the bar for a moment, as the tuner's own do.
class LogBesideProgress {
public:
    explicit LogBesideProgress(Progress& progress);
    ~LogBesideProgress();
    LogBesideProgress(const LogBesideProgress&) = delete;
    LogBesideProgress& operator=(const LogBesideProgress&) = delete;
};

// The figures of a run that a bar shows.
struct ProgressState {
    int problems = 0;
    int problems_done = 0;
    // Part of the run that is done, from 0 to 1.
    double share = 0;
    std::string eta;
    // The problem that is being tuned; candidates is 0 where the number is not known yet.
    std::string name;
    int done = 0;
    int candidates = 0;
    // Best time so far; 0 where no candidate has passed yet.
    double best_us = 0;
};
// Shows as much as so many columns hold, and never cuts a number: the bar is left out first, then the best time, the candidates, the name,
// the ETA.
std::string progress_text(const ProgressState& state, std::size_t columns);

// "850 ms", "12 s", "3 min 20 s", "1 h 5 min".
std::string duration_text(double seconds);

}  // namespace tmm
