#include "generator/plan/addresses.h"

namespace tmm {
namespace {

const void* advanced(const void* pointer, std::int64_t elements, ElementType type) {
    return pointer ? static_cast<const std::byte*>(pointer) + elements * size_of(type) : nullptr;
}

}  // namespace

std::int64_t offset_a(const GemmProblem& problem, const Extent& extent) {
    return problem.op_a == Operation::none ? extent.row0 * problem.lda : extent.row0;
}
std::int64_t offset_b(const GemmProblem& problem, const Extent& extent) {
    return problem.op_b == Operation::none ? extent.column0 : extent.column0 * problem.ldb;
}
std::int64_t offset_c(const GemmProblem& problem, const Extent& extent) {
    return extent.row0 * problem.ldc + extent.column0;
}

Addresses addresses_of(const LaunchPlan& plan, const GemmCall& call, const Extent& part) {
    const GemmProblem& problem = plan.product;
    const WorkspaceParts& parts = plan.geometry.workspace;
    const auto at = [&](std::int64_t offset) { return static_cast<std::byte*>(call.workspace) + offset; };
    return {.a = advanced(call.a, offset_a(problem, part), problem.type_a),
            .b = advanced(call.b, offset_b(problem, part), problem.type_b),
            .c = static_cast<std::byte*>(call.c) + offset_c(problem, part) * size_of(problem.type_c),
            .copy_of_a = call.prepared_a ? const_cast<void*>(call.prepared_a) : call.workspace,
            .copy_of_b = call.prepared_b ? const_cast<void*>(call.prepared_b) : at(parts.copy_of_b),
            .counters = reinterpret_cast<unsigned*>(at(parts.counters)),
            .sums_of_columns = at(parts.strip_sums.of_columns),
            .sums_of_rows = at(parts.strip_sums.of_rows),
            .partials = at(parts.partials)};
}

}  // namespace tmm
