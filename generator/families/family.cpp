#include "generator/families/family.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "generator/steps/arguments.h"

namespace tmm {

// Each stands in the file descriptor.cpp of its room.
extern const Family kNaive, kTiled, kSimt, kGemv, kWgmma, kMma, kSkinny;

namespace {

// The descriptors stand in the order of their numbers.
constexpr std::array<const Family*, family::count> kFamilies{&kNaive, &kTiled, &kSimt,  &kGemv,  nullptr, nullptr, &kWgmma,
                                                             &kMma,   nullptr, nullptr, nullptr, nullptr, nullptr, &kSkinny};

const Family* find_family(int number) {
    return number >= 0 && number < family::count ? kFamilies[static_cast<std::size_t>(number)] : nullptr;
}

// Null where there is none. Any numbers may stand in the config.
const Parameter* misused_field(const KernelConfig& config) {
    const Family* const family = find_family(config.family);
    return family ? misused_field(config, family->rules.fields) : &kParameters[0];
}

// wgmma comes first: where nothing comes near its best config, the best config of an untuned problem is found sooner.
constexpr std::array<const Family*, 7> kSearched{&kWgmma, &kNaive, &kTiled, &kSimt, &kSkinny, &kGemv, &kMma};

}  // namespace

const Family& family_of(const KernelConfig& config) {
    const Family* const family = find_family(config.family);
    if (!family) throw std::invalid_argument(fmt::format("there is no family {}", config.family));
    return *family;
}

std::span<const Family* const> families() {
    return kSearched;
}

bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device) {
    return std::any_of(kSearched.begin(), kSearched.end(),
                       [&](const Family* family) { return rank_of(*family, problem, device).uses_tensor_cores; });
}

const char* violation_of(const KernelConfig& config, const KernelSignature& signature) {
    if (misused_field(config)) return "a field has a value that the family has no use for";
    return family_of(config).rules.violation(config, signature);
}

std::optional<MisusedField> find_misused_field(const KernelConfig& config) {
    const Parameter* const field = misused_field(config);
    if (!field) return std::nullopt;
    const int value = config.*field->member, least = least_value(*field), most = most_value(*field);
    if (value < least || value > most)
        return MisusedField{field, fmt::format("{}={} is not within {} to {}", field->name, value, least, most)};
    if (field->value_names && !has_name(*field, value))
        return MisusedField{field, fmt::format("{}={} is none of its values", field->name, value)};
    const auto text = [&](int of) { return field->value_names ? std::string(field->value_names[of]) : std::to_string(of); };
    return MisusedField{field, fmt::format("{} does not use {}: it is {}, not {}", kFamilyNames[config.family], field->name,
                                           text(field->neutral), text(value))};
}

int threads_of(const KernelConfig& config) {
    return family_of(config).rules.threads(config);
}

i64 shared_bytes_of(const KernelConfig& config, const KernelSignature& signature) {
    return family_of(config).rules.shared_bytes(config, signature);
}

LaunchNeeds launch_needs(const KernelConfig& config, const KernelSignature& signature) {
    return {.threads = threads_of(config),
            .shared_bytes = shared_bytes_of(config, signature),
            .cluster = cluster_size_of(config),
            .leaves_room = family_of(config).traits.leaves_room};
}

i64 blocks_of(const KernelConfig& config, i64 m, i64 n, i64 batch) {
    return family_of(config).rules.blocks(config, m, n, batch);
}

i64 longest_chain_of(const KernelSignature& signature, const KernelConfig& config, i64 k) {
    const auto chain = family_of(config).rules.longest_chain;
    return chain ? chain(signature, config, k) : k;
}

bool blocks_walk(const KernelConfig& config) {
    const auto walks = family_of(config).launch.walks;
    return walks && walks(config);
}

Rank rank_of(const Family& family, const GemmProblem& problem, const DeviceInfo& device) {
    return family.search.rank ? family.search.rank(problem, device) : Rank{};
}

std::vector<KernelConfig> other_arrangements(const GemmProblem& problem, const KernelConfig& config) {
    const auto variants = family_of(config).search.variants;
    return variants ? variants(problem, config) : std::vector<KernelConfig>{};
}

KernelConfig adapted(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config) {
    const auto adapt = family_of(config).search.adapt;
    return adapt ? adapt(problem, tuned, config) : config;
}

Crowding crowding_of(const Schedule& schedule, const DeviceInfo& device) {
    const auto crowding = family_of(schedule.config).model.crowding;
    return crowding ? crowding(schedule, device) : Crowding{};
}

void add_product(StepList& list, StepList::Bind bind, TensorMaps tensor_maps) {
    const Schedule& s = list.schedule;
    LaunchStep& step = list.add(s.signature, s.config, launch_needs(s.config, s.signature), s.main, s.grid, bind);
    step.packers = s.packing.packers;
    step.blocks_for_strips = s.blocks_for_strips;
    step.walks = blocks_walk(s.config);
    step.tensor_maps = tensor_maps;
    // Strips run beside the product that leaves them.
    for (const EdgeProduct& edge : s.edges) {
        const std::int64_t blocks = blocks_of(edge.config, edge.extent.rows, edge.extent.columns, s.product.batch);
        list.add(edge.signature, edge.config, launch_needs(edge.config, edge.signature), edge.extent, blocks, bind_strip).begins_early =
            true;
    }
}

double flop_per_load_of_tile(const KernelConfig& c) {
    return 2.0 * c.block_m * c.block_n / (c.block_m + c.block_n);
}

PhaseLoads loads_by_copy_engine(const KernelConfig& c) {
    return {.elements = static_cast<double>(c.block_k) * (c.block_m + c.block_n) * c.planes,
            .by_copy_engine = true,
            .flop_per_load = flop_per_load_of_tile(c)};
}

}  // namespace tmm
