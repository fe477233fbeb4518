// Launches the reference kernel; see exact_product.h.
#include "bench/exact_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/environment.h"
#include "generator/error.h"
#include "tmm/verify_args.h"

namespace tmm::bench {
namespace {

// A block of so many threads computes a tile of so many rows and columns (templates/tmm/verify.cuh), and takes more than one where the
// grid has fewer blocks.
constexpr int kThreads = 256;
constexpr i64 kTile = 64;
constexpr i64 kMostBlocks = i64{1} << 20;

i64 ceil_div(i64 a, i64 b) {
    return (a + b - 1) / b;
}

}  // namespace

ExactMultiplier::ExactMultiplier(std::shared_ptr<Device> device)
    : device_(std::move(device)), loader_(device_, make_compiler(device_->info()), KernelCache(default_cache_directory())) {
    const char* const entry = "tmm_verify_reference";
    auto loaded = loader_.load(make_verify_source(), entry, 0);
    if (const auto* failure = std::get_if<CompileFailure>(&loaded))
        throw Error(ExitStatus::no_compiler, fmt::format("{} does not compile: {}", entry, failure->log));
    kernel_ = std::get<KernelLoader::Loaded>(std::move(loaded)).kernel;
}

ExactProduct ExactMultiplier::multiply(const GemmProblem& p, const void* a, const void* b) const {
    const auto elements = static_cast<std::size_t>(p.batch * p.m * p.n);
    ExactProduct product{.value = std::vector<double>(elements), .magnitude = std::vector<double>(elements)};
    if (elements == 0) return product;
    const DeviceBuffer value(device_, elements * sizeof(double));
    const DeviceBuffer magnitude(device_, elements * sizeof(double));
    const bool a_plain = p.op_a == Operation::none;
    const bool b_plain = p.op_b == Operation::none;
    const ReferenceArgs args{.type = p.type_a,
                             .a = a,
                             .b = b,
                             .rows = nullptr,
                             .sum = static_cast<double*>(value.data()),
                             .magnitude = static_cast<double*>(magnitude.data()),
                             .row_count = p.m,
                             .n = p.n,
                             .k = p.k,
                             .batch = p.batch,
                             .a_step_m = a_plain ? p.lda : 1,
                             .a_step_k = a_plain ? 1 : p.lda,
                             .b_step_k = b_plain ? p.ldb : 1,
                             .b_step_n = b_plain ? 1 : p.ldb,
                             .stride_a = p.stride_a,
                             .stride_b = p.stride_b};
    const i64 tiles = ceil_div(p.m, kTile) * ceil_div(p.n, kTile) * p.batch;
    device_->launch(*kernel_, {.grid = std::min(tiles, kMostBlocks), .threads = kThreads}, &args, sizeof args, nullptr);
    device_->copy_to_host(product.value.data(), value.data(), value.bytes());
    device_->copy_to_host(product.magnitude.data(), magnitude.data(), magnitude.bytes());
    return product;
}

}  // namespace tmm::bench
