#include "base/text/side_by_side.h"

#include <exception>
#include <mutex>
#include <system_error>

namespace tmm {
namespace {

// Keeps what the first to fail has thrown.
class Failures {
public:
    void run(const std::function<void()>& job) {
        try {
            job();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!first_) first_ = std::current_exception();
        }
    }
    void rethrow() const {
        if (first_) std::rethrow_exception(first_);
    }

private:
    std::mutex mutex_;
    std::exception_ptr first_;
};

}  // namespace

std::optional<std::thread> start_thread(const std::function<void()>& work) {
    try {
        return std::thread(work);
    } catch (const std::system_error&) {
        return std::nullopt;
    }
}

void run_side_by_side(const std::vector<std::function<void()>>& jobs) {
    Failures failures;
    std::vector<std::thread> threads;
    threads.reserve(jobs.size());
    std::size_t started = 1;
    for (; started < jobs.size(); ++started) {
        auto thread = start_thread([&failures, &job = jobs[started]] { failures.run(job); });
        if (!thread) break;
        threads.push_back(std::move(*thread));
    }
    if (!jobs.empty()) failures.run(jobs.front());
    for (std::size_t i = started; i < jobs.size(); ++i) failures.run(jobs[i]);
    for (std::thread& thread : threads) thread.join();
    failures.rethrow();
}

void run_side_by_side(std::size_t count, const std::function<void()>& job) {
    run_side_by_side(std::vector<std::function<void()>>(count, job));
}

}  // namespace tmm
