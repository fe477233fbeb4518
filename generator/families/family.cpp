#include "generator/families/family.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "generator/families/descriptors.h"

namespace tmm {
namespace {

// The descriptors stand in the order of their numbers.
constexpr std::array<const Family*, family::count> kFamilies{&kNaive, &kTiled, &kSimt,  &kGemv,  nullptr, nullptr, &kWgmma,
                                                             &kMma,   nullptr, nullptr, nullptr, nullptr, nullptr, &kSkinny};

const Family* find_family(int number) {
    return number >= 0 && number < family::count ? kFamilies[static_cast<std::size_t>(number)] : nullptr;
}

// wgmma comes first: where nothing comes near its best config, the best config of an untuned problem is found sooner.
constexpr std::array<const Family*, 7> kProducts{&kWgmma, &kNaive, &kTiled, &kSimt, &kSkinny, &kGemv, &kMma};

}  // namespace

const Family& family_of(const KernelConfig& config) {
    const Family* const family = find_family(config.family);
    if (!family) throw std::invalid_argument(fmt::format("there is no family {}", config.family));
    return *family;
}

const Product& product_of(const KernelConfig& config) {
    return *family_of(config).product;
}

std::span<const Family* const> product_families() {
    return kProducts;
}

bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device) {
    const auto families = product_families();
    return std::any_of(families.begin(), families.end(),
                       [&](const Family* family) { return family->product->uses_tensor_cores(problem, device); });
}

const char* violation_of(const KernelConfig& config, const KernelSignature& signature) {
    if (misused_field(config)) return "a field has a value that the family has no use for";
    return family_of(config).rules.violation(config, signature);
}

const Parameter* misused_field(const KernelConfig& config) {
    const Family* const family = find_family(config.family);
    return family ? misused_field(config, family->rules.fields) : &kParameters[0];
}

int threads_of(const KernelConfig& config) {
    return family_of(config).rules.threads(config);
}

i64 shared_bytes_of(const KernelConfig& config, const KernelSignature& signature) {
    return family_of(config).rules.shared_bytes(config, signature);
}

int cluster_size_of(const KernelConfig& config) {
    return family_of(config).rules.cluster_size(config);
}

i64 blocks_of(const KernelConfig& config, i64 m, i64 n, i64 batch) {
    return product_of(config).blocks(config, m, n, batch);
}

}  // namespace tmm
