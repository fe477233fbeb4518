#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/steps/arguments.h"
#include "generator/steps/steps.h"

namespace tmm {
namespace {

// A row of a square is a line of the cache.
constexpr int kBytesOfLine = 128;

std::size_t bind(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    const GemmProblem& problem = schedule.problem;
    return write_arguments(
        GemmArgs{.c = call.c, .m = problem.m, .n = problem.n, .batch = problem.batch, .ldc = problem.ldc, .stride_c = problem.stride_c},
        arguments);
}

}  // namespace

double microseconds_of_mirror(const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& problem = schedule.problem;
    if (problem.result != Result::symmetric) return 0;
    // Half of C is read, and the other half is written.
    return device.profile.second_kernel + elements_of_c(problem) * size_of(problem.type_c) / device.profile.memory_bytes;
}

void add_mirror(StepList& list) {
    const GemmProblem& problem = list.schedule.problem;
    KernelSignature signature = without_epilogue(signature_of(problem));
    signature.reads_c = false;
    signature.result = Result::full;
    const Mirror step{.side = kBytesOfLine / size_of(problem.type_c)};
    list.add(signature, step, {.rows = problem.m, .columns = problem.n}, mirror::blocks(step, problem.m, problem.batch), bind)
        .finishes_sums = true;
}

StepFacts facts_of(const Mirror& step, const KernelSignature& signature) {
    return {
        .name = "mirror",
        .type = "Mirror",
        .arguments_type = "tmm::GemmArgs",
        .fields = {number_field("side", step.side)},
        .vector_of_ab = 1,
        .vector_of_c = 1,
        .knows_tf32 = false,
        .adds_partial_sums = true,
        .finishes_results = false,
        .violation = mirror::first_violation(step, signature),
        .blocks_per_sm = 2,
        .needs = {
            .threads = mirror::threads(step), .shared_bytes = mirror::shared_bytes(step, signature), .cluster = 1, .leaves_room = true}};
}

}  // namespace tmm
