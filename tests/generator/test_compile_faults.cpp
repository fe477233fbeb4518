// Tests what ends a compilation, and whose fault it is: the source's, which is a result, or the machine's, which is an error and may pass.
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/processes/child_process.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/compiler.h"
#include "generator/compile/shared_object.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
namespace fs = std::filesystem;

namespace {

const KernelSource kSound{.name = "sound", .text = "extern \"C\" int answer() { return 42; }\n", .entries = {}};
const KernelSource kWrong{.name = "wrong", .text = "int f( { return 1; }\n", .entries = {}};

// Sets a variable for as long as it lives.
class Variable {
public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (before_.empty())
            unsetenv(name_);
        else
            setenv(name_, before_.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
    std::string before_;
};

// TMM_CXX is a shell script: what it does for a compilation stands in `body`; $OUT is the file that it has to write.
class FakeCompiler {
public:
    explicit FakeCompiler(const std::string& body)
        : script_(folder_.path() / "compiler"), variable_("TMM_CXX", script_.string()), temporary_("TMPDIR", make_temporary()) {
        std::ofstream(script_) << "#!/bin/sh\ncase \"$*\" in --version) exec c++ --version ;; esac\n"
                               << "here=" << folder_.path().string() << "\n"
                               << "last=; for word; do [ \"$last\" = -o ] && OUT=$word; last=$word; done\n"
                               << body << "\n";
        fs::permissions(script_, fs::perms::owner_all);
    }
    fs::path path(const char* name) const { return folder_.path() / name; }
    int files_left() const { return static_cast<int>(std::distance(fs::directory_iterator(path("tmp")), fs::directory_iterator())); }

private:
    std::string make_temporary() const {
        fs::create_directory(folder_.path() / "tmp");
        return (folder_.path() / "tmp").string();
    }
    tmm::testing::TemporaryDirectory folder_;
    fs::path script_;
    Variable variable_;
    Variable temporary_;
};

// "sound", "at fault", or what the error says.
std::string outcome(const KernelSource& source) {
    try {
        const CompileResult result = make_host_compiler()->compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&result)) return "at fault: " + failure->log;
        return is_shared_object(std::get<CompiledKernel>(result).image) ? "sound" : "no shared object";
    } catch (const Error& error) {
        return error.status() == ExitStatus::no_compiler ? std::string("machine: ") + error.what() : std::string("other: ") + error.what();
    }
}

// Runs the body in a process of its own, whose exit status is 0 where it gives true.
template <typename Body>
bool holds_in_child(const Body& body) {
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(body() ? 0 : 1);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a log blames the source where it names a place in it, and nothing else does") {
    for (const char* log : {
             "tmm/families/simt/kernel.cuh:12:5: error: static assertion failed: planted",
             "In file included from source/kernel.cpp:1:\nkernel:1:8: error: expected ')' before '{' token",
             "tmm/families/tiled/kernel.cuh(30): error: identifier \"x\" is undefined",
             "tmm/families/tiled/kernel.cuh(30): error #20013-D: calling a function",
             "ptxas error   : Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)",
             "ptxas fatal   : (C7600) Register allocation failed with register count of '255'",
             "the pipeline of wgmma instructions was serialized:\n(C7510) Potential Performance Loss: wgmma.mma_async instructions are "
             "serialized",
         }) {
        CAPTURE(log);
        CHECK(blames_source(log));
        CHECK(blames_source(first_error_line(log)));
    }
    for (const std::string& log : {crash_log("was ended by signal 11"), wrong_code_log("a predicate is lost")}) {
        CAPTURE(log);
        CHECK(blames_source(log));
        CHECK(blames_source(first_error_line(log)));
    }
    for (const char* log : {
             "",
             "cc1plus: out of memory allocating 65536 bytes after a total of 3055616 bytes",
             "virtual memory exhausted: Cannot allocate memory",
             "c++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.",
             "c++: schwerer Fehler: Signal Killed beendete Programm cc1plus",
             "tmm/families/simt/kernel.cuh:21:1: fatal error: error writing to /tmp/ccCBVt71.s: No space left on device",
             "tmm/families/simt/kernel.cuh:21:1: schwerer Fehler: beim Schreiben in /tmp/cc.s: Auf dem Gerät ist kein Speicherplatz mehr "
             "verfügbar",
             "source/kernel.cpp:1:10: fatal error: host/cuda_builtins.h: No such file or directory",
             "tmm/families/simt/kernel.cuh:21:1: internal compiler error: Segmentation fault",
             "/tmp/cc1.s: Assembler messages:\n/tmp/cc1.s: Fatal error: can't write 64 bytes to section .text: No space left on device",
             "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status",
             "c++: error: unrecognized command-line option '-std=c++20'",
             "clang: error: unable to make temporary file: No space left on device",
             "error: error opening '/tmp/x.o': Read-only file system",
             "ptxas fatal   : Memory allocation failure",
             "k.cu(1): catastrophic error: out of memory",
         }) {
        CAPTURE(log);
        CHECK_FALSE(blames_source(log));
        CHECK_FALSE(blames_source(first_error_line(log)));
    }
}

TEST_CASE("a wrong source is at fault, however the user's language") {
    const Variable language("LC_ALL", "de_DE.UTF-8");
    const std::string said = outcome(kWrong);
    CHECK_MESSAGE(said.starts_with("at fault: "), said);
    CHECK_MESSAGE(said.find("wrong:1:") != std::string::npos, said);
    CHECK(outcome(kSound) == "sound");
    const FakeCompiler shows("echo \"$LC_ALL\" > $here/language; exec c++ \"$@\"");
    CHECK(outcome(kSound) == "sound");
    CHECK(read(shows.path("language")) == "C\n");
}

TEST_CASE("a compiler that can't do its work is the machine's failure, whatever it says and does") {
    for (const char* body : {
             "echo 'cc1plus: out of memory allocating 65536 bytes' >&2; exit 1",
             "echo \"$OUT:3:4: fatal error: error writing to x.s: No space left on device\" >&2; exit 1",
             "echo 'c++: schwerer Fehler: kein Speicherplatz' >&2; exit 1",
             "exit 1",
             "exit 4",
             "kill -KILL $$",
             "kill -TERM $$",
             // Done, it says.
             "exit 0",
             ": > $OUT",
             "echo 'no shared object' > $OUT",
             "c++ \"$@\" && truncate -s 2000 $OUT",
             "c++ \"$@\" && truncate -s -1 $OUT",
         }) {
        CAPTURE(body);
        const FakeCompiler compiler(body);
        const std::string said = outcome(kSound);
        CHECK_MESSAGE(said.starts_with("machine: "), said);
        CHECK_MESSAGE(said.find("run again") != std::string::npos, said);
        CHECK(compiler.files_left() == 0);
    }
}

TEST_CASE("what fails for a moment is tried again") {
    const FakeCompiler compiler(
        "echo try >> $here/tries\n"
        "[ $(wc -l < $here/tries) = 1 ] && { echo 'cc1plus: out of memory' >&2; exit 1; }\n"
        "exec c++ \"$@\"");
    CHECK(outcome(kSound) == "sound");
    CHECK(read(compiler.path("tries")) == "try\ntry\n");
    fs::remove(compiler.path("tries"));
    std::ofstream(compiler.path("tries")) << "try\n";
    // A wrong source is not.
    CHECK(outcome(kWrong).starts_with("at fault: "));
    CHECK(read(compiler.path("tries")) == "try\ntry\n");
}

TEST_CASE("no compiler, or one that can't be run, is said so") {
    const tmm::testing::TemporaryDirectory folder;
    std::ofstream(folder.path() / "text") << "no program";
    struct {
        std::string command;
        const char* said;
    } cases[] = {{"/nonexistent/c++", "there is no such program"},
                 {(folder.path() / "text").string(), "it is no program, or not this user's to run"},
                 {"false", "is no C++ compiler: --version exits with 1"}};
    for (const auto& [command, expected] : cases) {
        CAPTURE(command);
        const Variable compiler("TMM_CXX", command);
        const std::string said = outcome(kSound);
        CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
        CHECK_MESSAGE(said.find("TMM_CXX") != std::string::npos, said);
    }
    const Variable temporary("TMPDIR", (folder.path() / "missing").string());
    const std::string said = outcome(kSound);
    CHECK_MESSAGE(said.find("No such file or directory") != std::string::npos, said);
    CHECK_MESSAGE(said.find("TMPDIR") != std::string::npos, said);
}

TEST_CASE("the state of the caller's process changes no result") {
    struct State {
        const char* name;
        void (*enter)();
    } const states[] = {
        {"SIGCHLD ignored", [] { signal(SIGCHLD, SIG_IGN); }},
        {"children not waited for",
         [] {
             struct sigaction action = {};
             action.sa_handler = SIG_DFL;
             action.sa_flags = SA_NOCLDWAIT;
             sigaction(SIGCHLD, &action, nullptr);
         }},
        {"a handler that reaps every child",
         [] {
             signal(SIGCHLD, [](int) {
                 while (waitpid(-1, nullptr, WNOHANG) > 0) {
                 }
             });
         }},
        {"every signal blocked",
         [] {
             sigset_t every;
             sigfillset(&every);
             sigprocmask(SIG_SETMASK, &every, nullptr);
         }},
        {"SIGPIPE and SIGTERM ignored",
         [] {
             signal(SIGPIPE, SIG_IGN);
             signal(SIGTERM, SIG_IGN);
         }},
        {"standard streams closed",
         [] {
             for (const int stream : {0, 1, 2}) close(stream);
         }},
        {"a umask that leaves nothing", [] { umask(0777); }},
        {"a working directory that is gone",
         [] {
             char name[] = "/tmp/tmm-test-gone-XXXXXX";
             if (!mkdtemp(name) || chdir(name) != 0 || rmdir(name) != 0) _exit(2);
         }},
    };
    const FakeCompiler lacks_memory(
        "grep -q lacks_memory $(dirname $OUT)/source/kernel.cpp || exec c++ \"$@\"\necho 'out of memory' >&2\nexit 1");
    const KernelSource unlucky{.name = "unlucky", .text = "// lacks_memory\n", .entries = {}};
    for (const State& state : states) {
        CAPTURE(state.name);
        const auto in_state = [&](const KernelSource& source, const char* expected) {
            return holds_in_child([&] {
                state.enter();
                return outcome(source).starts_with(expected);
            });
        };
        CHECK(in_state(kSound, "sound"));
        CHECK(in_state(kWrong, "at fault: "));
        CHECK(in_state(unlucky, "machine: "));
    }
    CHECK(lacks_memory.files_left() == 0);
}

TEST_CASE("a program's status is known, by exit or by signal") {
    const tmm::testing::TemporaryDirectory folder;
    const fs::path output = folder.path() / "output";
    RunningPrograms running;
    const auto run = [&](const std::string& script) { return run_program({"sh", "-c", script}, {{"ADDED", "seen"}}, output, running); };
    CHECK(run("echo $ADDED; echo too >&2") == 0);
    CHECK(read(output) == "seen\ntoo\n");
    CHECK(run("exit 7") == 7);
    CHECK(run("kill -9 $$") == 128 + SIGKILL);
    CHECK(run_program({"tmm-no-such-program"}, {}, output, running) == kProgramNotFound);
    // Words are words, whatever stands in them.
    CHECK(run_program({"printf", "%s|", "a b", "$HOME", "'", ""}, {}, output, running) == 0);
    CHECK(read(output) == "a b|$HOME|'||");
}

TEST_CASE("the compiler's own temporary files go with its directory") {
    const FakeCompiler litters("touch $TMPDIR/cc123.s; exec c++ \"$@\"");
    CHECK(outcome(kSound) == "sound");
    CHECK(litters.files_left() == 0);
}
