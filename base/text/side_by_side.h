// Work in several threads, on as many of them as the system gives this user.
#pragma once

#include <functional>
#include <optional>
#include <thread>
#include <vector>

namespace tmm {

// The result is nothing where the system has no thread left.
std::optional<std::thread> start_thread(const std::function<void()>& work);

// Runs all of the jobs and returns when the last has ended: the first on this thread, each other on one of its own, or, where the system
// has no thread left, on this one after the first. Then rethrows what the first to fail has thrown.
void run_side_by_side(const std::vector<std::function<void()>>& jobs);
// The same for one job that shares out its work by itself.
void run_side_by_side(std::size_t count, const std::function<void()>& job);

}  // namespace tmm
