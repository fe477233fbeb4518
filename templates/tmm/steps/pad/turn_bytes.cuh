// Turns a square of 128 x 128 bytes by a block of 256 threads: it comes in rows along M or N, and leaves in rows along K.
//
// The square stands in shared memory as it came, in rows of 8 chunks of 16 bytes, but chunk c of row k stands at (c + k / 16) % 8. A thread
// then reads a word of 16 rows one below the other, and the 8 x 4 lanes of a warp, one for each 16 rows and each of four words side by
// side, meet in no bank:
//
//     outer ->                                  k ->
//     k | a0 a1 a2 a3  four bytes of a row    a0 b0 c0 d0   16 bytes of a row
//     v | b0 b1 b2 b3               ----->    a1 b1 c1 d1
//       | c0 c1 c2 c3                         a2 b2 c2 d2
//       | d0 d1 d2 d3                         a3 b3 c3 d3
#pragma once

#include "tmm/copy/chunks.cuh"
#include "tmm/copy/shared_memory.cuh"
#include "tmm/ptx.cuh"
#include "tmm/steps/pad/rules.h"

namespace tmm::pad {

// Four words, each with four neighbours of a row, become four words of neighbours of a column.
__device__ inline void turn_words(unsigned (&words)[4]) {
    const unsigned first[2] = {ptx::prmt(words[0], words[1], 0x5140), ptx::prmt(words[0], words[1], 0x7362)};
    const unsigned second[2] = {ptx::prmt(words[2], words[3], 0x5140), ptx::prmt(words[2], words[3], 0x7362)};
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = ptx::prmt(first[i / 2], second[i / 2], i % 2 == 0 ? 0x5410 : 0x7632);
}

// Chunks of 16 bytes of a row of the square.
constexpr int kChunksOfRow = kByteSquare / 16;

// Where a chunk's first word stands.
__device__ inline int place_of_chunk(int k, int chunk) {
    return k * (kByteSquare / 4) + (chunk + k / 16) % kChunksOfRow * 4;
}

// Turns the block's square of a batch of matrices. source: rows of `columns` bytes; the copy: `columns` rows of padded_ld(rows) bytes, in
// which what stands behind a row's end may be anything.
__device__ inline void turn_bytes(const void* source, i64 rows, i64 columns, i64 ld, i64 stride, i64 batch, void* copy, unsigned* square) {
    using Byte = signed char;
    if (static_cast<i64>(blockIdx.x) >= squares({columns, rows}, batch, ElementType::s8)) return;
    const unsigned across = static_cast<unsigned>((columns + kByteSquare - 1) / kByteSquare);
    const unsigned along_k = static_cast<unsigned>((rows + kByteSquare - 1) / kByteSquare);
    const unsigned row_of_squares = blockIdx.x / across;
    const unsigned member = row_of_squares / along_k;
    const i64 outer0 = i64{blockIdx.x - row_of_squares * across} * kByteSquare;
    const i64 k0 = i64{row_of_squares - member * along_k} * kByteSquare;
    const i64 copy_ld = padded_ld(rows, ElementType::s8);
    const Byte* const begin = static_cast<const Byte*>(source) + member * stride;
    const Byte* const end = begin + (rows - 1) * ld + columns;

    constexpr int rows_at_once = kWarps * 32 / kChunksOfRow;
    constexpr int turns = kByteSquare / rows_at_once;
    const int chunk = static_cast<int>(threadIdx.x) % kChunksOfRow;
    const int first_row = static_cast<int>(threadIdx.x) / kChunksOfRow;
    const auto place_of = [&](int turn) { return begin + (k0 + first_row + turn * rows_at_once) * ld + outer0 + chunk * 16; };
    const auto put = [&](int turn, const Chunks& chunks) {
        ptx::st(square + place_of_chunk(first_row + turn * rows_at_once, chunk), shifted<1>(chunks, shift_of(place_of(turn))));
    };
    // Where rows do not start at chunks, each row's last chunk is read together with the one behind it.
    const bool aligned = shift_of(begin) == 0 && ld % 16 == 0;
    const bool inside = outer0 + kByteSquare <= columns && (aligned ? k0 + kByteSquare <= rows : k0 > 0 && k0 + kByteSquare < rows);
    // The square of the other operand has been read before this one is written.
    __syncthreads();
    if (inside) {
        // All of a thread's loads are under way at once.
        Chunks read[turns] = {};
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const Byte* const from = place_of(turn) - shift_of(place_of(turn));
            read[turn].first = ptx::ld<Chunk>(from);
            if (!aligned) read[turn].second = ptx::ld<Chunk>(from + 16);
        }
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) put(turn, read[turn]);
    } else {
        const bool exists = outer0 + chunk * 16 < columns;
#pragma unroll 1
        for (int turn = 0; turn < turns; ++turn) {
            if (!exists || k0 + first_row + turn * rows_at_once >= rows) break;
            const Byte* const from = place_of(turn) - shift_of(place_of(turn));
            put(turn, {read_chunk(from, begin, end), read_chunk(from + 16, begin, end)});
        }
    }
    __syncthreads();

    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int sixteen = static_cast<int>(threadIdx.x) % kChunksOfRow;
    const int word = static_cast<int>(threadIdx.x) % 32 / kChunksOfRow;
    unsigned words[4][4];
#pragma unroll
    for (int four = 0; four < 4; ++four) {
#pragma unroll
        for (int i = 0; i < 4; ++i) words[four][i] = square[place_of_chunk(sixteen * 16 + four * 4 + i, warp) + word];
        turn_words(words[four]);
    }
    if (k0 + sixteen * 16 >= rows) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const i64 outer = outer0 + warp * 16 + word * 4 + i;
        if (outer >= columns) return;
        ptx::st(static_cast<Byte*>(copy) + (member * columns + outer) * copy_ld + k0 + sixteen * 16,
                Chunk{{words[0][i], words[1][i], words[2][i], words[3][i]}});
    }
}

}  // namespace tmm::pad
