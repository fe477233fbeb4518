// Moves sums from shared memory to rows of C that TMA can't store to.
#pragma once

#include "tmm/copy/chunks.cuh"
#include "tmm/ptx.cuh"
#include "tmm/vocabulary/args.h"

namespace tmm {

// A warp's rows of C with elements of 16 bits, which start at any element. Each row is staged as far behind a multiple of 16 bytes as it
// stands in C, so that what makes whole chunks in C does so in shared memory, too:
//
//     staged row:   | . . . a a a a a | c c c c c c c c | c c c c c c c c | b b b . . . . . |      ahead 3, 24 columns
//
// 8 lanes write a row: each writes a whole chunk, and one element of the two chunks at the row's ends, of which others have a part, too.
// Where a tile ends with C, the columns behind its last whole 8 columns are written element by element.
template <class Output>
class UnalignedRows {
    using T = typename Output::C;
    static constexpr int kLanesOfRow = kChunkElements;
    static constexpr int kRowsOfTurn = 32 / kLanesOfRow;
    // Rows that are a multiple of 8 apart begin alike.
    static constexpr int kRowsTogether = 8;
    static constexpr int kTurns = kRowsTogether / kRowsOfTurn;

public:
    // row0, column0: the warp's first row and column in the tile.
    __device__ UnalignedRows(const Output& output, int row0, int column0, int lane, T* staged)
        : output_(output),
          row0_(row0),
          column0_(column0),
          lane_(lane),
          ahead_of_first_(static_cast<unsigned>(shift_of(output.at(row0, column0)))),
          staged_(staged) {
#pragma unroll
        for (int turn = 0; turn < kTurns; ++turn) {
            const int row = lane / kLanesOfRow + turn * kRowsOfTurn;
            ahead_[turn] = ahead(row);
            to_[turn] = output.at(row0 + row, column0) - ahead_[turn];
        }
    }

    // The place where an element of the rows that are written next is staged; staged rows are `distance` elements apart.
    template <int distance>
    __device__ T* at(int row, int column) const {
        return staged_ + row * distance + ahead(row) + column;
    }

    // Writes so many rows, and so much of each, from this row and column of the warp's on, both multiples of 8. All lanes call this when
    // all elements are staged.
    template <int rows, int row_length, int distance>
    __device__ void store(int row0, int column0) const {
        static_assert(row_length <= kLanesOfRow * kChunkElements && row_length % kChunkElements == 0 && rows % kRowsTogether == 0);
        static_assert(distance >= row_length + kChunkElements);
        const int rows_here = output_.rows - row0_ - row0;
        const int columns_left = output_.columns - column0_ - column0;
        const int columns_here = columns_left < row_length ? columns_left : row_length;
        if (columns_here <= 0) return;
        const int columns = columns_here / kChunkElements * kChunkElements;
        if (columns > 0) store_eights<rows, row_length, distance>(row0, column0, rows_here, columns);
        if (columns == columns_here) return;
#pragma unroll 1
        for (int element = lane_; element < rows * kChunkElements; element += 32) {
            const int row = element / kChunkElements;
            const int column = columns + element % kChunkElements;
            if (row < rows_here && column < columns_here)
                *output_.at(row0_ + row0 + row, column0_ + column0 + column) = *at<distance>(row, column);
        }
    }

private:
    // Elements between the last multiple of 16 bytes and the row's first, wherever the columns begin.
    __device__ int ahead(int row) const {
        const unsigned of_eight = static_cast<unsigned>(row) % kRowsTogether;
        return static_cast<int>((ahead_of_first_ + of_eight * static_cast<unsigned>(output_.ld)) % kChunkElements);
    }

    template <int rows, int row_length, int distance>
    __device__ void store_eights(int row0, int column0, int rows_here, int columns) const {
        const int slot = lane_ % kLanesOfRow;
        const int chunk = slot * kChunkElements;
        const int row = lane_ / kLanesOfRow;
        const T* const from = staged_ + row * distance;
        // The place of the single element that the lane writes.
        int end[kTurns];
#pragma unroll
        for (int turn = 0; turn < kTurns; ++turn) end[turn] = slot < ahead_[turn] ? columns + slot : slot;
#pragma unroll 2
        for (int first = 0; first < rows; first += kRowsTogether) {
            Chunk chunks[kTurns];
            T elements[kTurns];
#pragma unroll
            for (int turn = 0; turn < kTurns; ++turn) {
                const T* const here = from + (first + turn * kRowsOfTurn) * distance;
                if (chunk < row_length) chunks[turn] = ptx::ld<Chunk>(here + chunk);
                elements[turn] = here[end[turn]];
            }
#pragma unroll
            for (int turn = 0; turn < kTurns; ++turn) {
                T* const to = to_[turn] + (row0 + first) * output_.ld + column0;
                const bool exists = row + first + turn * kRowsOfTurn < rows_here;
                if (exists && chunk >= ahead_[turn] && chunk < columns) ptx::st_global(to + chunk, chunks[turn].element);
                if (exists && ahead_[turn] > 0) to[end[turn]] = elements[turn];
            }
        }
    }

    const Output& output_;
    int row0_;
    int column0_;
    int lane_;
    unsigned ahead_of_first_;
    T* staged_;
    // For the lane's row of each turn: how far the row begins behind the start of the chunk that it begins in, and that chunk's place in C.
    int ahead_[kTurns];
    T* to_[kTurns];
};

}  // namespace tmm
