// RealigningCopy moves an operand's tiles through registers where the matrix's rows start at any element of 16 bits: a thread reads the
// chunks that hold its elements (chunks.cuh), and shifts them into place when it stores.
#pragma once

#include "tmm/copy/chunks.cuh"
#include "tmm/copy/tile_pipeline.cuh"

namespace tmm {

template <class T, const auto& layout, int threads, class Kernel>
class RealigningCopy : public TileCopy<T, layout, threads, Kernel> {
    using Base = TileCopy<T, layout, threads, Kernel>;
    static constexpr int kElements = kChunkElements;
    static_assert(sizeof(T) == 2 && layout.vector == kElements && !layout.async_copy);

public:
    using Registers = Chunks[Base::copies];

    __device__ RealigningCopy(const T* matrix, i64 ld, i64 outer0, i64 outer_end, i64 k_begin, i64 k_end)
        : Base(matrix, ld, outer0, outer_end, k_begin, k_end),
          begin_(matrix),
          end_(matrix + (layout.rows_along_k ? (outer_end - 1) * ld + k_end : (k_end - 1) * ld + outer_end)),
          shift_(shift_of(this->next_)),
          shift_step_(static_cast<int>(Base::rows_per_pass * ld % kElements)) {}

    __device__ void load(Registers& registers) {
        this->with_checks([&]<bool k_ends, bool outer_ends> {
            const T* source = this->next_;
#pragma unroll
            for (int i = 0; i < Base::copies; ++i) {
                if (!this->is_in_tile(i)) break;
                const int valid = this->template valid_elements<k_ends, outer_ends>(i);
                const int shift = shift_of(source);
                registers[i].first = valid > 0 ? read_chunk(source - shift, begin_, end_) : Chunk{};
                registers[i].second = shift + valid > kElements ? read_chunk(source - shift + kElements, begin_, end_) : Chunk{};
                source = this->template following<outer_ends>(source, i);
            }
        });
        this->advance();
    }

    __device__ void store(T* tile, const Registers& registers) const {
        // The number of k from the beginning of the tile that was loaded last to k_end.
        const int k_left = this->k_left_ + Kernel::config.block_k;
#pragma unroll
        for (int i = 0; i < Base::copies; ++i) {
            if (!this->is_in_tile(i)) break;
            Chunk values = shifted(registers[i], (shift_ + i * shift_step_) % kElements);
            if constexpr (layout.rows_along_k && Base::has_edges) {
                if (k_left < Kernel::config.block_k) clear_from(values, k_left - this->column_);
            }
            ptx::st(this->destination(tile, i, 0), values);
        }
    }

private:
    // Zeros take the place of what lies past the end of K.
    __device__ static void clear_from(Chunk& values, int valid) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
            values.element[j] = valid >= 2 * j + 2 ? values.element[j] : valid == 2 * j + 1 ? values.element[j] & 0xffffu : 0u;
    }

    // Bounds of the matrix's elements that may be read, up to k_end.
    const T* begin_;
    const T* end_;
    // The shift of the thread's first vector of a tile, and how much the shift grows from each vector to the next.
    int shift_;
    int shift_step_;
};

}  // namespace tmm
