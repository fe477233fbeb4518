// tmm through its C interface; see tuned.h.
#include "bench/peers/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "base/error.h"
#include "bench/operands/prepared_operands.h"
#include "bench/timing/host_replay.h"
#include "tmm/tmm.h"

namespace tmm::bench {

struct TunedLibrary::Handle {
    tmmHandle_t value = nullptr;
    std::shared_ptr<Device> device;
    std::string prepared;
    ~Handle() { tmmDestroy(value); }

    void check(tmmStatus_t status, const char* call) const {
        if (status != TMM_STATUS_SUCCESS) throw std::runtime_error(message(status, call));
    }
    std::string message(tmmStatus_t status, const char* call) const {
        const std::string sentence = tmmLastError(value);
        return fmt::format("{}: {}", call, sentence.empty() ? tmmStatusString(status) : sentence);
    }
};

namespace {

tmmOperation_t operation(Operation op) {
    return op == Operation::none ? TMM_NO_TRANS : TMM_TRANS;
}

tmmType_t type(ElementType element) {
    switch (element) {
        case ElementType::f32: return TMM_F32;
        case ElementType::f16: return TMM_F16;
        case ElementType::bf16: return TMM_BF16;
        case ElementType::f64: return TMM_F64;
        case ElementType::s8: return TMM_S8;
        case ElementType::s32: return TMM_S32;
    }
    throw std::invalid_argument("an element type without a name");
}

tmmCompute_t compute(ComputeMode mode) {
    switch (mode) {
        case ComputeMode::f32: return TMM_COMPUTE_F32;
        case ComputeMode::f32_strict: return TMM_COMPUTE_F32_STRICT;
        case ComputeMode::tf32: return TMM_COMPUTE_TF32;
        case ComputeMode::f64: return TMM_COMPUTE_F64;
        case ComputeMode::s32: return TMM_COMPUTE_S32;
    }
    throw std::invalid_argument("a compute mode without a name");
}

tmmActivation_t activation(Activation function) {
    switch (function) {
        case Activation::none: return TMM_ACTIVATION_NONE;
        case Activation::relu: return TMM_ACTIVATION_RELU;
        case Activation::gelu: return TMM_ACTIVATION_GELU;
        case Activation::gelu_tanh: return TMM_ACTIVATION_GELU_TANH;
        case Activation::silu: return TMM_ACTIVATION_SILU;
        case Activation::sigmoid: return TMM_ACTIVATION_SIGMOID;
        case Activation::tanh: return TMM_ACTIVATION_TANH;
        case Activation::swiglu: return TMM_ACTIVATION_SWIGLU;
        case Activation::swiglu_rows: return TMM_ACTIVATION_SWIGLU_ROWS;
    }
    throw std::invalid_argument("an activation without a name");
}

// The class follows from the fields.
void set_epilogue(const GemmProblem& p, tmmGemmProblem_t& problem) {
    problem.activation = activation(p.activation);
    problem.has_bias = p.bias == BiasAxis::none ? 0 : 1;
    problem.bias_axis = p.bias == BiasAxis::rows ? TMM_BIAS_ROWS : TMM_BIAS_COLUMNS;
    problem.type_bias = type(p.type_bias);
    problem.has_residual = p.residual ? 1 : 0;
    problem.ldr = p.ldr;
    problem.stride_r = p.stride_r;
}

tmmGemmProblem_t in_c(const GemmProblem& p) {
    tmmGemmProblem_t problem{};
    tmmGemmProblemInit(&problem);
    problem.op_a = operation(p.op_a);
    problem.op_b = operation(p.op_b);
    problem.m = rows_of_c(p);
    problem.n = columns_of_c(p);
    problem.k = p.k;
    problem.batch = p.batch;
    problem.type_a = type(p.type_a);
    problem.type_b = type(p.type_b);
    problem.type_c = type(p.type_c);
    problem.compute = compute(p.compute);
    problem.lda = p.lda;
    problem.ldb = p.ldb;
    problem.ldc = p.ldc;
    problem.stride_a = p.stride_a;
    problem.stride_b = p.stride_b;
    problem.stride_c = p.stride_c;
    problem.alignment = p.alignment;
    problem.reads_c = p.reads_c ? 1 : 0;
    problem.result = p.result == Result::symmetric ? TMM_RESULT_SYMMETRIC : TMM_RESULT_FULL;
    problem.invariant = p.invariant ? 1 : 0;
    set_epilogue(p, problem);
    return problem;
}

class TunedContestant final : public Contestant {
public:
    TunedContestant(tmmPlan_t plan, const GemmProblem& problem, std::shared_ptr<Device> device, const std::string& prepared)
        : plan_(plan),
          compute_(problem.compute),
          has_bias_(problem.bias != BiasAxis::none),
          has_residual_(problem.residual),
          emulated_(device->info().emulated),
          prepared_(std::move(device), plan, prepared) {
        if (tmmPlanWorkspaceSize(plan_, &workspace_) != TMM_STATUS_SUCCESS) workspace_ = 0;
    }
    ~TunedContestant() override { tmmPlanDestroy(plan_); }
    TunedContestant(const TunedContestant&) = delete;
    TunedContestant& operator=(const TunedContestant&) = delete;

    void enqueue(const GemmCall& call, Stream stream) override {
        const CallScalar alpha(compute_, call.alpha);
        const CallScalar beta(compute_, call.beta);
        tmmGemmArgs_t args{};
        args.struct_size = sizeof args;
        args.alpha = alpha.address();
        args.beta = beta.address();
        args.a = call.a;
        args.b = call.b;
        args.c = call.c;
        args.bias = has_bias_ ? call.bias : nullptr;
        args.prepared_a = prepared_.of(TMM_OPERAND_A, call.a);
        args.prepared_b = prepared_.of(TMM_OPERAND_B, call.b);
        args.residual = has_residual_ ? call.residual : nullptr;
        std::copy(std::begin(call.parameters), std::end(call.parameters), args.parameters);
        const tmmStatus_t status = tmmPlanRun(plan_, static_cast<CUstream_st*>(stream), &args);
        if (status != TMM_STATUS_SUCCESS) throw std::runtime_error(fmt::format("tmmPlanRun: {}", tmmStatusString(status)));
    }
    std::int64_t workspace_bytes() const override { return static_cast<std::int64_t>(workspace_); }

    // A handle on the emulated device owns a device of its own, whose launches no other device records; they end when the call does.
    std::unique_ptr<Replay> record(Device& device, const std::vector<GemmCall>& calls) override {
        // While it is recorded nothing may be allocated.
        for (const GemmCall& call : calls) {
            prepared_.of(TMM_OPERAND_A, call.a);
            prepared_.of(TMM_OPERAND_B, call.b);
        }
        if (!emulated_) return Contestant::record(device, calls);
        return std::make_unique<HostReplay>([this, calls] {
            for (const GemmCall& call : calls) enqueue(call, nullptr);
        });
    }

private:
    tmmPlan_t plan_;
    ComputeMode compute_;
    // The calls may be those of a problem with more operands.
    bool has_bias_;
    bool has_residual_;
    bool emulated_;
    PreparedOperands prepared_;
    std::size_t workspace_ = 0;
};

// The rest of the line that begins with "<key>: ".
std::string described(const std::string& text, const std::string& key) {
    const std::string start = key + ": ";
    for (std::size_t line = 0; line < text.size();) {
        const std::size_t end = std::min(text.find('\n', line), text.size());
        if (text.compare(line, start.size(), start) == 0) return text.substr(line + start.size(), end - line - start.size());
        line = end + 1;
    }
    return {};
}

}  // namespace

TunedLibrary::TunedLibrary(int ordinal, std::shared_ptr<Device> device, const std::filesystem::path& database,
                           std::optional<std::int64_t> max_workspace, const std::string& prepared)
    : handle_(std::make_shared<Handle>()), max_workspace_(max_workspace) {
    handle_->device = std::move(device);
    handle_->prepared = prepared;
    const tmmStatus_t status = tmmCreate(&handle_->value, ordinal, database.c_str());
    if (status != TMM_STATUS_SUCCESS) throw Error(ExitStatus::no_device, handle_->message(status, "tmmCreate"));
    // The library reads the database for its first problem, and what it has to say of it would break into that problem's line.
    const tmmGemmProblem_t smallest = in_c(GemmProblem{.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1});
    char text[1];
    static_cast<void>(tmmProblemDescribe(handle_->value, &smallest, text, sizeof text));
}
TunedLibrary::~TunedLibrary() = default;

void TunedLibrary::allow_tuning() const {
    handle_->check(tmmSetTuning(handle_->value, 1), "tmmSetTuning");
}

TunedPlan TunedLibrary::plan(const GemmProblem& problem, const std::string& expression) const {
    tmmGemmProblem_t wanted = in_c(problem);
    if (problem.epilogue == Epilogue::custom) {
        wanted.epilogue = TMM_EPILOGUE_CUSTOM;
        wanted.expression = expression.c_str();
    }
    if (max_workspace_) wanted.max_workspace = static_cast<std::size_t>(*max_workspace_);
    tmmPlan_t plan = nullptr;
    handle_->check(tmmPlanCreate(handle_->value, &wanted, &plan), "tmmPlanCreate");
    TunedPlan result{.contestant = std::make_unique<TunedContestant>(plan, problem, handle_->device, handle_->prepared),
                     .config = {},
                     .match = {},
                     .why = {}};
    char text[4096] = {};
    handle_->check(tmmPlanDescribe(plan, text, sizeof text), "tmmPlanDescribe");
    result.config = described(text, "config");
    result.match = described(text, "match");
    result.why = described(text, "why");
    return result;
}

}  // namespace tmm::bench
