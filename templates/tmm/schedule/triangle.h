// Which tiles a product takes that computes one triangle of a square C: those that the triangle reaches into. They are told by squares that
// have whole tiles along either side; the squares on and below the diagonal, folded, fill a rectangle, so that blocks take them in the
// order in which they take any other tiles:
//
//     4 squares a side:   22 32       5 squares a side:   00 33 43
//                         00 33                           10 11 44
//                         10 11                           20 21 22
//                         20 21                           30 31 32
//                         30 31                           40 41 42       (row and column of each square)
//
// The upper triangle has the same squares with rows and columns exchanged.
#pragma once

#include "tmm/vocabulary/problem.h"

namespace tmm {

// Does the element belong to what is wanted of C? Of a symmetric C that is all.
constexpr bool is_wanted(Result result, i64 row, i64 column) {
    return result == Result::lower ? column <= row : result == Result::upper ? column >= row : true;
}
// Do so many elements of a row, or one of them, belong to it?
constexpr bool all_wanted(Result result, i64 row, i64 column, int count) {
    return is_wanted(result, row, column) && is_wanted(result, row, column + count - 1);
}
constexpr bool any_wanted(Result result, i64 row, i64 column, int count) {
    return is_wanted(result, row, column) || is_wanted(result, row, column + count - 1);
}

// The side of the smallest square of whole tiles.
constexpr i64 square_side(i64 tile_rows, i64 tile_columns) {
    i64 a = tile_rows;
    i64 b = tile_columns;
    while (b != 0) {
        const i64 rest = a % b;
        a = b;
        b = rest;
    }
    return tile_rows / a * tile_columns;
}

// squares: along a side of C.
constexpr i64 folded_columns(i64 squares) {
    return (squares + 1) / 2;
}
constexpr i64 folded_rows(i64 squares) {
    return squares + (squares % 2 == 0 ? 1 : 0);
}

template <class Index>
struct SquareOfTriangle {
    Index row;
    Index column;
};
// The square of the lower triangle that stands in this row and column of the rectangle.
template <class Index>
constexpr SquareOfTriangle<Index> unfolded(Index row, Index column, Index squares) {
    const Index columns = (squares + 1) / 2;
    const Index even = squares % 2 == 0 ? 1 : 0;
    if (row >= column + even) return {row - even, column};
    return {columns + column + even - 1, columns + row};
}

// Rows and columns of tiles that blocks count.
struct TilesOfC {
    i64 rows;
    i64 columns;

    constexpr i64 all() const { return rows * columns; }
};
// The tiles of this size that a product of m x n takes.
constexpr TilesOfC tiles_of_result(Result result, i64 m, i64 n, i64 tile_rows, i64 tile_columns) {
    if (result == Result::full) return {(m + tile_rows - 1) / tile_rows, (n + tile_columns - 1) / tile_columns};
    const i64 side = square_side(tile_rows, tile_columns);
    const i64 squares = (m + side - 1) / side;
    return {folded_rows(squares) * (side / tile_rows), folded_columns(squares) * (side / tile_columns)};
}

template <class Index>
struct TilePlace {
    Index m;
    Index n;
};
// The tile of C that stands at the place of the rectangle. squares: along a side of C.
template <class Index>
constexpr TilePlace<Index> tile_of_triangle(Result result, TilePlace<Index> place, Index squares, Index rows_of_square,
                                            Index columns_of_square) {
    const SquareOfTriangle<Index> lower = unfolded(place.m / rows_of_square, place.n / columns_of_square, squares);
    const bool upper = result == Result::upper;
    return {(upper ? lower.column : lower.row) * rows_of_square + place.m % rows_of_square,
            (upper ? lower.row : lower.column) * columns_of_square + place.n % columns_of_square};
}

}  // namespace tmm
