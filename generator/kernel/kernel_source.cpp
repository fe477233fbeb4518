// Writes the stub of a kernel and its canonical name.
#include "generator/kernel/kernel_source.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>

#include "generator/families/family.h"
#include "generator/text/config_source.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

// A kernel that stands ready in its template, with the struct that it takes by value.
struct FixedEntry {
    const char* name;
    const char* args_type;
};

constexpr FixedEntry kVerifyEntries[] = {
    {"tmm_verify_fill", "tmm::FillArgs"},
    {"tmm_verify_check", "tmm::CheckArgs"},
    {"tmm_verify_reference", "tmm::ReferenceArgs"},
    {"tmm_verify_compare", "tmm::CompareArgs"},
};

constexpr FixedEntry kCeilingEntries[] = {
    {"tmm_ceiling_read_1", "tmm::ReadArgs"}, {"tmm_ceiling_read_2", "tmm::ReadArgs"}, {"tmm_ceiling_read_4", "tmm::ReadArgs"},
    {"tmm_ceiling_read_8", "tmm::ReadArgs"}, {"tmm_ceiling_fma_8", "tmm::FmaArgs"},   {"tmm_ceiling_fma_16", "tmm::FmaArgs"},
    {"tmm_ceiling_empty", "tmm::EmptyArgs"},
};

std::string signature_fields(const KernelSignature& s) {
    const auto op = [](Operation o) { return o == Operation::none ? "none" : "transpose"; };
    std::vector<std::string> fields{
        fmt::format(".type_a = tmm::ElementType::{}", name_of(s.type_a)),
        fmt::format(".type_b = tmm::ElementType::{}", name_of(s.type_b)),
        fmt::format(".type_c = tmm::ElementType::{}", name_of(s.type_c)),
        fmt::format(".compute = tmm::ComputeMode::{}", name_of(s.compute)),
        fmt::format(".op_a = tmm::Operation::{}", op(s.op_a)),
        fmt::format(".op_b = tmm::Operation::{}", op(s.op_b)),
        fmt::format(".align_a = {}", s.align_a),
        fmt::format(".align_b = {}", s.align_b),
        fmt::format(".align_c = {}", s.align_c),
    };
    if (s.residual) fields.push_back(fmt::format(".align_residual = {}", s.align_residual));
    if (s.batched) fields.emplace_back(".batched = true");
    if (s.reads_c) fields.emplace_back(".reads_c = true");
    if (s.bias != BiasAxis::none) fields.push_back(fmt::format(".bias = tmm::BiasAxis::{}", name_of(s.bias)));
    if (s.activation != Activation::none) fields.push_back(fmt::format(".activation = tmm::Activation::{}", name_of(s.activation)));
    if (s.residual) fields.emplace_back(".residual = true");
    if (s.epilogue != Epilogue::none) fields.push_back(fmt::format(".epilogue = tmm::Epilogue::{}", name_of(s.epilogue)));
    if (s.type_bias != ElementType::f32) fields.push_back(fmt::format(".type_bias = tmm::ElementType::{}", name_of(s.type_bias)));
    if (s.result != Result::full) fields.push_back(fmt::format(".result = tmm::Result::{}", name_of(s.result)));
    if (s.pointers) fields.emplace_back(".pointers = true");
    return joined_fields(fields);
}

// Parts are joined by '_' and each begins with its own letters, so that different kernels never share a name.
std::string types_part(const KernelSignature& s) {
    if (s.type_a == s.type_b && s.type_b == s.type_c) return std::string(name_of(s.type_a));
    return fmt::format("{}{}{}", name_of(s.type_a), name_of(s.type_b), name_of(s.type_c));
}

// "_biasbf16_gelu_residual"
std::string epilogue_part(const KernelSignature& s, const Expression& expression) {
    std::string text;
    if (s.bias != BiasAxis::none) text += fmt::format("_{}{}", s.bias == BiasAxis::rows ? "biasrows" : "bias", name_of(s.type_bias));
    if (s.activation != Activation::none) text += fmt::format("_{}", name_of(s.activation));
    if (s.residual) text += fmt::format("_residual{}", s.align_residual);
    if (s.epilogue == Epilogue::custom) text += "_custom" + short_name_of(expression);
    return text;
}

// kernel: the family or step.
std::string beginning_of_name(const char* kernel, const KernelSignature& s, const Expression& expression) {
    std::string name = fmt::format("tmm_{}_{}_{}", kernel, types_part(s), ops_name(s.op_a, s.op_b));
    if (s.compute != default_compute(s.type_a)) name += fmt::format("_c{}", name_of(s.compute));
    if (s.align_a != size_of(s.type_a) || s.align_b != size_of(s.type_b) || s.align_c != size_of(s.type_c))
        name += fmt::format("_a{}b{}c{}", s.align_a, s.align_b, s.align_c);
    if (s.batched) name += "_batched";
    if (s.pointers) name += "_pointers";
    if (s.result != Result::full) name += fmt::format("_{}", name_of(s.result));
    if (s.reads_c) name += "_beta";
    return name + epilogue_part(s, expression);
}

int clamped(int alignment, int element_size, int vector_width) {
    int widest = element_size;
    while (widest < 16 && widest * 2 <= element_size * vector_width) widest *= 2;
    return std::clamp(alignment, element_size, widest);
}

// How a kernel reads and writes.
struct Accesses {
    // Elements that it moves at once.
    int vector_of_ab;
    int vector_of_c;
    bool knows_tf32;
    bool only_partial_sums;
    bool finishes_results;
};
Accesses accesses_of(const PlanKernel& kernel, const KernelSignature& signature) {
    if (const auto* config = std::get_if<KernelConfig>(&kernel)) {
        const Traits& facts = family_of(*config).traits;
        return {.vector_of_ab = facts.moves_single_elements_of_ab ? 1 : config->vector_width,
                .vector_of_c = facts.moves_single_elements_of_c ? 1 : config->vector_width,
                .knows_tf32 = facts.knows_tf32,
                .only_partial_sums = false,
                // One whose parts another kernel adds up may still finish C's strips.
                .finishes_results = config->split_k <= config->cluster || leaves_strips_to_pack(*config)};
    }
    const StepFacts facts = *facts_of_step(kernel, signature);
    return {.vector_of_ab = facts.vector_of_ab,
            .vector_of_c = facts.vector_of_c,
            .knows_tf32 = facts.knows_tf32,
            .only_partial_sums = facts.adds_partial_sums,
            .finishes_results = facts.finishes_results};
}

// What differs between the stubs of kernels of one signature.
struct Stub {
    std::string name;
    // The folder of templates/tmm, and the namespace.
    std::string room;
    std::string kernel_namespace;
    std::string arguments_type;
    std::string preamble;
    // The constant that says how the kernel is made, "tmm::KernelConfig config", and its fields.
    std::string type;
    std::string variable;
    std::string fields;
    std::string blocks_per_sm;
};
KernelSource source_of(const KernelSignature& s, const Stub& stub, const Expression& expression) {
    const bool has_expression = s.epilogue == Epilogue::custom;
    if (has_expression && expression.text.empty()) throw std::invalid_argument("the epilogue's expression is missing");
    std::string text = fmt::format(
        "#include \"tmm/{0}/{1}/kernel.cuh\"\n\n"
        "{11}"
        "{2}"
        "namespace {{\n"
        "struct Kernel {{\n"
        "    static constexpr tmm::KernelSignature signature{{\n        {3}}};\n"
        "    static constexpr tmm::{4} {5}{{\n        {6}}};\n"
        "{10}"
        "}};\n"
        "}}  // namespace\n\n"
        "extern \"C\" __global__ void __launch_bounds__(tmm::{1}::threads(Kernel::{5}), {7})\n"
        "    {8}(const __grid_constant__ {9} args) {{\n"
        "    tmm::{1}::kernel<Kernel>(args);\n"
        "}}\n",
        stub.room, stub.kernel_namespace, stub.preamble, signature_fields(s), stub.type, stub.variable, stub.fields, stub.blocks_per_sm,
        stub.name, stub.arguments_type, has_expression ? definition_of(expression) : "", has_expression ? kExpressionInclude : "");
    return KernelSource{
        .name = stub.name, .text = std::move(text), .entries = {{stub.name, stub.arguments_type}}, .has_expression = has_expression};
}

KernelSource product_source(const KernelSignature& s, const KernelConfig& config, const Expression& expression) {
    const Launch& launch = family_of(config).launch;
    if (config.boundary < 0 || config.boundary >= boundary::count)
        throw std::invalid_argument(fmt::format("there is no boundary mode {}", config.boundary));
    const char* const family = kFamilyNames[config.family];
    return source_of(s,
                     {.name = beginning_of_name(family, s, expression) + config_part_of_name(config),
                      .room = "families",
                      .kernel_namespace = family,
                      .arguments_type = launch.arguments_type ? launch.arguments_type(config) : "tmm::GemmArgs",
                      .preamble = launch.preamble ? launch.preamble(s, config) : std::string(),
                      .type = "KernelConfig",
                      .variable = "config",
                      .fields = config_fields(config),
                      .blocks_per_sm = "Kernel::config.min_blocks"},
                     expression);
}

KernelSource step_source(const KernelSignature& s, const StepFacts& facts, const Expression& expression) {
    std::string name = beginning_of_name(facts.name, s, expression);
    std::vector<std::string> fields;
    for (const StepField& field : facts.fields) {
        if (!field.word.empty()) name += "_" + field.word;
        fields.push_back(fmt::format(".{} = {}", field.name, field.value));
    }
    return source_of(s,
                     {.name = name,
                      .room = "steps",
                      .kernel_namespace = static_cast<const char*>(facts.name),
                      .arguments_type = static_cast<const char*>(facts.arguments_type),
                      .preamble = {},
                      .type = static_cast<const char*>(facts.type),
                      .variable = "step",
                      .fields = joined_fields(fields),
                      .blocks_per_sm = std::to_string(facts.blocks_per_sm)},
                     expression);
}

}  // namespace

KernelSignature kernel_signature(const KernelSignature& signature, const PlanKernel& kernel) {
    KernelSignature s = signature;
    s.compute = kernel_compute(s.compute);
    const Accesses accesses = accesses_of(kernel, signature);
    if (accesses.only_partial_sums) {
        s.op_a = s.op_b = Operation::none;
        s.type_a = s.type_b = s.type_c;
    }
    if (!accesses.finishes_results) s = without_epilogue(s);
    if (!accesses.knows_tf32 && computes_by_floats(s)) s.compute = ComputeMode::f32;
    s.align_a = clamped(s.align_a, size_of(s.type_a), accesses.vector_of_ab);
    s.align_b = clamped(s.align_b, size_of(s.type_b), accesses.vector_of_ab);
    s.align_c = clamped(s.align_c, size_of(s.type_c), accesses.vector_of_c);
    if (s.residual) s.align_residual = clamped(s.align_residual, size_of(s.type_c), accesses.vector_of_c);
    return s;
}

KernelIdentity identity_of(const KernelSource& source) {
    const XXH128_hash_t hash = XXH3_128bits(source.text.data(), source.text.size());
    return {hash.high64, hash.low64};
}

KernelSource make_kernel_source(const KernelSignature& signature, const PlanKernel& kernel, const Expression& expression) {
    const KernelSignature s = kernel_signature(signature, kernel);
    if (const auto* config = std::get_if<KernelConfig>(&kernel)) return product_source(s, kernel_config(*config), expression);
    return step_source(s, *facts_of_step(kernel, s), expression);
}

KernelSource make_verify_source() {
    KernelSource source{.name = "tmm_verify", .text = "#include \"tmm/checks/verify/kernels.cuh\"\n", .entries = {}};
    for (const FixedEntry& entry : kVerifyEntries) source.entries.push_back({entry.name, entry.args_type});
    return source;
}

KernelSource make_ceilings_source() {
    KernelSource source{.name = "tmm_ceilings", .text = "#include \"tmm/checks/ceilings/kernels.cuh\"\n", .entries = {}};
    for (const FixedEntry& entry : kCeilingEntries) source.entries.push_back({entry.name, entry.args_type});
    return source;
}

}  // namespace tmm
