// The steps around a product of planes, on the emulated device: what the planes hold, which lines are unfit, who computes then.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/kernel/template_files.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/kernels/planes_testing.h"
#include "tests/support/slice.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/steps/rescue/rules.h"

using namespace planes_testing;
using tmm::testing::in_slice;

namespace {

// Lines far apart in size, from next to the largest float to next to the smallest; one of them is 0.
std::vector<float> spread_operand(const GemmProblem& problem, bool of_a) {
    const i64 rows = of_a ? stored_rows_a(problem) : stored_rows_b(problem);
    const i64 columns = of_a ? stored_columns_a(problem) : stored_columns_b(problem);
    const i64 ld = of_a ? problem.lda : problem.ldb;
    const i64 stride = of_a ? problem.stride_a : problem.stride_b;
    std::vector<float> values = normal_values((problem.batch - 1) * stride + (rows - 1) * ld + columns, of_a ? 1 : 2);
    const bool line_is_row = of_a ? problem.op_a == Operation::none : problem.op_b == Operation::transpose;
    for (i64 member = 0; member < problem.batch; ++member)
        for (i64 row = 0; row < rows; ++row)
            for (i64 column = 0; column < columns; ++column) {
                const i64 line = line_is_row ? row : column;
                float& value = values[static_cast<std::size_t>(member * stride + row * ld + column)];
                value = line == 2 ? 0.0f : std::ldexp(value, line == 0 ? 124 : line == 1 ? -100 : static_cast<int>(line % 40) - 20);
            }
    return values;
}

// The largest error of the values that the planes stand for, relative to each element.
double worst_error(const Steps& steps, const GemmProblem& problem, bool of_a, const std::vector<float>& values) {
    const i64 rows = of_a ? stored_rows_a(problem) : stored_rows_b(problem);
    const i64 columns = of_a ? stored_columns_a(problem) : stored_columns_b(problem);
    const i64 ld = of_a ? problem.lda : problem.ldb;
    const i64 stride = of_a ? problem.stride_a : problem.stride_b;
    double worst = 0;
    for (i64 member = 0; member < problem.batch; ++member)
        for (i64 row = 0; row < rows; ++row)
            for (i64 column = 0; column < columns; ++column) {
                const auto expected = static_cast<double>(values[static_cast<std::size_t>(member * stride + row * ld + column)]);
                const double error = std::abs(steps.recombined(of_a, member, row, column) - expected);
                if (error != 0) worst = std::max(worst, std::isfinite(error) ? error / std::abs(expected) : HUGE_VAL);
            }
    return worst;
}

double worst_error_of_split(Steps& steps, const GemmProblem& problem) {
    const std::vector<float> a = spread_operand(problem, true), b = spread_operand(problem, false);
    std::vector<float> c(static_cast<std::size_t>(problem.batch > 1 ? problem.batch * problem.stride_c : problem.m * problem.n));
    steps.run(a, b, c);
    return std::max(worst_error(steps, problem, true, a), worst_error(steps, problem, false, b));
}

}  // namespace

TEST_CASE("the planes of an element add up to it: with f16 to 23 bits, with bf16 exactly, whatever the layout and the scale of its line") {
    std::size_t index = 0;
    for (const int planes : {2, 3}) {
        for (const char* shape : {"67x5x300 ops=nn", "67x131x70 ops=nt lda=73", "33x130x9 ops=tn align=4 lda=35 ldb=131",
                                  "130x66x133 ops=tt batch=2", "1x1x1 batch=3", "3x5x4501 ops=nn", "2x3x4700 ops=tt"}) {
            if (!in_slice(index++, 3)) continue;
            CAPTURE(planes);
            CAPTURE(std::string(shape));
            const GemmProblem problem = parse_shape(shape).problem;
            for (const int split : {1, 3}) {
                if (split > problem.k) continue;
                CAPTURE(split);
                Steps steps(problem, planes, {.split_k = split});
                CHECK(worst_error_of_split(steps, problem) <= (planes == 2 ? 0x1p-23 : 0.0));
                CHECK(!steps.unfit());
            }
        }
    }
}

TEST_CASE("clusters that walk over several tiles split them as well, and no barrier among them is idle") {
    const GemmProblem problem = parse_shape("66x67x600 ops=nn").problem;
    std::vector<float> unfit_a = normal_values(problem.m * problem.k, 3);
    // Threads that do not write the mark find this unfit element.
    unfit_a[static_cast<std::size_t>(problem.k)] = 0x1p60f;
    const auto splits_well = [&](const char* order, const TemplateFiles& files) {
        Steps steps(problem, 2, {.files = files, .order = order, .one_cluster = true});
        if (!(worst_error_of_split(steps, problem) <= 0x1p-23) || steps.unfit()) return false;
        std::vector<float> c(static_cast<std::size_t>(problem.m * problem.n));
        steps.run(unfit_a, normal_values(problem.k * problem.n, 4), c);
        return steps.unfit_tiles_a() == std::vector<std::size_t>{0} && !steps.unfit_b();
    };
    for (const char* order : {"ascending", "descending", "shuffled:7"}) {
        CAPTURE(std::string(order));
        CHECK(splits_well(order, active_templates()));
    }
    for (const char* reason :
         {"// Every warp's are there.\n            __syncthreads();", "// Every block's are there.\n        sync();",
          "// Every line's scale is there.\n        __syncthreads();", "showed each other is read.\n        meet();"}) {
        CAPTURE(std::string(reason));
        TemplateFiles files = active_templates();
        std::string& text = files.at("tmm/steps/planes/kernel.cuh");
        const std::size_t at = text.find(reason);
        REQUIRE(at != std::string::npos);
        text.erase(at, std::string(reason).size());
        bool caught = false;
        for (const char* order : {"ascending", "descending", "shuffled:7"}) {
            try {
                caught = caught || !splits_well(order, files);
            } catch (const std::exception&) {
                caught = true;
            }
        }
        CHECK(caught);
    }
}

TEST_CASE("TMA finds every plane, as a matrix of the batch, where the split leaves it") {
    for (const char* shape : {"200x328x456 ops=nt", "200x328x457 ops=tn batch=3"}) {
        CAPTURE(std::string(shape));
        const GemmProblem problem = parse_shape(shape).problem;
        const LaunchPlan plan = make_launch_plan(problem, config_of(3), assumed_device("90"));
        REQUIRE(plan.steps.size() == 3);
        const LaunchStep& product = plan.steps[1];
        auto* const workspace = reinterpret_cast<std::byte*>(0x400000000);
        alignas(64) std::byte arguments[kMaxArgumentBytes];
        auto* const c = reinterpret_cast<std::byte*>(0x500000000);
        product.bind(plan, product, GemmCall{.a = workspace, .b = workspace, .c = c, .workspace = workspace}, arguments);
        WgmmaArgs args;
        std::memcpy(&args, arguments, sizeof args);
        for (const TensorMapRequest& map : product.tensor_maps(product, arguments)) {
            if (map.address == args.c) continue;
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
        CHECK(args.a < args.exponents_left);
        CHECK(args.exponents_left < static_cast<const void*>(args.unfit_a.of_tile));
        CHECK(reinterpret_cast<const std::byte*>(args.unfit_a.of_tile) + planes::rounded(args.unfit_a.count * 4) == args.b);
        CHECK(args.b < static_cast<const void*>(args.exponents_right));
        CHECK(args.exponents_right < static_cast<const void*>(args.unfit_b.of_tile));
        CHECK(reinterpret_cast<const std::byte*>(args.unfit_b.of_tile) + planes::rounded(args.unfit_b.count * 4) == end);
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
        CHECK(steps.unfit() != one.fits);
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
        CHECK(!steps.unfit());
        CHECK(next == untouched);
        // Without alpha nothing is read.
        steps.run(a, b, next, 0);
        CHECK(!steps.unfit());
        CHECK(steps.maps().count == 0);
    }
}

TEST_CASE("FMAs take over parts of K, too, whether they fill the GPU or not, and their sums begin anew every 64 of K") {
    for (const char* shape : {"70x50x300", "40x30x257 ops=tn batch=50", "33x20x70 batch=3"}) {
        CAPTURE(std::string(shape));
        const GemmProblem problem = parse_shape(shape).problem;
        const auto [m, n, k, batch] = std::array{problem.m, problem.n, problem.k, problem.batch};
        std::vector<float> a = normal_values(batch * m * k, 51), b = normal_values(batch * k * n, 52);
        for (float& x : a) x = std::abs(x);
        for (float& x : b) x = std::abs(x);
        a[0] = 0x1p60f;
        for (const int split : {1, 3}) {
            CAPTURE(split);
            Steps steps(problem, 2, {.split_k = split});
            std::vector<float> c(static_cast<std::size_t>(batch * m * n), std::numeric_limits<float>::quiet_NaN());
            steps.run(a, b, c);
            CHECK(steps.unfit_a());
            CHECK(steps.launched() ==
                  (split == 1 ? std::vector<std::string>{"planes", "rescue"} : std::vector<std::string>{"planes", "rescue", "reduce"}));
            double worst = 0;
            for (i64 member = 0; member < batch; ++member)
                for (i64 i = 0; i<m; i += m> 100 ? 37 : 1)
                    for (i64 j = 0; j<n; j += n> 100 ? 41 : 1) {
                        double exact = 0;
                        for (i64 p = 0; p < k; ++p) {
                            const i64 in_a = problem.op_a == Operation::none ? i * problem.lda + p : p * problem.lda + i;
                            exact += static_cast<double>(a[static_cast<std::size_t>(member * problem.stride_a + in_a)]) *
                                     static_cast<double>(b[static_cast<std::size_t>(member * problem.stride_b + p * problem.ldb + j)]);
                        }
                        const float result = c[static_cast<std::size_t>(member * m * n + i * n + j)];
                        worst = std::max(worst, std::abs(static_cast<double>(result) - exact) / exact);
                    }
            CHECK(worst > 0);
            // 64 roundings of a sum, and those of the sums' sum, which are few.
            CHECK(worst <= (64 + 5) * 0x1p-24);
        }
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
