// A process that may start no thread, or write no large file: the library goes on with what it has, or says what it lacks.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/text/side_by_side.h"
#include "generator/compile/kernel_cache.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"
#include "tuner/compiling/candidate_compiler.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kSomebody = 12345;

// Runs the work in a process of its own, which the limit then binds. Returns the work's number, or minus the signal that ended it.
int in_child(const std::function<int()>& work) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(work());
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool limit(__rlimit_resource resource, rlim_t soft) {
    rlimit now{};
    if (getrlimit(resource, &now) != 0) return false;
    now.rlim_cur = soft;
    return setrlimit(resource, &now) == 0;
}

// Allows no more threads than there are; root has no such limit.
bool forbid_threads() {
    if (geteuid() == 0 && (setresgid(kSomebody, kSomebody, kSomebody) != 0 || setresuid(kSomebody, kSomebody, kSomebody) != 0))
        return false;
    return limit(RLIMIT_NPROC, 1) && !start_thread([] {});
}

struct UnusedCompiler : Compiler {
    CompileResult compile(const KernelSource&) const override { return CompileFailure{"none"}; }
    std::string identity() const override { return "none"; }
};

tmmStatus_t multiply(tmmHandle_t handle, std::int64_t m) {
    const std::vector<float> a(static_cast<std::size_t>(m) * 8, 1.0f), b(64, 1.0f);
    std::vector<float> c(a.size());
    const float alpha = 1, beta = 0;
    return tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, m, 8, 8, &alpha, a.data(), 8, b.data(), 8, &beta, c.data(), 8);
}

// Whether the process's handling of the signal is unchanged and none is pending.
bool is_untouched() {
    struct sigaction action {};
    sigset_t pending, blocked;
    return sigaction(SIGXFSZ, nullptr, &action) == 0 && action.sa_handler == SIG_DFL && sigpending(&pending) == 0 &&
           sigismember(&pending, SIGXFSZ) == 0 && pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 &&
           sigismember(&blocked, SIGXFSZ) == 0;
}

}  // namespace

TEST_CASE("without threads all jobs run on the one that there is") {
    CHECK(in_child([] {
              if (!forbid_threads()) return 1;
              int done = 0;
              run_side_by_side(5, [&] { ++done; });
              return done == 5 ? 0 : 2;
          }) == 0);
}

TEST_CASE("a tuner that can't start any compiling thread says so") {
    CHECK(in_child([] {
              if (!forbid_threads()) return 1;
              try {
                  const CandidateCompiler compiler(std::make_shared<const UnusedCompiler>(), KernelCache("/nonexistent"), 4);
              } catch (const Error& error) {
                  return std::string(error.what()).find("ulimit -u") != std::string::npos ? 0 : 2;
              }
              return 3;
          }) == 0);
}

TEST_CASE("where files may not grow, a product fails or succeeds, and the process goes on as it was") {
    const TemporaryDirectory folder;
    setenv("TMM_CACHE_DIR", (folder.path() / "cache").c_str(), 1);
    tmmSetLogCallback([](const char*, void*) {}, nullptr);
    for (const rlim_t bytes : {0, 100, 5000, 20'000}) {
        CAPTURE(bytes);
        CHECK(in_child([&] {
                  tmmHandle_t handle = nullptr;
                  if (tmmCreate(&handle, TMM_DEVICE_HOST, (folder.path() / "none.db").c_str()) != TMM_STATUS_SUCCESS) return 1;
                  if (!limit(RLIMIT_FSIZE, bytes)) return 2;
                  const bool failed = multiply(handle, 16) != TMM_STATUS_SUCCESS;
                  if (!is_untouched()) return 3;
                  // Neither the kernel nor a compiler's object fits.
                  if (!failed && bytes <= 5000) return 4;
                  if (!limit(RLIMIT_FSIZE, RLIM_INFINITY)) return 5;
                  // A compiler that was not found is looked for again a second later.
                  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
                  return multiply(handle, 16) == TMM_STATUS_SUCCESS ? 0 : 6;
              }) == 0);
        fs::remove_all(folder.path() / "cache");
    }
    tmmSetLogCallback(nullptr, nullptr);
}

TEST_CASE("a kernel that can't be stored is compiled all the same, and half of it is not left behind") {
    struct LargeCompiler : Compiler {
        CompileResult compile(const KernelSource&) const override {
            return CompiledKernel{.image = std::vector<std::byte>(100'000), .registers = 1, .spill_bytes = 0, .log = {}};
        }
        std::string identity() const override { return "large"; }
    };
    const TemporaryDirectory folder;
    const KernelSource source{.name = "k", .text = "kernel;\n", .entries = {}};
    tmmSetLogCallback([](const char*, void*) {}, nullptr);
    CHECK(in_child([&] {
              if (!limit(RLIMIT_FSIZE, 10'000)) return 1;
              const CompileResult result = KernelCache(folder.path() / "cache").find_or_compile(source, LargeCompiler());
              return std::holds_alternative<CompiledKernel>(result) && is_untouched() ? 0 : 2;
          }) == 0);
    CHECK(fs::is_empty(folder.path() / "cache"));
    tmmSetLogCallback(nullptr, nullptr);
}

TEST_CASE("a signal that somebody else sent stays pending") {
    CHECK(in_child([] {
              sigset_t set;
              sigemptyset(&set);
              sigaddset(&set, SIGXFSZ);
              pthread_sigmask(SIG_BLOCK, &set, nullptr);
              raise(SIGXFSZ);
              const TemporaryDirectory folder;
              const KernelSource source{.name = "k", .text = "kernel;\n", .entries = {}};
              (void)KernelCache(folder.path() / "cache").find_or_compile(source, UnusedCompiler());
              sigset_t pending;
              sigpending(&pending);
              return sigismember(&pending, SIGXFSZ) == 1 ? 0 : 1;
          }) == 0);
}
