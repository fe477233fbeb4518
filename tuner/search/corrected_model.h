// What is predicted of a search's candidates, corrected by the times of those that were measured.
#pragma once

#include <cstddef>
#include <vector>

#include "tmm/vocabulary/config.h"

namespace tmm {

// The logarithm of a candidate's measured over its predicted time is taken for a value of a Gaussian process over configs, as in
// "Bayesian calibration of computer models" (Kennedy, O'Hagan, 2001): configs that agree in more fields are off more alike. So each time
// that is measured corrects the predictions of the others and says how sure they are.
class CorrectedModel {
public:
    // Both by place among the candidates; times are in microseconds.
    CorrectedModel(std::vector<KernelConfig> configs, std::vector<double> estimates);

    // Takes in the measured time of a candidate.
    void observe(std::size_t place, double microseconds);
    int observations() const { return static_cast<int>(innovations_.size()); }
    // The time that the candidate may well take if it is fast: some standard deviations below what is predicted of it. What is measured
    // next is that with the least ("lower confidence bound").
    double lower_confidence_bound(std::size_t place) const;
    // The chance that the candidate takes less than this.
    double chance_below(std::size_t place, double microseconds) const;

private:
    double deviation(std::size_t place) const;

    std::vector<KernelConfig> configs_;
    std::vector<double> log_estimates_;
    // Mean and variance of each candidate's correction, the variance in units of the process's own, by what was observed so far.
    std::vector<double> means_;
    std::vector<double> variances_;
    // For each observation the row of the covariances' Cholesky factor, over all candidates, and how far off the observation was, in
    // standard deviations of a process of variance 1.
    std::vector<std::vector<double>> rows_;
    std::vector<double> innovations_;
    double sum_of_squares_ = 0;
};

}  // namespace tmm
