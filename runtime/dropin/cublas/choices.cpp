#include "runtime/dropin/cublas/choices.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "runtime/dropin/cublas/shape_race.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/record/shape_text.h"

namespace tmm::dropin {
namespace {

// The rest of the line that begins so.
std::string line_of(std::string_view text, std::string_view beginning) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (line.starts_with(beginning)) return std::string(line.substr(beginning.size()));
        at = end + 1;
    }
    return {};
}

double microseconds_of(const std::string& line) {
    return std::strtod(line.c_str(), nullptr);
}

}  // namespace

Choices::Choices(int ordinal, std::size_t most_workspace, BackgroundTuning* tuning)
    : runs(tuning ? tuning->runs() : 0), ordinal_(ordinal), most_workspace_(most_workspace), tuning_(tuning) {}

Choices::Handle Choices::open() {
    const std::lock_guard lock(mutex_);
    if (handle_ || is_closed_) return handle_;
    tmmSetLogCallback([](const char* line, void*) { log(LogLevel::warn, line); }, nullptr);
    tmmHandle_t made = nullptr;
    if (tmmCreate(&made, ordinal_, nullptr) != TMM_STATUS_SUCCESS) {
        is_closed_ = true;
        log(LogLevel::warn, std::string("all products go to cuBLAS: ") + tmmLastError(nullptr));
        return nullptr;
    }
    handle_ = Handle(made, [](tmmHandle_t handle) { tmmDestroy(handle); });
    // Without the tool this process compiles, beside the program as well.
    if (const std::string tool = tool_beside_library(); !tool.empty()) tmmSetCompileTool(made, tool.c_str());
    return handle_;
}

void Choices::close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    handle_.reset();
}

tmmGemmProblem_t Choices::bounded(const tmmGemmProblem_t& problem) const {
    tmmGemmProblem_t bound = problem;
    bound.max_workspace = most_workspace_;
    return bound;
}

Choice Choices::choose(const tmmGemmProblem_t& asked, bool races, bool takes_any) {
    const Handle handle = open();
    if (!handle) return {.words = "the device can't be opened"};
    const tmmGemmProblem_t problem = bounded(asked);
    std::array<char, 4096> text{};
    if (tmmProblemDescribe(handle.get(), &problem, text.data(), text.size()) != TMM_STATUS_SUCCESS)
        return {.words = tmmLastError(handle.get())};
    const std::string match = line_of(text.data(), "match: ");
    if (tuning_ && match != "exact" && problem.k > 0) tuning_->want(shape_text(problem));
    Choice choice;
    choice.us_of_cublas = microseconds_of(line_of(text.data(), "library: "));
    choice.us_of_tmm = choice.us_of_cublas > 0 ? microseconds_of(line_of(text.data(), "measured: ")) : 0;
    if (!takes_any && choice.us_of_cublas > 0 && choice.us_of_tmm >= (1 - ShapeRace::kMargin) * choice.us_of_cublas) {
        choice.words = "it was the faster one when they raced (" + line_of(text.data(), "why: ") + ")";
        return choice;
    }
    if (!takes_any && match != "exact" && match != "near") {
        choice.words = "no tuned problem is near (" + line_of(text.data(), "why: ") + ")";
        if (races && match == "predicted") {
            choice.candidate = line_of(text.data(), "config: ");
            choice.predicted_us = ordinal_ == TMM_DEVICE_HOST ? 0 : microseconds_of(line_of(text.data(), "predicted: "));
        }
        return choice;
    }
    tmmPlan_t plan = nullptr;
    const tmmStatus_t status = tmmPlanCreateBare(handle.get(), &problem, &plan);
    choice.plan = ready(handle.get(), status, plan, choice.words);
    if (!choice.plan) return choice;
    tmmPlanDescribe(plan, text.data(), text.size());
    const std::string made = line_of(text.data(), "match: ");
    if (!takes_any && made == "fallback") {
        choice.plan = nullptr;
        choice.words = line_of(text.data(), "why: ");
    } else {
        choice.words = made + ": " + choice.plan->config;
    }
    return choice;
}

const ReadyPlan* Choices::ready(tmmHandle_t handle, tmmStatus_t status, tmmPlan_t plan, std::string& reason) {
    if (status != TMM_STATUS_SUCCESS) {
        reason = tmmLastError(handle);
        const std::lock_guard lock(mutex_);
        // That there is no compiler is worth a line of its own, once.
        if (status == TMM_STATUS_COMPILER && !std::exchange(lacks_compiler_, true)) log(LogLevel::warn, "products go to cuBLAS: " + reason);
        return nullptr;
    }
    std::array<char, 4096> text{};
    tmmPlanDescribe(plan, text.data(), text.size());
    auto* const made = new ReadyPlan{.plan = plan, .config = line_of(text.data(), "config: ")};
    tmmPlanWorkspaceSize(plan, &made->workspace);
    return made;
}

std::vector<std::string> Choices::candidates(const tmmGemmProblem_t& asked, int most) {
    std::vector<std::string> configs;
    const Handle handle = open();
    const tmmGemmProblem_t problem = bounded(asked);
    std::array<char, 4096> text{};
    if (!handle || tmmProblemCandidates(handle.get(), &problem, most, text.data(), text.size()) != TMM_STATUS_SUCCESS) return configs;
    std::string_view rest = text.data();
    while (!rest.empty()) {
        configs.emplace_back(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(std::min(configs.back().size() + 1, rest.size()));
    }
    return configs;
}

const ReadyPlan* Choices::prepare(const tmmGemmProblem_t& asked, const std::string& config, std::string& reason) {
    const Handle handle = open();
    if (!handle) return nullptr;
    const tmmGemmProblem_t problem = bounded(asked);
    tmmPlan_t plan = nullptr;
    const tmmStatus_t status = tmmPlanCreateOf(handle.get(), &problem, config.c_str(), &plan);
    return ready(handle.get(), status, plan, reason);
}

void Choices::remember(const tmmGemmProblem_t& problem, const std::string& config, double us_of_tmm, double us_of_cublas) {
    const Handle handle = open();
    if (!handle) return;
    if (tmmRemember(handle.get(), &problem, config.c_str(), us_of_tmm, us_of_cublas) == TMM_STATUS_SUCCESS) return;
    const std::lock_guard lock(mutex_);
    if (!std::exchange(cannot_remember_, true))
        log(LogLevel::warn, std::string("the next process will time its shapes anew: ") + tmmLastError(handle.get()));
}

}  // namespace tmm::dropin
