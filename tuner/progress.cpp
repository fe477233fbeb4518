#include "tuner/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "generator/environment.h"

namespace tmm {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);

std::size_t terminal_width(int fd) {
    winsize size{};
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string duration_text(double seconds) {
    if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(std::FILE* stream) : stream_(stream), bar_(isatty(fileno(stream)) == 1), color_(bar_ && !color_forbidden()) {}

Progress::~Progress() {
    finish();
}

void Progress::start(int problems, double budget_seconds) {
    std::lock_guard lock(mutex_);
    problems_ = problems;
    budget_seconds_ = budget_seconds;
    start_ = Clock::now();
}

void Progress::add_problem() {
    std::lock_guard lock(mutex_);
    ++problems_;
}

void Progress::begin_problem(int worker, const std::string& name) {
    std::lock_guard lock(mutex_);
    current_[worker] = Current{.name = name};
    draw(true);
}

void Progress::update(int worker, int done, int candidates, double best_us) {
    std::lock_guard lock(mutex_);
    Current& current = current_[worker];
    current.done = done;
    current.candidates = candidates;
    current.best_us = best_us;
    draw(false);
}

void Progress::leave_problem(int worker) {
    std::lock_guard lock(mutex_);
    current_.erase(worker);
    draw(true);
}

void Progress::end_problem(int worker, const std::string& result) {
    std::lock_guard lock(mutex_);
    ++problems_done_;
    line(fmt::format("[{}/{}] {}: {}", problems_done_, problems_, current_[worker].name, result));
    current_.erase(worker);
    draw(true);
}

void Progress::note(const std::string& text) {
    std::lock_guard lock(mutex_);
    line(text);
    draw(true);
}

void Progress::finish() {
    std::lock_guard lock(mutex_);
    erase();
    current_.clear();
    std::fflush(stream_);
}

void Progress::line(const std::string& text) {
    erase();
    write(text + "\n");
    std::fflush(stream_);
}

void Progress::erase() {
    if (drawn_) write("\r\x1b[K");
    drawn_ = false;
}

// Progress that nobody can read stops no run: a full disk or a terminal that went away is ignored.
void Progress::write(const std::string& text) {
    std::fputs(text.c_str(), stream_);
}

void Progress::draw(bool now) {
    if (!bar_ || current_.empty()) return;
    const auto time = Clock::now();
    if (!now && time - last_draw_ < kRedraw) return;
    last_draw_ = time;

    double done = problems_done_;
    for (const auto& [worker, c] : current_) done += c.candidates > 0 ? static_cast<double>(c.done) / c.candidates : 0;
    const double share = problems_ > 0 ? std::min(done / problems_, 1.0) : 0;
    const double elapsed = std::chrono::duration<double>(time - start_).count();
    std::string eta = "?";
    if (share > 0.005) {
        double left = elapsed / share - elapsed;
        if (budget_seconds_ > 0) left = std::min(left, std::max(budget_seconds_ - elapsed, 0.0));
        eta = duration_text(left);
    }
    const Current& c = current_.begin()->second;
    std::string what = fmt::format(" {}/{} shapes, ETA {}  {}  {}/{}", problems_done_, problems_, eta, c.name, c.done, c.candidates);
    if (c.best_us > 0) what += fmt::format("  best {:.2f} µs", c.best_us);
    const std::size_t room = terminal_width(fileno(stream_));
    // A bar that breaks into two lines can't be taken away.
    if (room < kBarWidth + 3) return;
    // "µ" takes two bytes and one column; a byte too few does no harm.
    if (what.size() + kBarWidth + 3 > room) what.resize(room - kBarWidth - 3);
    // No half of a character at the end.
    while (!what.empty() && (what.back() & 0x80) != 0) what.pop_back();
    const auto filled = static_cast<std::size_t>(share * kBarWidth);
    const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
    write(fmt::format("\r\x1b[K{}[{}]{}{}", color_ ? "\x1b[32m" : "", bar, color_ ? "\x1b[0m" : "", what));
    std::fflush(stream_);
    drawn_ = true;
}

}  // namespace tmm
