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
};

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
