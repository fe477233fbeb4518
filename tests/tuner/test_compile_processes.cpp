// NVRTC in processes of its own, with a stand-in that crashes, hangs or is killed: what becomes of the kernel, and of all others.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/tool_compiler.h"
#include "generator/kernel/template_files.h"
#include "tests/support/temporary_directory.h"
#include "tuner/compiling/compile_processes.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

const std::string kProgram = std::string(TMM_BINARY_DIR) + "/tools/tmm-tune";

KernelSource kernel(const std::string& name) {
    return {.name = name, .text = "// " + name + "\n", .entries = {}};
}

// What the stand-in does, and what it has done.
class StandIn {
public:
    explicit StandIn(const std::string& how = "") : log_(folder_.path() / "log") {
        // The tools ignore it, too.
        std::signal(SIGPIPE, SIG_IGN);
        setenv("TMM_NVRTC", TMM_TEST_NVRTC_STAND_IN, 1);
        setenv("TMM_TEST_NVRTC_LOG", log_.c_str(), 1);
        setenv("TMM_TEST_NVRTC", how.c_str(), 1);
    }
    fs::path file(const char* name) const { return folder_.path() / name; }
    // The processes that have compiled a kernel whose name begins so, one for each time.
    std::vector<pid_t> processes(const std::string& beginning = "") const {
        std::vector<pid_t> found;
        std::ifstream log(log_);
        std::string name;
        for (pid_t process = 0; log >> process >> name;)
            if (name.starts_with(beginning)) found.push_back(process);
        return found;
    }

private:
    TemporaryDirectory folder_;
    fs::path log_;
};

CompileProcessOptions options(int most, const std::string& program = kProgram) {
    return {.compute_capability = 90, .most = most, .program = program};
}

// The kernel's image as text, or what failed.
std::string outcome(const Compiler& compiler, const std::string& name) {
    try {
        const CompileResult result = compiler.compile(kernel(name));
        if (const auto* failure = std::get_if<CompileFailure>(&result)) return "at fault: " + failure->log;
        const auto& image = std::get<CompiledKernel>(result).image;
        return {reinterpret_cast<const char*>(image.data()), image.size()};
    } catch (const Error& error) {
        return std::string(error.status() == ExitStatus::no_compiler ? "machine: " : "given up: ") + error.what();
    }
}

std::string image_of(const std::string& name) {
    return "machine code of " + name + ".cu";
}

// Compiles kernels "NAME0" to "NAMEn" in so many threads; how many images came out right.
int compile_many(const Compiler& compiler, const std::string& name, int count, int threads) {
    std::atomic<int> next = 0;
    std::atomic<int> right = 0;
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&] {
            for (int j = next++; j < count; j = next++)
                right += outcome(compiler, name + std::to_string(j)) == image_of(name + std::to_string(j));
        });
    for (std::thread& thread : running) thread.join();
    return right;
}

}  // namespace

TEST_CASE("kernels are compiled in as many processes as may be, at once, and none in the process that asks") {
    const StandIn stand("slow=kernel");
    const CompileProcesses compiler(options(3));
    CHECK(compile_many(compiler, "kernel", 12, 5) == 12);
    const std::vector<pid_t> all = stand.processes();
    CHECK(all.size() == 12);
    const std::set<pid_t> processes(all.begin(), all.end());
    CHECK(processes.size() == 3);
    CHECK_FALSE(processes.contains(getpid()));
    const CompileResult result = compiler.compile(kernel("one"));
    CHECK(std::get<CompiledKernel>(result).registers == 40);
    CHECK(std::get<CompiledKernel>(result).spill_bytes == 0);
    CHECK(compiler.identity() == make_nvrtc_compiler(90)->identity());
}

TEST_CASE("a source that crashes the compiler is at fault, and all others are compiled") {
    const StandIn stand("crash=bad");
    const CompileProcesses compiler(options(2));
    for (int round = 0; round < 2; ++round) {
        const std::string said = outcome(compiler, "bad");
        CHECK_MESSAGE(said.starts_with("at fault: "), said);
        CHECK_MESSAGE(said.find("signal 11") != std::string::npos, said);
        // So it is kept as a result, and not measured anew by each run.
        CHECK(blames_source(said.substr(10)));
        CHECK(blames_source(first_error_line(said.substr(10))));
        CHECK(compile_many(compiler, "good", 6, 2) == 6);
    }
    CHECK(stand.processes("bad").size() == 4);
    CHECK(stand.processes("good").size() == 12);
}

TEST_CASE("a process that crashed or was killed once is replaced, and its kernel compiled") {
    for (const char* how : {"crash once=kernel", "killed once=kernel"}) {
        CAPTURE(how);
        const StandIn stand(how);
        const CompileProcesses compiler(options(1));
        CHECK(outcome(compiler, "kernel") == image_of("kernel"));
        CHECK(stand.processes().size() == 2);
    }
}

TEST_CASE("processes that are killed from outside, or leave, are the machine's failure and blame no source") {
    for (const char* how : {"killed=kernel", "exit=kernel"}) {
        CAPTURE(how);
        const StandIn stand(how);
        const CompileProcesses compiler(options(2));
        const std::string said = outcome(compiler, "kernel");
        CHECK_MESSAGE(said.starts_with("machine: "), said);
        CHECK_MESSAGE(said.find("run again") != std::string::npos, said);
        CHECK(outcome(compiler, "other") == image_of("other"));
    }
}

TEST_CASE("compilations that hang end when they are abandoned, and those that wait for a process, too") {
    const StandIn stand("hang=hanging");
    const CompileProcesses compiler(options(1));
    std::vector<std::string> said(3);
    std::vector<std::thread> threads;
    for (std::string& text : said) threads.emplace_back([&] { text = outcome(compiler, "hanging"); });
    while (stand.processes().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK(compiler.abandon());
    for (std::thread& thread : threads) thread.join();
    for (const std::string& text : said) CHECK_MESSAGE(text.starts_with("given up: "), text);
    CHECK(stand.processes().size() == 1);
    CHECK(outcome(compiler, "later").starts_with("given up: "));
}

TEST_CASE("where no process serves, this one compiles") {
    const StandIn stand;
    for (const char* program : {"/nonexistent", "/bin/true", "/bin/cat"}) {
        CAPTURE(program);
        const CompileProcesses compiler(options(4, program));
        CHECK(compile_many(compiler, "kernel", 4, 2) == 4);
    }
    for (const pid_t process : stand.processes()) CHECK(process == getpid());
}

TEST_CASE("where fewer processes can be started than may be, these few compile") {
    const StandIn stand;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const CompileProcesses compiler(options(8));
        if (compile_many(compiler, "first", 2, 1) != 2) _exit(1);
        // No pipe can be made any more.
        const int next = dup(0);
        const rlimit few{static_cast<rlim_t>(next), static_cast<rlim_t>(next)};
        close(next);
        if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(2);
        _exit(compile_many(compiler, "second", 8, 4) == 8 ? 0 : 3);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    const std::vector<pid_t> all = stand.processes("second");
    CHECK(all.size() == 8);
    CHECK(std::set<pid_t>(all.begin(), all.end()) == std::set<pid_t>{stand.processes("first").front()});
}

TEST_CASE("a process that reads other templates is of no use") {
    const StandIn stand;
    const CompileProcesses compiler(options(2));
    fs::create_directories(stand.file("templates") / "tmm");
    std::ofstream(stand.file("templates") / "tmm" / "other.cuh") << "// another text\n";
    setenv("TMM_TEMPLATES", stand.file("templates").c_str(), 1);
    CHECK(outcome(compiler, "kernel") == image_of("kernel"));
    unsetenv("TMM_TEMPLATES");
    CHECK(stand.processes() == std::vector<pid_t>{getpid()});
}

TEST_CASE("processes are as many as cores, where memory reaches") {
    constexpr std::int64_t kGigabyte = 1LL << 30;
    CHECK(compile_processes(16, 128 * kGigabyte) == 16);
    CHECK(compile_processes(128, 560 * kGigabyte) == 128);
    CHECK(compile_processes(32, 4 * kGigabyte) == 8);
    CHECK(compile_processes(4, kGigabyte / 10) == 1);
    CHECK(compile_processes(4, 0) == 4);
    CHECK(compile_processes(0, kGigabyte) == 1);
}

TEST_CASE("a program's kernels are compiled in a process each, and a crash is the kernel's alone") {
    const StandIn stand_in("crash=bad");
    const auto compiler = make_tool_compiler(90, kProgram);
    CHECK(outcome(*compiler, "one") == image_of("one"));
    CHECK(outcome(*compiler, "two") == image_of("two"));
    CHECK(outcome(*compiler, "bad").starts_with("at fault: "));
    CHECK(outcome(*compiler, "three") == image_of("three"));
    const std::vector<pid_t> processes = stand_in.processes();
    CHECK(std::set<pid_t>(processes.begin(), processes.end()).size() == 4);
    for (const pid_t process : processes) CHECK(process != getpid());
    // Nothing is left behind.
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("a program's kernels are compiled where it ignores its children, and by itself without the tool") {
    const StandIn stand_in;
    std::signal(SIGCHLD, SIG_IGN);
    CHECK(outcome(*make_tool_compiler(90, kProgram), "one") == image_of("one"));
    std::signal(SIGCHLD, SIG_DFL);
    CHECK(stand_in.processes("one") != std::vector<pid_t>{getpid()});
    for (const char* program : {"/nonexistent/tmm-tune", "/bin/true"})
        CHECK(outcome(*make_tool_compiler(90, program), "two") == image_of("two"));
    CHECK(stand_in.processes("two") == std::vector<pid_t>{getpid(), getpid()});
}
