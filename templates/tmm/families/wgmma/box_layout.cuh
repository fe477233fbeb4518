// Where the elements of boxes of C stand in shared memory, which the copy engine reads and writes.
//
// In each 8 rows of 128 bytes of a box, 1024 bytes, the 16-byte chunk c of row r stands at c ^ r. Rows of 64 and 32 bytes, 2 or 4 of which
// take the place of one such row, have correspondingly fewer chunks to choose from, and rows of other lengths are not swizzled: in rows of
// 16, 48, 80 and 112 bytes a column of chunks of 8 rows has no bank conflicts as it lies, in rows of 96 bytes the chunks meet two by two.
#pragma once

#include "tmm/families/wgmma/rules.h"

namespace tmm::wgmma {

// A warp's boxes of elements C, one after the other, of so many bytes each.
template <class C, int bytes>
struct Boxes {
    unsigned char* first;

    __device__ unsigned char* of(int slot) const { return first + slot * bytes; }
    // The place in a box of an element that is moved in whole chunks of 16 bytes or parts of one. It stands rows_on and columns_on from
    // another element, whose offset has no bit in common with that distance, so that what is the same for all boxes is computed once.
    template <int row_length>
    __device__ C* place(int slot, int row, int column, int rows_on = 0, int columns_on = 0) const {
        constexpr int row_bytes = row_length * static_cast<int>(sizeof(C));
        constexpr int size = sizeof(C);
        constexpr bool swizzled = is_power_of_two(row_bytes);
        constexpr int chunks_that_change = swizzled ? row_bytes / 16 - 1 : 0;
        const auto place_of = [](int offset) { return offset ^ (offset >> 7 & chunks_that_change) << 4; };
        const int offset = row * row_bytes + column * size;
        const int on = rows_on * row_bytes + columns_on * size;
        return reinterpret_cast<C*>(of(slot) + (swizzled ? place_of(offset) ^ place_of(on) : offset + on));
    }
};

}  // namespace tmm::wgmma
