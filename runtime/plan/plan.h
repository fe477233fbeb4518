// A problem made ready to run: the chosen kernels, and where pointers may break the problem's promise of alignment, a second
// plan that takes any element-aligned pointer. Which one runs is decided by the actual pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "generator/families/predicted_time.h"
#include "runtime/bundle/bundle_choice.h"
#include "runtime/plan/epilogue_race.h"
#include "runtime/plan/executable_plan.h"
#include "runtime/select/plan_request.h"
#include "runtime/select/selection.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

class RuntimePlan {
public:
    enum class Pointers {
        aligned_as_promised,  // the caller checked them
        any,                  // holds the second plan too
    };

    // Where an epilogue that was not tuned is applied.
    enum class Epilogues {
        where_faster,
        in_kernel,  // as bundles say it of all their configs
    };

    // Compiles and loads. A chosen config that can't be compiled or loaded is logged and the fallback takes its place; throws only
    // where that fails too, and StatusError where an expression does not compile, or a gate's sums take more workspace than is allowed.
    // races: where an epilogue that was not tuned is applied is measured, once a request; where it is null, the prediction decides.
    static RuntimePlan make(const PlanRequest& request, const Winners& winners, KernelLoader& loader, Pointers pointers,
                            EpilogueRaces* races = nullptr, Epilogues epilogues = Epilogues::where_faster);
    // The plan of what is chosen, for the problem and again where pointers may break its promise; nothing where there is no choice for one
    // of them, or it can't be loaded, which is logged.
    using Choose = std::function<std::optional<BundledChoice>(const GemmProblem& problem)>;
    static std::optional<RuntimePlan> make_bundled(const PlanRequest& request, const Choose& choose, KernelLoader& loader,
                                                   Pointers pointers);
    // The bare plan of a config that the caller names. Throws StatusError where the problem can't be served by it.
    static RuntimePlan make_of(const PlanRequest& request, const KernelConfig& config, const DeviceInfo& device, KernelLoader& loader);
    // The plan of the fallback config alone, which needs workspace for the sums of a gate and nothing else. Throws StatusError where these
    // take more than is allowed.
    static RuntimePlan make_fallback(const PlanRequest& request, KernelLoader& loader, Pointers pointers, const std::string& because);

    // call.workspace holds workspace_bytes(). The call only launches.
    void run(const GemmCall& call, Stream stream) const;

    // Are the pointers aligned as the problem promised?
    bool finds_promise_kept(const GemmCall& call) const;

    // Bytes that a preparation of the operand fills; 0: there is nothing to prepare, and calls' prepared operands are of no meaning.
    std::size_t prepared_bytes(GemmOperand operand) const;
    // The operand must not be one of 0 bytes. The call only launches.
    void prepare(const Preparation& preparation, Stream stream) const;

    const GemmProblem& problem() const { return tuned_.plan().problem; }
    // The config of the second plan; null where there is none.
    const KernelConfig* config_of_any_pointers() const { return any_ ? &any_->plan().config : nullptr; }
    const Selection& selection() const { return selection_; }
    std::size_t workspace_bytes() const;
    // describe_choice, and what runs for pointers that are less aligned.
    std::string describe() const;

private:
    RuntimePlan(Selection selection, ExecutablePlan tuned, const DeviceInfo& device);
    // Both plans, whichever runs, find a prepared operand as they split it themselves.
    bool prepares() const;
    void add_any_pointer_plan(const Winners* winners, KernelLoader& loader, std::int64_t most_workspace);

    Selection selection_;
    ExecutablePlan tuned_;
    PredictedTime predicted_;
    // The signature that tuned_ asks of pointers.
    KernelSignature promised_;
    std::optional<ExecutablePlan> any_;
};

// The text has the lines "config: …", "match: …", "why: …", "predicted: …", "measured: …" where the config was
// measured, and "library: …" where it raced a library in a program.
std::string describe_choice(const Selection& selection, const PredictedTime& predicted);
// The same of what RuntimePlan::make would choose, as far as kernels compile; of an epilogue that no race in races was about, what is
// predicted. Nothing is compiled, loaded or measured. races: those of plans that may be measured, else null. Throws StatusError as make
// does for workspace.
std::string describe_choice(const PlanRequest& request, const Winners& winners, const EpilogueRaces* races);

}  // namespace tmm
