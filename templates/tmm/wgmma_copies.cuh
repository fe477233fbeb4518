// Brings tiles to shared memory by the producer's threads (cp.async), for wgmma to read, as the copy engine would lay them
// (wgmma_pipeline.cuh). Of rows that begin within lines of 128 bytes that engine asks the L2 cache for two lines where it uses one.
//
//     threads of a row's 8 chunks          a slab's rows, 16 at a time       chunk c of row r goes to place c ^ (r % 8)
//           0 1 2 3 4 5 6 7                r = 0, 16, 32, …
//           8 9 …                          r = 1, 17, 33, …
#pragma once

#include "tmm/ptx.cuh"
#include "tmm/wgmma.h"

namespace tmm::wgmma {

// One operand's next tile.
template <TileLayout tile>
class ThreadCopy {
public:
    // matrix: of a batch, rows `row_bytes` apart; outer0 of `outer` rows or columns of C, k0 of k.
    __device__ ThreadCopy(const void* matrix, i64 row_bytes, i64 outer0, i64 outer, i64 k0, i64 k)
        : row_bytes_(row_bytes),
          row_(static_cast<int>(threadIdx.x) / kChunks),
          rows_left_((tile.along_k ? outer - outer0 : k - k0) - row_),
          columns_left_((tile.along_k ? k - k0 : outer - outer0) - chunk() * kElements),
          next_(static_cast<const unsigned char*>(matrix) + ((tile.along_k ? outer0 : k0) + row_) * row_bytes +
                ((tile.along_k ? k0 : outer0) + chunk() * kElements) * tile.element_bytes),
          matrix_(static_cast<const unsigned char*>(matrix)) {}

    // What lies outside of the matrix becomes zeros.
    __device__ void start(unsigned char* destination) {
        unsigned char* const place = destination + row_ * kRowBytes + (chunk() ^ row_ % 8) * kChunkBytes;
        if (rows_left_ >= slab_rows(tile) && columns_left_ >= (slabs(tile) - 1) * row_elements(tile) + kElements)
            copy<true>(place);
        else
            copy<false>(place);
        (tile.along_k ? columns_left_ : rows_left_) -= tile.depth;
        next_ += tile.along_k ? i64{tile.depth} * tile.element_bytes : tile.depth * row_bytes_;
    }

private:
    static constexpr int kChunkBytes = 16;
    static constexpr int kChunks = kRowBytes / kChunkBytes;
    static constexpr int kElements = kChunkBytes / tile.element_bytes;
    static constexpr int kRowsAtOnce = kWarpgroup / kChunks;

    template <bool inside>
    __device__ void copy(unsigned char* place) const {
#pragma unroll
        for (int slab = 0; slab < slabs(tile); ++slab) {
            const i64 columns = columns_left_ - slab * row_elements(tile);
            const int bytes = inside || columns >= kElements ? kChunkBytes
                              : columns > 0                  ? static_cast<int>(columns) * tile.element_bytes
                                                             : 0;
            const unsigned char* source = next_ + slab * kRowBytes;
#pragma unroll
            for (int row = 0; row < slab_rows(tile); row += kRowsAtOnce, source += kRowsAtOnce * row_bytes_) {
                if (slab_rows(tile) % kRowsAtOnce != 0 && row + row_ >= slab_rows(tile)) break;
                const int valid = inside || row < rows_left_ ? bytes : 0;
                ptx::cp_async_16(place + slab * slab_bytes(tile) + row * kRowBytes, valid > 0 ? source : matrix_, valid);
            }
        }
    }
    __device__ static int chunk() {
        return static_cast<int>(threadIdx.x) % kChunks;
    }

    i64 row_bytes_;
    int row_;
    // From the thread's first chunk of the next tile on.
    i64 rows_left_;
    i64 columns_left_;
    const unsigned char* next_;
    const unsigned char* matrix_;
};

}  // namespace tmm::wgmma
