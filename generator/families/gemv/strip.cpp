#include "generator/families/gemv/strip.h"

#include "tmm/families/gemv/rules.h"

namespace tmm {
namespace {

// The widest access of a thread.
constexpr int kVectorBytes = 16;
// About one block for each SM of a large GPU.
constexpr std::int64_t kBlocksWanted = 128;

}  // namespace

// The blocks are small, so that several find room where the product leaves that of one of its own blocks. A thread takes more than one of
// the many rows or columns only where enough blocks are left to fill a device. Where each k of the few rows or columns is a line of memory
// of its own while the many run along K, what a warp reads of the few costs more than the rest, and is to serve as many as can be.
KernelConfig gemv_strip(const Extent& extent, std::int64_t batch, const KernelSignature& signature, bool swap) {
    KernelConfig config{.family = family::gemv,
                        .vector_width = kVectorBytes / size_of(signature.type_a),
                        .boundary = boundary::peeled,
                        .swap_ab = swap ? 1 : 0,
                        .trim = 1};
    const bool few_are_scattered = gemv::many_along_k(config, signature) && !gemv::few_along_k(config, signature);
    const int threads_n = few_are_scattered ? 2 : 4;
    const std::int64_t few = few_count(config, extent.rows, extent.columns);
    const std::int64_t many = many_count(config, extent.rows, extent.columns) * batch;
    while (config.block_m < few) config.block_m *= 2;
    config.thread_n = 4;
    while (config.thread_n > 1 && (config.block_m * config.thread_n > 32 || many < kBlocksWanted * threads_n * config.thread_n))
        config.thread_n /= 2;
    config.block_n = threads_n * config.thread_n;
    config.block_k = 32 * gemv::k_step(config);
    config.stages = few_are_scattered ? 1 : 2;
    return config;
}

}  // namespace tmm
