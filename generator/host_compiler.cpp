// KernelSource -> a shared object for the emulated device, by the system's C++ compiler. The same source that NVRTC gets, read
// after templates/host/cuda_builtins.h, and with a wrapper for each entry that runs one thread.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "generator/compiler.h"
#include "generator/environment.h"
#include "generator/error.h"
#include "generator/template_files.h"
#include "host/emulation.h"

extern char** environ;

namespace tmm {
namespace {

namespace fs = std::filesystem;

// A kernel is instrumented where the process that loads it is: the sanitizer's runtime must be there first.
#if defined(__SANITIZE_ADDRESS__)
#define TMM_SANITIZE_KERNELS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TMM_SANITIZE_KERNELS 1
#endif
#endif

#ifdef TMM_SANITIZE_KERNELS
constexpr const char* kOptimization[] = {"-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,alignment",
                                         "-fno-sanitize-recover=alignment"};
#else
constexpr const char* kOptimization[] = {"-O2", "-s"};
#endif

// Fused multiply-adds where the source says so and nowhere else, as on the GPU. Without the CPU's own instruction the C library's
// fmaf gives the same bits, slowly.
std::vector<std::string> compile_flags() {
    std::vector<std::string> flags = {"-std=c++20",
                                      "-shared",
                                      "-fPIC",
                                      "-w",
                                      "-fvisibility=hidden",
                                      "-ffp-contract=off",
                                      "-fno-strict-aliasing",
                                      "-fno-math-errno",
                                      "-fasynchronous-unwind-tables"};
    flags.insert(flags.end(), std::begin(kOptimization), std::end(kOptimization));
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) flags.insert(flags.end(), {"-mfma", "-mavx2"});
#endif
    return flags;
}

// A directory that only this user can read, removed with all that is in it.
class PrivateDirectory {
public:
    PrivateDirectory() {
        std::string name = (temporary_directory() / "tmm-compile-XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw Error(ExitStatus::no_compiler, fmt::format("can't make a directory to compile in: {}", std::strerror(errno)), name,
                        "TMPDIR must name a directory that can be written to");
        path_ = name;
    }
    ~PrivateDirectory() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;

    const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

void write_file(const fs::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file)
        throw Error(ExitStatus::no_compiler, "can't write a source file to compile", path.string(),
                    "make room there, or let TMPDIR name another directory");
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The programs that run at a moment. Each leads a process group, so that what it has started ends with it.
class RunningPrograms {
public:
    void begin(pid_t program) {
        const std::lock_guard lock(mutex_);
        programs_.insert(program);
    }
    void end(pid_t program) {
        const std::lock_guard lock(mutex_);
        programs_.erase(program);
    }
    void terminate() {
        const std::lock_guard lock(mutex_);
        for (const pid_t program : programs_) kill(-program, SIGTERM);
    }

private:
    std::mutex mutex_;
    std::set<pid_t> programs_;
};

// Runs a program found along PATH, with both of its outputs in one file. Its exit status; 128 + n where signal n ended it.
int run(const std::vector<std::string>& command, const fs::path& output, RunningPrograms& running) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // terminate() reaches it, whatever this process blocks.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int error = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error)
        throw Error(ExitStatus::no_compiler, fmt::format("can't run the C++ compiler '{}': {}", command[0], std::strerror(error)), {},
                    "the emulated device compiles its kernels with it: install g++ (apt-get install g++), or set TMM_CXX to a compiler");
    running.begin(child);
    // It stays a zombie, whose number nobody else gets, until it is taken off the list.
    siginfo_t ended;
    while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    running.end(child);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::uint64_t hash_of_emulation(const TemplateFiles& files) {
    std::string text;
    for (const auto& [name, content] : files)
        if (name.starts_with("host/")) text += name + '\0' + content + '\0';
    return XXH3_64bits(text.data(), text.size());
}

class HostCompiler : public Compiler {
public:
    explicit HostCompiler(const TemplateFiles& files) : files_(files), command_(words(host_compiler_command())), flags_(compile_flags()) {
        if (command_.empty()) command_ = {"c++"};
        const PrivateDirectory directory;
        std::vector<std::string> ask = command_;
        ask.emplace_back("--version");
        const fs::path output = directory.path() / "version";
        const int status = run(ask, output, running_);
        const std::string version = read_file(output);
        if (status != 0)
            throw Error(ExitStatus::no_compiler, fmt::format("'{}' is no C++ compiler: --version exits with {}", command_[0], status), {},
                        "install g++ (apt-get install g++), or set TMM_CXX to a compiler");
        identity_ = fmt::format("host emulation {} {:016x}", host::kEmulationVersion, hash_of_emulation(files_));
        for (const std::string& word : command_) identity_ += " " + word;
        identity_ += fmt::format(" ({})", version.substr(0, version.find('\n')));
        for (const std::string& flag : flags_) identity_ += " " + flag;
    }

    bool abandon() const override {
        running_.terminate();
        return true;
    }

    CompileResult compile(const KernelSource& source) const override {
        const PrivateDirectory directory;
        const fs::path& root = directory.path();
        for (const auto& [name, text] : files_) {
            fs::create_directories((root / name).parent_path());
            write_file(root / name, text);
        }
        std::string text = "#include \"host/cuda_builtins.h\"\n#line 1 \"" + source.name + "\"\n" + source.text + "\n";
        for (const KernelEntry& entry : source.entries)
            text += fmt::format(
                "extern \"C\" __attribute__((visibility(\"default\"))) void {0}_host(const void* arguments) {{\n"
                "    {0}(*static_cast<const {1}*>(arguments));\n"
                "}}\n",
                entry.name, entry.args_type);
        // Apart from the templates: a quoted include looks beside its own file first.
        fs::create_directory(root / "source");
        write_file(root / "source" / "kernel.cpp", text);

        // Options that TMM_CXX brings come after tmm's own, so that they win.
        const auto options = std::find_if(command_.begin(), command_.end(), [](const std::string& word) { return word.starts_with('-'); });
        std::vector<std::string> command(command_.begin(), options);
        command.insert(command.end(), flags_.begin(), flags_.end());
        command.insert(command.end(), options, command_.end());
        // The emulation's own versions of templates come first. Messages and reports show paths below templates/.
        command.insert(command.end(), {"-I" + (root / "host").string(), "-I" + root.string(), "-ffile-prefix-map=" + root.string() + "/=",
                                       "-o", (root / "kernel.so").string(), (root / "source" / "kernel.cpp").string()});
        const int status = run(command, root / "log", running_);
        // Where the templates lay for a moment is nobody's business, least of all a database's.
        std::string log = read_file(root / "log");
        const std::string prefix = root.string() + "/";
        for (std::size_t at = 0; (at = log.find(prefix, at)) != std::string::npos;) log.erase(at, prefix.size());
        if (status != 0) {
            // Not this kernel's fault, and another time it compiles.
            for (const char* outside : {"Killed signal", "No space left on device"})
                if (log.find(outside) != std::string::npos)
                    throw Error(ExitStatus::no_compiler,
                                fmt::format("the C++ compiler could not do its work: {}", log.substr(0, log.find('\n'))), {},
                                "make room in memory and in TMPDIR, and run again: what was measured is kept");
            if (log.empty()) log = fmt::format("the compiler exited with {}", status);
            return CompileFailure{std::move(log)};
        }
        const std::string image = read_file(root / "kernel.so");
        CompiledKernel kernel;
        kernel.image.resize(image.size());
        std::memcpy(kernel.image.data(), image.data(), image.size());
        kernel.log = std::move(log);
        return kernel;
    }

    std::string identity() const override { return identity_; }

private:
    TemplateFiles files_;
    std::vector<std::string> command_;
    std::vector<std::string> flags_;
    std::string identity_;
    mutable RunningPrograms running_;
};

}  // namespace

std::unique_ptr<Compiler> make_host_compiler() {
    return std::make_unique<HostCompiler>(active_templates());
}
std::unique_ptr<Compiler> make_host_compiler(const TemplateFiles& files) {
    return std::make_unique<HostCompiler>(files);
}

}  // namespace tmm
