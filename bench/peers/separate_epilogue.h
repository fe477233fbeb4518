// Libraries that only multiply, with the epilogue applied by one elementwise kernel behind the product (templates/tmm/elementwise).
#pragma once

#include <memory>
#include <vector>

#include "bench/peers/contestant.h"
#include "generator/kernel/expression.h"
#include "runtime/plan/executable_plan.h"

namespace tmm::bench {

class SeparateEpilogues {
public:
    explicit SeparateEpilogues(std::shared_ptr<Device> device);
    ~SeparateEpilogues();

    // Contestants for the problem, made of such for its plain product (plain_product.h). Throws Error (no_compiler) where the kernel does
    // not compile. expression: the epilogue of a problem with Epilogue::custom.
    std::vector<std::unique_ptr<Contestant>> behind(std::vector<std::unique_ptr<Contestant>> products, const GemmProblem& problem,
                                                    const Expression& expression = {});

private:
    std::shared_ptr<Device> device_;
    // It is made when it is first needed.
    std::unique_ptr<KernelLoader> loader_;
};

// The kernel of a problem's epilogue: an entry whose threads finish one row each, and one with four.
KernelSource make_elementwise_source(const GemmProblem& problem, const Expression& expression = {});

}  // namespace tmm::bench
