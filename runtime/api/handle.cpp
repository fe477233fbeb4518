#include "runtime/api/handle.h"

#include <fmt/core.h>

#include <exception>
#include <new>

#include "base/log.h"
#include "base/text/environment.h"
#include "base/text/text_table.h"
#include "db/store/tuning_database.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/compile/compiler.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"
#include "runtime/api/validate.h"
#include "runtime/bundle/bundle.h"
#include "runtime/bundle/bundle_choice.h"
#include "runtime/select/read_winners.h"

namespace tmm {
namespace {

KernelLoader make_loader(std::shared_ptr<Device> device, std::shared_ptr<DeferredCompiler>& compiler) {
    compiler = std::make_shared<DeferredCompiler>(device->info());
    return KernelLoader(std::move(device), compiler, KernelCache(default_cache_directory()));
}

std::string no_workspace(const RuntimePlan& plan) {
    return fmt::format("there is no memory for the {} bytes of workspace that the {} config of {} ({}) takes", plan.workspace_bytes(),
                       name_of(plan.selection().match), to_text(plan.problem()), to_text(plan.selection().config));
}

}  // namespace

RuntimeHandle::RuntimeHandle(int ordinal, const std::filesystem::path& database, const std::optional<std::filesystem::path>& bundle)
    : loader_(make_loader(open_device(ordinal), compiler_)), database_(database), workspaces_(loader_.device()) {
    if (!bundle) return;
    try {
        load_bundle(*bundle);
    } catch (const Error& error) {
        log_line(fmt::format("TMM_BUNDLE is not used: {}", error.what()));
    }
}

void RuntimeHandle::load_bundle(const std::filesystem::path& file) {
    auto bundle = std::make_shared<const Bundle>(Bundle::read(file));
    bundle->check_device(device()->info());
    loader_.add(std::move(bundle));
}

const Winners& RuntimeHandle::winners() const {
    std::call_once(winners_read_, [&] { winners_.emplace(read_winners(database_, device()->info_with_power_limit())); });
    return *winners_;
}

std::optional<RuntimePlan> RuntimeHandle::nearest_bundled_plan(const PlanRequest& request, RuntimePlan::Pointers pointers) {
    for (const auto& bundle : loader_.bundles()) {
        const auto choose = [&](const GemmProblem& problem) {
            return nearest_choice(*bundle, problem, request.most_workspace, device()->info());
        };
        if (auto plan = RuntimePlan::make_bundled(request, choose, loader_, pointers)) return plan;
        if (pointers == RuntimePlan::Pointers::aligned_as_promised) continue;
        // One kernel may take all pointers.
        PlanRequest any = request;
        any.problem = with_alignment(request.problem, 1);
        if (auto plan = RuntimePlan::make_bundled(any, choose, loader_, pointers)) return plan;
    }
    return std::nullopt;
}

RuntimePlan RuntimeHandle::plan_of(const PlanRequest& request, RuntimePlan::Pointers pointers) {
    const auto bundles = loader_.bundles();
    for (const auto& bundle : bundles) {
        const auto choose = [&](const GemmProblem& problem) {
            return held_choice(*bundle, problem, request.most_workspace, device()->info());
        };
        if (auto plan = RuntimePlan::make_bundled(request, choose, loader_, pointers)) return *std::move(plan);
    }
    try {
        return RuntimePlan::make(request, winners(), loader_, pointers, races_allowed_ ? &races_ : nullptr);
    } catch (const NoCompiler& missing) {
        if (bundles.empty()) throw;
        if (auto plan = nearest_bundled_plan(request, pointers)) return *std::move(plan);
        throw NoCompiler(Error(ExitStatus::no_compiler,
                               fmt::format("the bundle {} has no kernel for {}, and none can be compiled: {}", bundles.front()->name(),
                                           to_text(request.problem), missing.what()),
                               {}, "or make the bundle again with this problem in its shapes"));
    }
}

std::shared_ptr<const RuntimePlan> RuntimeHandle::cached_plan(const PlanRequest& key, Stream stream, bool brings_workspace) {
    PlanCache& plans = brings_workspace ? plans_with_workspace_ : plans_;
    if (std::shared_ptr<const RuntimePlan> plan = plans.find(key)) return plan;
    // The plan is made without the lock: other problems go on meanwhile. Two threads that miss at once both make it; the first one is kept.
    auto plan = std::make_shared<const RuntimePlan>(plan_of(key, RuntimePlan::Pointers::aligned_as_promised));
    if (plan->workspace_bytes() > 0 && !brings_workspace) {
        try {
            (void)workspaces_.lease(stream, plan->workspace_bytes());
        } catch (const std::bad_alloc&) {
            const std::string because = no_workspace(*plan);
            log_line(because + "; using the fallback kernel");
            plan = std::make_shared<const RuntimePlan>(
                RuntimePlan::make_fallback(key, loader_, RuntimePlan::Pointers::aligned_as_promised, because));
        }
    }
    return plans.add(key, std::move(plan));
}

void RuntimeHandle::gemm(const PlanRequest& request, GemmCall call, std::size_t workspace_size, Stream stream) {
    const GemmProblem& problem = request.problem;
    if (is_empty(problem)) return;
    // The prepared operands belong to a plan that the caller holds.
    call.prepared_a = call.prepared_b = nullptr;
    const int alignment = alignment_of(problem, call);
    const bool brings_workspace = call.workspace != nullptr;
    std::shared_ptr<const RuntimePlan> plan;
    if (alignment < problem.alignment) {
        PlanRequest less_aligned = request;
        less_aligned.problem = with_alignment(problem, alignment);
        plan = cached_plan(less_aligned, stream, brings_workspace);
    } else {
        plan = cached_plan(request, stream, brings_workspace);
    }
    // All other kernels stay loaded.
    if (problem.epilogue == Epilogue::custom && device()->is_recorded(stream)) keep_recorded(plan);
    const std::size_t needed = plan->workspace_bytes();
    if (needed == 0) {
        plan->run(call, stream);
    } else if (brings_workspace) {
        check_workspace_size(workspace_size, needed);
        plan->run(call, stream);
    } else {
        const WorkspacePool::Lease lease = workspaces_.lease(stream, needed);
        call.workspace = lease.data();
        plan->run(call, stream);
    }
}

OwnedPlan RuntimeHandle::make_plan(const PlanRequest& request) {
    RuntimePlan plan = plan_of(request, RuntimePlan::Pointers::any);
    try {
        DeviceBuffer workspace(device(), plan.workspace_bytes());
        return {.plan = std::move(plan), .workspace = std::move(workspace)};
    } catch (const std::bad_alloc&) {
        const std::string because = no_workspace(plan);
        log_line(because + "; using the fallback kernel");
        RuntimePlan fallback = RuntimePlan::make_fallback(request, loader_, RuntimePlan::Pointers::any, because);
        DeviceBuffer workspace(device(), fallback.workspace_bytes());
        return {.plan = std::move(fallback), .workspace = std::move(workspace)};
    }
}

RuntimePlan RuntimeHandle::make_bare_plan(const PlanRequest& request) {
    return plan_of(request, RuntimePlan::Pointers::aligned_as_promised);
}

RuntimePlan RuntimeHandle::make_plan_of(const PlanRequest& request, const KernelConfig& config) {
    return RuntimePlan::make_of(request, config, winners().device(), loader_);
}

std::vector<KernelConfig> RuntimeHandle::candidates(const PlanRequest& request, std::size_t most) const {
    return likely_configs(request.problem, winners().device(), request.most_workspace, most);
}

void RuntimeHandle::remember(const GemmProblem& problem, const KernelConfig& config, double us, double library_us) const {
    const DeviceInfo info = device()->info_with_power_limit();
    TuningDatabase database(database_, TuningDatabase::Mode::read_write_create, patience_of_programs());
    database.set_environment({.device = info, .nvrtc_version = info.emulated ? 0 : nvrtc_version()});
    TuningDatabase::Decision decision{.config = config, .median_us = us, .candidates = 1};
    decision.reason =
        fmt::format("{} µs in a program, where the library that it called took {} µs", short_number(us), short_number(library_us));
    decision.runner_up_us = library_us;
    decision.origin = "raced";
    database.decide(problem, MeasurementPolicy{}, decision);
}

void RuntimeHandle::keep_recorded(std::shared_ptr<const RuntimePlan> plan) {
    const std::lock_guard lock(recorded_mutex_);
    recorded_.insert(std::move(plan));
}

std::string RuntimeHandle::describe(const PlanRequest& request) const {
    for (const auto& bundle : loader_.bundles())
        if (const auto held = held_choice(*bundle, request.problem, request.most_workspace, device()->info()))
            return describe_choice(held->selection, CostModel(held->problem, device()->info()).predict(held->selection.config));
    return describe_choice(request, winners(), races_allowed_ ? &races_ : nullptr);
}

}  // namespace tmm
