#include "tests/support/kernels/epilogues.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/families/product_problem.h"
#include "generator/plan/launch_plan.h"
#include "generator/steps/steps.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/device/sanitizer.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/temporary_directory.h"

namespace tmm::testing {
namespace {

// Whole numbers from -most to most.
int whole(std::uint64_t seed, i64 index, int most) {
    std::uint64_t x = (seed + 1) * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(index) * 0xBF58476D1CE4E5B9U;
    x ^= x >> 29;
    x *= 0x94D049BB133111EBU;
    return static_cast<int>((x >> 33) % static_cast<std::uint64_t>(2 * most + 1)) - most;
}

std::uint32_t bits_of(ElementType type, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (type == ElementType::f32) return bits;
    if (type == ElementType::bf16) return bits >> 16;
    if (value == 0) return 0;
    return (bits >> 16 & 0x8000U) | ((bits & 0x7fffffffU) - 0x38000000U) >> 13;
}

double value_of(ElementType type, std::uint32_t bits) {
    if (type == ElementType::f32) return std::bit_cast<float>(bits);
    if (type == ElementType::bf16) return std::bit_cast<float>(bits << 16);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    if (exponent == 31) return fraction != 0 ? std::nan("") : std::numeric_limits<double>::infinity() * (bits >> 15 ? -1 : 1);
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

// A matrix, or a vector, of exactly as many bytes as a kernel may touch: AddressSanitizer sees an access to the room about them, in which
// they are aligned. offset: how many elements the first one stands behind an aligned address, no more than the room holds.
class Elements {
public:
    Elements(const std::shared_ptr<Device>& device, ElementType type, i64 count, int offset = 0)
        : device_(device),
          type_(type),
          offset_(static_cast<std::size_t>(offset * size_of(type))),
          bytes_(static_cast<std::size_t>(count * size_of(type)) + 2 * kRoom, std::byte{0xff}) {
        const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
        const std::size_t before = (kRoom - address % kRoom) % kRoom + offset_;
        first_ = bytes_.data() + before;
        sanitizer::poison(bytes_.data(), before);
        sanitizer::poison(first_ + size(), 2 * kRoom - before);
    }
    ~Elements() { sanitizer::unpoison(bytes_.data(), bytes_.size()); }
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    // Where a kernel finds it, with what has been set.
    void* on_device() {
        if (device_->info().emulated) return first_;
        if (!copy_) copy_.emplace(device_, offset_ + size());
        device_->copy_to_device(first_of_copy(), first_, size());
        return first_of_copy();
    }
    void fetch() {
        if (copy_) device_->copy_to_host(first_, first_of_copy(), size());
    }
    void set(i64 index, float value) {
        const std::uint32_t bits = bits_of(type_, value);
        std::memcpy(first_ + index * size_of(type_), &bits, bytes_of_element());
    }
    double operator[](i64 index) const {
        std::uint32_t bits = 0;
        std::memcpy(&bits, first_ + index * size_of(type_), bytes_of_element());
        return value_of(type_, bits);
    }

private:
    static constexpr std::size_t kRoom = 256;

    // Elements are of 32 bits or fewer here.
    std::size_t bytes_of_element() const { return std::min(sizeof(std::uint32_t), static_cast<std::size_t>(size_of(type_))); }
    std::size_t size() const { return bytes_.size() - 2 * kRoom; }
    std::byte* first_of_copy() { return static_cast<std::byte*>(copy_->data()) + offset_; }

    std::shared_ptr<Device> device_;
    std::optional<DeviceBuffer> copy_;
    ElementType type_;
    std::size_t offset_;
    std::vector<std::byte> bytes_;
    std::byte* first_;
};

double activated(Activation activation, double x) {
    switch (activation) {
        case Activation::none: return x;
        case Activation::relu: return x < 0 ? 0 : x;
        case Activation::gelu: return x / 2 * std::erfc(-x / std::sqrt(2.0));
        case Activation::gelu_tanh: return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
        case Activation::silu: return x / (1 + std::exp(-x));
        case Activation::sigmoid: return 1 / (1 + std::exp(-x));
        case Activation::tanh: return std::tanh(x);
        // A gate has two arguments.
        case Activation::swiglu:
        case Activation::swiglu_rows: break;
    }
    return std::nan("");
}

// The writer's problem with an epilogue; what it multiplies stays as large where a gate takes two columns, or rows, for one.
GemmProblem epilogued_problem(const Writer& writer, const std::string& text) {
    std::string shape = writer.shape;
    if (text.find("swiglu") != std::string::npos) {
        const bool of_rows = text.find("swiglu_rows") != std::string::npos;
        const std::size_t begin = of_rows ? 0 : shape.find('x') + 1, end = shape.find('x', begin);
        shape.replace(begin, end - begin, std::to_string((std::stoi(shape.substr(begin, end - begin)) + 1) / 2));
        if (const std::size_t beta = shape.find(" beta=1"); beta != std::string::npos) shape.erase(beta, 7);
    }
    return parse_shape(fmt::format("{} {}", shape, text)).problem;
}

}  // namespace

std::string wrong_element(const Writer& writer, const Epilogued& epilogue, const std::shared_ptr<Device>& device,
                          const DeviceInfo& planned_for, const std::shared_ptr<const Compiler>& compiler, EpiloguePlace place,
                          int offset_of_bias) {
    GemmProblem problem = epilogued_problem(writer, epilogue.text);
    if (!epilogue.expression.empty()) problem.epilogue = Epilogue::custom;
    const KernelConfig config = parse_config(writer.config);
    if (place == EpiloguePlace::step && !step_can_finish(problem)) return "invalid: its sums are no floats";
    if (const auto invalid = why_invalid(product_problem(problem, config, place), config, planned_for)) return "invalid: " + *invalid;
    const TemporaryDirectory directory;
    KernelLoader loader(device, compiler, KernelCache(directory.path() / "kernels"));
    auto made = ExecutablePlan::make(make_launch_plan(problem, config, planned_for, {.text = epilogue.expression}, place), loader);
    if (const auto* failure = std::get_if<CompileFailure>(&made)) return "does not compile: " + failure->log;
    const ExecutablePlan& plan = std::get<ExecutablePlan>(made);

    const auto last = [&](i64 rows, i64 columns, i64 ld, i64 stride) { return (problem.batch - 1) * stride + (rows - 1) * ld + columns; };
    Elements a(device, problem.type_a, last(stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.stride_a));
    Elements b(device, problem.type_b, last(stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.stride_b));
    const i64 height = rows_of_c(problem);
    const i64 width = columns_of_c(problem);
    const i64 elements_of_c = last(height, width, problem.ldc, problem.stride_c);
    Elements c(device, problem.type_c, elements_of_c);
    Elements bias(device, problem.type_bias, elements_of_bias(problem), offset_of_bias);
    Elements residual(device, problem.type_c, problem.residual ? last(height, width, problem.ldr, problem.stride_r) : 1);
    Elements workspace(device, ElementType::f32, std::max<i64>(1, plan.plan().workspace_bytes / size_of(ElementType::f32)));
    const auto for_each = [&](i64 rows, i64 columns, i64 ld, i64 stride, auto&& visit) {
        for (i64 batch = 0; batch < problem.batch; ++batch)
            for (i64 row = 0; row < rows; ++row)
                for (i64 column = 0; column < columns; ++column) visit(batch, row, column, batch * stride + row * ld + column);
    };
    const auto fill = [&](Elements& matrix, std::uint64_t seed, i64 rows, i64 columns, i64 ld, i64 stride, int most) {
        for_each(rows, columns, ld, stride, [&](i64, i64, i64, i64 at) { matrix.set(at, static_cast<float>(whole(seed, at, most))); });
    };
    fill(a, 1, stored_rows_a(problem), stored_columns_a(problem), problem.lda, problem.stride_a, 1);
    fill(b, 2, stored_rows_b(problem), stored_columns_b(problem), problem.ldb, problem.stride_b, 1);
    if (problem.reads_c) fill(c, 3, height, width, problem.ldc, problem.stride_c, 3);
    if (problem.residual) fill(residual, 4, height, width, problem.ldr, problem.stride_r, 5);
    for (i64 i = 0; i < elements_of_bias(problem); ++i) bias.set(i, static_cast<float>(whole(5, i, 6)) / 2);
    std::vector<double> before;
    for (i64 i = 0; i < elements_of_c; ++i) before.push_back(c[i]);
    if (writer.unfit) {
        a.set(0, 0x1p100f);
        a.set(1, 0x1p-100f);
    }
    const double alpha = 0.5;
    GemmCall call{.a = a.on_device(),
                  .b = b.on_device(),
                  .c = c.on_device(),
                  .bias = problem.bias != BiasAxis::none ? bias.on_device() : nullptr,
                  .residual = problem.residual ? residual.on_device() : nullptr,
                  .workspace = workspace.on_device(),
                  .alpha = alpha,
                  .beta = problem.reads_c ? 2.0 : 0.0,
                  .parameters = {0.25f, -1, 2, 3}};
    plan.run(call, nullptr);
    device->synchronize();
    c.fetch();

    std::string wrong;
    std::vector<bool> is_element(static_cast<std::size_t>(elements_of_c));
    for_each(height, width, problem.ldc, problem.stride_c, [&](i64 batch, i64 row, i64 column, i64 at) {
        is_element[static_cast<std::size_t>(at)] = true;
        // The row that does not fit planes has sums of its own.
        if (!wrong.empty() || (writer.unfit && row == 0)) return;
        const auto sum_of = [&](i64 of_a, i64 of_b) {
            double sum = 0;
            for (i64 k = 0; k < problem.k; ++k)
                sum += a[batch * problem.stride_a + (problem.op_a == Operation::none ? of_a * problem.lda + k : k * problem.lda + of_a)] *
                       b[batch * problem.stride_b + (problem.op_b == Operation::none ? k * problem.ldb + of_b : of_b * problem.ldb + k)];
            return sum;
        };
        const auto bias_of = [&](i64 of_a, i64 of_b) {
            return problem.bias == BiasAxis::none ? 0 : bias[problem.bias == BiasAxis::rows ? of_a : of_b];
        };
        const bool gate = is_gate(problem.activation);
        // The place in the product of what a gate is for.
        const bool of_rows = problem.activation == Activation::swiglu_rows;
        const i64 below = of_rows ? height + row : row;
        const i64 behind = of_rows ? column : width + column;
        const double x = alpha * sum_of(row, column) + (problem.reads_c ? 2.0 * before[static_cast<std::size_t>(at)] : 0.0);
        const double its_bias = bias_of(row, column);
        const double gated = gate ? alpha * sum_of(below, behind) + bias_of(below, behind) : 1;
        const double its_residual = problem.residual ? residual[batch * problem.stride_r + row * problem.ldr + column] : 0;
        const double expected = epilogue.value
                                    ? epilogue.value(x, static_cast<double>(row), static_cast<double>(column), static_cast<double>(batch),
                                                     its_bias, its_residual, call.parameters)
                                    : activated(gate ? Activation::silu : problem.activation, x + its_bias) * gated + its_residual;
        // f's own error, and the rounding to C's type (docs/epilogues.md).
        const double unit = problem.type_c == ElementType::f32 ? 0x1p-21 : problem.type_c == ElementType::f16 ? 0x1p-11 : 0x1p-8;
        const double smallest = problem.type_c == ElementType::f16 ? 0x1p-25 : 0;
        const bool is_exact =
            problem.type_c == ElementType::f32 && (problem.activation == Activation::none || problem.activation == Activation::relu);
        const double allowed =
            is_exact ? 0 : unit * (std::abs(expected) + std::abs(its_residual)) + 0x1p-22 * std::abs((x + its_bias) * gated) + smallest;
        if (!(std::abs(c[at] - expected) <= allowed))
            wrong = fmt::format("C[{}][{}][{}] is {}, not {}", batch, row, column, c[at], expected);
    });
    for (i64 i = 0; i < elements_of_c; ++i)
        if (wrong.empty() && !is_element[static_cast<std::size_t>(i)] && !std::isnan(c[i])) wrong = "C changed between its elements";
    return wrong;
}

const std::vector<const char*>& shapes_behind_product() {
    static const auto* const list = new std::vector<const char*>{
        "70x264x9 dtype=bf16 align=16",
        "70x267x9 dtype=bf16 ldc=272 align=16",
        "33x100x9 dtype=f16 ldc=102 batch=2",
        "45x75x9",
        "45x76x9 ldc=78 batch=2 beta=1",
        "70x132x9 align=16 beta=1",
        "300x5x8 dtype=bf16 ctype=f32",
        "1x1100x9 dtype=bf16 align=16 beta=1",
        "600x1x8",
        "1x1x3 dtype=f16 beta=1",
        "70x272x9 dtype=f16 batch=3 beta=1 align=16",
    };
    return *list;
}

const std::vector<Epilogued>& epilogues() {
    static const auto* const list = new std::vector<Epilogued>{
        {"epilogue=bias bias_type=f32"},
        {"epilogue=bias_rows+relu"},
        {"epilogue=residual"},
        {"epilogue=bias+gelu+residual bias_type=bf16"},
        {"epilogue=gelu_tanh"},
        {"epilogue=bias_rows+silu bias_type=f16"},
        {"epilogue=sigmoid+residual"},
        {"epilogue=tanh"},
        {"epilogue=bias+relu+residual"},
        {"epilogue=swiglu"},
        {"epilogue=bias+swiglu+residual bias_type=f32"},
        {"epilogue=bias_rows+swiglu bias_type=f16"},
        {"epilogue=swiglu_rows"},
        {"epilogue=bias_rows+swiglu_rows+residual bias_type=f32"},
        {"epilogue=bias+swiglu_rows bias_type=f16"},
        {"epilogue=none", "row * 0.5f + column - 4 * batch",
         [](double, double row, double column, double batch, double, double, const float*) { return row / 2 + column - 4 * batch; }},
        {"epilogue=bias+residual", "fmaxf(x + bias, p0) * p2 - residual * p3 + p1",
         [](double x, double, double, double, double bias, double residual, const float* p) {
             return std::max<double>(x + bias, p[0]) * p[2] - residual * p[3] + p[1];
         }},
    };
    return *list;
}

// Rows of the residual have room between them.
std::string with_room(const std::string& text, const Writer& writer) {
    if (text.find("residual") == std::string::npos) return text;
    const GemmProblem problem = parse_shape(writer.shape).problem;
    return fmt::format("{} ldr={} {}", text, problem.n + 5,
                       problem.batch > 1 ? fmt::format("stride_r={}", (problem.n + 5) * problem.m + 3) : "");
}

}  // namespace tmm::testing
