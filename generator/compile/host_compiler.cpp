// KernelSource -> a shared object for the emulated device, by the system's C++ compiler. The same source that NVRTC gets, read
// after templates/host/cuda_builtins.h, and with a wrapper for each entry that runs one thread.
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/locked_temporary.h"
#include "base/files/private_files.h"
#include "base/processes/child_process.h"
#include "base/text/environment.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/compiler.h"
#include "generator/compile/shared_object.h"
#include "generator/kernel/template_files.h"
#include "host/emulation.h"

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

// Options that name instructions of the CPU.
std::vector<std::string> instruction_flags() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return {"-mfma", "-mavx2"};
#endif
    return {};
}

// Multiply-adds are fused where the source says so and nowhere else, as on the GPU. Without the CPU's own instruction the C library's fmaf
// gives the same bits, slowly. A fault unwinds a kernel by its tables alone, since a kernel has nothing to clean up; g++ 11 and 12 end by
// internal errors where a function that returns a vector may throw.
std::vector<std::string> compile_flags() {
    std::vector<std::string> flags = {"-std=c++20",
                                      "-shared",
                                      "-fPIC",
                                      "-w",
                                      "-fvisibility=hidden",
                                      "-ffp-contract=off",
                                      "-fno-strict-aliasing",
                                      "-fno-math-errno",
                                      "-fno-exceptions",
                                      "-fasynchronous-unwind-tables"};
    flags.insert(flags.end(), std::begin(kOptimization), std::end(kOptimization));
    for (std::string& flag : instruction_flags()) flags.push_back(std::move(flag));
    return flags;
}

constexpr int kVersionAttempts = 3;

// A directory to compile in.
class PrivateDirectory {
public:
    PrivateDirectory() try : held_(temporary_directory(), LockedTemporary::Kind::directory, "compile") {
    } catch (const std::system_error& error) {
        throw Error(ExitStatus::no_compiler, fmt::format("can't make a directory to compile in: {}", error.code().message()),
                    temporary_directory().string(), "TMPDIR must name a directory that can be written to");
    }

    const fs::path& path() const { return held_.path(); }
    void add(const fs::path& below) const {
        const fs::path made = path() / below;
        if (const std::error_code error = make_private_directories(made))
            fail("can't make a directory to compile in", made, error.message());
    }
    void write(const fs::path& below, const std::string& text) const {
        const fs::path file = path() / below;
        if (const std::error_code error = write_private_file(file, text))
            fail("can't write a source file to compile", file, error.message());
    }

private:
    [[noreturn]] static void fail(const char* what, const fs::path& where, const std::string& why) {
        throw Error(ExitStatus::no_compiler, fmt::format("{}: {}", what, why), where.string(),
                    "make room there, or let TMPDIR name another directory");
    }

    LockedTemporary held_;
};

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Runs the command and gives its exit status. The compiler speaks English, whatever the user's language, and puts its own temporary files
// beside the others.
int run(const std::vector<std::string>& command, const PrivateDirectory& directory, const char* output, RunningPrograms& running) {
    try {
        return run_program(command, {{"LC_ALL", "C"}, {"TMPDIR", directory.path().string()}}, directory.path() / output, running);
    } catch (const std::system_error& error) {
        throw Error(ExitStatus::no_compiler, fmt::format("can't run the C++ compiler '{}': {}", command[0], error.what()), {},
                    "see what the machine or this process is short of (memory, processes, open files), and run again");
    }
}

// The same, but a signal to this process's group may meet the program before it has a group of its own.
int run_again(const std::vector<std::string>& command, const PrivateDirectory& directory, const char* output, RunningPrograms& running) {
    for (int attempt = 1;; ++attempt) {
        try {
            return run(command, directory, output, running);
        } catch (const Error&) {
            if (attempt == kVersionAttempts) throw;
        }
    }
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// A hash of the instructions that the system says this CPU has.
std::uint64_t hash_of_instructions() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("flags") || line.starts_with("Features")) return XXH3_64bits(line.data(), line.size());
    return 0;
}

std::uint64_t hash_of_emulation(const TemplateFiles& files) {
    std::string text;
    for (const auto& [name, content] : files)
        if (name.starts_with("host/")) text += name + '\0' + content + '\0';
    return XXH3_64bits(text.data(), text.size());
}

// What the compiler says of itself. Throws Error where it is no compiler.
std::string version_of(std::vector<std::string> command, RunningPrograms& running) {
    const PrivateDirectory directory;
    command.emplace_back("--version");
    const int status = run_again(command, directory, "version", running);
    const char* const remedy =
        "the emulated device compiles its kernels with it: install g++ (apt-get install g++), or set TMM_CXX to a compiler";
    if (status == kProgramNotFound)
        throw Error(ExitStatus::no_compiler, fmt::format("can't run the C++ compiler '{}': there is no such program", command[0]), {},
                    remedy);
    if (status == kProgramNotExecutable)
        throw Error(ExitStatus::no_compiler,
                    fmt::format("can't run the C++ compiler '{}': it is no program, or not this user's to run", command[0]), {}, remedy);
    if (status != 0)
        throw Error(ExitStatus::no_compiler, fmt::format("'{}' is no C++ compiler: --version exits with {}", command[0], status), {},
                    remedy);
    return read_file(directory.path() / "version");
}

class HostCompiler : public Compiler {
public:
    explicit HostCompiler(const TemplateFiles& files) : files_(files), command_(words(host_compiler_command())), flags_(compile_flags()) {
        if (command_.empty()) command_ = {"c++"};
        remove_abandoned_temporaries(temporary_directory());
        const std::string version = version_of(command_, running_);
        identity_ = fmt::format("host emulation {} {:016x} {}", host::kEmulationVersion, hash_of_emulation(files_), host_cpu());
        for (const std::string& word : command_) identity_ += " " + word;
        identity_ += fmt::format(" ({})", version.substr(0, version.find('\n')));
        for (const std::string& flag : flags_) identity_ += " " + flag;
    }

    bool abandon() const override {
        abandoned_ = true;
        running_.terminate();
        return true;
    }

    CompileResult compile(const KernelSource& source) const override {
        return compile_patiently([&] { return attempt(source); });
    }

    std::string identity() const override { return identity_; }

private:
    void write_sources(const KernelSource& source, const PrivateDirectory& directory) const {
        for (const auto& [name, text] : files_) {
            directory.add(fs::path(name).parent_path());
            directory.write(name, text);
        }
        std::string text = "#include \"host/cuda_builtins.h\"\n#line 1 \"" + source.name + "\"\n" + source.text + "\n";
        for (const KernelEntry& entry : source.entries)
            text += fmt::format(
                "extern \"C\" __attribute__((visibility(\"default\"))) void {0}_host(const void* arguments) {{\n"
                "    {1} copy;\n"
                "    __builtin_memcpy(&copy, arguments, sizeof copy);\n"
                "    {0}(copy);\n"
                "}}\n",
                entry.name, entry.args_type);
        // The source stands apart from the templates: a quoted include looks beside its own file first.
        directory.add("source");
        directory.write("source/kernel.cpp", text);
    }

    std::vector<std::string> compile_command(const fs::path& root) const {
        // Options that TMM_CXX brings come after tmm's own, so that they win.
        const auto options = std::find_if(command_.begin(), command_.end(), [](const std::string& word) { return word.starts_with('-'); });
        std::vector<std::string> command(command_.begin(), options);
        command.insert(command.end(), flags_.begin(), flags_.end());
        command.insert(command.end(), options, command_.end());
        // The emulation's own versions of templates come first. Messages and reports show paths below templates/.
        command.insert(command.end(), {"-I" + (root / "host").string(), "-I" + root.string(), "-ffile-prefix-map=" + root.string() + "/=",
                                       "-o", (root / "kernel.so").string(), (root / "source" / "kernel.cpp").string()});
        return command;
    }

    // Throws Error where the compiler could not do its work, which another time it may.
    CompileResult attempt(const KernelSource& source) const {
        if (abandoned_) throw Error(ExitStatus::no_compiler, "the compilation was given up");
        const PrivateDirectory directory;
        const fs::path& root = directory.path();
        write_sources(source, directory);
        const int status = run(compile_command(root), directory, "log", running_);
        // Where the templates lay for a moment is nobody's business, least of all a database's.
        std::string log = read_file(root / "log");
        const std::string prefix = root.string() + "/";
        for (std::size_t at = 0; (at = log.find(prefix, at)) != std::string::npos;) log.erase(at, prefix.size());
        if (status != 0 && blames_source(log)) return CompileFailure{std::move(log)};

        const std::string image = read_file(root / "kernel.so");
        CompiledKernel kernel;
        kernel.image.resize(image.size());
        std::memcpy(kernel.image.data(), image.data(), image.size());
        kernel.log = std::move(log);
        if (status != 0) fail(fmt::format("exited with {}: {}", status, first_error_line(kernel.log)));
        if (!is_shared_object(kernel.image))
            fail(fmt::format("says it is done, and left no whole shared object of {} code", host_machine()));
        return kernel;
    }

    [[noreturn]] void fail(const std::string& how) const {
        throw Error(ExitStatus::no_compiler, fmt::format("the C++ compiler '{}' could not do its work: it {}", command_[0], how), {},
                    "see to memory, to room in TMPDIR and to the compiler (TMM_CXX), and run again: what was measured is kept");
    }

    TemplateFiles files_;
    std::vector<std::string> command_;
    std::vector<std::string> flags_;
    std::string identity_;
    mutable std::atomic<bool> abandoned_ = false;
    mutable RunningPrograms running_;
};

}  // namespace

std::string host_cpu() {
    std::string cpu = host_machine();
    for (const std::string& flag : instruction_flags()) cpu += " " + flag;
    for (const std::string& word : words(host_compiler_command())) {
        if (!word.starts_with("-m")) continue;
        cpu += " " + word;
        // The compiler's word for whatever CPU it runs on.
        if (word.ends_with("=native")) cpu += fmt::format("({:016x})", hash_of_instructions());
    }
    return cpu;
}

std::string host_code_kind() {
    std::string kind = fmt::format("{} {}", host_cpu(), host::kEmulationVersion);
    for (const std::string& flag : compile_flags()) kind += " " + flag;
    return kind;
}

std::unique_ptr<Compiler> make_host_compiler() {
    return std::make_unique<HostCompiler>(active_templates());
}
std::unique_ptr<Compiler> make_host_compiler(const TemplateFiles& files) {
    return std::make_unique<HostCompiler>(files);
}

}  // namespace tmm
