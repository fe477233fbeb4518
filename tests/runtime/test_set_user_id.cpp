// A set-user-ID program obeys nothing of the environment that its caller sets, and yet multiplies. Only root can make one.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <grp.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/environment.h"
#include "generator/compile/compiler.h"
#include "generator/kernel/template_files.h"
#include "tests/support/temporary_directory.h"
#include "tmm/tmm.h"

using namespace tmm;
namespace fs = std::filesystem;

namespace {

// The caller, and the program's owner: two users that no account needs to have.
constexpr uid_t kCaller = 12345;
constexpr uid_t kOwner = 54321;

constexpr int kNotRaised = 77;

// The traps of a caller who means harm: programs, libraries and directories that tell when they are used.
class Trap {
public:
    Trap() {
        fs::permissions(folder_.path(), fs::perms::all);
        for (const char* name : {"bin", "cache", "tmp", "home", "include", "lib", "nvrtc", "templates"}) {
            fs::create_directory(path(name));
            // Now it looks like a place that only the program's owner may write to; its content may then count.
            REQUIRE(chown(path(name).c_str(), kOwner, kOwner) == 0);
            fs::permissions(path(name), fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
        }
        for (const char* name : {"c++", "g++", "gcc", "cc", "clang++", "as", "ld", "cc1plus", "collect2", "sh", "python3"})
            add_program(name);
        std::ofstream(path("include") / "stdint.h") << "#error obeyed\n";
        std::ofstream(path("templates") / "problem.h") << "#error obeyed\n";
        add_library(path("nvrtc") / "libnvrtc.so.12");
        add_library(path("lib") / "libnvrtc.so.12");
    }

    fs::path path(const std::string& name) const { return folder_.path() / name; }
    std::string obeyed() const {
        std::ifstream file(path("obeyed"), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::vector<std::string> variables() const {
        const std::string bin = path("bin").string();
        return {"TMM_CXX=" + bin + "/c++",
                "PATH=" + bin,
                "COMPILER_PATH=" + bin,
                "GCC_EXEC_PREFIX=" + bin + "/",
                "CPATH=" + path("include").string(),
                "CPLUS_INCLUDE_PATH=" + path("include").string(),
                "TMM_CACHE_DIR=" + path("cache").string(),
                "XDG_CACHE_HOME=" + path("cache").string(),
                "TMPDIR=" + path("tmp").string(),
                "HOME=" + path("home").string(),
                "XDG_DATA_HOME=" + path("home").string(),
                "TMM_DB=" + path("home").string() + "/tmm.db",
                "TMM_NVRTC=" + path("nvrtc").string(),
                "CUDA_HOME=" + folder_.path().string(),
                "CUDA_PATH=" + folder_.path().string(),
                "VIRTUAL_ENV=" + folder_.path().string(),
                "TMM_TEMPLATES=" + path("templates").string(),
                "TMM_HOST_ORDER=nonsense",
                "LD_LIBRARY_PATH=" + path("lib").string(),
                "BASH_ENV=" + bin + "/sh",
                "ENV=" + bin + "/sh"};
    }
    // A copy of this program with the set-user-ID bit, so that it runs as its owner whoever starts it.
    fs::path program() const {
        const fs::path copy = path("program");
        fs::copy_file("/proc/self/exe", copy, fs::copy_options::overwrite_existing);
        REQUIRE(chown(copy.c_str(), kOwner, kOwner) == 0);
        REQUIRE(chmod(copy.c_str(), 04755) == 0);
        return copy;
    }

private:
    void add_program(const std::string& name) const {
        const fs::path file = path("bin") / name;
        std::ofstream(file) << "#!/bin/sh\necho " << name << " >>" << path("obeyed").string() << "\n";
        fs::permissions(file, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
    }
    void add_library(const fs::path& file) const {
        const std::string source = fmt::format(
            "#include <stdio.h>\n__attribute__((constructor)) void obey(void) {{ FILE* f = fopen(\"{}\", \"a\"); fputs(\"{}\\n\", f); "
            "fclose(f); }}\n",
            path("obeyed").string(), file.string());
        std::ofstream(path("library.c")) << source;
        REQUIRE(std::system(fmt::format("cc -shared -fPIC -o '{}' '{}'", file.string(), path("library.c").string()).c_str()) == 0);
    }

    tmm::testing::TemporaryDirectory folder_;
};

// Runs the program as the caller and returns its exit status, which is all that the caller sees of it.
int run_as_caller(const fs::path& program, const std::vector<std::string>& variables) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (setgroups(0, nullptr) != 0 || setresgid(kCaller, kCaller, kCaller) != 0 || setresuid(kCaller, kCaller, kCaller) != 0) _exit(3);
        std::vector<std::string> words{program.string(), "--no-skip", "--test-case=as a set-user-ID program"};
        std::vector<char*> arguments, environment;
        for (std::string& word : words) arguments.push_back(word.data());
        std::vector<std::string> lines = variables;
        for (std::string& line : lines) environment.push_back(line.data());
        arguments.push_back(nullptr);
        environment.push_back(nullptr);
        execve(program.c_str(), arguments.data(), environment.data());
        _exit(4);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

// Run by the test below with the caller's variables, as its owner; by itself it would see this user's.
TEST_CASE("as a set-user-ID program" * doctest::skip()) {
    if (getauxval(AT_SECURE) == 0) _exit(kNotRaised);
    REQUIRE(getuid() == kCaller);
    REQUIRE(geteuid() == kOwner);
    CHECK(host_compiler_command() == "c++");
    CHECK(program_search_path() == "");
    CHECK(temporary_directory() == "/tmp");
    CHECK(cuda_toolkits().empty());
    CHECK(python_prefixes().empty());
    CHECK_FALSE(nvrtc_override());
    CHECK(active_templates() == embedded_templates());
    (void)nvrtc_version();

    tmmHandle_t handle = nullptr;
    REQUIRE(tmmCreate(&handle, TMM_DEVICE_HOST, nullptr) == TMM_STATUS_SUCCESS);
    const std::vector<float> a(16 * 16, 1.0f);
    std::vector<float> c(16 * 16, 0.0f);
    const float alpha = 1, beta = 0;
    const tmmStatus_t status =
        tmmSgemm(handle, TMM_ROW_MAJOR, TMM_NO_TRANS, TMM_NO_TRANS, 16, 16, 16, &alpha, a.data(), 16, a.data(), 16, &beta, c.data(), 16);
    CHECK_MESSAGE(status == TMM_STATUS_SUCCESS, tmmLastError(handle));
    CHECK(c == std::vector<float>(16 * 16, 16.0f));
    tmmDestroy(handle);
}

TEST_CASE("a caller's variables decide nothing in a set-user-ID program") {
    if (geteuid() != 0) {
        MESSAGE("skipped: only root can make a set-user-ID program of another user");
        return;
    }
    const Trap trap;
    const int status = run_as_caller(trap.program(), trap.variables());
    if (status == kNotRaised) {
        MESSAGE("skipped: the system ignores set-user-ID bits in the directory of temporary files");
        return;
    }
    CHECK(status == 0);
    CHECK(trap.obeyed() == "");
    for (const char* name : {"cache", "tmp", "home"}) CHECK_MESSAGE(fs::is_empty(trap.path(name)), name);
    std::error_code ignored;
    fs::remove_all(fmt::format("/tmp/tmm-{}", kOwner), ignored);
}
