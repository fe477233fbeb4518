// Neighbouring elements that start anywhere, 16 bytes, 8 of 16 bits or 4 floats, lie in two chunks of 16 aligned bytes, which a thread
// reads whole and shifts into place.
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

template <class T>
__device__ inline unsigned short stored_bits(T element) {
    return element.bits;
}
__device__ inline unsigned char stored_bits(signed char element) {
    return static_cast<unsigned char>(element);
}

// A chunk that reaches beyond the range from begin to end is read element by element, and only the elements within the range are read.
template <class T>
__device__ inline Chunk read_chunk(const T* chunk, const T* begin, const T* end) {
    constexpr int elements = elements_of_chunk<T>;
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    if (chunk >= begin && chunk + elements <= end) return ptx::ld<Chunk>(chunk);
    unsigned long long halves[2] = {};
#pragma unroll 1
    for (int j = 0; j < elements / 2; ++j) {
        const T* const low = chunk + j;
        const T* const high = low + elements / 2;
        if (low >= begin && low < end) halves[0] |= static_cast<unsigned long long>(stored_bits(*low)) << (bits * j);
        if (high >= begin && high < end) halves[1] |= static_cast<unsigned long long>(stored_bits(*high)) << (bits * j);
    }
    return Chunk{{static_cast<unsigned>(halves[0]), static_cast<unsigned>(halves[0] >> 32), static_cast<unsigned>(halves[1]),
                  static_cast<unsigned>(halves[1] >> 32)}};
}

// The elements of so many bytes, 8 of 16 bits or 16 bytes, from the shift-th on.
template <int bytes = 2>
__device__ inline Chunk shifted(const Chunks& chunks, int shift) {
    unsigned words[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) words[j] = j < 4 ? chunks.first.element[j] : chunks.second.element[j - 4];
#pragma unroll
    for (int j = 0; j < 6; ++j) words[j] = shift & 8 / bytes ? words[j + 2] : words[j];
#pragma unroll
    for (int j = 0; j < 5; ++j) words[j] = shift & 4 / bytes ? words[j + 1] : words[j];
    Chunk result;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        const unsigned long long both = static_cast<unsigned long long>(words[j + 1]) << 32 | words[j];
        result.element[j] = static_cast<unsigned>(both >> (shift % (4 / bytes) * (8 * bytes)));
    }
    return result;
}

}  // namespace tmm
