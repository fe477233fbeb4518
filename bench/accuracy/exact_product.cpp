// Launches the reference kernel; see exact_product.h.
#include "bench/accuracy/exact_product.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text/environment.h"
#include "tmm/verify/args.h"

namespace tmm::bench {

ExactMultiplier::ExactMultiplier(std::shared_ptr<Device> device)
    : device_(std::move(device)), loader_(device_, make_compiler(device_->info()), KernelCache(default_cache_directory())) {
    const char* const entry = "tmm_verify_reference";
    auto loaded = loader_.load(make_verify_source(), entry);
    if (const auto* failure = std::get_if<CompileFailure>(&loaded))
        throw Error(ExitStatus::no_compiler, fmt::format("{} does not compile: {}", entry, failure->log));
    kernel_ = std::get<KernelLoader::Loaded>(std::move(loaded)).kernel;
}

ExactProduct ExactMultiplier::multiply(const GemmProblem& p, const void* a, const void* b) {
    const auto elements = static_cast<std::size_t>(p.batch * p.m * p.n);
    ExactProduct product{.value = std::vector<double>(elements), .magnitude = std::vector<double>(elements)};
    if (elements == 0) return product;
    const std::size_t bytes = elements * sizeof(double);
    if (results_.bytes() != 2 * bytes) {
        results_ = {};
        results_ = DeviceBuffer(device_, 2 * bytes);
    }
    auto* const values = static_cast<double*>(results_.data());
    ReferenceArgs args = reference_of(p);
    args.a = a;
    args.b = b;
    args.sum = values;
    args.magnitude = values + elements;
    device_->launch(*kernel_, {.grid = reference_blocks(args), .threads = kReferenceThreads}, &args, sizeof args, nullptr);
    device_->copy_to_host(product.value.data(), values, bytes);
    device_->copy_to_host(product.magnitude.data(), values + elements, bytes);
    return product;
}

}  // namespace tmm::bench
