#include "tests/support/kernels/tma_products.h"

#include <doctest/doctest.h>

#include <variant>

#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"
#include "tuner/measure/verification.h"

namespace tmm::testing {

std::string wrong_with(const TmaFault& fault, const TemplateFiles& files) {
    const DeviceInfo h200 = assumed_device("90");
    const TemporaryDirectory directory;
    const GemmProblem problem = problem_of(fault);
    const KernelConfig config = config_of(fault);
    if (const auto invalid = why_invalid(problem, config, h200)) return "invalid: " + *invalid;
    for (const char* order : {"ascending", "descending", "shuffled:3", "shuffled:4", "straggling:37"}) {
        KernelLoader loader(make_host_device_for(h200, order), make_host_compiler(files), KernelCache(directory.path() / "kernels"));
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&plan)) return "does not compile: " + failure->log;
        try {
            const Verdict verdict = Verifier(loader, problem, {}).verify(std::get<ExecutablePlan>(plan));
            if (verdict.outcome != Outcome::ok) return verdict.detail;
        } catch (const DeviceFault& found) {
            return found.what();
        }
    }
    return {};
}

void check_right(const std::string& common, std::initializer_list<TmaCase> cases, std::size_t slices) {
    std::size_t index = 0;
    for (const TmaCase& test_case : cases) {
        if (!in_slice(index++, slices)) continue;
        const std::string config = common + test_case.config;
        CAPTURE(config);
        CAPTURE(test_case.shape);
        CHECK(wrong_with({.what = "", .file = "", .text = "", .instead = "", .config = config.c_str(), .shape = test_case.shape},
                         active_templates()) == "");
    }
}

}  // namespace tmm::testing
