#include "tuner/progress/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text/printable.h"
#include "base/text/text_table.h"
#include "base/text/text_width.h"

namespace tmm {
namespace {

constexpr std::size_t kLongestBar = 24;
constexpr std::size_t kShortestBar = 6;
constexpr std::size_t kIndent = 4;
constexpr auto kRedraw = std::chrono::milliseconds(100);

}  // namespace

std::string duration_text(double seconds) {
    if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string progress_text(const ProgressState& state, std::size_t columns) {
    // What a part will take later counts as well, so that neither the bar nor a part comes and goes while the numbers grow.
    struct Part {
        std::string text;
        std::size_t most = 0;
    };
    const std::string all = fmt::format("{}", state.candidates);
    std::array<Part, 5> parts = {
        Part{fmt::format("{}/{} shapes", state.problems_done, state.problems)},
        {"ETA " + state.eta, sizeof("ETA 59 min 59 s") - 1},
        {printable(state.name)},
        {state.candidates > 0 ? fmt::format("{}/{}", state.done, all) : "", 2 * all.size() + 1},
        {state.best_us > 0 ? fmt::format("best {} µs", short_number(state.best_us)) : "", display_width("best 123.4 µs")}};
    // The parts are in the order in which they are given up.
    std::size_t width = 0;
    for (const std::size_t least : {4, 3, 2, 1, 0}) {
        width = 0;
        for (const Part& part : parts) width += part.text.empty() ? 0 : std::max(display_width(part.text), part.most) + 2;
        if (width <= columns + 2 || least == 0) break;
        parts[least].text.clear();
    }
    std::string text;
    for (const Part& part : parts)
        if (!part.text.empty()) text += (text.empty() ? "" : "  ") + part.text;
    if (display_width(text) > columns) return "";
    // The bar also needs its brackets and a space.
    if (columns + 2 < width + kShortestBar + 3) return text;
    const std::size_t length = std::min(kLongestBar, columns + 2 - width - 3);
    const auto filled = static_cast<std::size_t>(std::clamp(state.share, 0.0, 1.0) * static_cast<double>(length));
    return fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(length - filled, '.'), text);
}

Progress::Progress(std::FILE* stream) : stream_(stream), screen_(screen_of(stream)), status_(stream) {}

Progress::~Progress() {
    finish();
}

void Progress::start(int problems, const Pace& pace) {
    std::lock_guard lock(mutex_);
    eta_ = Eta(problems, pace);
    start_ = Clock::now();
}

void Progress::add_problem() {
    std::lock_guard lock(mutex_);
    eta_.add_problem();
}

void Progress::begin_problem(int worker, const std::string& name) {
    std::lock_guard lock(mutex_);
    current_[worker] = Current{.name = name};
    eta_.begin_problem(worker, now());
    draw(true);
}

void Progress::update(int worker, int done, int candidates, double best_us) {
    std::lock_guard lock(mutex_);
    Current& current = current_[worker];
    current.done = done;
    current.candidates = candidates;
    current.best_us = best_us;
    eta_.update(worker, done, candidates);
    draw(false);
}

void Progress::leave_problem(int worker) {
    std::lock_guard lock(mutex_);
    current_.erase(worker);
    eta_.leave_problem(worker);
    draw(true);
}

void Progress::end_problem(int worker, const std::string& result) {
    std::lock_guard lock(mutex_);
    eta_.end_problem(worker, now());
    line(fmt::format("[{}/{}] {}: {}", eta_.problems_done(), eta_.problems(), current_[worker].name, result));
    current_.erase(worker);
    draw(true);
}

void Progress::note(const std::string& text) {
    std::lock_guard lock(mutex_);
    line(text);
    draw(true);
}

void Progress::note_once(const std::string& text) {
    {
        std::lock_guard lock(mutex_);
        if (!noted_.insert(text).second) return;
    }
    note(text);
}

void Progress::finish() {
    std::lock_guard lock(mutex_);
    status_.clear();
    current_.clear();
    std::fflush(stream_);
}

// Progress that nobody can read stops no run: a full disk or a terminal that went away is ignored.
void Progress::line(const std::string& text) {
    status_.clear();
    std::fputs((hanging(printable(text), screen_.columns, kIndent) + "\n").c_str(), stream_);
    std::fflush(stream_);
}

void Progress::draw(bool at_once) {
    if (!status_.shows() || current_.empty()) return;
    const auto time = Clock::now();
    if (!at_once && time - last_draw_ < kRedraw) return;
    last_draw_ = time;

    const Eta::Expected expected = eta_.expected(now());
    const Current& c = current_.begin()->second;
    const std::string text = progress_text({.problems = eta_.problems(),
                                            .problems_done = eta_.problems_done(),
                                            .share = expected.share,
                                            .eta = expected.seconds ? duration_text(std::max(*expected.seconds, 1.0)) : "?",
                                            .name = c.name,
                                            .done = c.done,
                                            .candidates = c.candidates,
                                            .best_us = c.best_us},
                                           status_.columns());
    const std::size_t width = display_width(text);
    const auto bar_end = text.find(']');
    if (!screen_.color || bar_end == std::string::npos) return status_.show(text, width);
    status_.show(fmt::format("\x1b[32m{}\x1b[0m{}", text.substr(0, bar_end + 1), text.substr(bar_end + 1)), width);
}

LogBesideProgress::LogBesideProgress(Progress& progress) {
    set_log_sink([&progress](const std::string& line) { progress.note("tmm: " + line); });
}

LogBesideProgress::~LogBesideProgress() {
    set_log_sink({});
}

void Eta::begin_problem(int worker, double now) {
    current_[worker] = Current{.start = now};
}

void Eta::update(int worker, int done, int candidates) {
    Current& current = current_[worker];
    if (!current.known) current.known = done;
    current.done = done;
    current.candidates = candidates;
}

void Eta::end_problem(int worker, double now) {
    const auto ended = current_.find(worker);
    if (ended == current_.end()) return;
    ++problems_done_;
    seconds_done_ += now - ended->second.start;
    current_.erase(ended);
}

std::optional<double> Eta::expected_of(const Current& current, double now) const {
    const double taken = now - current.start;
    std::optional<double> most;
    if (pace_.problem_seconds > 0) most = pace_.problem_seconds;
    if (const int measured = current.done - current.known.value_or(0); measured > 0) {
        const double of_one = taken / measured;
        const double of_all = taken + of_one * std::max(0, current.candidates - current.done);
        const double of_least = taken + of_one * std::max(0, pace_.least_results - current.done);
        most = most ? std::min(of_all, std::max(*most, of_least)) : of_all;
    }
    if (problems_done_ == 0) return most ? std::optional(std::max(*most, taken)) : std::nullopt;
    // One that takes longer than the others did may take as long as it is allowed to.
    const double typical = seconds_done_ / problems_done_;
    if (taken < typical) return most ? std::min(typical, *most) : typical;
    return std::max(most.value_or(taken), taken);
}

Eta::Expected Eta::expected(double now) const {
    double share = problems_done_, left = 0, longest = 0, sum = 0;
    int told = 0;
    for (const auto& [worker, current] : current_) {
        const auto seconds = expected_of(current, now);
        if (!seconds) continue;
        const double taken = now - current.start;
        ++told;
        sum += *seconds;
        left += *seconds - taken;
        longest = std::max(longest, *seconds - taken);
        if (*seconds > 0) share += taken / *seconds;
    }
    Expected expected{.share = problems_ > 0 ? std::clamp(share / problems_, 0.0, 1.0) : 0};
    const auto at_once = static_cast<int>(current_.size());
    if (problems_done_ > 0 || told > 0) {
        const double each = problems_done_ > 0 ? seconds_done_ / problems_done_ : sum / told;
        // Those that have told nothing yet wait like the others.
        left += each * std::max(0, problems_ - problems_done_ - told);
        expected.seconds = std::max(left / std::max(at_once, 1), longest);
    }
    if (pace_.budget_seconds > 0) {
        const double of_budget = std::max(pace_.budget_seconds - now, 0.0);
        expected.seconds = std::min(expected.seconds.value_or(of_budget), of_budget);
    }
    return expected;
}

}  // namespace tmm
