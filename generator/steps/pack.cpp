#include "generator/steps/steps.h"

#include <algorithm>

#include "generator/steps/arguments.h"

namespace tmm {
namespace {

// The few lines of a strip's short operand stand behind the product's part of it.
Addresses addresses_of_strips(const Schedule& schedule, const GemmCall& call) {
    const Extent& main = schedule.main;
    return addresses_of(schedule, call, {.row0 = main.rows, .column0 = main.columns});
}

// The strip of columns of C that is multiplied while A is packed.
PackedStrip strip_with_a(const Schedule& schedule, const GemmCall& call) {
    const int lines = schedule.packed.columns;
    if (lines == 0) return {};
    const Addresses addresses = addresses_of_strips(schedule, call);
    const GemmProblem& problem = schedule.product;
    const bool along_k = problem.op_b == Operation::transpose;
    return {.lines = lines,
            .few = addresses.b,
            .line_distance = along_k ? problem.ldb : 1,
            .k_distance = along_k ? 1 : problem.ldb,
            .stride = problem.stride_b,
            .sums = addresses.sums_of_columns};
}

// The strip of rows of C that is multiplied while B is packed.
PackedStrip strip_with_b(const Schedule& schedule, const GemmCall& call) {
    const int lines = schedule.packed.rows;
    if (lines == 0) return {};
    const Addresses addresses = addresses_of_strips(schedule, call);
    const GemmProblem& problem = schedule.product;
    const bool along_k = problem.op_a == Operation::none;
    return {.lines = lines,
            .few = addresses.a,
            .line_distance = along_k ? problem.lda : 1,
            .k_distance = along_k ? 1 : problem.lda,
            .stride = problem.stride_a,
            .sums = addresses.sums_of_rows};
}

}  // namespace

OperandCopies packed_copies(const GemmProblem& problem, const KernelConfig& config, const Extent& main) {
    const auto copy = [&](i64 outer, ElementType type) {
        const i64 ld = packed_ld(outer);
        return OperandCopy{.is_made = true,
                           .bytes = pack::packed_elements(outer, problem.k, problem.batch) * size_of(type),
                           .ld = ld,
                           .stride = ld * pack::packed_depth(problem.k)};
    };
    OperandCopies copies;
    if (pack::packs_a(config)) copies.a = copy(main.rows, problem.type_a);
    if (pack::packs_b(config)) copies.b = copy(main.columns, problem.type_b);
    copies.past_the_last = pack::elements_past_the_last(config, main.rows, main.columns) * size_of(problem.type_a);
    if (pack::packs_beside(config)) copies.counter_bytes = pack::kCounterBytes;
    return copies;
}

PackersArgs packers_args(const Schedule& schedule, const GemmCall& call) {
    if (!pack::packs_beside(schedule.config)) return {};
    const GemmProblem& problem = schedule.product;
    const Addresses addresses = addresses_of(schedule, call, schedule.main);
    const OperandCopies& copies = schedule.copies;
    const KernelSignature signature = signature_of(problem);
    const auto found = [](const OperandCopy& copy, void* place, const void* operand) {
        return static_cast<float*>(copy.is_made ? place : const_cast<void*>(operand));
    };
    return {.blocks = schedule.packing.packers,
            .first_row = schedule.packing.first_row,
            .a = static_cast<const float*>(addresses.a),
            .b = static_cast<const float*>(addresses.b),
            .lda = problem.lda,
            .ldb = problem.ldb,
            .turned_a = problem.op_a == Operation::none,
            .turned_b = problem.op_b == Operation::transpose,
            .vectors_a = problem.op_a == Operation::none && signature.align_a >= 16,
            .vectors_b = problem.op_b == Operation::transpose && signature.align_b >= 16,
            .packed_a = found(copies.a, addresses.copy_of_a, addresses.a),
            .packed_b = found(copies.b, addresses.copy_of_b, addresses.b),
            .squares = addresses.counters};
}

StripsArgs strips_args(const Schedule& schedule, const GemmCall& call) {
    return {.blocks = schedule.blocks_for_strips, .with_a = strip_with_a(schedule, call), .with_b = strip_with_b(schedule, call)};
}

namespace {

// Blocks that an SM should hold. For some architectures ptxas spills with the registers that a fourth block leaves, and doubles take two
// each.
int blocks_per_sm(const DeviceInfo& device, ElementType type) {
    if (type == ElementType::f64) return pack::kBlocksPerSm / 2;
    const int architecture = device.compute_capability();
    return architecture < 80 || architecture / 10 == 10 ? pack::kBlocksPerSm - 1 : pack::kBlocksPerSm;
}

std::size_t bind(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    PackArgs args;
    static_cast<GemmArgs&>(args) = make_args(schedule, schedule.main, call, undivided(schedule.product));
    args.depth = schedule.product.k;
    args.lines = schedule.copies.by_copy_engine ? args.k : pack::packed_depth(args.k);
    if (pack::packs_beside(schedule.config)) {
        args.depth = i64{schedule.packing.first_row} * pack::kTile;
        args.squares = addresses_of(schedule, call, schedule.main).counters;
    }
    args.with_a = strip_with_a(schedule, call);
    args.with_b = strip_with_b(schedule, call);
    return write_arguments(args, arguments);
}

}  // namespace

void add_pack(StepList& list) {
    const KernelConfig& product = list.schedule.config;
    const Schedule& schedule = list.schedule;
    const Pack step{.a = pack::packs_a(product),
                    .b = pack::packs_b(product),
                    .strips = schedule.packed.any(),
                    .blocks_per_sm = blocks_per_sm(list.device, list.schedule.product.type_a)};
    const i64 k = list.schedule.product.k;
    const i64 depth = pack::packs_beside(product) ? std::min<i64>(k, i64{schedule.packing.first_row} * pack::kTile) : k;
    list.add(signature_of(list.schedule.product), step, schedule.main,
             pack::blocks(step, schedule.main.rows, schedule.main.columns, depth, list.schedule.product.batch), bind);
}

StepFacts facts_of(const Pack& step, const KernelSignature& signature) {
    const i64 shared_bytes = pack::shared_bytes(step, signature);
    return {.name = "pack",
            .type = "Pack",
            .arguments_type = "tmm::PackArgs",
            .fields = {flag_field("a", step.a), flag_field("b", step.b), flag_field("strips", step.strips),
                       number_field("blocks_per_sm", step.blocks_per_sm)},
            .vector_of_ab = 1,
            .vector_of_c = 1,
            .knows_tf32 = false,
            .adds_partial_sums = false,
            .finishes_results = false,
            .violation = pack::first_violation(step, signature),
            .blocks_per_sm = step.blocks_per_sm,
            .needs = {.threads = pack::threads(step), .shared_bytes = shared_bytes, .cluster = 1, .leaves_room = false}};
}

}  // namespace tmm
