#include "generator/steps/reduce.h"

#include "generator/plan/kernel_arguments.h"

namespace tmm {

std::size_t bind_reduce(const LaunchStep& step, const GemmProblem& problem, const GemmCall& call, std::byte* arguments) {
    return write_arguments(sum_args(step, problem, call), arguments);
}

}  // namespace tmm
