// This file says how gemv's threads read neighbouring elements of a line, a row or a column that runs along them: by vectors where lines
// are aligned, by the chunks of 16 aligned bytes that hold them where they start at any element, or one by one where not all exist.
#pragma once

#include "tmm/copy/chunks.cuh"
#include "tmm/copy/vector.cuh"
#include "tmm/number/number.cuh"

namespace tmm::gemv {

// Neighbouring elements as they lie in memory.
template <class T, int width>
struct Neighbours {
    T element[width];

    template <int access>
    __device__ void load(int first, const T* source) {
        const Vector<T, access> read = load_vector<access>(source + first);
#pragma unroll
        for (int i = 0; i < access; ++i) element[first + i] = read.element[i];
    }
    __device__ void set(int i, T value) {
        element[i] = value;
    }
    template <class To>
    __device__ To number(int i) const {
        return to_number<To>(element[i]);
    }
};

// Two elements of 16 bits share a word.
template <class T, int width>
requires(sizeof(T) == 2) struct Neighbours<T, width> {
    unsigned pair[(width + 1) / 2] = {};

    template <int access>
    __device__ void load(int first, const T* source) {
        if constexpr (access == 1) {
            set(first, source[first]);
        } else {
            const Vector<unsigned, access / 2> read = load_vector<access / 2>(reinterpret_cast<const unsigned*>(source + first));
#pragma unroll
            for (int i = 0; i < access / 2; ++i) pair[first / 2 + i] = read.element[i];
        }
    }
    __device__ void set(int i, T value) {
        const unsigned bits = value.bits;
        pair[i / 2] = i % 2 == 0 ? (pair[i / 2] & 0xffff0000u) | bits : (pair[i / 2] & 0xffffu) | bits << 16;
    }
    template <class To>
    __device__ To number(int i) const {
        return to_number<To>(i % 2 == 0 ? lower_to_float<T>(pair[i / 2]) : upper_to_float<T>(pair[i / 2]));
    }
};

// Up to `width` neighbouring elements, of which the first `valid` exist; the others are 0.
template <int alignment, int vector_width, bool guarded, class T, int width>
__device__ inline void load_neighbours(Neighbours<T, width>& values, const T* source, int valid) {
    constexpr int aligned = alignment / static_cast<int>(sizeof(T));
    constexpr int allowed = aligned < vector_width ? aligned : vector_width;
    constexpr int access = allowed < width ? allowed : width;
    if (!guarded || valid >= width) {
#pragma unroll
        for (int first = 0; first < width; first += access) values.template load<access>(first, source);
    } else {
#pragma unroll
        for (int i = 0; i < width; ++i) values.set(i, i < valid ? source[i] : T{});
    }
}

// Neighbours as they come from memory, all of which exist: in place, or in the two chunks that hold them (chunks.cuh), to be shifted into
// place when they are multiplied.
template <class T, int width, int alignment, int vector_width, bool in_chunks>
struct Line {
    Neighbours<T, width> neighbours;

    __device__ void load(const T* source) { load_neighbours<alignment, vector_width, false>(neighbours, source, width); }
    // source: where they came from.
    __device__ const Neighbours<T, width>& in_place(const T*) const { return neighbours; }
};
template <class T, int width, int alignment, int vector_width>
struct Line<T, width, alignment, vector_width, true> {
    Chunks chunks;

    __device__ void load(const T* source) {
        const T* const first = source - shift_of(source);
        chunks = {ptx::ld<Chunk>(first), ptx::ld<Chunk>(first + elements_of_chunk<T>)};
    }
    __device__ Neighbours<T, width> in_place(const T* source) const {
        constexpr int halves = static_cast<int>(sizeof(T)) / 2;
        return bits_as<Neighbours<T, width>>(shifted(chunks, shift_of(source) * halves));
    }
};

// From where on, and up to which k, may all of a thread's lines be read in chunks, and none reaches beyond the matrix? along_k: lines run
// along K, the thread's are first, first + 1 and so on to end, out of `extent`; else, where lines are long, neighbours run from first on,
// out of `extent`, and there are as many lines as k.
template <class T, bool along_k, int steps>
struct ReadableInChunks {
    const T* matrix;
    i64 ld;
    i64 extent;
    i64 k;
    i64 first;
    i64 end;
    static constexpr int kChunk = elements_of_chunk<T>;

    __device__ bool from(i64 place) const {
        return shift_of(matrix) == 0 || (along_k ? first > 0 || place >= kChunk : place > 0 || first >= kChunk);
    }
    // Behind the end of such a line, but for the last one, there is room for what a chunk holds beyond it.
    __device__ bool lines_are_long() const { return ld >= 2 * kChunk; }
    __device__ i64 last() const {
        if constexpr (along_k) return end < extent && lines_are_long() ? k : k - 2 * kChunk;
        return first + 2 * kChunk <= extent ? k : k - steps - 1;
    }
};

}  // namespace tmm::gemv
