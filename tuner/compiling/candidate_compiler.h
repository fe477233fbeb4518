// Compiles kernels ahead of the device, each once a run; their images go to the kernel cache, where the worker finds them.
#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "generator/compile/kernel_cache.h"
#include "tuner/search/compile_queue.h"

namespace tmm {

class CandidateCompiler final : public CompileQueue {
public:
    // threads: how many kernels are compiled at once, where the system has so many threads.
    CandidateCompiler(std::shared_ptr<const Compiler> compiler, KernelCache cache, int threads);
    // Waits for the kernels being compiled; those that wait their turn are dropped.
    ~CandidateCompiler() override;
    CandidateCompiler(const CandidateCompiler&) = delete;
    CandidateCompiler& operator=(const CandidateCompiler&) = delete;

    void request(const KernelSource& source, int problem, int rank) override;
    void drop(int problem) override;
    // Compiles nothing more and ends the compilations under way, where they can be ended. Returns false where some of them go on; then the
    // object must not be destroyed before the process ends, or its destructor waits for them.
    bool abandon();
    std::optional<Result> result(const KernelIdentity& kernel) const override;
    int wait_for_more(int seen, double seconds) const override;

private:
    struct Job {
        KernelSource source;
        // The ranks that it was asked for with, and when, by problem.
        std::map<int, std::pair<int, long>> asked;
        bool begun = false;
        std::optional<Result> result;

        std::pair<int, long> place() const;
    };

    void work();
    void compile_next(std::unique_lock<std::mutex>& lock);

    std::shared_ptr<const Compiler> compiler_;
    KernelCache cache_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::map<KernelIdentity, Job> jobs_;
    // Ranks, times of the request and identities of the kernels that wait.
    std::set<std::pair<std::pair<int, long>, KernelIdentity>> waiting_;
    long requests_ = 0;
    int done_ = 0;
    int running_ = 0;
    bool stopping_ = false;
    std::exception_ptr broken_;
    std::vector<std::thread> threads_;
};

}  // namespace tmm
