// The steps around a product of planes, on the emulated device: what the planes hold, which lines are unfit, who computes then.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "generator/assumed_device.h"
#include "generator/launch_plan.h"
#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "generator/text.h"
#include "runtime/host_device.h"
#include "tmm/planes.h"
#include "tmm/rescue.h"
#include "tmm/wgmma.h"

using namespace tmm;

namespace {

KernelConfig config_of(int planes) {
    return parse_config(fmt::format(
        "family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2,planes={},promote_k=64",
        planes));
}

double value_of(ElementType type, unsigned bits) {
    if (type == ElementType::bf16) return static_cast<double>(std::bit_cast<float>(bits << 16));
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const int fraction = static_cast<int>(bits & 0x3ff);
    return ((bits & 0x8000) != 0 ? -1 : 1) * std::ldexp(exponent == 0 ? fraction : fraction + 0x400, std::max(exponent, 1) - 25);
}

// The steps of a plan for compute capability 9.0, but for the product itself, run on the emulated device.
class Steps {
public:
    Steps(const GemmProblem& problem, int planes) : problem_(problem), planes_(planes), plan_(make_plan()) {
        for (const LaunchStep& step : plan_.steps) {
            if (step.config.family == family::wgmma) {
                kernels_.emplace_back();
                continue;
            }
            const KernelSource source = make_kernel_source(step.signature, step.config);
            const CompileResult compiled = compiler_->compile(source);
            if (const auto* failure = std::get_if<CompileFailure>(&compiled)) FAIL(failure->log);
            kernels_.push_back(device_->load(std::get<CompiledKernel>(compiled), source.name, step.shared_bytes));
        }
        workspace_ = DeviceBuffer(device_, static_cast<std::size_t>(plan_.workspace_bytes));
        std::vector<std::byte> poison(workspace_.bytes(), std::byte{0xff});
        device_->copy_to_device(workspace_.data(), poison.data(), poison.size());
    }

    // a and b as they are stored; c is read and written.
    void run(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c, double alpha = 1) {
        const auto on_device = [&](const std::vector<float>& values) {
            DeviceBuffer buffer(device_, values.size() * 4);
            device_->copy_to_device(buffer.data(), values.data(), buffer.bytes());
            return buffer;
        };
        const DeviceBuffer device_a = on_device(a), device_b = on_device(b), device_c = on_device(c);
        const GemmCall call{.a = alpha == 0 ? nullptr : device_a.data(),
                            .b = alpha == 0 ? nullptr : device_b.data(),
                            .c = device_c.data(),
                            .workspace = workspace_.data(),
                            .alpha = alpha};
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            const LaunchStep& step = plan_.steps[i];
            alignas(64) std::byte arguments[kMaxArgumentBytes];
            const std::size_t bytes = step.bind(step, problem_, call, arguments);
            if (step.config.family == family::wgmma) {
                std::memcpy(&product_, arguments, sizeof product_);
                maps_ = step.tensor_maps(step, arguments);
            } else {
                device_->launch(*kernels_[i], {.grid = step.grid, .threads = step.threads, .shared_bytes = step.shared_bytes}, arguments,
                                bytes, nullptr);
            }
        }
        device_->copy_to_host(c.data(), device_c.data(), device_c.bytes());
    }

    unsigned unfit() const {
        unsigned mark = 0;
        device_->copy_to_host(&mark, product_.unfit, sizeof mark);
        return mark;
    }
    // The number that the planes of an element stand for; element: of the stored operand.
    double recombined(bool of_a, i64 member, i64 row, i64 column) const {
        const ElementType type = planes::type_of(planes_);
        const i64 rows = of_a ? stored_rows_a(problem_) : stored_rows_b(problem_);
        const i64 ld = of_a ? product_.lda : product_.ldb;
        double sum = 0;
        for (int plane = planes_ - 1; plane >= 0; --plane) {
            const auto* const first = static_cast<const std::uint16_t*>(of_a ? product_.a : product_.b);
            std::uint16_t bits = 0;
            device_->copy_to_host(&bits, first + ((member * planes_ + plane) * rows + row) * ld + column, sizeof bits);
            sum += value_of(type, bits) * (planes_ == 2 && plane == 1 ? 0x1p-11 : 1.0);
        }
        const bool line_is_row = of_a ? problem_.op_a == Operation::none : problem_.op_b == Operation::transpose;
        const i64 lines = of_a ? problem_.m : problem_.n;
        int exponent = 0;
        device_->copy_to_host(&exponent,
                              (of_a ? product_.exponents_left : product_.exponents_right) + member * lines + (line_is_row ? row : column),
                              sizeof exponent);
        return std::ldexp(sum, exponent);
    }

    const LaunchPlan& plan() const { return plan_; }
    const WgmmaArgs& product() const { return product_; }
    const TensorMapRequests& maps() const { return maps_; }
    const DeviceBuffer& workspace() const { return workspace_; }

private:
    LaunchPlan make_plan() const {
        CHECK(why_invalid(problem_, config_of(planes_), assumed_device("90")).value_or("") == "");
        return make_launch_plan(problem_, config_of(planes_), assumed_device("90"));
    }

    GemmProblem problem_;
    int planes_;
    std::shared_ptr<Device> device_ = make_host_device("shuffled:5");
    std::shared_ptr<const Compiler> compiler_ = make_host_compiler();
    LaunchPlan plan_;
    std::vector<std::shared_ptr<const LoadedKernel>> kernels_;
    DeviceBuffer workspace_;
    WgmmaArgs product_;
    TensorMapRequests maps_;
};

std::vector<float> normal_values(i64 count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(random);
    return values;
}

// A x B with whatever Inf and NaN do, k in order.
std::vector<float> product_of(const std::vector<float>& a, const std::vector<float>& b, i64 m, i64 n, i64 k) {
    std::vector<float> c(static_cast<std::size_t>(m * n));
    for (i64 i = 0; i < m; ++i)
        for (i64 j = 0; j < n; ++j) {
            float sum = 0;
            for (i64 p = 0; p < k; ++p) sum = std::fma(a[static_cast<std::size_t>(i * k + p)], b[static_cast<std::size_t>(p * n + j)], sum);
            c[static_cast<std::size_t>(i * n + j)] = sum;
        }
    return c;
}

}  // namespace

TEST_CASE("the planes of an element add up to it: with f16 to 23 bits, with bf16 exactly, whatever the layout and the scale of its line") {
    std::mt19937 random(3);
    for (const int planes : {2, 3}) {
        for (const char* shape : {"67x5x300 ops=nn", "67x131x70 ops=nt lda=73", "33x130x9 ops=tn align=4 lda=35 ldb=131",
                                  "130x66x133 ops=tt batch=2", "1x1x1 batch=3"}) {
            CAPTURE(planes);
            CAPTURE(std::string(shape));
            const GemmProblem problem = parse_shape(shape).problem;
            Steps steps(problem, planes);
            const i64 members = problem.batch;
            const auto operand = [&](bool of_a) {
                const i64 rows = of_a ? stored_rows_a(problem) : stored_rows_b(problem);
                const i64 columns = of_a ? stored_columns_a(problem) : stored_columns_b(problem);
                const i64 ld = of_a ? problem.lda : problem.ldb;
                const i64 stride = of_a ? problem.stride_a : problem.stride_b;
                std::vector<float> values = normal_values((members - 1) * stride + (rows - 1) * ld + columns, of_a ? 1 : 2);
                const bool line_is_row = of_a ? problem.op_a == Operation::none : problem.op_b == Operation::transpose;
                // Lines far apart in size, from next to the largest float to next to the smallest; one of them is 0.
                for (i64 member = 0; member < members; ++member)
                    for (i64 row = 0; row < rows; ++row)
                        for (i64 column = 0; column < columns; ++column) {
                            const i64 line = line_is_row ? row : column;
                            float& value = values[static_cast<std::size_t>(member * stride + row * ld + column)];
                            value = line == 2 ? 0.0f
                                              : std::ldexp(value, line == 0   ? 124
                                                                  : line == 1 ? -100
                                                                              : static_cast<int>(line % 40) - 20);
                        }
                return values;
            };
            const std::vector<float> a = operand(true), b = operand(false);
            std::vector<float> c(static_cast<std::size_t>(problem.batch > 1 ? problem.batch * problem.stride_c : problem.m * problem.n));
            steps.run(a, b, c);
            CHECK(steps.unfit() == 0);
            double worst = 0;
            const auto compare = [&](bool of_a, const std::vector<float>& values) {
                const i64 rows = of_a ? stored_rows_a(problem) : stored_rows_b(problem);
                const i64 columns = of_a ? stored_columns_a(problem) : stored_columns_b(problem);
                for (i64 member = 0; member < members; ++member)
                    for (i64 row = 0; row < rows; ++row)
                        for (i64 column = 0; column < columns; ++column) {
                            const double expected =
                                static_cast<double>(values[static_cast<std::size_t>(member * (of_a ? problem.stride_a : problem.stride_b) +
                                                                                    row * (of_a ? problem.lda : problem.ldb) + column)]);
                            const double error = std::abs(steps.recombined(of_a, member, row, column) - expected);
                            if (error > 0) worst = std::max(worst, error / std::abs(expected));
                        }
            };
            compare(true, a);
            compare(false, b);
            CHECK(worst <= (planes == 2 ? 0x1p-23 : 0.0));
        }
    }
}

TEST_CASE("TMA finds every plane, as a matrix of the batch, where the split leaves it") {
    for (const char* shape : {"200x328x456 ops=nt", "200x328x457 ops=tn batch=3"}) {
        CAPTURE(std::string(shape));
        const GemmProblem problem = parse_shape(shape).problem;
        const LaunchPlan plan = make_launch_plan(problem, config_of(3), assumed_device("90"));
        REQUIRE(plan.steps.size() == 4);
        const LaunchStep& product = plan.steps[2];
        auto* const workspace = reinterpret_cast<std::byte*>(0x400000000);
        alignas(64) std::byte arguments[kMaxArgumentBytes];
        product.bind(product, problem, GemmCall{.a = workspace, .b = workspace, .c = workspace, .workspace = workspace}, arguments);
        WgmmaArgs args;
        std::memcpy(&args, arguments, sizeof args);
        for (const TensorMapRequest& map : product.tensor_maps(product, arguments)) {
            const bool of_a = map.address == args.a;
            CHECK(map.type == ElementType::bf16);
            CHECK(map.matrices == 3 * problem.batch);
            CHECK(map.rows == (of_a ? stored_rows_a(problem) : stored_rows_b(problem)));
            CHECK(map.columns == (of_a ? stored_columns_a(problem) : stored_columns_b(problem)));
            CHECK(map.row_bytes % 16 == 0);
            CHECK(map.row_bytes >= map.columns * 2);
            CHECK(map.matrix_bytes == map.rows * map.row_bytes);
            CHECK((args.stride(!of_a) != 0) == (problem.batch > 1));
        }
        // Parts of the workspace do not overlap, and end within it.
        const auto* const end = workspace + plan.workspace_bytes;
        CHECK(reinterpret_cast<const std::byte*>(args.unfit) + planes::kUnfitBytes == end);
        CHECK(args.a < args.exponents_left);
        CHECK(static_cast<const void*>(args.exponents_left) < args.b);
        CHECK(args.b < static_cast<const void*>(args.exponents_right));
    }
}

TEST_CASE("Inf, NaN and lines of too wide a range are computed by FMAs in the same call; a few short elements are not") {
    const GemmProblem problem = parse_shape("70x50x90").problem;
    const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
    struct Case {
        const char* name;
        int planes;
        bool fits;
        void (*plant)(std::vector<float>& a, std::vector<float>& b);
    };
    const Case cases[] = {
        {"as they are", 2, true, [](auto&, auto&) {}},
        {"Inf in A", 2, false, [](auto& a, auto&) { a[777] = std::numeric_limits<float>::infinity(); }},
        {"NaN in B", 3, false, [](auto&, auto& b) { b[4499] = std::numeric_limits<float>::quiet_NaN(); }},
        {"one short element", 2, true, [](auto& a, auto&) { a[91] = 0x1p-40f; }},
        {"one row far below its largest", 2, false, [](auto& a, auto&) { a[90 * 69] = 0x1p40f; }},
        {"one column far below its largest", 2, false, [](auto&, auto& b) { b[49] = -0x1p60f; }},
        {"a range that bf16 holds", 3, true, [](auto& a, auto& b) { a[90 * 69] = 0x1p60f, b[49] = -0x1p60f; }},
        {"the largest float", 2, false, [](auto& a, auto&) { a[0] = std::numeric_limits<float>::max(); }},
        {"subnormal", 2, false,
         [](auto& a, auto&) {
             for (float& x : a) x *= 0x1p-140f;
         }},
        {"zeros", 2, true,
         [](auto& a, auto&) {
             for (float& x : a) x = 0;
         }},
    };
    for (const Case& one : cases) {
        CAPTURE(std::string(one.name));
        std::vector<float> a = normal_values(m * k, 11), b = normal_values(k * n, 12);
        one.plant(a, b);
        const std::vector<float> untouched(static_cast<std::size_t>(m * n), 7.0f);
        std::vector<float> c = untouched;
        Steps steps(problem, one.planes);
        steps.run(a, b, c);
        CHECK((steps.unfit() == 0) == one.fits);
        if (one.fits) {
            // The product of planes would have written C; it does not run here.
            CHECK(c == untouched);
        } else {
            const std::vector<float> expected = product_of(a, b, m, n, k);
            int wrong = 0;
            for (std::size_t i = 0; i < c.size(); ++i)
                if (!(std::isnan(expected[i]) ? std::isnan(c[i]) : c[i] == expected[i])) ++wrong;
            CHECK(wrong == 0);
        }
        // The mark is the call's own.
        std::vector<float> next = untouched;
        steps.run(normal_values(m * k, 13), normal_values(k * n, 14), next);
        CHECK(steps.unfit() == 0);
        CHECK(next == untouched);
        // Without alpha nothing is read.
        steps.run(a, b, next, 0);
        CHECK(steps.unfit() == 0);
        CHECK(steps.maps().count == 0);
    }
}

TEST_CASE("f32 may multiply planes, f32_strict may not") {
    const DeviceInfo h200 = assumed_device("90");
    const auto families = [&](const char* shape) {
        int planes = 0;
        for (const KernelConfig& config : search_space(parse_shape(shape).problem, h200, Effort::normal).candidates)
            if (config.planes > 1) ++planes;
        return planes;
    };
    CHECK(families("4096x4096x4096") > 20);
    CHECK(families("4096x4096x4096 compute=f32_strict") == 0);
    CHECK(default_config(parse_shape("4096x4096x4096").problem, h200).planes > 1);
    CHECK(default_config(parse_shape("4096x4096x4096 compute=f32_strict").problem, h200).planes == 1);
    CHECK(default_config(parse_shape("1x4096x4096").problem, h200).planes == 1);
    CHECK(why_invalid(parse_shape("4096x4096x4096 compute=f32_strict").problem, config_of(2), h200).value_or("").find("f32_strict") !=
          std::string::npos);
    CHECK(why_invalid(parse_shape("4096x4096x4096").problem, config_of(2), assumed_device("80")).has_value());
    CHECK(why_invalid(parse_shape("4096x4096x4096 dtype=f16 ctype=f32").problem, config_of(2), h200).value_or("").find("f32 operands") !=
          std::string::npos);
}
