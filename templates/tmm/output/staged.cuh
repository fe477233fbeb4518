// Sums on their way to C through shared memory, from where whole rows leave.
#pragma once

#include "tmm/copy/vector.cuh"
#include "tmm/output/output.cuh"

namespace tmm {

// What stands in shared memory: elements of C already.
template <class Output, bool reads_c = Output::Target::signature.reads_c>
struct Staged {
    using C = typename Output::C;
    using Type = C;
    using Sum = typename Output::Sum;

    // What is staged of a sum, not yet rounded to Type.
    __device__ static auto made(const Output& output, int row, int column, Sum sum) {
        return output.results.at(within<typename Output::Target>(row, output.rows), within<typename Output::Target>(column, output.columns),
                                 sum, C{});
    }
    // Stores `width` neighbouring elements of a row, where C holds `before`.
    template <int width>
    __device__ static void store(const Output&, int, int, C* c, const Type* staged, const Vector<C, width>&) {
        store_vector_global(c, load_vector<width>(staged));
    }
};
// Where C is read as well it is still the sums, since what C holds is read as rows leave.
template <class Output>
struct Staged<Output, true> {
    using C = typename Output::C;
    using Type = typename Output::Sum;

    __device__ static Type made(const Output&, int, int, Type sum) { return sum; }
    template <int width>
    __device__ static void store(const Output& output, int row, int column, C* c, const Type* staged, const Vector<C, width>& before) {
        Vector<C, width> results;
#pragma unroll
        for (int i = 0; i < width; ++i) results.element[i] = output.results.element(row, column + i, staged[i], before.element[i]);
        store_vector_global(c, results);
    }
};

}  // namespace tmm
