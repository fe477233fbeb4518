// The phases of a problem's search, and which of them may follow which.
#pragma once

#include <stdexcept>

namespace tmm {

enum class Phase {
    // An earlier run decided the problem, and that may still count.
    recall,
    // The earlier winner, its runner-up and the first guesses are measured anew, before anything else is.
    rematch,
    // The candidates are measured, the most promising first.
    search,
    // Variants of the fastest are measured, which no prediction tells apart.
    variants,
    // The finalists race each other.
    run_off,
    // The ends: the problem has a verified winner; it can't have one; the budget ended before a candidate passed; somebody stopped the run.
    decided,
    no_winner,
    out_of_time,
    interrupted,
};

constexpr bool is_end(Phase phase) {
    return phase >= Phase::decided;
}

constexpr bool may_follow(Phase phase, Phase next) {
    switch (phase) {
        case Phase::recall: return next == Phase::decided || next == Phase::rematch || next == Phase::search;
        case Phase::rematch: return next == Phase::run_off || next == Phase::no_winner || next == Phase::interrupted;
        case Phase::search:
            return next == Phase::variants || next == Phase::run_off || next == Phase::no_winner || next == Phase::interrupted;
        case Phase::variants: return next == Phase::run_off || next == Phase::no_winner || next == Phase::interrupted;
        case Phase::run_off: return is_end(next);
        // The earlier winner lost its rematch by so much that the problem is searched like a new one.
        case Phase::decided: return next == Phase::search;
        // There was time for another turn.
        case Phase::out_of_time: return next == Phase::rematch || next == Phase::search;
        default: return false;
    }
}

// Throws std::logic_error where the phase may not follow.
inline void enter(Phase& phase, Phase next) {
    if (!may_follow(phase, next)) throw std::logic_error("a search can't go from one of its phases to this one");
    phase = next;
}

}  // namespace tmm
