// The emulated device's version of Hopper's instructions in tmm/ptx.cuh: barriers in shared memory, the copy engine, asynchronous
// tensor cores. What they do in the background is done as late as a wait allows, so that a missing wait shows.
#pragma once

#include "host/cuda_builtins.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/tensor_map.h"

namespace tmm::ptx {

inline unsigned shared_address(const void* pointer, TMM_HOST_SITE) {
    return host::services->shared_address(pointer, {file, line});
}

inline unsigned char* shared_place(unsigned address, unsigned bytes, host::Site site) {
    const host::SharedSpan span = host::services->shared_span(address);
    if (!span.memory || address - span.first + bytes > span.bytes)
        host::services->fail("an address outside of shared memory's tiles", site);
    return span.memory + (address - span.first);
}

inline unsigned ld_shared(unsigned address, TMM_HOST_SITE) {
    unsigned word;
    __builtin_memcpy(&word, shared_place(address, sizeof word, {file, line}), sizeof word);
    return word;
}

inline void bar_sync(int id, int threads, TMM_HOST_SITE) {
    host::services->sync_some(id, threads, {file, line});
}

inline bool elect_sync(TMM_HOST_SITE) {
    __syncwarp(0xffffffffu, file, line);
    return host::lane() == 0;
}

template <int registers>
inline void setmaxnreg_inc() {}
template <int registers>
inline void setmaxnreg_dec() {}

inline host::Mbarrier& mbarrier_at(unsigned long long* barrier) {
    return *reinterpret_cast<host::Mbarrier*>(barrier);
}
inline void mbarrier_init(unsigned long long* barrier, int arrivals) {
    const auto count = static_cast<unsigned>(arrivals) & 0x7fffu;
    mbarrier_at(barrier) = host::Mbarrier{.phase = 0, .pending = count, .expected = count, .bytes = 0};
}
inline void fence_mbarrier_init() {}
inline void arrive(host::Mbarrier& barrier, int bytes, host::Site site) {
    if (barrier.pending == 0) host::services->fail("more threads arrive at an mbarrier than it is for", site);
    barrier.bytes += bytes;
    barrier.pending -= 1;
    barrier.end_phase_if_complete();
    host::services->mbarrier_changed();
}
inline void mbarrier_arrive_expect_tx(unsigned long long* barrier, int bytes, TMM_HOST_SITE) {
    arrive(mbarrier_at(barrier), bytes, {file, line});
}
inline void mbarrier_arrive(unsigned long long* barrier, TMM_HOST_SITE) {
    arrive(mbarrier_at(barrier), 0, {file, line});
}
struct ClusterBarriers {
    unsigned long long* here;
    int rank;
};
inline ClusterBarriers mapa_barriers(unsigned long long* barriers, int rank) {
    return {barriers, rank};
}
inline void mbarrier_arrive_cluster(ClusterBarriers barriers, int barrier, TMM_HOST_SITE) {
    const host::Site site{file, line};
    const void* const remote = host::services->map_shared(barriers.here + barrier, barriers.rank, site);
    arrive(mbarrier_at(static_cast<unsigned long long*>(const_cast<void*>(remote))), 0, site);
}
inline bool mbarrier_try_wait_parity(unsigned long long* barrier, unsigned parity, TMM_HOST_SITE) {
    const host::Mbarrier& waited_for = mbarrier_at(barrier);
    if (waited_for.phase != parity) return true;
    host::services->land_bulk_copies(&waited_for);
    if (waited_for.phase != parity) return true;
    host::services->wait_for_mbarriers({file, line});
    return waited_for.phase != parity;
}

inline void prefetch_tensormap(const TensorMap*) {}

inline void bulk_copy(void* destination, unsigned address, const TensorMap* map, int x, int y, int z, void* barrier) {
    host::BulkCopy copy{static_cast<unsigned char*>(destination), address, {}, x, y, z, static_cast<host::Mbarrier*>(barrier)};
    __builtin_memcpy(&copy.matrix, map, sizeof copy.matrix);
    host::services->start_bulk_copy(copy);
}
// The address of a box in shared memory: at an address that is no multiple of the swizzle's span TMA refuses the box, or swizzles it
// otherwise than its readers think. x: the column of the matrix that the box begins at; TMA takes whole 16 bytes.
inline unsigned box_address(const void* box, const TensorMap* map, int x, host::Site site) {
    host::EncodedMatrix matrix;
    __builtin_memcpy(&matrix, map, sizeof matrix);
    const unsigned address = host::services->shared_address(box, site);
    // Without a swizzle the address must be a multiple of the 128 bytes that the instruction wants.
    if (address % (matrix.swizzle_bytes != 0 ? 8 * static_cast<unsigned>(matrix.swizzle_bytes) : 128) != 0)
        host::services->fail("a box's address is no multiple of its swizzle's span", site);
    if (static_cast<long long>(x) * matrix.element_bytes % 16 != 0)
        host::services->fail("a box's first column is no multiple of 16 bytes", site);
    return address;
}
inline void cp_async_bulk_tensor_3d(void* destination, const TensorMap* map, int x, int y, int z, unsigned long long* barrier,
                                    TMM_HOST_SITE) {
    bulk_copy(destination, box_address(destination, map, x, {file, line}), map, x, y, z, barrier);
}
inline void cp_async_bulk_tensor_3d_multicast(void* destination, const TensorMap* map, int x, int y, int z, unsigned long long* barrier,
                                              unsigned short blocks, TMM_HOST_SITE) {
    const host::Site site{file, line};
    const unsigned address = box_address(destination, map, x, site);
    for (int rank = 0; rank < 16; ++rank) {
        if (!(blocks >> rank & 1)) continue;
        bulk_copy(const_cast<void*>(host::services->map_shared(destination, rank, site)), address, map, x, y, z,
                  const_cast<void*>(host::services->map_shared(barrier, rank, site)));
    }
}

inline void fence_proxy_async() {
    host::services->fence_proxy_async();
}
inline void fence_proxy_async_global() {}
inline unsigned redux_min(unsigned value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = other < value ? other : value;
    }
    return value;
}
inline void st_release_gpu(unsigned* word, unsigned value) {
    *word = value;
}
// Blocks run one after the other: what stays as it is while a thread asks for it again and again never changes.
inline unsigned ld_acquire_gpu(const unsigned* word, TMM_HOST_SITE) {
    struct Asked {
        unsigned block;
        const unsigned* word;
        unsigned value;
        int times;
    };
    constexpr int kMostTimes = 100000;
    thread_local Asked asked_by_lane[32];
    Asked& asked = asked_by_lane[threadIdx.x % 32];
    const bool again = asked.block == blockIdx.x && asked.word == word && asked.value == *word;
    asked = {blockIdx.x, word, *word, again ? asked.times + 1 : 0};
    if (asked.times > kMostTimes) host::services->fail("a block waits for what no block before it has written", {file, line});
    return *word;
}
inline void cp_async_bulk_tensor_3d_store(const TensorMap* map, int x, int y, int z, const void* source, TMM_HOST_SITE) {
    host::BulkCopy copy{};
    __builtin_memcpy(&copy.matrix, map, sizeof copy.matrix);
    copy.shared = static_cast<unsigned char*>(const_cast<void*>(source));
    copy.address = box_address(source, map, x, {file, line});
    copy.x = x;
    copy.y = y;
    copy.z = z;
    host::services->start_bulk_store(copy, {file, line});
}
inline void cp_async_bulk_prefetch_tensor_3d(const TensorMap*, int, int, int) {}
inline void cp_async_bulk_commit_group() {
    host::services->commit_bulk_stores();
}
template <int pending>
inline void cp_async_bulk_wait_group_read() {
    host::services->wait_for_bulk_stores(pending);
}

// An operand of wgmma in shared memory, which is read by its descriptor.
struct SharedOperand {
    unsigned start;
    // Bytes from slab to slab, where rows run along M or N; and from 8 rows to the next 8.
    unsigned slab;
    unsigned rows_8;
    host::SharedSpan span;

    explicit SharedOperand(unsigned long long descriptor)
        : start(static_cast<unsigned>(descriptor & 0x3fff) << 4),
          slab(static_cast<unsigned>(descriptor >> 16 & 0x3fff) << 4),
          rows_8(static_cast<unsigned>(descriptor >> 32 & 0x3fff) << 4),
          span(host::services->shared_span(start)) {
        if (descriptor >> 62 != 1) host::services->fail("a descriptor without the 128-byte swizzle", {__FILE__, __LINE__});
    }

    template <ElementType type, bool transposed>
    float at(int outer, int k) const {
        constexpr int bytes = size_of(type);
        static_assert(!transposed || bytes == 2, "wgmma reads rows along M or N of 16-bit elements only");
        constexpr int row = 128 / bytes;
        const int line = transposed ? k : outer;
        const int place = transposed ? outer : k;
        const unsigned address = start + static_cast<unsigned>(line) / 8 * rows_8 + static_cast<unsigned>(line) % 8 * 128 +
                                 static_cast<unsigned>(place / row) * slab + static_cast<unsigned>(place % row * bytes);
        const unsigned offset = host::swizzled_128(address) - span.first;
        if (!span.memory || offset + bytes > span.bytes) host::services->fail("wgmma reads outside of a tile", {__FILE__, __LINE__});
        if constexpr (bytes == 4) {
            unsigned word;
            __builtin_memcpy(&word, span.memory + offset, 4);
            return host::same_bits<float>(word & 0xffffe000u);
        } else if constexpr (bytes == 1) {
            signed char byte;
            __builtin_memcpy(&byte, span.memory + offset, 1);
            return static_cast<float>(byte);
        } else {
            unsigned short half;
            __builtin_memcpy(&half, span.memory + offset, 2);
            return type == ElementType::f16 ? cvt_f32_f16(half) : host::same_bits<float>(static_cast<unsigned>(half) << 16);
        }
    }
};

inline float sum_of(float sum, double products) {
    return static_cast<float>(static_cast<double>(sum) + products);
}
// Whole numbers are added modulo 2^32.
inline unsigned sum_of(unsigned sum, double products) {
    return sum + static_cast<unsigned>(static_cast<int>(products));
}

// A thread's share of one instruction. Products are exact, and their sum is rounded to the nearest once: tensor cores cut off what is
// below the last bit of the largest, which is not modelled.
template <class Sum>
struct WarpgroupMma {
    Sum* sums;
    bool adds;
    unsigned long long left;
    unsigned long long right;
    // Row and column of the thread's first sums.
    int row;
    int column;
    // The rows `row` and `row + 8` of a left operand from registers.
    float fragments[2][8];

    template <ElementType type, int n, bool transpose_left, bool transpose_right, bool from_registers>
    static void run(const void* data) {
        const auto& self = *static_cast<const WarpgroupMma*>(data);
        constexpr int depth = 32 / size_of(type);
        const SharedOperand right(self.right);
        float of_left[2][depth];
        for (int half = 0; half < 2; ++half) {
            for (int k = 0; k < depth; ++k) {
                if constexpr (from_registers)
                    of_left[half][k] = self.fragments[half][k];
                else
                    of_left[half][k] = SharedOperand(self.left).template at<type, transpose_left>(self.row + half * 8, k);
            }
        }
        for (int i = 0; i < n / 2; i += 4) {
            for (int j = 0; j < 2; ++j) {
                double sums[2] = {};
                for (int k = 0; k < depth; ++k) {
                    const double value = right.at<type, transpose_right>(self.column + i * 2 + j, k);
                    for (int half = 0; half < 2; ++half) sums[half] += static_cast<double>(of_left[half][k]) * value;
                }
                for (int half = 0; half < 2; ++half) {
                    Sum& sum = self.sums[i + half * 2 + j];
                    sum = sum_of(self.adds ? sum : Sum{0}, sums[half]);
                }
            }
        }
    }
};

template <class Sum>
inline WarpgroupMma<Sum> warpgroup_mma(Sum* sums, unsigned long long left, unsigned long long right, bool adds) {
    const int thread = static_cast<int>(host::thread().thread_index.x) % 128;
    return WarpgroupMma<Sum>{sums, adds, left, right, thread / 32 * 16 + thread % 32 / 4, thread % 4 * 2, {}};
}

template <ElementType type, int n, bool transpose_left, bool transpose_right, class Sum>
inline void wgmma_mma_async(Sum (&sums)[n / 2], unsigned long long left, unsigned long long right, bool adds) {
    const WarpgroupMma<Sum> mma = warpgroup_mma(sums, left, right, adds);
    host::services->defer(WarpgroupMma<Sum>::template run<type, n, transpose_left, transpose_right, false>, &mma, sizeof mma);
}

// The words are read when the instruction is issued.
template <ElementType type, int n>
inline void wgmma_mma_async_fragments(float (&sums)[n / 2], const unsigned (&left)[4], unsigned long long right, bool adds, TMM_HOST_SITE) {
    struct Words {
        unsigned word[4];
    };
    const Words* const lanes = gather(Words{{left[0], left[1], left[2], left[3]}}, {file, line});
    WarpgroupMma<float> mma = warpgroup_mma(sums, 0, right, adds);
    for (int half = 0; half < 2; ++half)
        for (int k = 0; k < 8; ++k)
            mma.fragments[half][k] = host::same_bits<float>(lanes[host::lane() / 4 * 4 + k % 4].word[half + k / 4 * 2] & 0xffffe000u);
    host::services->defer(WarpgroupMma<float>::run<type, n, false, false, true>, &mma, sizeof mma);
}

inline void wgmma_fence() {}
inline void wgmma_commit_group() {
    host::services->commit_deferred();
}
template <int pending>
inline void wgmma_wait_group(TMM_HOST_SITE) {
    host::services->wait_for_deferred(pending, {file, line});
}

}  // namespace tmm::ptx
