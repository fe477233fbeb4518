// Who serves a shape, by the times of a program's calls.
#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "runtime/dropin/cublas/shape_race.h"

using tmm::dropin::ShapeRace;

namespace {

// A program that calls the shape, whose sides take times of their own.
struct Program {
    ShapeRace race;
    std::function<double(int side, int call)> time;
    std::map<int, int> timed;
    int calls = 0;

    void call(int count) {
        for (int i = 0; i < count; ++i) {
            const ShapeRace::Turn turn = race.next();
            if (turn.is_timed) ++timed[turn.side];
            if (turn.is_timed) race.note(turn.side, time(turn.side, calls));
            ++calls;
        }
    }
};

Program program_of(const std::map<int, double>& us) {
    Program program;
    program.time = [us](int side, int) { return us.at(side); };
    return program;
}

}  // namespace

TEST_CASE("the library serves, and is timed a few times, until there is a candidate") {
    Program program = program_of({{0, 100}});
    CHECK_FALSE(program.race.knows_library());
    program.call(1000);
    CHECK(program.race.knows_library());
    CHECK(program.race.time_of(0) == 100);
    CHECK(program.race.best() == 0);
    CHECK(program.timed[0] <= 5);
}

TEST_CASE("a candidate serves where it is faster by more than 3%") {
    for (const auto& [us, best] : std::map<double, int>{{50, 1}, {90, 1}, {96, 1}, {98, 0}, {100, 0}, {140, 0}}) {
        CAPTURE(us);
        Program program = program_of({{0, 100}, {1, us}});
        program.call(10);
        program.race.challenge(1);
        program.call(200);
        CHECK_FALSE(program.race.has_challenger());
        CHECK(program.race.best() == best);
        CHECK(program.race.time_of(1) == us);
        // From then on nothing is timed.
        const auto before = program.timed;
        program.call(100);
        CHECK(program.timed == before);
    }
}

TEST_CASE("a clear race takes few calls, a close one more, and the slower side has half of them at most") {
    Program clear = program_of({{0, 100}, {1, 300}});
    clear.race.challenge(1);
    clear.call(400);
    CHECK(clear.timed[1] <= 10);
    Program close = program_of({{0, 100}, {1, 99}});
    close.race.challenge(1);
    close.call(400);
    CHECK(close.timed[1] > 15);
    CHECK(close.timed[1] <= 30);
}

TEST_CASE("the first call of a side, which may load its kernel, and single late calls decide nothing") {
    Program program;
    std::map<int, int> calls;
    program.time = [&](int side, int) {
        const int call = calls[side]++;
        return side == 0 ? 100.0 : call == 0 || call == 3 ? 50'000.0 : 70.0;
    };
    program.race.challenge(1);
    program.call(100);
    CHECK(program.race.best() == 1);
}

TEST_CASE("sides are told apart where the program's calls have turns of their own") {
    // Each second call takes twice as long, whoever multiplies it.
    Program program;
    program.time = [](int side, int call) { return (side == 0 ? 100.0 : 96.0) * (call % 2 == 0 ? 1 : 2); };
    program.race.challenge(1);
    program.call(400);
    const double ratio = program.race.time_of(1) / program.race.time_of(0);
    CHECK(ratio > 0.45);
    CHECK(ratio < 2.1);
    CHECK(program.timed[0] > 3);
    CHECK(program.timed[1] > 3);
}

TEST_CASE("of several candidates the fastest serves, whichever came first") {
    Program program = program_of({{0, 100}, {1, 80}, {2, 60}, {3, 70}});
    program.call(10);
    for (int side = 1; side <= 3; ++side) {
        program.race.challenge(side);
        program.call(200);
    }
    CHECK(program.race.best() == 2);
    CHECK(program.race.time_of(2) == 60);
}

TEST_CASE("times that come late, or never, hold nothing up") {
    ShapeRace race;
    race.challenge(1);
    int given = 0;
    for (int call = 0; call < 20'000; ++call) {
        const ShapeRace::Turn turn = race.next();
        // Two of three are lost, as where the library throws.
        if (turn.is_timed && ++given % 3 == 0) race.note(turn.side, turn.side == 0 ? 100 : 50);
    }
    CHECK(race.best() == 1);
}

TEST_CASE("a candidate that can't multiply gives way") {
    Program program = program_of({{0, 100}, {1, 50}, {2, 40}});
    program.call(10);
    program.race.challenge(1);
    program.call(100);
    REQUIRE(program.race.best() == 1);
    program.race.challenge(2);
    program.race.forfeit(2);
    CHECK(program.race.best() == 1);
    CHECK_FALSE(program.race.has_challenger());
    program.race.forfeit(1);
    CHECK(program.race.best() == 0);
    program.call(10);
    CHECK(program.race.best() == 0);
}
