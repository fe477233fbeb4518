// The phases of a problem's search: which may follow which, and that every search can come to an end.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <vector>

#include "tuner/search/phase.h"

using namespace tmm;

namespace {

const std::vector<Phase> kPhases{Phase::recall,  Phase::rematch,   Phase::search,      Phase::variants,   Phase::run_off,
                                 Phase::decided, Phase::no_winner, Phase::out_of_time, Phase::interrupted};

std::set<Phase> reachable_from(Phase start) {
    std::set<Phase> reached;
    std::vector<Phase> open{start};
    while (!open.empty()) {
        const Phase phase = open.back();
        open.pop_back();
        for (const Phase next : kPhases)
            if (may_follow(phase, next) && reached.insert(next).second) open.push_back(next);
    }
    return reached;
}

}  // namespace

TEST_CASE("a search can come to every end, and none is asked again what an earlier run decided") {
    for (const Phase phase : kPhases) {
        const std::set<Phase> reached = reachable_from(phase);
        CHECK_FALSE(reached.contains(Phase::recall));
        if (phase == Phase::no_winner || phase == Phase::interrupted) {
            CHECK(reached.empty());
            continue;
        }
        for (const Phase end : {Phase::decided, Phase::no_winner, Phase::out_of_time, Phase::interrupted}) CHECK(reached.contains(end));
    }
}

TEST_CASE("nothing is decided without a run-off, but what an earlier run decided") {
    for (const Phase phase : kPhases) CHECK(may_follow(phase, Phase::decided) == (phase == Phase::run_off || phase == Phase::recall));
}

TEST_CASE("a phase that may not follow is refused, and the search stays where it was") {
    Phase phase = Phase::search;
    CHECK_THROWS_AS(enter(phase, Phase::decided), std::logic_error);
    CHECK(phase == Phase::search);
    enter(phase, Phase::run_off);
    CHECK(phase == Phase::run_off);
    CHECK_THROWS_AS(enter(phase, Phase::variants), std::logic_error);
}
