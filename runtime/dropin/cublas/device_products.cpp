#include "runtime/dropin/cublas/device_products.h"

#include <string>
#include <string_view>

#include "runtime/dropin/cublas/call_table.h"
#include "runtime/dropin/log.h"
#include "runtime/dropin/record/shape_text.h"
#include "runtime/dropin/settings.h"

namespace tmm::dropin {
namespace {

void log_call(const char* function, const Product& product, std::string_view who) {
    if (logs(LogLevel::debug))
        log(LogLevel::debug, std::string(function).append(" ").append(shape_text(product.problem)).append(": ").append(who));
}

void count(std::atomic<std::int64_t>& calls) {
    calls.fetch_add(1, std::memory_order_relaxed);
}

// While a program's shapes are tuned beside it, its times tell nothing.
bool times_tell() {
    return settings().mode == Mode::use && !settings().settled.value_or(false);
}

}  // namespace

DeviceProducts::DeviceProducts(int ordinal, BlockSource& source, std::size_t limit, BackgroundTuning* tuning)
    // Half of the memory is for the block in reserve.
    : ordinal_(ordinal),
      most_workspace_(limit / 2),
      tuning_(tuning),
      waits_(settings().invariant || (ordinal == TMM_DEVICE_HOST && !settings().settled)),
      racing_(times_tell(), ordinal != TMM_DEVICE_HOST),
      workspaces_(source, limit, ordinal != TMM_DEVICE_HOST),
      decisions_(made_decisions()) {}

StreamState DeviceProducts::state_of(const Product& product) const {
    if (is_emulated()) return {.kind = StreamState::Kind::executing};
    return state_of_stream(product.stream);
}

Turn DeviceProducts::multiply(const Product& product, const char* function) {
    using Who = Decision::Who;
    Decisions* decisions = decisions_.load(std::memory_order_acquire);
    const bool outdated = is_outdated(*decisions);
    Decision* decision = decisions->problems.find(product.problem);
    if (!decision) return {};
    const auto by_cublas = [&](std::string_view words) {
        count(decision->calls_by_cublas);
        log_call(function, product, words);
        return Turn{};
    };
    const Who known = decision->who.load(std::memory_order_acquire);
    if (known == Who::cublas && !outdated && !decision->race.load(std::memory_order_acquire)) return by_cublas("by cuBLAS");
    const StreamState stream = state_of(product);
    if (stream.kind == StreamState::Kind::unknown) return by_cublas("by cuBLAS, since its stream's state is not known");
    if (stream.kind == StreamState::Kind::executing) {
        if (outdated) {
            decisions = &renew();
            decision = decisions->problems.find(product.problem);
            if (!decision) return {};
        }
        if (decision->who.load(std::memory_order_acquire) == Who::undecided) {
            if (waits_)
                decide_now(*decisions, *decision, product);
            else
                racing_.begin(decisions->choices, *decision, product.problem);
        }
        if (RacedShape* const shape = decision->race.load(std::memory_order_acquire)) {
            const Turn turn = race(*shape, *decision, product, stream);
            count(turn.is_tmms ? decision->calls_by_tmm : decision->calls_by_cublas);
            log_call(function, product, turn.is_tmms ? "by tmm" : "by cuBLAS");
            return turn;
        }
    } else if (known == Who::undecided) {
        return by_cublas("by cuBLAS, since there was no call of it before the stream capture");
    }
    const bool by_tmm = decision->who.load(std::memory_order_acquire) == Who::tmm &&
                        run(*decision->plan.load(std::memory_order_acquire), *decision, product, stream);
    if (!by_tmm) return by_cublas("by cuBLAS");
    count(decision->calls_by_tmm);
    log_call(function, product, "by tmm");
    return {.is_tmms = true};
}

DeviceProducts::Decisions* DeviceProducts::made_decisions() const {
    return new Decisions(ordinal_, most_workspace_, tuning_);
}

DeviceProducts::Decisions& DeviceProducts::renew() {
    const std::lock_guard lock(deciding_);
    Decisions* const before = decisions_.load(std::memory_order_relaxed);
    if (!is_outdated(*before)) return *before;
    Decisions* const after = made_decisions();
    // Plans outlive their handle.
    before->choices.close();
    decisions_.store(after, std::memory_order_release);
    return *after;
}

void DeviceProducts::decide_now(Decisions& decisions, Decision& decision, const Product& product) {
    const std::lock_guard lock(deciding_);
    if (decision.who.load(std::memory_order_relaxed) != Decision::Who::undecided) return;
    const Choice choice = decisions.choices.choose(product.problem, false, true);
    const std::string shape = shape_text(product.problem);
    add_to_table(decision, shape);
    const bool breaks_promise = !choice.plan && settings().invariant;
    log(breaks_promise ? LogLevel::warn : LogLevel::info, shape + (choice.plan ? ": by tmm, " : ": by cuBLAS, since ") + choice.words);
    decision.plan.store(choice.plan, std::memory_order_release);
    decision.who.store(choice.plan ? Decision::Who::tmm : Decision::Who::cublas, std::memory_order_release);
}

Turn DeviceProducts::race(RacedShape& shape, Decision& decision, const Product& product, const StreamState& stream) {
    const Racing::Side side = racing_.turn(shape, product.stream);
    if (!side.plan) return {.timed = side.timed};
    const bool has_run = run(*side.plan, decision, product, stream);
    racing_.end(side.timed, has_run);
    if (!has_run) racing_.forfeit(shape, side.plan);
    return {.is_tmms = has_run};
}

bool DeviceProducts::run(const ReadyPlan& plan, Decision& decision, const Product& product, const StreamState& stream) {
    std::optional<Workspaces::Lease> lease;
    if (plan.workspace > 0) {
        lease = workspaces_.lease(stream, plan.workspace);
        if (!lease) return false;
    }
    tmmGemmArgs_t args{};
    args.struct_size = sizeof args;
    args.alpha = product.alpha.address_for(product.problem.compute);
    args.beta = product.beta.address_for(product.problem.compute);
    if (product.problem.pointer_array) {
        args.a_array = static_cast<const void* const*>(product.a);
        args.b_array = static_cast<const void* const*>(product.b);
        args.c_array = static_cast<void* const*>(product.c);
    } else {
        args.a = product.a;
        args.b = product.b;
        args.c = product.c;
    }
    args.bias = product.bias;
    args.workspace = lease ? lease->memory() : nullptr;
    args.workspace_size = lease ? lease->bytes() : 0;
    const tmmStatus_t status = tmmPlanRun(plan.plan, static_cast<CUstream_st*>(product.stream), &args);
    if (status == TMM_STATUS_SUCCESS) return true;
    decision.who.store(Decision::Who::cublas, std::memory_order_release);
    log(LogLevel::warn, shape_text(product.problem) + ": by cuBLAS from now on, since " + tmmLastError(nullptr));
    return false;
}

}  // namespace tmm::dropin
