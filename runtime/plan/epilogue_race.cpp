#include "runtime/plan/epilogue_race.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "base/median.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/validity.h"
#include "generator/problem/matrix_layout.h"
#include "generator/problem/problem_forms.h"
#include "generator/steps/steps.h"

namespace tmm {
namespace {

// The step must win by more, since medians of so few runs differ by chance.
constexpr double kClearlyFaster = 0.98;
constexpr std::size_t kRounds = 9;
constexpr std::chrono::milliseconds kPatience{200};
// A small positive number in every type of elements. All zeros would run faster than what callers have.
constexpr unsigned char kContent = 0x3c;

class Operands {
public:
    Operands(const GemmProblem& problem, std::size_t workspace_bytes, Device& device) : device_(device) {
        call_.a = filled(bytes_of(layout_of_a(problem)));
        call_.b = filled(bytes_of(layout_of_b(problem)));
        call_.c = filled(bytes_of(layout_of_c(problem)));
        const std::int64_t bytes_of_bias = elements_of_bias(problem) * size_of(problem.type_bias);
        if (problem.bias != BiasAxis::none) call_.bias = filled(static_cast<std::size_t>(bytes_of_bias));
        if (problem.residual) call_.residual = filled(bytes_of(layout_of_residual(problem)));
        call_.workspace = filled(workspace_bytes);
        call_.beta = problem.reads_c ? 1 : 0;
    }
    const GemmCall& call() const { return call_; }

private:
    struct Release {
        Device* device;
        void operator()(void* memory) const { device->release(memory); }
    };

    static std::size_t bytes_of(const MatrixLayout& layout) { return static_cast<std::size_t>(extent_in_bytes(layout).value()); }
    void* filled(std::size_t bytes) {
        memory_.emplace_back(device_.allocate(bytes), Release{&device_});
        if (bytes > 0) device_.fill_bytes(memory_.back().get(), kContent, bytes);
        return memory_.back().get();
    }

    Device& device_;
    std::vector<std::unique_ptr<void, Release>> memory_;
    GemmCall call_;
};

}  // namespace

bool EpilogueRace::is_won_by_step() const {
    return step_us < kClearlyFaster * kernel_us;
}

std::optional<EpilogueRace> EpilogueRaces::find(const PlanRequest& request) const {
    const std::lock_guard lock(mutex_);
    const auto found = races_.find(request);
    return found == races_.end() ? std::nullopt : std::optional(found->second);
}

EpilogueRace EpilogueRaces::add(const PlanRequest& request, const EpilogueRace& race) {
    const std::lock_guard lock(mutex_);
    // A program may write values into the text of expressions, so that requests have no end.
    if (races_.size() >= kMost && !races_.contains(request)) races_.erase(races_.begin());
    return races_.emplace(request, race).first->second;
}

PredictedPlaces predicted_places(const GemmProblem& problem, const KernelConfig& in_kernel, const KernelConfig& before_step,
                                 const DeviceInfo& device) {
    if (device.emulated) return {};
    const CostModel model(problem, device);
    return {.kernel_us = model.estimate(in_kernel) + model.least_of_epilogue(),
            .step_us = model.predict(before_step, EpiloguePlace::step).total()};
}

std::optional<KernelConfig> config_before_step(const PlanRequest& request, const Selection& selection, const Winners& winners) {
    const GemmProblem& problem = request.problem;
    if (problem.epilogue == Epilogue::none || is_empty(problem) || problem.k == 0) return std::nullopt;
    if (selection.match == Match::exact || selection.match == Match::fallback) return std::nullopt;
    if (!step_can_finish(problem)) return std::nullopt;
    const auto ends_with_step = [&](const KernelConfig& config) {
        const Schedule schedule = schedule_of(problem, config, winners.device());
        return schedule.finished.parts > 0 || (schedule.partial_results > 1 && schedule.main == schedule.whole);
    };
    GemmProblem plain = without_epilogue(problem);
    plain.ldc = std::max(plain.ldc, plain.n);
    plain.stride_c = plain.batch > 1 ? std::max(plain.stride_c, plain.m * plain.ldc) : 0;
    const KernelConfig config = winners.select(plain, request.most_workspace).config;
    if (config == selection.config && ends_with_step(config)) return std::nullopt;
    const Schedule schedule = schedule_of(problem, config, winners.device(), EpiloguePlace::step);
    if (rejection_reason(schedule.product, config, winners.device())) return std::nullopt;
    if (schedule.workspace_bytes > request.most_workspace) return std::nullopt;
    return config;
}

EpilogueRace race(const ExecutablePlan& in_kernel, const ExecutablePlan& in_step, Device& device) {
    const std::int64_t workspace = std::max(in_kernel.plan().workspace_bytes, in_step.plan().workspace_bytes);
    const Operands operands(in_kernel.plan().problem, static_cast<std::size_t>(workspace), device);
    const auto recorded = [&](const ExecutablePlan& plan) { return device.record([&](Stream s) { plan.run(operands.call(), s); }); };
    const std::unique_ptr<Replay> kernel = recorded(in_kernel);
    const std::unique_ptr<Replay> step = recorded(in_step);
    // The first run of each also loads what the device brings late.
    kernel->run_timed();
    step->run_timed();
    std::vector<double> kernel_us, step_us;
    const auto begin = std::chrono::steady_clock::now();
    do {
        kernel_us.push_back(kernel->run_timed());
        step_us.push_back(step->run_timed());
    } while (kernel_us.size() < kRounds && std::chrono::steady_clock::now() - begin < kPatience);
    return {.kernel_us = median(kernel_us), .step_us = median(step_us)};
}

}  // namespace tmm
