// Neighbouring elements that start anywhere, 8 of 16 bits or 4 floats, lie in two chunks of 16 aligned bytes, which a thread reads whole
// and shifts into place.
//
//   chunks       | . . . a b c d e | f g h . . . . . |      shift 3: as many elements of the first chunk belong to others
//   in place           | a b c d e f g h |
#pragma once

#include "tmm/copy/vector.cuh"

namespace tmm {

template <class T>
constexpr int elements_of_chunk = 16 / static_cast<int>(sizeof(T));
// Elements of 16 bits that a chunk holds.
constexpr int kChunkElements = 8;
using Chunk = Vector<unsigned, 4>;
struct Chunks {
    Chunk first;
    Chunk second;
};

// Elements between the last multiple of 16 bytes and the place.
template <class T>
__device__ inline int shift_of(const T* place) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(place) / sizeof(T) % elements_of_chunk<T>);
}

// A chunk that reaches beyond the range from begin to end is read element by element, and only the elements within the range are read.
template <class T>
__device__ inline Chunk read_chunk(const T* chunk, const T* begin, const T* end) {
    if (chunk >= begin && chunk + kChunkElements <= end) return ptx::ld<Chunk>(chunk);
    unsigned long long halves[2] = {};
#pragma unroll 1
    for (int j = 0; j < kChunkElements / 2; ++j) {
        const T* const low = chunk + j;
        const T* const high = low + kChunkElements / 2;
        if (low >= begin && low < end) halves[0] |= static_cast<unsigned long long>(low->bits) << (16 * j);
        if (high >= begin && high < end) halves[1] |= static_cast<unsigned long long>(high->bits) << (16 * j);
    }
    return Chunk{{static_cast<unsigned>(halves[0]), static_cast<unsigned>(halves[0] >> 32), static_cast<unsigned>(halves[1]),
                  static_cast<unsigned>(halves[1] >> 32)}};
}

// The 8 elements of 16 bits from the shift-th on.
__device__ inline Chunk shifted(const Chunks& chunks, int shift) {
    unsigned words[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) words[j] = j < 4 ? chunks.first.element[j] : chunks.second.element[j - 4];
#pragma unroll
    for (int j = 0; j < 6; ++j) words[j] = shift & 4 ? words[j + 2] : words[j];
#pragma unroll
    for (int j = 0; j < 5; ++j) words[j] = shift & 2 ? words[j + 1] : words[j];
    Chunk result;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const unsigned long long both = static_cast<unsigned long long>(words[j + 1]) << 32 | words[j];
        result.element[j] = static_cast<unsigned>(both >> (shift % 2 * 16));
    }
    return result;
}

}  // namespace tmm
