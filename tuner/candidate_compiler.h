// Compiles kernels ahead of the device on all cores, each once a run; their images go to the kernel cache, where the worker finds them.
#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "generator/compile/kernel_cache.h"

namespace tmm {

class CandidateCompiler {
public:
    struct Result {
        int registers = -1;
        int spill_bytes = -1;
        // The first line of the log that tells of an error, where the kernel does not compile.
        std::optional<std::string> failure;
    };

    // threads: 0 takes one per core this process may run on.
    CandidateCompiler(std::shared_ptr<const Compiler> compiler, KernelCache cache, int threads = 0);
    // Waits for the kernels being compiled; those that wait their turn are dropped.
    ~CandidateCompiler();
    CandidateCompiler(const CandidateCompiler&) = delete;
    CandidateCompiler& operator=(const CandidateCompiler&) = delete;

    // All of the following functions are thread-safe. Lower priorities come first, equal ones in order of their request; a kernel already
    // asked for keeps the better of its priorities.
    void request(const KernelSource& source, int priority);
    // Forgets kernels of this priority that nobody has begun to compile.
    void drop(int priority);
    // Compiles nothing more and ends the compilations under way, where they can be ended. Returns false where some of them go on; then the
    // object must not be destroyed before the process ends, or its destructor waits for them.
    bool abandon();
    // Returns nothing while the kernel is not compiled yet. Rethrows what broke the compiler itself (not the kernel).
    std::optional<Result> result(const KernelIdentity& kernel) const;
    // Waits at most so many seconds until another kernel than the first `seen` is done; returns how many are.
    int wait_for_more(int seen, double seconds) const;

private:
    void work();

    struct Job {
        KernelSource source;
        int priority = 0;
        long sequence = 0;
        bool begun = false;
        std::optional<Result> result;
    };
    std::shared_ptr<const Compiler> compiler_;
    KernelCache cache_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::map<KernelIdentity, Job> jobs_;
    // Priority, sequence and identity of the kernels that wait.
    std::set<std::pair<std::pair<int, long>, KernelIdentity>> waiting_;
    long requests_ = 0;
    int done_ = 0;
    int running_ = 0;
    bool stopping_ = false;
    std::exception_ptr broken_;
    std::vector<std::thread> threads_;
};

}  // namespace tmm
