#include "tuner/recording/recorded_configs.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "generator/choice/cost_model.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

constexpr std::size_t kBest = 256;
constexpr std::size_t kOthers = 40;
// The emulated device's times say nothing, and its kernels take long to compile.
constexpr std::size_t kBestEmulated = 12;
constexpr std::size_t kOthersEmulated = 4;
// So many of the best are recorded with overlap and without, as many as a search measures.
constexpr std::size_t kBothWays = 64;
// Others must be predicted to come within this factor of the best: the slowest kernels take seconds.
constexpr double kSlowest = 12;

// FNV-1a, 64 bits: an order that says nothing of how fast a config is.
std::uint64_t lot_of(const KernelConfig& config) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const char c : fields_text(config)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

KernelConfig without_overlap(KernelConfig config) {
    config.overlap = 0;
    return config;
}

}  // namespace

std::vector<KernelConfig> configs_to_record(const GemmProblem& problem, const DeviceInfo& device) {
    const std::size_t most = device.emulated ? kBestEmulated : kBest;
    const std::size_t others = device.emulated ? kOthersEmulated : kOthers;
    const SearchSpace space = search_space(problem, device, Effort::full);
    std::vector<KernelConfig> configs;
    std::vector<KernelConfig> rest;
    std::set<std::string> seen;
    for (const KernelConfig& config : space.candidates) {
        const bool is_first = seen.insert(fields_text(without_overlap(config))).second;
        if (seen.size() <= (is_first ? most : kBothWays))
            configs.push_back(config);
        else if (is_first)
            rest.push_back(config);
    }
    for (const Rejection& rejected : space.rejections)
        if (!why_invalid(problem, rejected.config, device) && !why_inaccurate(problem, rejected.config)) rest.push_back(rejected.config);
    const CostModel model(problem, device);
    const double best = model.estimate(configs.front());
    std::erase_if(rest, [&](const KernelConfig& config) { return model.estimate(config) > kSlowest * best; });
    std::sort(rest.begin(), rest.end(), [](const KernelConfig& a, const KernelConfig& b) { return lot_of(a) < lot_of(b); });
    rest.resize(std::min(rest.size(), others));
    configs.insert(configs.end(), rest.begin(), rest.end());
    return configs;
}

}  // namespace tmm
