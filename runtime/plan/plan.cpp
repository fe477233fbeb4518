#include "runtime/plan/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>
#include <variant>

#include "base/log.h"
#include "base/text/text_table.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/text/text.h"
#include "runtime/plan/status_error.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {
namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// What can't be compiled because of the caller's expression is the caller's to mend.
void refuse_faulty_expression(const PlanRequest& request, const CompileFailure& failure, const DeviceInfo& device) {
    if (request.problem.epilogue != Epilogue::custom) return;
    std::string words = words_on_expression(failure.log);
    if (words.empty()) return;
    // g++ and clang say so of a name that they do not know.
    const bool is_unknown = words.find("was not declared") != std::string::npos || words.find("undeclared identifier") != std::string::npos;
    if (device.emulated && is_unknown)
        words += "\nThe emulated device lacks some functions that a GPU has: docs/epilogues.md says which it has.";
    throw StatusError(TMM_STATUS_INVALID_EXPRESSION,
                      fmt::format("the expression '{}' does not compile:\n{}", request.expression.text, words));
}

// Throws StatusError where the plan takes more workspace than the request allows. That of the fallback may: the sums of a gate stand in the
// workspace wherever the kernel that multiplies leaves the gate to a step. way_out: what helps besides a larger bound.
void check_bound(const PlanRequest& request, const LaunchPlan& plan, const std::string& way_out = "") {
    if (plan.workspace_bytes <= request.most_workspace) return;
    throw StatusError(
        TMM_STATUS_WORKSPACE_TOO_SMALL,
        fmt::format("max_workspace is {}, but no kernel of {} is known that keeps to it, and the plainest one takes {} bytes for "
                    "the sums of the gate; allow as many{}",
                    request.most_workspace, to_text(request.problem), plan.workspace_bytes, way_out));
}

LaunchPlan launch_plan_of(const PlanRequest& request, const KernelConfig& config, const KernelLoader& loader,
                          EpiloguePlace place = EpiloguePlace::kernel) {
    LaunchPlan plan = make_launch_plan(request.problem, config, loader.device()->info(), request.expression, place);
    check_bound(request, plan);
    return plan;
}

// The kernel of last resort adds up by FMAs, which for other sums than FP32's and FP64's is another order than that of an invariant
// problem.
void check_order(const PlanRequest& request, const Selection& selection, const DeviceInfo& device) {
    if (!request.problem.invariant || selection.match != Match::fallback || is_empty(request.problem) || request.problem.k == 0) return;
    if (const std::optional<std::string> reason = rejection_reason(request.problem, selection.config, device))
        throw StatusError(TMM_STATUS_INTERNAL, fmt::format("no kernel of {} is left that keeps its promise: {}; {}",
                                                           to_text(request.problem), *reason, selection.why));
}

// The result is the reason where the config can't be made to run here.
std::variant<ExecutablePlan, std::string> try_config(const PlanRequest& request, const KernelConfig& config, KernelLoader& loader,
                                                     EpiloguePlace place = EpiloguePlace::kernel) {
    try {
        std::variant<ExecutablePlan, CompileFailure> made = ExecutablePlan::make(launch_plan_of(request, config, loader, place), loader);
        if (CompileFailure* failure = std::get_if<CompileFailure>(&made)) {
            refuse_faulty_expression(request, *failure, loader.device()->info());
            return "does not compile: " + first_line(failure->log);
        }
        return std::get<ExecutablePlan>(std::move(made));
    } catch (const StatusError&) {
        throw;
    } catch (const NoCompiler&) {
        throw;
    } catch (const std::exception& error) {
        return fmt::format("can't be loaded: {}", error.what());
    }
}

// Throws where not even this config runs.
ExecutablePlan make_or_throw(const PlanRequest& request, const KernelConfig& config, KernelLoader& loader) {
    std::variant<ExecutablePlan, CompileFailure> made = ExecutablePlan::make(launch_plan_of(request, config, loader), loader);
    if (CompileFailure* failure = std::get_if<CompileFailure>(&made)) {
        refuse_faulty_expression(request, *failure, loader.device()->info());
        throw StatusError(TMM_STATUS_COMPILER, fmt::format("the fallback kernel ({}) does not compile: {}", to_text(config), failure->log));
    }
    return std::get<ExecutablePlan>(std::move(made));
}

// What the race took; it is run where there was none of the request. Nothing where there is no memory for it, or a launch is refused.
std::optional<EpilogueRace> race_of(const PlanRequest& request, const ExecutablePlan& in_kernel, const ExecutablePlan& in_step,
                                    KernelLoader& loader, EpilogueRaces& races) {
    if (const std::optional<EpilogueRace> before = races.find(request)) return before;
    try {
        return races.add(request, race(in_kernel, in_step, *loader.device()));
    } catch (const std::bad_alloc&) {
        log_line(fmt::format("there is no memory to measure where the epilogue of {} is applied faster", to_text(request.problem)));
    } catch (const LaunchRefused& refused) {
        log_line(fmt::format("where the epilogue of {} is applied faster can't be measured: {}", to_text(request.problem), refused.what()));
    }
    return std::nullopt;
}

// Does a step behind the config apply the selection's epilogue? The race says so, or without one the prediction; the selection tells of it.
bool takes_step(const KernelConfig& before_step, const PredictedPlaces& predicted, const std::optional<EpilogueRace>& race,
                Selection& selection) {
    const bool is_step = race ? race->is_won_by_step() : predicted.step_is_faster();
    if (race) {
        selection.measured_us = is_step ? race->step_us : race->kernel_us;
        selection.why += fmt::format("; measured with the plan: {} µs with the epilogue in the kernel, {} µs with a step behind {}, so {}",
                                     short_number(race->kernel_us), short_number(race->step_us), to_text(before_step),
                                     is_step ? "the step applies it" : "the kernel applies it");
    } else if (is_step) {
        selection.why += fmt::format(
            "; a step behind {} is predicted to take less time with the epilogue, {} µs, than the kernel, {} µs, so "
            "the step applies it",
            to_text(before_step), short_number(predicted.step_us), short_number(predicted.kernel_us));
    }
    if (is_step) selection.config = before_step;
    return is_step;
}

// The plan with which a step applies the epilogue, where that is faster than in_kernel. The selection tells of it.
std::optional<ExecutablePlan> faster_in_step(const PlanRequest& request, const ExecutablePlan& in_kernel, const Winners& winners,
                                             KernelLoader& loader, EpilogueRaces* races, Selection& selection) {
    if (!races && winners.device().emulated) return std::nullopt;
    const std::optional<KernelConfig> config = config_before_step(request, selection, winners);
    if (!config) return std::nullopt;
    const PredictedPlaces predicted = predicted_places(request.problem, selection.config, *config, winners.device());
    if (!races && !predicted.step_is_faster()) return std::nullopt;
    std::variant<ExecutablePlan, std::string> tried = try_config(request, *config, loader, EpiloguePlace::step);
    ExecutablePlan* const in_step = std::get_if<ExecutablePlan>(&tried);
    if (!in_step) return std::nullopt;
    const std::optional<EpilogueRace> race = races ? race_of(request, in_kernel, *in_step, loader, *races) : std::nullopt;
    if (!takes_step(*config, predicted, race, selection)) return std::nullopt;
    return std::move(*in_step);
}

// Every pointer that a matrix element may stand at is welcome.
GemmProblem without_promise(const GemmProblem& problem) {
    return with_alignment(problem, 1);
}

EpiloguePlace place_of(const LaunchPlan& plan) {
    return plan.product.epilogue == plan.problem.epilogue ? EpiloguePlace::kernel : EpiloguePlace::step;
}

bool is_multiple(const void* pointer, int bytes) {
    return reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(bytes) == 0;
}

}  // namespace

RuntimePlan::RuntimePlan(Selection selection, ExecutablePlan tuned, const DeviceInfo& device)
    : selection_(std::move(selection)),
      tuned_(std::move(tuned)),
      predicted_(CostModel(problem(), device).predict(selection_.config, place_of(tuned_.plan()))),
      promised_(signature_of(problem())) {}

RuntimePlan RuntimePlan::make(const PlanRequest& request, const Winners& winners, KernelLoader& loader, Pointers pointers,
                              EpilogueRaces* races, Epilogues epilogues) {
    Selection selection = winners.select(request.problem, request.most_workspace);
    check_order(request, selection, loader.device()->info());
    std::variant<ExecutablePlan, std::string> tried = try_config(request, selection.config, loader);
    if (const std::string* reason = std::get_if<std::string>(&tried)) {
        const std::string because = fmt::format("the {} config of {} ({}) {}", name_of(selection.match), to_text(request.problem),
                                                to_text(selection.config), *reason);
        log_line(because + "; using the fallback kernel");
        return make_fallback(request, loader, pointers, because);
    }
    ExecutablePlan executable = std::get<ExecutablePlan>(std::move(tried));
    if (epilogues == Epilogues::where_faster)
        if (std::optional<ExecutablePlan> faster = faster_in_step(request, executable, winners, loader, races, selection))
            executable = *std::move(faster);
    RuntimePlan plan(std::move(selection), std::move(executable), winners.device());
    if (pointers == Pointers::any) plan.add_any_pointer_plan(&winners, loader, request.most_workspace);
    return plan;
}

std::optional<RuntimePlan> RuntimePlan::make_bundled(const PlanRequest& request, const Choose& choose, KernelLoader& loader,
                                                     Pointers pointers) {
    const auto load = [&](const BundledChoice& choice) -> std::optional<ExecutablePlan> {
        const PlanRequest served{.problem = choice.problem, .most_workspace = request.most_workspace};
        std::variant<ExecutablePlan, std::string> tried = try_config(served, choice.selection.config, loader);
        if (ExecutablePlan* executable = std::get_if<ExecutablePlan>(&tried)) return std::move(*executable);
        log_line(fmt::format("the bundle's config of {} ({}) {}", to_text(choice.problem), to_text(choice.selection.config),
                             std::get<std::string>(tried)));
        return std::nullopt;
    };
    std::optional<BundledChoice> choice = choose(request.problem);
    if (!choice) return std::nullopt;
    std::optional<ExecutablePlan> executable = load(*choice);
    if (!executable) return std::nullopt;
    RuntimePlan plan(std::move(choice->selection), std::move(*executable), loader.device()->info());
    const GemmProblem any = without_promise(plan.problem());
    if (pointers == Pointers::aligned_as_promised || signature_of(any) == signature_of(plan.problem())) return plan;
    const std::optional<BundledChoice> second = choose(any);
    if (!second) return std::nullopt;
    plan.any_ = load(*second);
    if (!plan.any_) return std::nullopt;
    return plan;
}

RuntimePlan RuntimePlan::make_of(const PlanRequest& request, const KernelConfig& config, const DeviceInfo& device, KernelLoader& loader) {
    const auto refuse = [&](const std::string& reason) {
        throw StatusError(TMM_STATUS_INVALID_CONFIG,
                          fmt::format("{} can't be served by {}: {}", to_text(request.problem), to_text(config), reason));
    };
    if (const std::optional<std::string> reason = rejection_reason(request.problem, config, device)) refuse(*reason);
    std::variant<ExecutablePlan, std::string> tried = try_config(request, config, loader);
    if (const std::string* const reason = std::get_if<std::string>(&tried)) refuse(*reason);
    return RuntimePlan({.config = config, .match = Match::predicted, .why = "the caller named the config"},
                       std::get<ExecutablePlan>(std::move(tried)), device);
}

RuntimePlan RuntimePlan::make_fallback(const PlanRequest& request, KernelLoader& loader, Pointers pointers, const std::string& because) {
    Selection selection = fallback_selection(because);
    check_order(request, selection, loader.device()->info());
    ExecutablePlan executable = make_or_throw(request, selection.config, loader);
    RuntimePlan plan(std::move(selection), std::move(executable), loader.device()->info());
    if (pointers == Pointers::any) plan.add_any_pointer_plan(nullptr, loader, request.most_workspace);
    return plan;
}

void RuntimePlan::add_any_pointer_plan(const Winners* winners, KernelLoader& loader, std::int64_t most_workspace) {
    const GemmProblem any = without_promise(problem());
    if (signature_of(any) == signature_of(problem())) return;
    const PlanRequest request{.problem = any, .most_workspace = most_workspace, .expression = tuned_.plan().expression};
    const DeviceInfo& device = loader.device()->info();
    const auto take = [&](const KernelConfig& config, std::int64_t most) {
        if (make_launch_plan(any, config, device).workspace_bytes > most) return false;
        std::variant<ExecutablePlan, std::string> tried = try_config(request, config, loader);
        if (ExecutablePlan* executable = std::get_if<ExecutablePlan>(&tried)) any_ = std::move(*executable);
        return any_.has_value();
    };
    if (!why_invalid(any, selection_.config, device) && take(selection_.config, most_workspace)) return;
    if (winners) {
        // Operands padded in a workspace are a high price for pointers that hardly come.
        const std::int64_t most = tuned_.plan().workspace_bytes;
        if (take(winners->select(any, most_workspace).config, most) || take(default_config(any, winners->device(), most), most)) return;
    }
    const KernelConfig fallback = fallback_config();
    check_bound(request, make_launch_plan(any, fallback, device),
                ", or tmmPlanCreateBare, whose plans take no pointers that are less aligned");
    any_ = make_or_throw(request, fallback, loader);
}

void RuntimePlan::run(const GemmCall& call, Stream stream) const {
    GemmCall understood = call;
    if (!prepares()) understood.prepared_a = understood.prepared_b = nullptr;
    (!any_ || finds_promise_kept(call) ? tuned_ : *any_).run(understood, stream);
}

bool RuntimePlan::finds_promise_kept(const GemmCall& call) const {
    // Addresses that stand in an array are taken at the problem's word.
    if (promised_.pointers) return !promised_.residual || is_multiple(call.residual, promised_.align_residual);
    return is_multiple(call.a, promised_.align_a) && is_multiple(call.b, promised_.align_b) && is_multiple(call.c, promised_.align_c) &&
           (!promised_.residual || is_multiple(call.residual, promised_.align_residual));
}

bool RuntimePlan::prepares() const {
    // Another config may split K elsewhere, and keep other exponents.
    return tuned_.plan().config.planes > 1 && (!any_ || any_->plan().config == tuned_.plan().config);
}

std::size_t RuntimePlan::prepared_bytes(GemmOperand operand) const {
    return prepares() ? static_cast<std::size_t>(tmm::prepared_bytes(tuned_.plan(), operand)) : 0;
}

void RuntimePlan::prepare(const Preparation& preparation, Stream stream) const {
    const int promised = preparation.operand == GemmOperand::a ? promised_.align_a : promised_.align_b;
    (!any_ || is_multiple(preparation.matrix, promised) ? tuned_ : *any_).prepare(preparation, stream);
}

std::size_t RuntimePlan::workspace_bytes() const {
    std::int64_t bytes = tuned_.plan().workspace_bytes;
    if (any_) bytes = std::max(bytes, any_->plan().workspace_bytes);
    return static_cast<std::size_t>(bytes);
}

std::string RuntimePlan::describe() const {
    std::string text = describe_choice(selection_, predicted_);
    if (any_) text += fmt::format("\nmisaligned pointers: {}", to_text(any_->plan().config));
    if (problem().invariant) text += fmt::format("\norder of sums: {}", words_of(order_of_sums(tuned_.plan())));
    return text;
}

std::string describe_choice(const PlanRequest& request, const Winners& winners, const EpilogueRaces* races) {
    Selection selection = winners.select(request.problem, request.most_workspace);
    check_bound(request, make_launch_plan(request.problem, selection.config, winners.device()));
    EpiloguePlace place = EpiloguePlace::kernel;
    if (const std::optional<KernelConfig> before_step = config_before_step(request, selection, winners)) {
        const PredictedPlaces predicted = predicted_places(request.problem, selection.config, *before_step, winners.device());
        const std::optional<EpilogueRace> race = races ? races->find(request) : std::nullopt;
        if (takes_step(*before_step, predicted, race, selection)) place = EpiloguePlace::step;
    }
    return describe_choice(selection, CostModel(request.problem, winners.device()).predict(selection.config, place));
}

std::string describe_choice(const Selection& selection, const PredictedTime& predicted) {
    std::string text = fmt::format("config: {}\nmatch: {}\nwhy: {}\npredicted: {}", to_text(selection.config), name_of(selection.match),
                                   selection.why, to_text(predicted));
    if (selection.measured_us > 0) text += fmt::format("\nmeasured: {:.4g} µs", selection.measured_us);
    if (selection.library_us > 0) text += fmt::format("\nlibrary: {:.4g} µs", selection.library_us);
    return text;
}

}  // namespace tmm
