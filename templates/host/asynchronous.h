// Hopper's copy engine, barriers in shared memory and asynchronous tensor cores, as far as kernels and the emulated device (runtime/
// host_background.h) must agree on them.
#pragma once

namespace tmm::host {

// The contents that the device writes into a TensorMap.
struct EncodedMatrix {
    const unsigned char* address;
    long long rows;
    long long columns;
    long long matrices;
    long long row_bytes;
    long long matrix_bytes;
    int box_rows;
    int box_columns;
    int element_bytes;
    int swizzle_bytes;
    // 1 where floats are rounded to TF32 on their way to shared memory (CU_TENSOR_MAP_DATA_TYPE_TFLOAT32). It is this wide so that no bytes
    // lie between members: encoded maps are compared byte by byte.
    long long rounds_to_tf32 = 0;
};

// The bits of a float rounded to TF32, whose fraction has 10 of a float's 23 bits: to the nearest, ties to the even one, subnormal numbers
// alike. What is above the largest number of TF32 becomes infinite, infinities stay, and a NaN stays one, whichever bits it has.
constexpr unsigned rounded_to_tf32(unsigned bits) {
    constexpr unsigned infinity = 0x7f800000u;
    constexpr unsigned quiet_nan = 0x00400000u;
    constexpr unsigned dropped = 0x1fffu;
    const unsigned magnitude = bits & 0x7fffffffu;
    if (magnitude > infinity) return (bits | quiet_nan) & ~dropped;
    if (magnitude == infinity) return bits;
    return (bits + (dropped >> 1) + (bits >> 13 & 1)) & ~dropped;
}

// An mbarrier's 8 bytes.
struct Mbarrier {
    unsigned phase : 2;
    unsigned pending : 15;
    unsigned expected : 15;
    // Bytes that were announced and have not landed yet.
    int bytes;

    void end_phase_if_complete() {
        if (pending != 0 || bytes != 0) return;
        phase ^= 1;
        pending = expected;
    }
};
static_assert(sizeof(Mbarrier) == 8);

// A box of a matrix on its way to shared memory, or from there. address: the GPU's address of its place there, on which the swizzle
// depends. barrier: null on the way from there.
struct BulkCopy {
    unsigned char* shared;
    unsigned address;
    EncodedMatrix matrix;
    int x, y, z;
    Mbarrier* barrier;
};

// Within 1024 bytes, 8 rows of 128, chunk c of row r stands at c ^ r; where rows are shorter, chunks are swapped only among those of a row.
// span: 128, 64 or 32 bytes, or 0 where boxes are not swizzled.
constexpr unsigned swizzled(unsigned address, unsigned span) {
    return span != 0 ? address ^ (address >> 7 & (span / 16 - 1)) << 4 : address;
}
constexpr unsigned swizzled_128(unsigned address) {
    return swizzled(address, 128);
}

// A piece of a block's shared memory: the GPU's addresses and the CPU's.
struct SharedSpan {
    unsigned first;
    unsigned bytes;
    unsigned char* memory;
};

}  // namespace tmm::host
