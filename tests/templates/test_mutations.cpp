// The emulated device finds every planted fault: each barrier of a template removed, each boundary condition dropped, each index
// of a load or store swapped, one at a time, must give a wrong result, a fault or a crash in some thread order.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/text/environment.h"
#include "generator/choice/validity.h"
#include "tests/support/kernels/mutation_cases.h"
#include "tests/support/kernels/mutation_run.h"
#include "tests/support/kernels/mutations.h"
#include "tests/support/kernels/tma_faults.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// One fault is tried in a process of its own, which it may end.
struct Trial {
    const Mutation* mutation;
    pid_t process;
    int messages;
};

enum ChildStatus { kSurvived = 10, kCaught = 11, kDoesNotCompile = 12, kBroken = 13 };

// temporary: where it may leave files behind.
Trial start(const Mutation& mutation, const std::filesystem::path& temporary) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child > 0) {
        close(ends[1]);
        return {&mutation, child, ends[0]};
    }
    // A crash is what may well happen here: neither the test's handlers nor a sanitizer need to say more.
    for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(signal_number, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr)) _exit(kBroken);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    setenv("TMPDIR", temporary.c_str(), 1);
    // An optimizer may remove an access that it should not have seen, where nothing uses what it reads.
    setenv("TMM_CXX", (host_compiler_command() + " -O0").c_str(), 1);
    alarm(1200);
    int status = kSurvived;
    std::string message;
    try {
        const auto compiler = make_host_compiler(mutated(active_templates(), mutation));
        for (const Case& one : cases_for(mutation)) {
            message = run_case(one, *compiler);
            if (message.empty()) continue;
            status = kCaught;
            break;
        }
    } catch (const CompileError& error) {
        status = kDoesNotCompile;
        message = error.log;
    } catch (const std::exception& error) {
        status = kBroken;
        message = error.what();
    }
    message.resize(std::min<std::size_t>(message.size(), 4000));
    if (write(ends[1], message.data(), message.size()) < 0) status = kBroken;
    _exit(status);
}

void finish(const Trial& trial, int status) {
    std::string message(4096, '\0');
    message.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(trial.messages, message.data(), message.size()))));
    close(trial.messages);
    const Mutation& mutation = *trial.mutation;
    INFO(fmt::format("{}: {}: '{}' -> '{}'\n{}", mutation.file, mutation.name, mutation.anchor, mutation.replacement, message));
    // A crash is a fault found: the kernel touched what it must not. A time-out is not.
    if (WIFSIGNALED(status)) {
        CHECK(WTERMSIG(status) != SIGALRM);
        return;
    }
    CHECK(WEXITSTATUS(status) != kSurvived);
    CHECK(WEXITSTATUS(status) != kDoesNotCompile);
    CHECK(WEXITSTATUS(status) != kBroken);
    if (std::getenv("TMM_TEST_VERBOSE")) fmt::print("{}: {}: {}\n", mutation.file, mutation.name, message.empty() ? "crashed" : message);
}

}  // namespace

TEST_CASE("every fault's anchor stands in its template, and every barrier has a fault") {
    constexpr const char* kBarriers[] = {"__syncthreads()", "ptx::cluster_sync()", "ptx::cluster_meet()"};
    std::map<std::string, int> barriers;
    // A fault that is planted for several families counts once.
    std::set<std::string> counted;
    for (const Mutation& mutation : mutations()) {
        INFO(fmt::format("{}: {}: '{}'", mutation.file, mutation.name, mutation.anchor));
        CHECK_FALSE(mutated(active_templates(), mutation).empty());
        CHECK(std::string(mutation.anchor) != mutation.replacement);
        if (!counted.insert(fmt::format("{}: {} {}", mutation.file, mutation.anchor, mutation.which)).second) continue;
        for (const char* barrier : kBarriers) barriers[mutation.file] += count_of(mutation.anchor, barrier);
    }
    for (const TmaFault& fault : tma_faults()) {
        for (const char* barrier : kBarriers) barriers[fault.file] += count_of(fault.text, barrier) - count_of(fault.instead, barrier);
    }
    for (const auto& [name, text] : active_templates()) {
        // test_planes.cpp plants the faults of planes, test_tma_planted.cpp those of wgmma and skinny.
        if (name == "tmm/steps/planes/kernel.cuh") continue;
        if (name.starts_with("host/") || name == "tmm/checks/verify/kernels.cuh" || name.starts_with("tmm/families/wgmma/")) continue;
        INFO(name);
        int count = 0;
        for (const char* barrier : kBarriers) count += count_of(text, barrier);
        CHECK(barriers[name] == count);
    }
}

TEST_CASE("the cases pass where no fault is planted") {
    const auto compiler = make_host_compiler();
    for (const auto& [file, family] : cases())
        for (const Case& one : family) {
            INFO(one.name);
            for (const Case::Size& size : one.sizes) {
                const auto invalid = why_invalid(problem_of(one, size), one.config, device_of(one));
                CHECK_MESSAGE(!invalid, invalid.value_or(""));
            }
            CHECK(run_case(one, *compiler) == "");
        }
}

TEST_CASE("every planted fault is found") {
    const TemporaryDirectory temporary;
    const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
    std::vector<Trial> running;
    const auto finish_one = [&] {
        int status = 0;
        const pid_t ended = wait(&status);
        const auto trial = std::find_if(running.begin(), running.end(), [&](const Trial& one) { return one.process == ended; });
        REQUIRE(trial != running.end());
        finish(*trial, status);
        running.erase(trial);
    };
    const char* const only = std::getenv("TMM_TEST_MUTATION");
    std::size_t index = 0;
    for (const Mutation& mutation : mutations()) {
        if (!only && !in_slice(index++, 12)) continue;
        if (only && std::string(mutation.file).find(only) == std::string::npos &&
            std::string(mutation.name).find(only) == std::string::npos)
            continue;
        running.push_back(start(mutation, temporary.path()));
        if (running.size() == at_once) finish_one();
    }
    while (!running.empty()) finish_one();
}
