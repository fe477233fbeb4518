// What tmm's library chooses for the products of a device, and the plans that it makes. None of it belongs on a caller's path.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/dropin/cublas/background_tuning.h"
#include "runtime/dropin/cublas/problem_table.h"
#include "tmm/tmm.h"

namespace tmm::dropin {

struct Choice {
    // tmm multiplies by it; null: cuBLAS does.
    const ReadyPlan* plan = nullptr;
    // What tmm says of its choice, or why cuBLAS multiplies.
    std::string words;
    // Microseconds that are known from an earlier race; 0 where there was none.
    double us_of_tmm = 0;
    double us_of_cublas = 0;
    // Nobody knows who is faster: this config is the likeliest to be, and is predicted to take so long (0: nobody knows).
    std::string candidate = {};
    double predicted_us = 0;
};

// The winners of one time. Thread-safe.
class Choices {
public:
    // ordinal: as tmmCreate takes it. tuning: null where nothing is tuned.
    Choices(int ordinal, std::size_t most_workspace, BackgroundTuning* tuning);

    // May compile. races: what nobody knows is to be raced; takes_any: tmm multiplies whatever it can.
    Choice choose(const tmmGemmProblem_t& problem, bool races, bool takes_any);
    // The likeliest configs, the best first.
    std::vector<std::string> candidates(const tmmGemmProblem_t& problem, int most);
    // The plan of the config, which may be compiled. Null, and a reason, where there is none.
    const ReadyPlan* prepare(const tmmGemmProblem_t& problem, const std::string& config, std::string& reason);
    // Keeps what a race has found in the user's database.
    void remember(const tmmGemmProblem_t& problem, const std::string& config, double us_of_tmm, double us_of_cublas);

    // There are newer winners: the device is not opened again by these.
    void close();

    // The tuning's runs that had ended when these were made.
    const unsigned runs;

private:
    using Handle = std::shared_ptr<tmmHandle_s>;

    // Null where the device can't be opened, which is logged once.
    Handle open();
    tmmGemmProblem_t bounded(const tmmGemmProblem_t& problem) const;
    const ReadyPlan* ready(tmmHandle_t handle, tmmStatus_t status, tmmPlan_t plan, std::string& reason);

    const int ordinal_;
    const std::size_t most_workspace_;
    BackgroundTuning* const tuning_;
    std::mutex mutex_;
    Handle handle_;
    bool is_closed_ = false;
    bool lacks_compiler_ = false;
    bool cannot_remember_ = false;
};

}  // namespace tmm::dropin
