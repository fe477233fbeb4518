#include "runtime/dropin/cublas/device_products.h"

#include <array>
#include <string_view>
#include <utility>

#include "runtime/dropin/log.h"
#include "runtime/dropin/record/shape_text.h"

namespace tmm::dropin {
namespace {

// The rest of the line that begins so.
std::string_view line_of(std::string_view text, std::string_view beginning) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (line.starts_with(beginning)) return line.substr(beginning.size());
        at = end + 1;
    }
    return {};
}

void log_call(const char* function, const Product& product, std::string_view who) {
    if (logs(LogLevel::debug))
        log(LogLevel::debug, std::string(function).append(" ").append(shape_text(product.problem)).append(": ").append(who));
}

}  // namespace

DeviceProducts::DeviceProducts(int ordinal, BlockSource& source, std::size_t limit, BackgroundTuning* tuning)
    // Half of the memory is for the block in reserve.
    : ordinal_(ordinal),
      most_workspace_(limit / 2),
      tuning_(tuning),
      workspaces_(source, limit, ordinal != TMM_DEVICE_HOST),
      decisions_(new Decisions(0)) {}

StreamState DeviceProducts::state_of(const Product& product) const {
    if (is_emulated()) return {.kind = StreamState::Kind::executing};
    return state_of_stream(product.stream);
}

bool DeviceProducts::multiply(const Product& product, const char* function) {
    Decisions* decisions = decisions_.load(std::memory_order_acquire);
    const bool outdated = is_outdated(*decisions);
    Decision* decision = decisions->problems.find(product.problem);
    if (!decision) return false;
    Decision::Who known = decision->who.load(std::memory_order_acquire);
    if (known == Decision::Who::cublas && !outdated) {
        log_call(function, product, "by cuBLAS");
        return false;
    }
    const StreamState stream = state_of(product);
    if (stream.kind == StreamState::Kind::unknown) {
        log_call(function, product, "by cuBLAS, since its stream's state is not known");
        return false;
    }
    if (stream.kind == StreamState::Kind::executing) {
        if (outdated) {
            decisions = &renew();
            decision = decisions->problems.find(product.problem);
            if (!decision) return false;
        }
        if (decision->who.load(std::memory_order_acquire) == Decision::Who::undecided) decide(*decisions, *decision, product, stream);
    } else if (known == Decision::Who::undecided) {
        log_call(function, product, "by cuBLAS, since there was no call of it before the stream capture");
        return false;
    }
    const bool by_tmm = decision->who.load(std::memory_order_acquire) == Decision::Who::tmm && run(*decision, product, stream);
    log_call(function, product, by_tmm ? "by tmm" : "by cuBLAS");
    return by_tmm;
}

DeviceProducts::Decisions& DeviceProducts::renew() {
    const std::lock_guard lock(deciding_);
    Decisions* const before = decisions_.load(std::memory_order_relaxed);
    if (!is_outdated(*before)) return *before;
    auto* const after = new Decisions(tuning_->runs());
    // Plans outlive their handle.
    tmmDestroy(std::exchange(before->handle, nullptr));
    before->is_closed = true;
    decisions_.store(after, std::memory_order_release);
    return *after;
}

void DeviceProducts::decide(Decisions& decisions, Decision& decision, const Product& product, const StreamState& stream) {
    const std::lock_guard lock(deciding_);
    if (decision.who.load(std::memory_order_relaxed) != Decision::Who::undecided) return;
    std::string chosen;
    const std::string reason = why_not(decisions, decision, product, stream, chosen);
    if (logs(LogLevel::info))
        log(LogLevel::info, shape_text(product.problem) + (reason.empty() ? ": by tmm, " + chosen : ": by cuBLAS, since " + reason));
    decision.who.store(reason.empty() ? Decision::Who::tmm : Decision::Who::cublas, std::memory_order_release);
}

bool DeviceProducts::open(Decisions& decisions) {
    if (decisions.handle || decisions.is_closed) return decisions.handle;
    tmmSetLogCallback([](const char* line, void*) { log(LogLevel::warn, line); }, nullptr);
    if (tmmCreate(&decisions.handle, ordinal_, nullptr) == TMM_STATUS_SUCCESS) return true;
    log(LogLevel::warn, std::string("all products go to cuBLAS: ") + tmmLastError(nullptr));
    decisions.is_closed = true;
    decisions.handle = nullptr;
    return false;
}

std::string DeviceProducts::why_not(Decisions& decisions, Decision& decision, const Product& product, const StreamState& stream,
                                    std::string& chosen) {
    if (!open(decisions)) return "the device can't be opened";
    tmmHandle_t const handle = decisions.handle;
    tmmGemmProblem_t problem = product.problem;
    problem.max_workspace = most_workspace_;
    std::array<char, 4096> text{};
    if (tmmProblemDescribe(handle, &problem, text.data(), text.size()) != TMM_STATUS_SUCCESS) return tmmLastError(handle);
    std::string_view match = line_of(text.data(), "match: ");
    if (tuning_ && match != "exact" && problem.k > 0) tuning_->want(shape_text(problem));
    // A guess may be slower than cuBLAS. On the emulated device, which is for tests, nothing is fast.
    if (!is_emulated() && match != "exact" && match != "near")
        return "no tuned problem is near (" + std::string(line_of(text.data(), "why: ")) + ")";
    if (const tmmStatus_t status = tmmPlanCreateBare(handle, &problem, &decision.plan); status != TMM_STATUS_SUCCESS) {
        const std::string reason = tmmLastError(handle);
        // That there is no compiler is worth a line of its own, once.
        if (status == TMM_STATUS_COMPILER && !std::exchange(decisions.lacks_compiler, true))
            log(LogLevel::warn, "products go to cuBLAS: " + reason);
        return reason;
    }
    tmmPlanDescribe(decision.plan, text.data(), text.size());
    match = line_of(text.data(), "match: ");
    if (!is_emulated() && match == "fallback") return std::string(line_of(text.data(), "why: "));
    chosen = std::string(match).append(": ").append(line_of(text.data(), "config: "));
    tmmPlanWorkspaceSize(decision.plan, &decision.workspace);
    if (decision.workspace > 0 && !workspaces_.lease(stream, decision.workspace))
        return "there is no memory for its " + std::to_string(decision.workspace) + " bytes of workspace (TMM_WORKSPACE_LIMIT)";
    return {};
}

bool DeviceProducts::run(Decision& decision, const Product& product, const StreamState& stream) {
    std::optional<Workspaces::Lease> lease;
    if (decision.workspace > 0) {
        lease = workspaces_.lease(stream, decision.workspace);
        if (!lease) return false;
    }
    tmmGemmArgs_t args{};
    args.struct_size = sizeof args;
    args.alpha = product.alpha.address_for(product.problem.compute);
    args.beta = product.beta.address_for(product.problem.compute);
    args.a = product.a;
    args.b = product.b;
    args.c = product.c;
    args.bias = product.bias;
    args.workspace = lease ? lease->memory() : nullptr;
    args.workspace_size = lease ? lease->bytes() : 0;
    const tmmStatus_t status = tmmPlanRun(decision.plan, static_cast<CUstream_st*>(product.stream), &args);
    if (status == TMM_STATUS_SUCCESS) return true;
    decision.who.store(Decision::Who::cublas, std::memory_order_release);
    log(LogLevel::warn, shape_text(product.problem) + ": by cuBLAS from now on, since " + tmmLastError(nullptr));
    return false;
}

}  // namespace tmm::dropin
