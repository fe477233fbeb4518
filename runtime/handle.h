// What stands behind a tmmHandle_t: a device with its compiler and winners, and the plans of the problems seen so far.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "runtime/plan.h"
#include "runtime/workspace_pool.h"

namespace tmm {

struct PlanRequestHash {
    std::size_t operator()(const PlanRequest& key) const noexcept;
};

// A plan that somebody holds, with the workspace it runs in.
struct OwnedPlan {
    RuntimePlan plan;
    DeviceBuffer workspace;
};

// Thread-safe.
class RuntimeHandle {
public:
    // The least recently used plans beyond this many are dropped.
    static constexpr std::size_t kCachedPlans = 1024;

    // A database that can't be read is logged and done without. Throws Error (no_device, no_compiler).
    RuntimeHandle(int device, const std::filesystem::path& database);

    void set_stream(Stream stream) { stream_ = stream; }
    Stream stream() const { return stream_; }
    const std::shared_ptr<Device>& device() const { return loader_.device(); }
    const Winners& winners() const { return winners_; }

    // Runs the cached plan of the problem and the pointers' actual alignment, making it at the first call. A null call.workspace
    // stands for the handle's own.
    void gemm(const PlanRequest& request, GemmCall call, std::size_t workspace_size, Stream stream);

    // The plan takes any element-aligned pointers. A chosen config whose workspace can't be
    // had gives way to the fallback.
    OwnedPlan make_plan(const PlanRequest& request);
    // The plan takes pointers that are aligned as the problem promises, and has no workspace.
    RuntimePlan make_bare_plan(const PlanRequest& request);
    // What make_plan would choose, as describe_choice says it.
    std::string describe(const PlanRequest& request) const;

private:
    using Entry = std::pair<PlanRequest, std::shared_ptr<const RuntimePlan>>;

    std::shared_ptr<const RuntimePlan> cached_plan(const PlanRequest& key, Stream stream);
    std::shared_ptr<const RuntimePlan> find(const PlanRequest& key);

    KernelLoader loader_;
    Winners winners_;
    WorkspacePool workspaces_;
    std::atomic<Stream> stream_ = nullptr;
    std::mutex mutex_;
    // The most recently used plans come first.
    std::list<Entry> plans_;
    std::unordered_map<PlanRequest, std::list<Entry>::iterator, PlanRequestHash> index_;
};

}  // namespace tmm
