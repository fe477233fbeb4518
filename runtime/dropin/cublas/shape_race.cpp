#include "runtime/dropin/cublas/shape_race.h"

#include <algorithm>
#include <cmath>

namespace tmm::dropin {
namespace {

// Timed calls of the library before there is a candidate.
constexpr int kFirstCalls = 3;
// Timed calls of each side, and where their times are closer than kClose.
constexpr int kCalls = 6;
constexpr int kCallsIfClose = 20;
constexpr double kClose = 0.1;
// Between two candidates of tmm.
constexpr double kMarginOfCandidates = 0.01;
// A time may never come, since the call has thrown: after so many calls another one is taken.
constexpr int kPatience = 256;

}  // namespace

double ShapeRace::Calls::median() const {
    std::vector<double> sorted = us;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

// Calls of a shape come in turns of their own, such as a layer's two: sides that alternated would each have one of them.
bool ShapeRace::toss() {
    random_ = random_ * 1664525 + 1013904223;
    return (random_ >> 24) % 2 != 0;
}

ShapeRace::Turn ShapeRace::next() {
    if (!challenger_) {
        const bool is_timed = best_ == kLibrary && !knows_library() && (of_best_.asked <= kFirstCalls || ++waited_ % kPatience == 0);
        if (is_timed) ++of_best_.asked;
        return {.side = best_, .is_timed = is_timed};
    }
    const auto lacks = [&](const Calls& calls) { return calls.asked <= wanted_ && static_cast<int>(calls.us.size()) < wanted_; };
    const bool best_lacks = lacks(of_best_);
    const bool challenger_lacks = lacks(of_challenger_);
    if (!best_lacks && !challenger_lacks) {
        // What is queued must come to its end.
        if (++waited_ % kPatience == 0) ++wanted_;
        return {.side = best_};
    }
    const bool is_challengers = challenger_lacks && (!best_lacks || toss());
    Calls& calls = is_challengers ? of_challenger_ : of_best_;
    ++calls.asked;
    return {.side = calls.side, .is_timed = true};
}

void ShapeRace::note(int side, double us) {
    if (!std::isfinite(us) || us <= 0) return;
    Calls* const calls = side == of_best_.side ? &of_best_ : challenger_ && side == of_challenger_.side ? &of_challenger_ : nullptr;
    if (!calls) return;
    if (!calls->has_begun) {
        calls->has_begun = true;
        return;
    }
    calls->us.push_back(us);
    if (!challenger_ && side == kLibrary && static_cast<int>(calls->us.size()) >= kFirstCalls) set_time(side, calls->median());
    if (challenger_) decide();
}

void ShapeRace::challenge(int side) {
    challenger_ = side;
    of_best_ = {.side = best_};
    of_challenger_ = {.side = side};
    wanted_ = kCalls;
}

void ShapeRace::decide() {
    const auto has = [&](const Calls& calls, int count) { return static_cast<int>(calls.us.size()) >= count; };
    if (!has(of_best_, kCalls) || !has(of_challenger_, kCalls)) return;
    const double ratio = of_challenger_.median() / of_best_.median();
    if (std::abs(ratio - 1) < kClose && (!has(of_best_, kCallsIfClose) || !has(of_challenger_, kCallsIfClose))) {
        wanted_ = std::max(wanted_, kCallsIfClose);
        return;
    }
    set_time(of_best_.side, of_best_.median());
    set_time(of_challenger_.side, of_challenger_.median());
    const double margin = best_ == kLibrary ? kMargin : kMarginOfCandidates;
    if (ratio < 1 - margin) best_ = of_challenger_.side;
    challenger_.reset();
}

void ShapeRace::forfeit(int side) {
    if (challenger_ == side) challenger_.reset();
    if (best_ != side) return;
    // The library always can.
    challenger_.reset();
    best_ = kLibrary;
}

double ShapeRace::time_of(int side) const {
    return static_cast<std::size_t>(side) < times_.size() ? times_[static_cast<std::size_t>(side)] : 0;
}

void ShapeRace::set_time(int side, double us) {
    if (times_.size() <= static_cast<std::size_t>(side)) times_.resize(static_cast<std::size_t>(side) + 1);
    times_[static_cast<std::size_t>(side)] = us;
}

}  // namespace tmm::dropin
