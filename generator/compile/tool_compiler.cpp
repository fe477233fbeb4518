#include "generator/compile/tool_compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/private_files.h"
#include "base/text/environment.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/compile_messages.h"
#include "generator/compile/nvrtc_library.h"
#include "generator/kernel/template_files.h"

extern char** environ;

namespace tmm {
namespace {

namespace fs = std::filesystem;

// So much less than the program's own threads do these want the cores.
constexpr int kNiceness = 10;

// The processes that compile now. Those of this process end when it exits; a forked child leaves its parent's alone.
class Running {
public:
    void add(pid_t process) {
        const std::lock_guard lock(mutex_);
        processes_.insert(process);
    }
    void remove(pid_t process) {
        const std::lock_guard lock(mutex_);
        processes_.erase(process);
    }
    void kill_all() noexcept {
        if (getpid() != owner_ || !mutex_.try_lock()) return;
        is_ending_ = true;
        for (const pid_t process : processes_) kill(process, SIGKILL);
        mutex_.unlock();
    }

    bool is_ending() const { return is_ending_; }

private:
    const pid_t owner_ = getpid();
    std::mutex mutex_;
    std::set<pid_t> processes_;
    std::atomic<bool> is_ending_ = false;
};

// Never destroyed: threads may be waiting for their processes when this one ends.
Running& running() {
    static auto* const all = [] {
        auto* const made = new Running;
        std::atexit([] { running().kill_all(); });
        return made;
    }();
    return *all;
}

// Removes itself.
class Folder {
public:
    Folder() : path_((temporary_directory() / "tmm-compile-XXXXXX").string()) {
        if (!mkdtemp(path_.data())) throw std::system_error(errno, std::generic_category(), path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    fs::path file(const char* name) const { return fs::path(path_) / name; }

private:
    std::string path_;
};

// The program's, but that the tool is not preloaded with what its parent is, and finds the same NVRTC.
std::vector<std::string> environment_of_tool(const std::string& nvrtc) {
    std::vector<std::string> variables{"TMM_NVRTC=" + nvrtc};
    for (char** variable = environ; variable && *variable; ++variable) {
        const std::string_view text = *variable;
        if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("TMM_NVRTC=")) variables.emplace_back(text);
    }
    return variables;
}

// A program that has opened its own is found by that name here, but not in another process.
std::string file_of_nvrtc() {
    const NvrtcLibrary& nvrtc = nvrtc_library();
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(nvrtc.version), &library) == 0 || !library.dli_fname) return nvrtc.path;
    return library.dli_fname;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

// The result is 0 where no process can be started.
pid_t start(std::vector<std::string> words, std::vector<std::string> variables, const fs::path& input, const fs::path& output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    pid_t process = 0;
    const int error =
        posix_spawn(&process, words[0].c_str(), &actions, &attributes, pointers_to(words).data(), pointers_to(variables).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 ? process : 0;
}

// A program that ignores SIGCHLD, or waits for every child, may leave nothing to wait for: the process has ended all the same.
void wait_for(pid_t process) {
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
    // It is left a zombie until nobody can send it a signal any more.
    running().remove(process);
    waitpid(process, nullptr, WNOHANG);
}

class ToolCompiler : public Compiler {
public:
    ToolCompiler(int compute_capability, std::string program)
        : here_(make_nvrtc_compiler(compute_capability)),
          words_{std::move(program), "--compiler", std::to_string(compute_capability)},
          templates_(hash_of(active_templates())) {}

    CompileResult compile(const KernelSource& source) const override {
        if (std::optional<CompileResult> result = ask(source)) return *std::move(result);
        return here_->compile(source);
    }
    std::string identity() const override { return here_->identity(); }

private:
    // Nothing where this process is to compile.
    std::optional<CompileResult> ask(const KernelSource& source) const {
        const Folder folder;
        if (const auto error = write_private_file(folder.file("source"), encode(source) + "\n"))
            throw std::system_error(error, folder.file("source").string());
        const pid_t process = start(words_, environment_of_tool(file_of_nvrtc()), folder.file("source"), folder.file("answer"));
        if (process == 0) return std::nullopt;
        running().add(process);
        setpriority(PRIO_PROCESS, static_cast<id_t>(process), kNiceness);
        wait_for(process);
        // The process ended with this one, which is within exit(): there is nobody to answer.
        while (running().is_ending()) pause();
        return read_answer(folder.file("answer"));
    }

    std::optional<CompileResult> read_answer(const fs::path& file) const {
        std::ifstream stream(file);
        std::string line;
        if (!std::getline(stream, line)) return std::nullopt;
        const CompileReply first = decode_compile_reply(line);
        const auto* const ready = std::get_if<CompilerReady>(&first);
        if (!ready || ready->templates != templates_) return std::nullopt;
        // A source that crashes the compiler must not crash the program.
        if (!std::getline(stream, line)) return CompileFailure{crash_log("ended without an answer")};
        CompileReply reply = decode_compile_reply(line);
        if (auto* const kernel = std::get_if<CompiledKernel>(&reply)) return std::move(*kernel);
        if (auto* const failure = std::get_if<CompileFailure>(&reply)) return std::move(*failure);
        const auto* const broken = std::get_if<CompilerBroken>(&reply);
        throw Error(ExitStatus::no_compiler, broken ? broken->message : "a process that compiles said nothing of its kernel");
    }

    std::unique_ptr<Compiler> here_;
    std::vector<std::string> words_;
    std::string templates_;
};

}  // namespace

std::unique_ptr<Compiler> make_tool_compiler(int compute_capability, const std::string& program) {
    return std::make_unique<ToolCompiler>(compute_capability, program);
}

}  // namespace tmm
