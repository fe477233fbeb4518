// Tests whether the tuner's verification finds faults that are planted in kernels that TMA serves, on a GPU. No tool sees all of what TMA,
// mbarriers and wgmma do, so that results have to tell. Each fault runs in a process of its own, for some never end and others destroy the
// context. TMM_TEST_SECONDS ends the test early; it then says with which fault TMM_TEST_FIRST goes on.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <variant>

#include "runtime/plan/executable_plan.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/tma_faults.h"
#include "tests/support/temporary_directory.h"
#include "tuner/measure/verification.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

constexpr const char* kVariable = "TMM_PLANTED_FAULT";
// A kernel that is right needs time for the compiler alone, on a machine that runs other tests beside.
constexpr auto kPatience = std::chrono::seconds(6);
constexpr auto kPatienceWithRight = std::chrono::seconds(60);
// On the hardware, data that is not waited for is often there all the same: each run has other timing.
constexpr int kRuns = 20;

enum Outcome_of_child { right = 40, wrong = 41, not_compiled = 42 };

bool has_hopper() {
    return gpu_count() > 0 && open_device(0)->info().compute_capability() == 90;
}

int run_planted(const TmaFault& fault, bool planted) {
    const TemporaryDirectory directory;
    try {
        const auto device = open_device(0);
        KernelLoader loader(device, make_nvrtc_compiler(90, planted ? with_fault(fault) : active_templates()),
                            KernelCache(directory.path() / "kernels"));
        auto plan = ExecutablePlan::make(make_launch_plan(problem_of(fault), config_of(fault), device->info()), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&plan)) {
            fmt::print("{}\n", failure->log);
            return not_compiled;
        }
        for (int run = 0; run < kRuns; ++run)
            if (Verifier(loader, problem_of(fault), {}).verify(std::get<ExecutablePlan>(plan)).outcome != Outcome::ok) return wrong;
    } catch (const DeviceFault&) {
        return wrong;
    }
    return right;
}

// Says how this program ended, with the fault planted or without it; "never ended" where that took longer than it may.
std::string outcome_of(std::size_t fault, bool planted) {
    const pid_t child = fork();
    if (child == 0) {
        setenv(kVariable, fmt::format("{}{}", planted ? "" : "-", fault).c_str(), 1);
        execl("/proc/self/exe", "gpu_tma_faults", nullptr);
        _exit(127);
    }
    const auto end = std::chrono::steady_clock::now() + (planted ? kPatience : kPatienceWithRight);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return "never ended";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (!WIFEXITED(status)) return "crashed";
    switch (WEXITSTATUS(status)) {
        case right: return "right";
        case wrong: return "wrong";
        case not_compiled: return "not compiled";
        default: return fmt::format("exit status {}", WEXITSTATUS(status));
    }
}

}  // namespace

TEST_CASE("each planted fault is found in results") {
    const auto& faults = tma_faults();
    if (const char* planted = std::getenv(kVariable)) {
        const std::string text = planted;
        const bool is_planted = !text.starts_with("-");
        std::_Exit(run_planted(faults.at(std::stoul(text.substr(is_planted ? 0 : 1))), is_planted));
    }
    for (const auto& fault : faults) {
        CAPTURE(std::string(fault.what));
        CHECK_NOTHROW(with_fault(fault));
    }
    if (!has_hopper()) {
        MESSAGE("skipped: these kernels run on compute capability 9.0 only");
        return;
    }
    const auto start = std::chrono::steady_clock::now();
    const auto patience = std::chrono::seconds(test_setting("SECONDS", 0));
    for (auto i = static_cast<std::size_t>(test_setting("FIRST", 0)); i < faults.size(); ++i) {
        if (patience.count() > 0 && std::chrono::steady_clock::now() - start > patience) {
            MESSAGE(fmt::format("{} faults are left, from TMM_TEST_FIRST={} on", faults.size() - i, i));
            break;
        }
        CAPTURE(std::string(faults[i].what));
        CHECK(outcome_of(i, false) == "right");
        const std::string found = outcome_of(i, true);
        fmt::print("{}: {}\n", faults[i].what, found);
        // ptxas refuses to run wgmma and what reads its sums at the same time: the fault is found as well.
        if (faults[i].seen_on_gpu)
            CHECK((found == "wrong" || found == "never ended" || found == "crashed" || found == "not compiled"));
        else
            MESSAGE(fmt::format("{}: {}", faults[i].what, found));
    }
}
