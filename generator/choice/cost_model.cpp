#include "generator/choice/cost_model.h"

#include <algorithm>

#include "generator/choice/cost_model_host.h"
#include "generator/families/family.h"
#include "generator/plan/finishing_step.h"
#include "generator/problem/matrix_layout.h"

namespace tmm {
namespace {

// What each block on an SM that adds up parts of K takes, beyond those few that the families' models count: it begins, and has little to
// do. Without it, 11008x32x4096 in parts took some 8 us longer than predicted, with 83 such blocks on an SM, and 4096x8x4096 3 to 5,
// with 31.
constexpr double kClocksOfSum = 198;
constexpr double kBlocksCounted = 8;

// What an epilogue adds to an SM's time for each element of C: 0.16 to 0.3 clocks on an H100 in the median of 20 shapes in BF16, by the
// epilogue, and 0.4 to 0.55 of 10 in FP32 (bench/results/epilogues-h100.csv). The least of these counts, so that a choice by prediction is
// a sure one.
constexpr double kClocksOfElement = 0.16;

}  // namespace

PredictedTime CostModel::predict(const KernelConfig& c, EpiloguePlace place) const {
    if (has_finishing_step(problem_, c, place)) {
        const GemmProblem product = product_problem(problem_, c, place);
        PredictedTime time = CostModel(product, device_).predict(c);
        time.other_kernels += microseconds_of_step(problem_, c, device_);
        return time;
    }
    if (device_.emulated) return host_time_of_plan(problem_, c);
    PredictedTime time = alone(c);
    if (c.overlap != 0) {
        const Crowding crowding = product_of(c).crowding(problem_, c, device_);
        time.other_kernels += crowding.share * time.total() + crowding.microseconds;
    } else if (device_.overlaps_kernels()) {
        time.other_kernels += device_.profile.kernel_gap;
    }
    return time;
}

double CostModel::least_of_epilogue() const {
    if (problem_.epilogue == Epilogue::none) return 0;
    return device_.profile.memory_latency +
           kClocksOfElement / device_.profile.clock * elements_of_c(problem_) / std::max(1, device_.sm_count);
}

KernelConfig CostModel::with_better_overlap(KernelConfig c) const {
    c.overlap = device_.overlaps_kernels() && crowding(c) < device_.profile.kernel_gap ? 1 : 0;
    return c;
}

double CostModel::crowding(const KernelConfig& c) const {
    const Crowding crowding = product_of(c).crowding(problem_, c, device_);
    return (crowding.share > 0 ? crowding.share * alone(c).total() : 0) + crowding.microseconds;
}

PredictedTime CostModel::alone(const KernelConfig& c) const {
    KernelConfig key = c;
    key.overlap = 0;
    if (last_ != key) {
        last_alone_ = work_out_alone(c);
        last_ = key;
    }
    return last_alone_;
}

PredictedTime CostModel::work_out_alone(const KernelConfig& c) const {
    PredictedTime time = product_of(c).estimate(problem_, c, device_);
    time.other_kernels += beginning_of_sums(c);
    return time;
}

// These blocks are as many as C has rows, however few its columns are.
double CostModel::beginning_of_sums(const KernelConfig& c) const {
    const double of_sm = static_cast<double>(blocks_that_add_parts(problem_, c)) / std::max(1, device_.sm_count);
    return kClocksOfSum / device_.profile.clock * std::max(0.0, of_sm - kBlocksCounted);
}

}  // namespace tmm
