// What stands behind a tmmHandle_t: a device with its compiler and winners, and the plans of the problems seen so far.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/compile/compiler.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/plan/workspace_pool.h"

namespace tmm {

// A plan that somebody holds, with the workspace it runs in.
struct OwnedPlan {
    RuntimePlan plan;
    DeviceBuffer workspace;
};

// Thread-safe.
class RuntimeHandle {
public:
    // bundle: what TMM_BUNDLE names; one that can't be used is logged and done without.
    // Database, cache and compiler are touched when a problem first needs them. A database that can't be read is then logged and done
    // without. Throws Error (no_device).
    RuntimeHandle(int device, const std::filesystem::path& database, const std::optional<std::filesystem::path>& bundle = {});

    // Problems that come from now on are served by it where it holds them. Throws BundleError, and all is as it was.
    void load_bundle(const std::filesystem::path& file);

    // May plans that are made from now on be measured?
    void allow_races(bool allowed) { races_allowed_ = allowed; }

    void set_stream(Stream stream) { stream_ = stream; }
    Stream stream() const { return stream_; }
    const std::shared_ptr<Device>& device() const { return loader_.device(); }
    // They are read when they are first asked for.
    const Winners& winners() const;

    // Runs the cached plan of the problem and the pointers' actual alignment, making it at the first call. A null call.workspace
    // stands for the handle's own.
    void gemm(const PlanRequest& request, GemmCall call, std::size_t workspace_size, Stream stream);

    // The plan takes any element-aligned pointers. A chosen config whose workspace can't be had gives way to the fallback.
    OwnedPlan make_plan(const PlanRequest& request);
    // The plan takes pointers that are aligned as the problem promises, and has no workspace.
    RuntimePlan make_bare_plan(const PlanRequest& request);
    // A graph that was captured runs the plan's kernels again, so that they stay with the handle.
    void keep_recorded(std::shared_ptr<const RuntimePlan> plan);
    // The same of that config. Throws StatusError where the problem can't be served by it.
    RuntimePlan make_plan_of(const PlanRequest& request, const KernelConfig& config);
    // The configs that are predicted to be the fastest, the best first.
    std::vector<KernelConfig> candidates(const PlanRequest& request, std::size_t most) const;
    // Keeps a decision of origin raced in the database. Throws Error (database).
    void remember(const GemmProblem& problem, const KernelConfig& config, double us, double library_us) const;
    // Kernels are compiled by processes of the program from now on; by this one where it is empty.
    void use_compile_tool(const std::string& program) { compiler_->use_tool(program); }
    // What make_bare_plan would choose, as describe_choice says it.
    std::string describe(const PlanRequest& request) const;

private:
    // By a bundle where one holds the problem, else as the winners say; without a compiler by what is nearest in a bundle.
    RuntimePlan plan_of(const PlanRequest& request, RuntimePlan::Pointers pointers);
    std::optional<RuntimePlan> nearest_bundled_plan(const PlanRequest& request, RuntimePlan::Pointers pointers);
    // brings_workspace: the call takes none of the handle's.
    std::shared_ptr<const RuntimePlan> cached_plan(const PlanRequest& key, Stream stream, bool brings_workspace);

    std::shared_ptr<DeferredCompiler> compiler_;
    KernelLoader loader_;
    std::filesystem::path database_;
    mutable std::once_flag winners_read_;
    mutable std::optional<Winners> winners_;
    WorkspacePool workspaces_;
    std::atomic<Stream> stream_ = nullptr;
    PlanCache plans_;
    // Where the handle has no memory for a plan's workspace, a plainer plan serves the calls that bring none, but not these.
    PlanCache plans_with_workspace_;
    std::mutex recorded_mutex_;
    std::set<std::shared_ptr<const RuntimePlan>> recorded_;
    std::atomic<bool> races_allowed_ = false;
    EpilogueRaces races_;
};

}  // namespace tmm
