// NVRTC in processes of its own. Within one process the front ends of all its compilations take turns at a lock, which some twenty kernels
// a second pass, however many threads there are; and a compiler that crashes takes its process with it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/processes/helper_process.h"
#include "generator/compile/compiler.h"

namespace tmm {

struct CompileProcessOptions {
    int compute_capability = 0;
    // Processes at most; they start when they are needed.
    int most = 1;
    // The program that serves as one.
    std::string program = "/proc/self/exe";
};

// Every compilation takes a process for itself, and waits for one where all are taken. One that dies is replaced. A source that crashes two
// of them is at fault; where a process was ended from outside, or can't do its work, the machine is, as with any compiler. Where no process
// can be started this one compiles. No process outlives this one, however that ends. SIGPIPE must be ignored.
class CompileProcesses final : public Compiler {
public:
    // Throws Error (no_compiler) where NVRTC is not found.
    explicit CompileProcesses(CompileProcessOptions options);
    ~CompileProcesses() override;
    CompileProcesses(const CompileProcesses&) = delete;
    CompileProcesses& operator=(const CompileProcesses&) = delete;

    CompileResult compile(const KernelSource& source) const override;
    // The same as that of NVRTC in this process.
    std::string identity() const override { return here_->identity(); }
    bool abandon() const override;

private:
    using Process = std::unique_ptr<HelperProcess>;

    CompileResult attempt(const KernelSource& source) const;
    std::optional<CompileResult> ask(Process process, const KernelSource& source, std::string& crash) const;
    Process take() const;
    Process start() const;
    void give_back(Process process) const;
    HelperProcess::End bury(Process process) const;
    bool is_abandoned() const;

    CompileProcessOptions options_;
    std::unique_ptr<Compiler> here_;
    std::string templates_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    mutable std::vector<Process> idle_;
    mutable std::set<HelperProcess*> busy_;
    // Processes that exist or are being started, and how many there may be.
    mutable int started_ = 0;
    mutable int most_;
    mutable bool abandoned_ = false;
};

// Reads sources on standard input and answers on standard output, until that is closed. Returns the exit status.
int serve_compiler(int compute_capability);

// What compiles a search's kernels, and how many at once.

struct SearchCompiler {
    std::shared_ptr<const Compiler> compiler;
    // Compilations at once.
    int threads = 1;
};

// For a GPU: processes, one for each core that this process may use beyond those spared, as far as memory reaches.
SearchCompiler make_search_compiler(const DeviceInfo& device, int spared_cores = 0);

// Processes that so many cores and bytes of free memory are enough for; one at least. free_bytes: 0 where nobody knows.
int compile_processes(int cores, std::int64_t free_bytes);

}  // namespace tmm
