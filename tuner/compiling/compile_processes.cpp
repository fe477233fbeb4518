#include "tuner/compiling/compile_processes.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "generator/compile/compile_attempts.h"
#include "generator/compile/compile_messages.h"
#include "generator/kernel/template_files.h"
#include "tuner/worker/worker_connection.h"

namespace tmm {
namespace {

// Opening NVRTC takes a fraction of a second, and longer where the disk is slow.
constexpr double kStartSeconds = 180;
// Processes that a source has crashed before it is to blame.
constexpr int kCrashes = 2;
// Compilations leave holes all over the heap: after so many, whole pages of them go back to the system.
constexpr int kCompilationsPerTrim = 32;
constexpr const char* kRemedy = "see to memory, and run again: what was measured is kept";

// It is no failure of the compiler, which would be asked again.
Error given_up() {
    return Error(ExitStatus::interrupted, "the compilation was given up");
}

CompileReply answer_to(const std::string& line, const Compiler& compiler) {
    try {
        CompileResult result = compiler.compile(decode_source(line));
        if (auto* kernel = std::get_if<CompiledKernel>(&result)) return std::move(*kernel);
        return std::get<CompileFailure>(std::move(result));
    } catch (const std::exception& error) {
        return CompilerBroken{.message = error.what()};
    }
}

// The emulated device's compilers are large.
constexpr int kMostHostCompilers = 12;
// A process that compiles keeps 80 to 150 MB; the largest kernels take twice that for a moment.
constexpr std::int64_t kBytesOfProcess = 256LL << 20;

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
    return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

std::int64_t number_in(const char* file) {
    std::ifstream stream(file);
    std::int64_t number = 0;
    return stream >> number ? number : 0;
}

// What a container's limit leaves, where there is one.
std::int64_t bytes_left_in_group() {
    const std::int64_t most = number_in("/sys/fs/cgroup/memory.max");
    if (most <= 0) return std::numeric_limits<std::int64_t>::max();
    return std::max<std::int64_t>(most - number_in("/sys/fs/cgroup/memory.current"), 1);
}

std::int64_t free_bytes() {
    std::ifstream stream("/proc/meminfo");
    std::string word;
    while (stream >> word) {
        std::int64_t kilobytes = 0;
        if (word == "MemAvailable:" && stream >> kilobytes) return std::min(kilobytes << 10, bytes_left_in_group());
    }
    return 0;
}

}  // namespace

CompileProcesses::CompileProcesses(CompileProcessOptions options)
    : options_(std::move(options)),
      here_(make_nvrtc_compiler(options_.compute_capability)),
      templates_(hash_of(active_templates())),
      most_(options_.most) {}

CompileProcesses::~CompileProcesses() {
    // They end side by side.
    for (const Process& process : idle_) process->channel().close();
}

CompileResult CompileProcesses::compile(const KernelSource& source) const {
    return compile_patiently([&] { return attempt(source); });
}

bool CompileProcesses::abandon() const {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    for (HelperProcess* process : busy_) process->signal_kill();
    changed_.notify_all();
    return most_ > 0;
}

CompileResult CompileProcesses::attempt(const KernelSource& source) const {
    std::string crash;
    for (int crashes = 0; crashes < kCrashes; ++crashes) {
        Process process = take();
        if (!process) return here_->compile(source);
        if (auto result = ask(std::move(process), source, crash)) return *std::move(result);
    }
    return CompileFailure{crash_log(crash)};
}

// The result is nothing where the source crashed the process; `crash` then says how.
std::optional<CompileResult> CompileProcesses::ask(Process process, const KernelSource& source, std::string& crash) const {
    std::string line;
    if (!process->channel().write_line(encode(source)) || process->channel().read_line(line, -1) != LinePipe::Read::line) {
        HelperProcess::End end = bury(std::move(process));
        if (is_abandoned()) throw given_up();
        if (end.signal == 0 || !is_raised_by_code(end.signal))
            throw Error(ExitStatus::no_compiler, fmt::format("a process that compiled {} {}", source.name, end.how), {}, kRemedy);
        crash = std::move(end.how);
        return std::nullopt;
    }
    CompileReply reply = CompilerBroken{};
    try {
        reply = decode_compile_reply(line);
    } catch (const std::exception& error) {
        bury(std::move(process));
        throw Error(ExitStatus::no_compiler,
                    fmt::format("a process that compiled {} said what makes no sense: {}", source.name, error.what()));
    }
    give_back(std::move(process));
    if (auto* kernel = std::get_if<CompiledKernel>(&reply)) return std::move(*kernel);
    if (auto* failure = std::get_if<CompileFailure>(&reply)) return std::move(*failure);
    const auto* broken = std::get_if<CompilerBroken>(&reply);
    throw Error(ExitStatus::no_compiler, broken ? broken->message : "a process that compiles said nothing of its kernel");
}

// The result is null where there are no processes and none can be started.
CompileProcesses::Process CompileProcesses::take() const {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return abandoned_ || !idle_.empty() || started_ < most_ || most_ == 0; });
        if (abandoned_) throw given_up();
        if (!idle_.empty()) {
            Process process = std::move(idle_.back());
            idle_.pop_back();
            busy_.insert(process.get());
            return process;
        }
        if (most_ == 0) return nullptr;
        ++started_;
        lock.unlock();
        Process process = start();
        lock.lock();
        if (process) {
            busy_.insert(process.get());
            if (abandoned_) process->signal_kill();
            return process;
        }
        // What the system does not allow now is not asked for again.
        most_ = --started_;
        changed_.notify_all();
    }
}

// The result is null where no process can be started that compiles with these templates.
CompileProcesses::Process CompileProcesses::start() const {
    try {
        auto process = std::make_unique<HelperProcess>();
        process->start({"--compiler", std::to_string(options_.compute_capability)}, options_.program);
        std::string line;
        if (process->channel().read_line(line, kStartSeconds) == LinePipe::Read::line) {
            const CompileReply reply = decode_compile_reply(line);
            const auto* ready = std::get_if<CompilerReady>(&reply);
            if (ready && ready->templates == templates_) return process;
        }
        process->kill_and_reap();
    } catch (const std::exception&) {
        // The compiler of this process takes its place.
    }
    return nullptr;
}

void CompileProcesses::give_back(Process process) const {
    const std::lock_guard lock(mutex_);
    busy_.erase(process.get());
    idle_.push_back(std::move(process));
    changed_.notify_all();
}

// Another takes the place of a process that has ended, or is of no use.
HelperProcess::End CompileProcesses::bury(Process process) const {
    {
        const std::lock_guard lock(mutex_);
        busy_.erase(process.get());
    }
    HelperProcess::End end = process->reap();
    const std::lock_guard lock(mutex_);
    --started_;
    changed_.notify_all();
    return end;
}

bool CompileProcesses::is_abandoned() const {
    const std::lock_guard lock(mutex_);
    return abandoned_;
}

int serve_compiler(int compute_capability) {
    LinePipe channel = channel_to_parent();
    end_with_pipe(channel.read_fd());
    set_log_sink([](const std::string&) {});
    try {
        const auto compiler = make_nvrtc_compiler(compute_capability);
        if (!channel.write_line(encode(CompilerReady{.templates = hash_of(active_templates())}))) return 0;
        std::string line;
        for (int compiled = 1; channel.read_line(line, -1) == LinePipe::Read::line; ++compiled) {
            if (!channel.write_line(encode(answer_to(line, *compiler)))) return 0;
            if (compiled % kCompilationsPerTrim == 0) malloc_trim(0);
        }
    } catch (const Error& error) {
        channel.write_line(encode(CompilerBroken{.message = error.what()}));
        return static_cast<int>(error.status());
    }
    return 0;
}

int compile_processes(int cores, std::int64_t free_bytes) {
    // Others need memory, too.
    const std::int64_t fit = free_bytes > 0 ? free_bytes / 2 / kBytesOfProcess : cores;
    return static_cast<int>(std::clamp<std::int64_t>(fit, 1, std::max(cores, 1)));
}

SearchCompiler make_search_compiler(const DeviceInfo& device, int spared_cores) {
    const int cores = std::max(usable_cores() - spared_cores, 1);
    if (device.emulated) return {.compiler = make_compiler(device), .threads = std::min(cores, kMostHostCompilers)};
    const int processes = compile_processes(cores, free_bytes());
    return {.compiler = std::make_shared<const CompileProcesses>(
                CompileProcessOptions{.compute_capability = device.compute_capability(), .most = processes}),
            .threads = processes};
}

}  // namespace tmm
