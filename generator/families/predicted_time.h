// How long a plan is taken to run, in terms that add up to the whole.
#pragma once

#include <initializer_list>
#include <string>

namespace tmm {

// All terms are microseconds. What a term's work takes while a longer one hides it is not counted: models put times together by functions
// that grow in proportion to these (the sum, the longest, a norm), and each time counts as what of the whole is gone where it is left out
// in small parts, t * d(whole)/dt. By Euler's theorem on homogeneous functions these add up to the whole.
struct PredictedTime {
    // The multiplications, and the instructions that bring operands to them.
    double arithmetic = 0;
    // What is between memory, the L2 cache and the SMs.
    double memory = 0;
    // The launch, the beginning of waves of blocks, and loads that are waited for.
    double latency = 0;
    // From finished sums to what is stored of them.
    double results = 0;
    // Steps around the product, and what stands between the plan and the kernel before it.
    double other_kernels = 0;

    double total() const { return arithmetic + memory + latency + results + other_kernels; }

    // A search adds up millions of these.
    PredictedTime& operator+=(const PredictedTime& other) {
        arithmetic += other.arithmetic;
        memory += other.memory;
        latency += other.latency;
        results += other.results;
        other_kernels += other.other_kernels;
        return *this;
    }
    PredictedTime& operator*=(double factor) {
        arithmetic *= factor;
        memory *= factor;
        latency *= factor;
        results *= factor;
        other_kernels *= factor;
        return *this;
    }
};
inline PredictedTime operator+(PredictedTime a, const PredictedTime& b) {
    return a += b;
}
inline PredictedTime operator*(double factor, PredictedTime time) {
    return time *= factor;
}

// The parts run at once, and each hides what is shorter: the longest alone counts, and of equal ones the first.
PredictedTime longest_of(std::initializer_list<PredictedTime> parts);
// The parts run at once and are in each other's way. The norm is 1 where they add up, and larger the less of the shorter ones shows.
PredictedTime norm_of(double norm, std::initializer_list<PredictedTime> parts);

struct PredictedTerm {
    // The name in JSON ("other_kernels"), and the words that a person reads.
    const char* name;
    const char* words;
    double PredictedTime::*member;
};
inline constexpr PredictedTerm kPredictedTerms[] = {
    {"arithmetic", "arithmetic", &PredictedTime::arithmetic},
    {"memory", "memory", &PredictedTime::memory},
    {"latency", "latency", &PredictedTime::latency},
    {"results", "results", &PredictedTime::results},
    {"other_kernels", "other kernels", &PredictedTime::other_kernels},
};
static_assert(sizeof kPredictedTerms / sizeof *kPredictedTerms * sizeof(double) == sizeof(PredictedTime));

// "12.3 µs = arithmetic 8.1 + memory 2.2 + latency 2.0"; terms that round to nothing are left out.
std::string to_text(const PredictedTime& time);

}  // namespace tmm
