// Many processes on a cold kernel cache: one compiles each kernel, the others wait for it, and nobody waits for one that will not come.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "generator/compile/kernel_cache.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;
namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

constexpr int kProcesses = 8;
// Longer than any of these tests may take, so that whoever waits for it in vain is seen.
constexpr milliseconds kForever{100'000};

KernelSource source(int number) {
    return {.name = fmt::format("k{}", number), .text = fmt::format("kernel {};\n", number), .entries = {}};
}

// Takes its time, and notes in a file of the folder when it begins, whichever process it is in.
class SlowCompiler : public Compiler {
public:
    explicit SlowCompiler(const TemporaryDirectory& folder, milliseconds duration = milliseconds(300))
        : log_(folder.path() / "compiled"), duration_(duration) {}

    CompileResult compile(const KernelSource& source) const override {
        const int file = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        (void)!write(file, "x", 1);
        close(file);
        std::this_thread::sleep_for(duration_);
        if (fails) return CompileFailure{"a fault"};
        CompiledKernel kernel;
        for (const char c : source.text) kernel.image.push_back(static_cast<std::byte>(c));
        return kernel;
    }
    std::string identity() const override { return "slow"; }

    int compilations() const { return fs::exists(log_) ? static_cast<int>(fs::file_size(log_)) : 0; }
    void wait_until_begun(int compilations_before = 0) const {
        while (compilations() == compilations_before) std::this_thread::sleep_for(milliseconds(1));
    }
    bool fails = false;

private:
    fs::path log_;
    milliseconds duration_;
};

bool is_kernel(const CompileResult& result, const KernelSource& source) {
    const auto* kernel = std::get_if<CompiledKernel>(&result);
    return kernel && std::string(reinterpret_cast<const char*>(kernel->image.data()), kernel->image.size()) == source.text;
}

pid_t started(const std::function<bool()>& work) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(work() ? 0 : 1);
    return child;
}

bool succeeded(pid_t child) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void end(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

std::vector<std::string> names_in(const fs::path& directory, const std::string& suffix) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
        if (entry.path().filename().string().ends_with(suffix)) names.push_back(entry.path().filename().string());
    return names;
}

// The file that a process which compiles the kernel has locked.
fs::path lock_file(const fs::path& cache) {
    const auto locks = names_in(cache, ".lock");
    REQUIRE(locks.size() == 1);
    return cache / locks[0];
}

}  // namespace

TEST_CASE("eight processes that need two kernels at once compile two") {
    const TemporaryDirectory folder;
    const SlowCompiler compiler(folder);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i)
        children.push_back(started([&] {
            const KernelCache cache(folder.path() / "cache", KernelCache::kDefaultLimit, kForever);
            for (const int k : {i % 2, 1 - i % 2})
                if (!is_kernel(cache.find_or_compile(source(k), compiler), source(k))) return false;
            return true;
        }));
    for (const pid_t child : children) CHECK(succeeded(child));
    CHECK(compiler.compilations() == 2);
    CHECK(names_in(folder.path() / "cache", ".kernel").size() == 2);
    CHECK(names_in(folder.path() / "cache", "").size() == 2);
}

TEST_CASE("threads of a process take turns as processes do") {
    const TemporaryDirectory folder;
    const SlowCompiler compiler(folder);
    const KernelCache cache(folder.path() / "cache", KernelCache::kDefaultLimit, kForever);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { (void)cache.find_or_compile(source(1), compiler); });
    for (std::thread& thread : threads) thread.join();
    CHECK(compiler.compilations() == 1);
}

TEST_CASE("where the one that compiles is killed, one of those that wait goes on") {
    const TemporaryDirectory folder;
    const SlowCompiler endless(folder, kForever);
    const SlowCompiler compiler(folder);
    const auto work = [&](const Compiler& with) {
        const KernelCache cache(folder.path() / "cache", KernelCache::kDefaultLimit, kForever);
        return is_kernel(cache.find_or_compile(source(1), with), source(1));
    };
    const pid_t first = started([&] { return work(endless); });
    compiler.wait_until_begun();
    std::vector<pid_t> others;
    for (int i = 0; i < 3; ++i) others.push_back(started([&] { return work(compiler); }));
    std::this_thread::sleep_for(milliseconds(100));
    CHECK(compiler.compilations() == 1);
    end(first);
    for (const pid_t child : others) CHECK(succeeded(child));
    CHECK(compiler.compilations() == 2);
    CHECK(names_in(folder.path() / "cache", "").size() == 1);
}

TEST_CASE("nobody waits longer than its patience, or for a process that is stopped, and the lock is broken for all") {
    const TemporaryDirectory folder;
    const SlowCompiler endless(folder, kForever);
    const SlowCompiler compiler(folder);
    const pid_t first = started([&] {
        (void)KernelCache(folder.path() / "cache").find_or_compile(source(1), endless);
        return false;
    });
    compiler.wait_until_begun();
    milliseconds patience = kForever;
    SUBCASE("one that hangs") {
        patience = milliseconds(200);
    }
    SUBCASE("one that is stopped") {
        kill(first, SIGSTOP);
        waitpid(first, nullptr, WUNTRACED);
    }
    SUBCASE("one that is stopped while somebody waits for it") {
        std::thread([first] {
            std::this_thread::sleep_for(milliseconds(200));
            kill(first, SIGSTOP);
        }).detach();
    }
    const auto start = std::chrono::steady_clock::now();
    const KernelCache cache(folder.path() / "cache", KernelCache::kDefaultLimit, patience);
    CHECK(is_kernel(cache.find_or_compile(source(1), compiler), source(1)));
    CHECK(std::chrono::steady_clock::now() - start < kForever / 2);
    CHECK(compiler.compilations() == 2);
    CHECK(names_in(folder.path() / "cache", ".lock").empty());
    CHECK(cache.find(source(1), compiler));
    end(first);
}

TEST_CASE("what does not compile is told to all that wait, and each finds out by itself") {
    const TemporaryDirectory folder;
    SlowCompiler compiler(folder);
    compiler.fails = true;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i)
        children.push_back(started([&] {
            const KernelCache cache(folder.path() / "cache", KernelCache::kDefaultLimit, kForever);
            return std::holds_alternative<CompileFailure>(cache.find_or_compile(source(1), compiler));
        }));
    for (const pid_t child : children) CHECK(succeeded(child));
    CHECK(compiler.compilations() == 4);
    CHECK(names_in(folder.path() / "cache", "").empty());
}

TEST_CASE("whatever stands where the lock belongs, the kernel is compiled, and what is not tmm's stays") {
    const TemporaryDirectory folder;
    const SlowCompiler compiler(folder, milliseconds(0));
    const fs::path directory = folder.path() / "cache";
    const KernelCache cache(directory, KernelCache::kDefaultLimit, kForever);
    // The lock's name is seen while somebody holds it.
    const SlowCompiler endless(folder, kForever);
    const pid_t first = started([&] {
        (void)cache.find_or_compile(source(1), endless);
        return false;
    });
    compiler.wait_until_begun();
    const fs::path lock = lock_file(directory);
    end(first);
    fs::remove(lock);

    std::ofstream(folder.path() / "elsewhere") << "mine";
    SUBCASE("a directory") {
        fs::create_directory(lock);
    }
    SUBCASE("a symbolic link") {
        fs::create_symlink(folder.path() / "elsewhere", lock);
    }
    SUBCASE("a pipe") {
        REQUIRE(mkfifo(lock.c_str(), 0600) == 0);
    }
    SUBCASE("a file that nobody may read") {
        std::ofstream(lock) << "1\n";
        fs::permissions(lock, fs::perms::none);
    }
    SUBCASE("a file that says nothing of sense") {
        std::ofstream(lock) << std::string(5000, '\xff');
    }
    SUBCASE("a directory that can't be written to") {
        fs::permissions(directory, fs::perms::owner_read | fs::perms::owner_exec);
    }
    CHECK(is_kernel(cache.find_or_compile(source(1), compiler), source(1)));
    fs::permissions(directory, fs::perms::owner_all);
    std::ifstream file(folder.path() / "elsewhere");
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == "mine");
}

TEST_CASE("locks of dead processes are cleared away by whoever next makes a kernel, those of living ones are not") {
    const TemporaryDirectory folder;
    const SlowCompiler compiler(folder, milliseconds(0));
    const fs::path directory = folder.path() / "cache";
    (void)KernelCache(directory).find_or_compile(source(1), compiler);
    std::ofstream(directory / "0123456789abcdef0123456789abcdef.kernel.lock") << "1\n";
    std::ofstream(directory / "4567456745674567456745674567aaaa.kernel.lock") << "1\n";
    const int held = open((directory / "4567456745674567456745674567aaaa.kernel.lock").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(flock(held, LOCK_EX | LOCK_NB) == 0);
    (void)KernelCache(directory).find_or_compile(source(2), compiler);
    CHECK(names_in(directory, ".lock") == std::vector<std::string>{"4567456745674567456745674567aaaa.kernel.lock"});
    close(held);
}

TEST_CASE("whoever clears away dead locks takes none from a living process, and nobody takes it for one that compiles") {
    const TemporaryDirectory folder;
    const SlowCompiler compiler(folder, milliseconds(0));
    const fs::path directory = folder.path() / "cache";
    (void)KernelCache(directory).find_or_compile(source(0), compiler);
    std::vector<pid_t> tidying;
    for (int i = 0; i < 4; ++i)
        tidying.push_back(started([&] {
            while (true) (void)KernelCache(directory).find(source(0), compiler);
            return true;
        }));
    constexpr int kKernels = 100;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i)
        children.push_back(started([&] {
            const KernelCache cache(directory, KernelCache::kDefaultLimit, kForever);
            for (int k = 1; k <= kKernels; ++k)
                if (!is_kernel(cache.find_or_compile(source(k), compiler), source(k))) return false;
            return true;
        }));
    for (const pid_t child : children) CHECK(succeeded(child));
    for (const pid_t process : tidying) end(process);
    CHECK(compiler.compilations() == kKernels + 1);
}

TEST_CASE("eight programs that multiply for the first time run the compiler once for each kernel") {
    const TemporaryDirectory folder;
    const fs::path script = folder.path() / "compiler";
    std::ofstream(script) << "#!/bin/sh\ncase \"$*\" in *-shared*) echo x >>" << (folder.path() / "compiled").string()
                          << " ;; esac\nexec c++ \"$@\"\n";
    fs::permissions(script, fs::perms::owner_all);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i)
        children.push_back(started([&] {
            setenv("TMM_CXX", script.c_str(), 1);
            setenv("TMM_CACHE_DIR", (folder.path() / "cache").c_str(), 1);
            tmmHandle_t handle = nullptr;
            if (tmmCreate(&handle, TMM_DEVICE_HOST, (folder.path() / "none.db").c_str()) != TMM_STATUS_SUCCESS) return false;
            const std::vector<float> a(16 * 16, 1.0f);
            std::vector<float> c(16 * 16, 0.0f);
            const float alpha = 1, beta = 0;
            const tmmStatus_t status = tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 16, 16, 16, &alpha, a.data(), 16,
                                                a.data(), 16, &beta, c.data(), 16);
            return status == TMM_STATUS_SUCCESS && c == std::vector<float>(16 * 16, 16.0f);
        }));
    for (const pid_t child : children) CHECK(succeeded(child));
    const auto kernels = names_in(folder.path() / "cache", ".kernel").size();
    CHECK(kernels > 0);
    CHECK(fs::file_size(folder.path() / "compiled") == 2 * kernels);
}
