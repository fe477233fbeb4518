// This file says where the threads of a warpgroup read a left operand that wgmma takes from registers: the hardware takes tf32 from shared
// memory along K only, so that a tile whose rows run along M goes through registers. It is apart from the device code, since a test without
// a GPU holds it against the layouts.
//
// Lane t of warp w holds four words of an instruction's 64 rows and 8 k:
//
//                            k = t % 4      k = t % 4 + 4
//     row 16 w + t / 4:      fragment 0     fragment 2
//     row 16 w + t / 4 + 8:  fragment 1     fragment 3
//
// They stand in slabs of 32 rows of the operand, for each k a line of 128 bytes, in which TMA has swapped 16-byte chunks: chunk c of
// line k is at c ^ k % 8. The eight rows and four k of a fragment are two chunks of each line:
//
//     k:            0    1    2    3    4    5    6    7
//     chunks 0, 1:  0 1  1 0  2 3  3 2  4 5  5 4  6 7  7 6
//
// A warp that read one fragment at a time would find k = 0 and k = 1, or 2 and 3, in the same banks. So the lanes with an odd k read
// fragments 2 and 3 first: with 0 go 5, 2 and 7, with 4 go 1, 6 and 3, and each time all 32 banks serve one lane each.
#pragma once

namespace tmm::wgmma {

constexpr int kFragments = 4;

// The fragment that a thread's read-th access brings.
constexpr int fragment_of(int thread, int read) {
    return read ^ thread % 2 * 2;
}

// Bytes from the line of the instruction's first k, in the first slab of its 64 rows, to a thread's fragment. The line's k is a multiple of
// 8; slab_bytes: the distance from slab to slab.
constexpr int fragment_offset(int thread, int fragment, int slab_bytes) {
    const int row = thread / 32 * 16 + thread % 32 / 4 + fragment % 2 * 8;
    const int k = thread % 4 + fragment / 2 * 4;
    const int chunk = row % 32 / 4 ^ k;
    return row / 32 * slab_bytes + k * 128 + chunk * 16 + row % 4 * 4;
}

}  // namespace tmm::wgmma
