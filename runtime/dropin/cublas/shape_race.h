// Which of several ways to multiply one shape is the fastest, by the times of a program's own calls: the library that it called, and
// tmm's candidates, which challenge the best so far one after the other. Knows no clock and no device. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tmm::dropin {

class ShapeRace {
public:
    // The library; tmm's candidates are 1, 2, …
    static constexpr int kLibrary = 0;
    // The library goes on serving where a candidate is not faster by this part.
    static constexpr double kMargin = 0.03;

    struct Turn {
        int side = kLibrary;
        // Its time is wanted.
        bool is_timed = false;
    };
    // Who multiplies the next call.
    Turn next();
    // What a call took for which a time was wanted.
    void note(int side, double us);

    // A candidate is ready. There must be no challenger.
    void challenge(int side);
    bool has_challenger() const { return challenger_.has_value(); }
    // The side can't multiply. Where it served, the library does.
    void forfeit(int side);

    // Enough calls of the library were timed to say what to hope for.
    bool knows_library() const { return time_of(kLibrary) > 0; }
    int best() const { return best_; }
    // Microseconds of a side, as last measured; 0 where it was not.
    double time_of(int side) const;

private:
    // The calls of one side since the challenge began.
    struct Calls {
        int side = kLibrary;
        int asked = 0;
        // The first call, which may load a kernel, is left out.
        bool has_begun = false;
        std::vector<double> us = {};

        double median() const;
    };
    void decide();
    void set_time(int side, double us);
    bool toss();

    int best_ = kLibrary;
    std::optional<int> challenger_;
    Calls of_best_;
    Calls of_challenger_;
    int wanted_ = 0;
    int waited_ = 0;
    std::vector<double> times_;
    std::uint32_t random_ = 1;
};

}  // namespace tmm::dropin
