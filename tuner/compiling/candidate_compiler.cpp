#include "tuner/compiling/candidate_compiler.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/text/side_by_side.h"
#include "generator/compile/compile_attempts.h"

namespace tmm {
CandidateCompiler::CandidateCompiler(std::shared_ptr<const Compiler> compiler, KernelCache cache, int threads)
    : compiler_(std::move(compiler)), cache_(std::move(cache)) {
    while (static_cast<int>(threads_.size()) < threads) {
        auto thread = start_thread([this] { work(); });
        if (!thread) break;
        threads_.push_back(std::move(*thread));
    }
    if (threads_.empty())
        throw Error(ExitStatus::no_compiler, "no thread can be started to compile in", {},
                    "let this user have more processes (ulimit -u), or end some of them");
}

CandidateCompiler::~CandidateCompiler() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

std::pair<int, long> CandidateCompiler::Job::place() const {
    const auto first = std::min_element(asked.begin(), asked.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return first->second;
}

void CandidateCompiler::request(const KernelSource& source, int problem, int rank) {
    const KernelIdentity identity = identity_of(source);
    {
        std::lock_guard lock(mutex_);
        const auto [found, is_new] = jobs_.try_emplace(identity);
        Job& job = found->second;
        if (job.begun || job.asked.contains(problem)) return;
        if (is_new)
            job.source = source;
        else
            waiting_.erase({job.place(), identity});
        job.asked.emplace(problem, std::pair(rank, requests_++));
        waiting_.insert({job.place(), identity});
    }
    changed_.notify_all();
}

void CandidateCompiler::drop(int problem) {
    std::lock_guard lock(mutex_);
    std::vector<KernelIdentity> waiting;
    for (const auto& [place, identity] : waiting_) waiting.push_back(identity);
    for (const KernelIdentity& identity : waiting) {
        Job& job = jobs_.at(identity);
        if (!job.asked.contains(problem)) continue;
        waiting_.erase({job.place(), identity});
        job.asked.erase(problem);
        // Others may have asked for it, too.
        if (job.asked.empty())
            jobs_.erase(identity);
        else
            waiting_.insert({job.place(), identity});
    }
}

bool CandidateCompiler::abandon() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    changed_.notify_all();
    // This is repeated: a thread that was about to start its compiler at first has one later.
    for (int attempt = 0; attempt < 40 && running_ > 0; ++attempt) {
        if (!compiler_->abandon()) break;
        changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return running_ == 0; });
    }
    return running_ == 0;
}

std::optional<CandidateCompiler::Result> CandidateCompiler::result(const KernelIdentity& kernel) const {
    std::lock_guard lock(mutex_);
    if (broken_) std::rethrow_exception(broken_);
    const auto found = jobs_.find(kernel);
    return found == jobs_.end() ? std::nullopt : found->second.result;
}

int CandidateCompiler::wait_for_more(int seen, double seconds) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return done_ > seen || broken_; });
    return done_;
}

void CandidateCompiler::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        compile_next(lock);
    }
}

void CandidateCompiler::compile_next(std::unique_lock<std::mutex>& lock) {
    const KernelIdentity identity = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    Job& job = jobs_.at(identity);
    job.begun = true;
    ++running_;
    const KernelSource source = std::move(job.source);
    lock.unlock();
    Result result;
    std::exception_ptr broken;
    try {
        // The image is not kept: the parent never loads it.
        const CompileResult compiled = cache_.find_or_compile(source, *compiler_);
        if (const auto* kernel = std::get_if<CompiledKernel>(&compiled)) {
            result.registers = kernel->registers;
            result.spill_bytes = kernel->spill_bytes;
        } else {
            result.failure = first_error_line(std::get<CompileFailure>(compiled).log);
        }
    } catch (...) {
        broken = std::current_exception();
    }
    lock.lock();
    // drop() leaves a compilation that has begun alone.
    jobs_.at(identity).result = std::move(result);
    if (broken) broken_ = broken;
    ++done_;
    --running_;
    changed_.notify_all();
}

}  // namespace tmm
