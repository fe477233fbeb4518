// The way of an operand's tiles through registers where the matrix's rows start at any element of 16 bits. A thread's 8 elements lie in
// two chunks of 16 aligned bytes, which it reads whole; when it stores, it shifts them into place.
//
//   chunks       | . . . a b c d e | f g h . . . . . |      shift 3: as many elements of the first chunk belong to others
//   in the tile        | a b c d e f g h |
#pragma once

#include "tmm/tile_pipeline.cuh"

namespace tmm {

template <class T, auto layout, int threads, KernelConfig config>
class RealigningCopy : public TileCopy<T, layout, threads, config> {
    using Base = TileCopy<T, layout, threads, config>;
    static constexpr int kElements = 8;
    static_assert(sizeof(T) == 2 && layout.vector == kElements && !layout.async_copy);
    using Chunk = Vector<unsigned, 4>;

public:
    struct Chunks {
        Chunk first;
        Chunk second;
    };
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
                registers[i].first = valid > 0 ? read(source - shift) : Chunk{};
                registers[i].second = shift + valid > kElements ? read(source - shift + kElements) : Chunk{};
                source = this->following(source, i);
            }
        });
        this->advance();
    }

    __device__ void store(T* tile, const Registers& registers) const {
        // Of the tile that was loaded last.
        const int k_left = this->k_left_ + config.block_k;
#pragma unroll
        for (int i = 0; i < Base::copies; ++i) {
            if (!this->is_in_tile(i)) break;
            Chunk values = shifted(registers[i], (shift_ + i * shift_step_) % kElements);
            if constexpr (layout.rows_along_k && Base::has_edges) {
                if (k_left < config.block_k) clear_from(values, k_left - this->column_);
            }
            *reinterpret_cast<Chunk*>(this->destination(tile, i, 0)) = values;
        }
    }

private:
    // Elements between the last multiple of 16 bytes and the place.
    __device__ static int shift_of(const T* place) {
        return static_cast<int>(reinterpret_cast<unsigned long long>(place) / 2 % kElements);
    }

    // A chunk that reaches beyond the matrix is read by elements, those alone that are the matrix's.
    __device__ Chunk read(const T* chunk) const {
        if (chunk >= begin_ && chunk + kElements <= end_) return *reinterpret_cast<const Chunk*>(chunk);
        unsigned long long halves[2] = {};
#pragma unroll 1
        for (int j = 0; j < kElements / 2; ++j) {
            const T* const low = chunk + j;
            const T* const high = low + kElements / 2;
            if (low >= begin_ && low < end_) halves[0] |= static_cast<unsigned long long>(low->bits) << (16 * j);
            if (high >= begin_ && high < end_) halves[1] |= static_cast<unsigned long long>(high->bits) << (16 * j);
        }
        return Chunk{{static_cast<unsigned>(halves[0]), static_cast<unsigned>(halves[0] >> 32), static_cast<unsigned>(halves[1]),
                      static_cast<unsigned>(halves[1] >> 32)}};
    }

    // The 8 elements from the shift-th on.
    __device__ static Chunk shifted(const Chunks& chunks, int shift) {
        unsigned words[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) words[j] = j < 4 ? chunks.first.element[j] : chunks.second.element[j - 4];
#pragma unroll
        for (int j = 0; j < 6; ++j) words[j] = shift & 4 ? words[j + 2] : words[j];
#pragma unroll
        for (int j = 0; j < 5; ++j) words[j] = shift & 2 ? words[j + 1] : words[j];
        Chunk result;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const unsigned long long both = static_cast<unsigned long long>(words[j + 1]) << 32 | words[j];
            result.element[j] = static_cast<unsigned>(both >> (shift % 2 * 16));
        }
        return result;
    }

    // Zeros take the place of what lies past the end of K.
    __device__ static void clear_from(Chunk& values, int valid) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
            values.element[j] = valid >= 2 * j + 2 ? values.element[j] : valid == 2 * j + 1 ? values.element[j] & 0xffffu : 0u;
    }

    // The matrix's elements, as far as K is wanted.
    const T* begin_;
    const T* end_;
    // Of the thread's first vector of a tile, and how much further it is in each that follows.
    int shift_;
    int shift_step_;
};

}  // namespace tmm
