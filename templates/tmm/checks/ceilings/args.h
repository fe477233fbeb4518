// The arguments of the kernels of kernels.cuh. They are shared with the host, which measures a device's ceilings with these kernels.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

// The unit of reading: 16 bytes, the widest load of one thread.
inline constexpr int kReadVectorBytes = 16;
// One range each for A, B and C.
inline constexpr int kReadRanges = 3;

// Consecutive vectors; start is a multiple of 16.
struct ReadRange {
    const void* start = nullptr;
    i64 vectors = 0;
};

// Reads every vector of every range once. The value that they fold to is written only where it equals `improbable`; the compiler can't know
// that it does not.
struct ReadArgs {
    ReadRange ranges[kReadRanges];
    unsigned improbable = 0x9e3779b9u;
    unsigned* sink = nullptr;
};

// Steps of each chain in a round: enough that counting rounds costs nothing in comparison.
inline constexpr int kFmaSteps = 16;

// Each chain steps x = x * factor + summand, kFmaSteps times a round. Nothing is written unless the chains add up to
// `impossible`.
struct FmaArgs {
    float factor = 0.75f;
    float summand = 0.25f;
    float impossible = -1.0f;
    int rounds = 1;
    float* sink = nullptr;
};

// Steps of each accumulator in a round, an even number.
inline constexpr int kMmaSteps = 16;

// Each accumulator of a warp takes kMmaSteps products a round. Nothing is written unless they add up to `impossible`.
struct MmaArgs {
    float impossible = -1e30f;
    int rounds = 1;
    float* sink = nullptr;
};

// A kernel takes exactly one struct.
struct EmptyArgs {
    int nothing = 0;
};

}  // namespace tmm
