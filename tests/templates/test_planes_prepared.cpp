// Operands split ahead of the calls that multiply them, on the emulated device: what a preparation leaves, and what a call makes of it.
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/kernels/planes_testing.h"

using namespace planes_testing;

TEST_CASE("a prepared operand holds what a call splits, and a call with it splits, reads and writes only the other") {
    for (const int planes : {2, 3}) {
        for (const char* shape :
             {"67x131x70 ops=nt lda=73", "33x130x9 ops=tn align=4 lda=35 ldb=131", "130x66x133 batch=2", "20x70x33 ops=tt batch=3"}) {
            CAPTURE(planes);
            CAPTURE(std::string(shape));
            GemmProblem problem = parse_shape(shape).problem;
            // All of the batch multiply the same B.
            if (problem.batch == 3) problem.stride_b = 0;
            Steps steps(problem, planes);
            const auto operand = [&](i64 rows, i64 ld, i64 stride, unsigned seed) {
                return normal_values((problem.batch - 1) * stride + rows * ld, seed);
            };
            const std::vector<float> a = operand(stored_rows_a(problem), problem.lda, problem.stride_a, 21);
            const std::vector<float> b = operand(stored_rows_b(problem), problem.ldb, problem.stride_b, 22);
            std::vector<float> c(static_cast<std::size_t>(problem.batch > 1 ? problem.batch * problem.stride_c : problem.m * problem.n), 7);
            const std::vector<float> untouched = c;
            steps.run(a, b, c);
            CHECK(steps.launched() == std::vector<std::string>{"planes", "rescue"});
            const std::vector<std::byte> part_a = steps.part(GemmOperand::a), part_b = steps.part(GemmOperand::b);

            const DeviceBuffer prepared_a = steps.prepare(GemmOperand::a, a), prepared_b = steps.prepare(GemmOperand::b, b);
            CHECK((steps.bytes_of(prepared_a) == part_a));
            CHECK((steps.bytes_of(prepared_b) == part_b));
            CHECK(static_cast<i64>(part_a.size() + part_b.size()) == steps.plan().workspace_bytes);

            // A prepared operand is not read again: NaN there would be unfit.
            const std::vector<float> nan_a(a.size(), std::numeric_limits<float>::quiet_NaN());
            const std::vector<float> nan_b(b.size(), std::numeric_limits<float>::quiet_NaN());
            const auto untouched_part = [](const std::vector<std::byte>& part) { return std::vector(part.size(), std::byte{0xff}); };
            for (const int which : {1, 2, 3}) {
                CAPTURE(which);
                const bool has_a = (which & 1) != 0, has_b = (which & 2) != 0;
                steps.poison_workspace();
                steps.run(has_a ? nan_a : a, has_b ? nan_b : b, c, 1,
                          {.a = has_a ? prepared_a.data() : nullptr, .b = has_b ? prepared_b.data() : nullptr});
                CHECK(!steps.unfit());
                CHECK((c == untouched));
                CHECK((steps.part(GemmOperand::a) == (has_a ? untouched_part(part_a) : part_a)));
                CHECK((steps.part(GemmOperand::b) == (has_b ? untouched_part(part_b) : part_b)));
                CHECK((steps.bytes_of(prepared_a) == part_a));
                CHECK((steps.bytes_of(prepared_b) == part_b));
                CHECK((steps.product().a == prepared_a.data()) == has_a);
                CHECK((steps.product().b == prepared_b.data()) == has_b);
                CHECK(steps.launched() == (which == 3 ? std::vector<std::string>{"rescue"} : std::vector<std::string>{"planes", "rescue"}));
                // Without alpha nothing is read and nothing left over from before decides: FMAs have nothing to do.
                steps.poison_workspace();
                steps.run(nan_a, nan_b, c, 0, {.a = has_a ? prepared_a.data() : nullptr, .b = has_b ? prepared_b.data() : nullptr});
                CHECK(!steps.unfit());
                CHECK(steps.maps().count == 0);
                CHECK((c == untouched));
            }
        }
    }
}

TEST_CASE("an unfit line of a prepared operand sends each of its calls to FMAs, until it is prepared again") {
    const GemmProblem problem = parse_shape("70x50x90").problem;
    const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
    const std::vector<float> a = normal_values(m * k, 31), b = normal_values(k * n, 32), untouched(static_cast<std::size_t>(m * n), 7.0f);
    std::vector<float> inf_a = a, inf_b = b;
    inf_a[777] = std::numeric_limits<float>::infinity();
    inf_b[4499] = -std::numeric_limits<float>::infinity();
    const auto same = [](float x, float y) { return std::isnan(x) ? std::isnan(y) : x == y; };
    for (const int planes : {2, 3}) {
        CAPTURE(planes);
        Steps steps(problem, planes);
        // Whether the FMAs have written the product; they write all of it or nothing.
        const auto rescued = [&](const std::vector<float>& x, const std::vector<float>& y, Prepared prepared) {
            std::vector<float> c = untouched;
            steps.run(x, y, c, 1, prepared);
            if (c == untouched) return false;
            const std::vector<float> expected = product_of(x, y, m, n, k);
            CHECK(std::equal(c.begin(), c.end(), expected.begin(), same));
            return true;
        };
        const DeviceBuffer good_a = steps.prepare(GemmOperand::a, a), good_b = steps.prepare(GemmOperand::b, b);
        const DeviceBuffer bad_a = steps.prepare(GemmOperand::a, inf_a), bad_b = steps.prepare(GemmOperand::b, inf_b);

        // The call's own mark is set, and cleared by the next call.
        CHECK(rescued(inf_a, b, {.b = good_b.data()}));
        CHECK(steps.unfit_a());
        CHECK(!steps.unfit_b());
        CHECK(rescued(a, inf_b, {.b = bad_b.data()}));
        CHECK(!steps.unfit_a());
        CHECK(steps.unfit_b());
        CHECK(!rescued(a, b, {.b = good_b.data()}));

        CHECK(rescued(a, inf_b, {.a = good_a.data()}));
        CHECK(rescued(inf_a, b, {.a = bad_a.data()}));
        CHECK(!rescued(a, b, {.a = good_a.data()}));

        CHECK(rescued(inf_a, b, {.a = bad_a.data(), .b = good_b.data()}));
        CHECK(rescued(a, inf_b, {.a = good_a.data(), .b = bad_b.data()}));
        CHECK(rescued(inf_a, inf_b, {.a = bad_a.data(), .b = bad_b.data()}));
        CHECK(!rescued(a, b, {.a = good_a.data(), .b = good_b.data()}));
    }
}

TEST_CASE("only a plan that multiplies planes has something to prepare") {
    const GemmProblem problem = parse_shape("70x50x90").problem;
    const DeviceInfo h200 = assumed_device("90");
    const LaunchPlan of_planes = make_launch_plan(problem, config_of(2), h200);
    CHECK(prepared_bytes(of_planes, GemmOperand::a) % 256 == 0);
    CHECK(prepared_bytes(of_planes, GemmOperand::a) > 2 * 70 * 90 * 2);
    CHECK(prepared_bytes(of_planes, GemmOperand::b) > 2 * 90 * 50 * 2);
    for (const GemmOperand operand : {GemmOperand::a, GemmOperand::b}) {
        CHECK(prepared_bytes(make_launch_plan(problem, fallback_config(), h200), operand) == 0);
        GemmProblem empty = problem;
        empty.m = 0;
        CHECK(prepared_bytes(make_launch_plan(empty, config_of(2), h200), operand) == 0);
    }
}
