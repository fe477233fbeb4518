#include "tests/support/kernels/mutation_run.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/plan/launch_plan.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/plan_testing.h"

namespace tmm::testing {
namespace {

constexpr const char* kOrders[] = {"ascending", "descending", "shuffled:1"};

// Bytes between pages that no one may touch, as close to the upper one as 16-byte alignment allows.
class Fenced {
public:
    explicit Fenced(i64 bytes) : bytes_(static_cast<std::size_t>(bytes)) {
        const std::size_t inner = (bytes_ + kFence - 1) / kFence * kFence;
        total_ = inner + 2 * kFence;
        memory_ = static_cast<char*>(mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (memory_ == MAP_FAILED || (inner && mprotect(memory_ + kFence, inner, PROT_READ | PROT_WRITE) != 0)) throw std::bad_alloc();
        std::memset(memory_ + kFence, kFill, inner);
        data_ = memory_ + kFence + inner - (bytes_ + 15) / 16 * 16;
    }
    ~Fenced() { munmap(memory_, total_); }
    Fenced(const Fenced&) = delete;
    Fenced& operator=(const Fenced&) = delete;

    char* data() const { return data_; }
    // True where all between the fences but [data, data + bytes) is as it was.
    bool rest_unchanged() const {
        const auto untouched = [](const char* from, const char* to) {
            for (; from != to; ++from)
                if (*from != kFill) return false;
            return true;
        };
        return untouched(memory_ + kFence, data_) && untouched(data_ + bytes_, memory_ + total_ - kFence);
    }

private:
    static constexpr std::size_t kFence = 1 << 20;
    // The fill byte makes a NaN in elements of every type.
    static constexpr char kFill = '\xff';
    std::size_t bytes_;
    std::size_t total_ = 0;
    char* memory_ = nullptr;
    char* data_ = nullptr;
};

// Values of the 16-bit types: integers here, which f16 holds up to 2048; to bf16 they are rounded.
float read_element(ElementType type, const char* from) {
    if (type == ElementType::s8) return static_cast<float>(static_cast<signed char>(*from));
    if (type == ElementType::s32) {
        std::int32_t value;
        std::memcpy(&value, from, sizeof value);
        return static_cast<float>(value);
    }
    if (type == ElementType::f64) {
        double value;
        std::memcpy(&value, from, sizeof value);
        return static_cast<float>(value);
    }
    if (type == ElementType::f32) {
        float value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    std::uint16_t bits;
    std::memcpy(&bits, from, sizeof bits);
    if (type == ElementType::bf16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
    const int exponent = bits >> 10 & 31;
    const float magnitude = exponent == 31  ? std::numeric_limits<float>::quiet_NaN()
                            : exponent == 0 ? std::ldexp(static_cast<float>(bits & 1023), -24)
                                            : std::ldexp(static_cast<float>(1024 + (bits & 1023)), exponent - 25);
    return bits >> 15 ? -magnitude : magnitude;
}
void write_element(ElementType type, char* to, float value) {
    const auto whole = static_cast<std::int32_t>(value);
    if (type == ElementType::s8 || type == ElementType::s32) {
        // The lower bytes come first.
        std::memcpy(to, &whole, static_cast<std::size_t>(size_of(type)));
        return;
    }
    if (type == ElementType::f64) {
        const double wide = value;
        std::memcpy(to, &wide, sizeof wide);
        return;
    }
    if (type == ElementType::f32) {
        std::memcpy(to, &value, sizeof value);
        return;
    }
    std::uint16_t bits = 0;
    if (type == ElementType::bf16) {
        const auto wide = std::bit_cast<std::uint32_t>(value);
        bits = static_cast<std::uint16_t>((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    } else if (value != 0) {
        const int exponent = std::ilogb(value);
        const int fraction = static_cast<int>(std::ldexp(std::abs(value), 10 - exponent)) - 1024;
        bits = static_cast<std::uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
    }
    std::memcpy(to, &bits, sizeof bits);
}
// The value that is left when it is stored in an element of the type.
float rounded_to(ElementType type, float value) {
    char element[8];
    write_element(type, element, value);
    return read_element(type, element);
}

// batch matrices of rows x columns, small integers; all between the rows is NaN.
struct Matrix {
    ElementType type;
    i64 rows, columns, ld, stride, batch;
    Fenced memory;

    Matrix(ElementType its_type, i64 its_rows, i64 its_columns, i64 its_ld, i64 its_stride, i64 its_batch)
        : type(its_type),
          rows(its_rows),
          columns(its_columns),
          ld(its_ld),
          stride(its_stride),
          batch(its_batch),
          memory(rows > 0 && columns > 0 ? ((batch - 1) * stride + (rows - 1) * ld + columns) * size_of(type) : 0) {}

    char* place(i64 member, i64 row, i64 column) const { return memory.data() + (member * stride + row * ld + column) * size_of(type); }
    float at(i64 member, i64 row, i64 column) const { return read_element(type, place(member, row, column)); }
    template <class Value>
    void fill(Value&& value) const {
        for (i64 member = 0; member < batch; ++member)
            for (i64 row = 0; row < rows; ++row)
                for (i64 column = 0; column < columns; ++column) write_element(type, place(member, row, column), value());
    }
};

struct Launch {
    LaunchPlan plan;
    LaunchStep step;
    GemmCall call;
};

// A plan's steps. In place of wgmma, naive multiplies what the steps before it have left.
std::vector<Launch> launches_of(const LaunchPlan& plan, const GemmCall& call) {
    std::vector<Launch> launches;
    for (const LaunchStep& step : plan.steps) {
        if (!is_of_family(step, family::wgmma)) {
            launches.push_back({plan, step, call});
            continue;
        }
        alignas(64) std::byte arguments[kMaxArgumentBytes];
        bind_step(plan, step, call, arguments);
        GemmArgs args;
        std::memcpy(&args, arguments, sizeof args);
        GemmProblem padded = plan.problem;
        padded.op_a = step.signature.op_a;
        padded.op_b = step.signature.op_b;
        padded.lda = args.lda;
        padded.ldb = args.ldb;
        padded.stride_a = args.stride_a;
        padded.stride_b = args.stride_b;
        GemmCall product = call;
        product.a = args.a;
        product.b = args.b;
        const LaunchPlan naive = make_launch_plan(padded, fallback_config(), host_device_info());
        launches.push_back({naive, naive.steps.front(), product});
    }
    return launches;
}

// Says in one line what is wrong with the result; empty where nothing is.
std::string run_size(const Case& one, const Case::Size& size, const Compiler& compiler, std::map<std::string, CompiledKernel>& compiled) {
    const GemmProblem problem = problem_of(one, size);
    GemmProblem asked = problem;
    if (one.pointers) asked.stride_a = asked.stride_b = asked.stride_c = 0;
    const LaunchPlan plan = make_launch_plan(asked, one.config, device_of(one));
    const auto compile = [&](const KernelSource& source) {
        if (compiled.contains(source.name)) return;
        CompileResult result = compiler.compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&result)) throw CompileError{failure->log};
        compiled.emplace(source.name, std::get<CompiledKernel>(std::move(result)));
    };

    std::mt19937 random(static_cast<unsigned>(size.m * 10007 + size.n * 101 + size.k));
    const auto small = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); };
    const Matrix a(one.type, stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.stride_a, problem.batch);
    const Matrix b(one.type, stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.stride_b, problem.batch);
    a.fill(small);
    b.fill(small);
    const auto op_a = [&](i64 member, i64 i, i64 k) -> double {
        return one.op_a == Operation::none ? a.at(member, i, k) : a.at(member, k, i);
    };
    const auto op_b = [&](i64 member, i64 k, i64 j) -> double {
        return one.op_b == Operation::none ? b.at(member, k, j) : b.at(member, j, k);
    };

    // Addresses lead from the first of A and B to the last of C.
    const auto factors_of = [&](i64 member) { return one.pointers ? problem.batch - 1 - member : member; };
    for (const double beta : {0.0, -1.0}) {
        if (beta != 0 && !one.reads_c) continue;
        for (const char* order : kOrders) {
            const Matrix c(one.type_c, problem.m, problem.n, problem.ldc, problem.stride_c, problem.batch);
            const Matrix padding(one.type_c, problem.m, problem.n, problem.ldc, problem.stride_c, problem.batch);
            if (beta != 0) c.fill(small);
            std::vector<double> expected;
            for (i64 member = 0; member < problem.batch; ++member)
                for (i64 i = 0; i < problem.m; ++i)
                    for (i64 j = 0; j < problem.n; ++j) {
                        double sum = 0;
                        for (i64 k = 0; k < problem.k; ++k) sum += op_a(factors_of(member), i, k) * op_b(factors_of(member), k, j);
                        expected.push_back(2 * sum + (beta != 0 ? beta * c.at(member, i, j) : 0));
                    }
            const auto place = [&](i64 member, i64 i, i64 j) { return static_cast<std::size_t>((member * problem.m + i) * problem.n + j); };
            for (i64 member = 0; member < problem.batch && one.result != Result::full; ++member)
                for (i64 i = 0; i < problem.m; ++i)
                    for (i64 j = 0; j < problem.n; ++j) {
                        const bool computed = one.result == Result::upper ? j >= i : j <= i;
                        if (!computed && one.result == Result::symmetric) expected[place(member, i, j)] = expected[place(member, j, i)];
                        if (!computed && one.result != Result::symmetric) expected[place(member, i, j)] = c.at(member, i, j);
                    }
            std::vector<void*> addresses[3];
            for (i64 member = 0; member < problem.batch; ++member) {
                addresses[0].push_back(a.place(member, 0, 0));
                addresses[1].push_back(b.place(member, 0, 0));
                addresses[2].push_back(c.place(problem.batch - 1 - member, 0, 0));
            }
            const Fenced workspace(plan.workspace_bytes);
            const auto device = make_host_device(order);
            GemmCall call{
                .a = a.memory.data(), .b = b.memory.data(), .c = c.memory.data(), .workspace = workspace.data(), .alpha = 2, .beta = beta};
            if (one.pointers) {
                call.a = addresses[0].data();
                call.b = addresses[1].data();
                call.c = addresses[2].data();
            }
            for (const auto& [its_plan, step, its_call] : launches_of(plan, call)) {
                const KernelSource source = make_kernel_source(step.signature, step.kernel);
                compile(source);
                const auto kernel = device->load(compiled.at(source.name), source.name);
                alignas(64) std::byte arguments[kMaxArgumentBytes];
                const std::size_t bytes = bind_step(its_plan, step, its_call, arguments);
                const bool fewer = one.side_grid && !is_of_family(step, one.config.family) && !is_of_family(step, family::naive);
                try {
                    LaunchShape launched = shape_of(step);
                    if (fewer) launched.grid = one.side_grid;
                    device->launch(*kernel, launched, arguments, bytes, nullptr);
                } catch (const std::exception& error) {
                    return fmt::format("{}, {}: {}", one.name, order, error.what());
                }
            }
            std::size_t index = 0;
            for (i64 member = 0; member < problem.batch; ++member)
                for (i64 i = 0; i < problem.m; ++i)
                    for (i64 j = 0; j < problem.n; ++j, ++index) {
                        const float got = c.at(member, i, j);
                        // What is not wanted of C stays NaN.
                        const bool both_unwritten = std::isnan(got) && std::isnan(expected[index]);
                        if (!both_unwritten && got != rounded_to(one.type_c, static_cast<float>(expected[index])))
                            return fmt::format("{}, {}, {}x{}x{}: C[{}][{}][{}] = {}, expected {}", one.name, order, size.m, size.n, size.k,
                                               member, i, j, got, expected[index]);
                        std::memcpy(c.place(member, i, j), padding.place(member, i, j), static_cast<std::size_t>(size_of(one.type_c)));
                    }
            // Apart from its elements, C's memory must be what it was before the launch.
            const std::size_t bytes = static_cast<std::size_t>(
                ((problem.batch - 1) * problem.stride_c + (problem.m - 1) * problem.ldc + problem.n) * size_of(one.type_c));
            if (std::memcmp(c.memory.data(), padding.memory.data(), bytes) != 0)
                return fmt::format("{}, {}: written between the rows of C", one.name, order);
            for (const Fenced* fenced : {&a.memory, &b.memory, &c.memory, &workspace})
                if (!fenced->rest_unchanged()) return fmt::format("{}, {}: written outside of a matrix", one.name, order);
        }
    }
    return "";
}

}  // namespace

std::string run_case(const Case& one, const Compiler& compiler) {
    std::map<std::string, CompiledKernel> compiled;
    for (const Case::Size& size : one.sizes)
        if (std::string wrong = run_size(one, size, compiler, compiled); !wrong.empty()) return wrong;
    return "";
}

}  // namespace tmm::testing
