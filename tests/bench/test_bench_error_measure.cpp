// Tests how errors are measured against the exact product, what is compared with a loop of FP32 FMAs, and that the loop is one.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "bench/accuracy/family_accuracy.h"
#include "bench/peers/peers.h"
#include "bench/report/accuracy_report.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::shared_ptr<Device> host() {
    static const std::shared_ptr<Device> device = open_device(kHostDevice);
    return device;
}

std::vector<std::shared_ptr<Device>> devices() {
    std::vector<std::shared_ptr<Device>> all = {host()};
    if (gpu_count() > 0) all.push_back(open_device(0));
    return all;
}

std::unique_ptr<Contestant> loop_for(const std::shared_ptr<Device>& device, const GemmProblem& problem) {
    return std::move(make_naive_peer(device)->offers(problem).at(0));
}

GemmProblem problem(i64 m, i64 n, i64 k) {
    return GemmProblem{.m = m, .n = n, .k = k, .lda = k, .ldb = n, .ldc = n};
}

// Odd sizes, padded rows, pointers aligned to an element only, C that may be read.
GemmProblem awkward(Operation op_a, Operation op_b) {
    GemmProblem p = problem(19, 23, 37);
    p.batch = 2;
    p.op_a = op_a;
    p.op_b = op_b;
    p.lda = 41;
    p.ldb = 43;
    p.ldc = 29;
    p.stride_a = 41 * 37;
    p.stride_b = 43 * 37;
    p.stride_c = 29 * 19;
    p.alignment = 4;
    p.reads_c = true;
    return p;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// The loop on the emulated device, with its product changed afterwards.
class Changed final : public Contestant {
public:
    using Change = std::function<void(float* c)>;
    Changed(std::unique_ptr<Contestant> loop, Change change) : loop_(std::move(loop)), change_(std::move(change)) {}
    void enqueue(const GemmCall& call, Stream stream) override {
        loop_->enqueue(call, stream);
        change_(static_cast<float*>(call.c));
    }

private:
    std::unique_ptr<Contestant> loop_;
    Change change_;
};

FamilyAccuracy accuracy_of(const Changed::Change& change, InputFamily family = InputFamily::uniform) {
    const GemmProblem p = problem(16, 16, 64);
    static ExactMultiplier multiplier(host());
    FamilyOperands operands(host(), p);
    Changed ours(loop_for(host(), p), change);
    const std::unique_ptr<Contestant> loop = loop_for(host(), p);
    return measure_family(family, operands, multiplier, {.tmm = ours, .loop = *loop, .cublas = nullptr}, nullptr);
}

}  // namespace

TEST_CASE("errors on average, in the worst element and to one side are what they are by hand") {
    const ExactProduct exact{.value = {4, -2, 0.5, 100}, .magnitude = {8, 2, 1, 100}};
    const std::vector<float> finite = {1, 1, 1, 1};
    const auto measured = [&](const std::vector<float>& c) {
        PooledErrors errors;
        errors.add(c, finite, exact);
        return errors.measure();
    };
    const ErrorMeasure off = measured({4.5, -2.25, 0.5, 100});
    CHECK(off.norm == doctest::Approx(std::sqrt(0.3125 / 10020.25)));
    // 0.5 of 8 is less than 0.25 of 2.
    CHECK(off.worst == 0x1p24 / 8);
    CHECK(off.largest == 0x1p24 / 8);
    CHECK(off.rms == doctest::Approx(0x1p24 * std::sqrt((1.0 / 256 + 1.0 / 64) / 4)));
    CHECK(off.bias == doctest::Approx(0.75 / 106.5));
    // Towards zero is negative, whichever sign the product has, and errors to either side cancel.
    CHECK(measured({3.5, -1.75, 0.5, 100}).bias == doctest::Approx(-0.75 / 106.5));
    CHECK(measured({4.5, -1.5, 0.5, 100}).bias == 0);

    const ErrorMeasure none = measured({4, -2, 0.5, 100});
    CHECK(none.rms == 0);
    CHECK(none.norm == 0);
    CHECK(none.worst == 0);
    CHECK(none.bias == 0);
}

TEST_CASE("draws are pooled, and the largest error is known by its draw and place") {
    const ExactProduct exact{.value = {4, 8}, .magnitude = {4, 8}};
    PooledErrors errors;
    errors.add({4, 8.5}, {4.5, 8}, exact);
    CHECK(errors.has_new_largest());
    CHECK(errors.largest_at() == 1);
    errors.add({4, 8.25}, {4, 8}, exact);
    CHECK_FALSE(errors.has_new_largest());
    errors.add({5, 8}, {4, 8.25}, exact);
    CHECK(errors.has_new_largest());
    CHECK(errors.largest_at() == 0);
    CHECK(errors.measure().largest == 0x1p22);
    CHECK(errors.largest_ratio() == 2);
    CHECK(errors.rms_ratio().value == doctest::Approx(std::sqrt((1.0 / 256 + 1.0 / 1024 + 1.0 / 16) / (1.0 / 64 + 1.0 / 1024))));
    // A single group says nothing about chance.
    CHECK(errors.rms_ratio().deviation == 0);
}

TEST_CASE("the deviation of a ratio is what a jackknife over the groups finds") {
    const std::vector<std::pair<double, double>> groups = {{3, 2}, {5, 4}, {2, 2}, {7, 5}, {4, 4}, {6, 3}, {3, 3}, {5, 5}};
    PairedMeans all;
    for (const auto& [ours, theirs] : groups) all.add(ours, theirs);
    CHECK(all.ratio().value == doctest::Approx(35.0 / 28));
    double sum = 0;
    double squares = 0;
    for (std::size_t left_out = 0; left_out < groups.size(); ++left_out) {
        PairedMeans others;
        for (std::size_t i = 0; i < groups.size(); ++i)
            if (i != left_out) others.add(groups[i].first, groups[i].second);
        sum += others.ratio().value;
        squares += others.ratio().value * others.ratio().value;
    }
    const double count = 8;
    const double jackknife = std::sqrt((count - 1) / count * (squares - sum * sum / count));
    CHECK(all.ratio().deviation == doctest::Approx(jackknife).epsilon(0.05));
}

TEST_CASE("elements that are not finite in the loop count for nothing but their places") {
    const ExactProduct exact{.value = {4, kNan, kInfinity, 1}, .magnitude = {4, kNan, kInfinity, 1}};
    const std::vector<float> loop = {4, kNan, kInfinity, 1};
    PooledErrors same;
    same.add({3, kNan, kInfinity, 1}, loop, exact);
    CHECK(same.measure().norm == doctest::Approx(1 / std::sqrt(17)));
    CHECK(same.measure().worst == 0x1p22);
    CHECK(misplaced(loop, loop).count == 0);

    CHECK(misplaced({4, kInfinity, kInfinity, 1}, loop).count == 1);
    CHECK(misplaced({4, kInfinity, kInfinity, 1}, loop).first == 1);
    CHECK(misplaced({4, kNan, -kInfinity, kNan}, loop).count == 2);
    CHECK(misplaced({4, kNan, 1e38F, 1}, loop).first == 2);

    PooledErrors spread;
    spread.add({kNan, kNan, kInfinity, 1.5}, loop, exact);
    CHECK(std::isinf(spread.measure().norm));
    CHECK(std::isinf(spread.measure().rms));
    CHECK(std::isinf(spread.measure().worst));
    CHECK(std::isinf(spread.rms_ratio().value));
    CHECK(std::isinf(spread.worst_ratio().value));
    CHECK(spread.largest_at() == 0);
    CHECK(spread.measure().bias == 0.1);
}

TEST_CASE("an exact product of zeros forgives nothing") {
    const ExactProduct exact{.value = {0, 0}, .magnitude = {0, 0}};
    PooledErrors none;
    none.add({0, -0.0F}, {0, 0}, exact);
    CHECK(none.measure().rms == 0);
    CHECK(none.rms_ratio().value == 1);
    PooledErrors off;
    off.add({0, 1}, {0, 0}, exact);
    CHECK(std::isinf(off.measure().rms));
    CHECK(std::isinf(off.rms_ratio().value));
    CHECK(off.measure().bias == 0);
    CHECK(error_ratio(0, 0) == 1);
    CHECK(error_ratio(3, 2) == 1.5);
    CHECK(std::isinf(error_ratio(1, 0)));
}

TEST_CASE("the naive kernel is a loop of FP32 FMAs in the order of k, bit for bit") {
    for (const std::shared_ptr<Device>& device : devices()) {
        CAPTURE(device->info().name);
        for (const Operation op_a : {Operation::none, Operation::transpose})
            for (const Operation op_b : {Operation::none, Operation::transpose}) {
                const GemmProblem p = awkward(op_a, op_b);
                FamilyOperands operands(device, p);
                const std::unique_ptr<Contestant> loop = loop_for(device, p);
                for (const InputFamily family : kInputFamilies) {
                    CAPTURE(name_of(family));
                    operands.fill(family);
                    const std::vector<float> c = operands.product_of(*loop, nullptr);
                    std::size_t index = 0;
                    int different = 0;
                    for (i64 batch = 0; batch < p.batch; ++batch)
                        for (i64 row = 0; row < p.m; ++row)
                            for (i64 column = 0; column < p.n; ++column) {
                                float sum = 0;
                                for (i64 k = 0; k < p.k; ++k)
                                    sum = std::fma(value_a(family, p, batch, row, k), value_b(family, p, batch, k, column), sum);
                                const float value = c.at(index++);
                                if (std::isnan(sum) ? !std::isnan(value) : std::bit_cast<unsigned>(sum) != std::bit_cast<unsigned>(value))
                                    ++different;
                            }
                    CHECK(index == c.size());
                    CHECK(different == 0);
                }
            }
    }
    if (gpu_count() == 0) MESSAGE("on the emulated device only: there is no GPU here");
}

TEST_CASE("the exact product is that of a loop in double precision") {
    for (const std::shared_ptr<Device>& device : devices()) {
        CAPTURE(device->info().name);
        ExactMultiplier multiplier(device);
        for (const GemmProblem& p :
             {awkward(Operation::none, Operation::transpose), awkward(Operation::transpose, Operation::none), problem(70, 130, 9)}) {
            FamilyOperands operands(device, p);
            operands.fill(InputFamily::wide_20);
            const ExactProduct exact = multiplier.multiply(p, operands.a(), operands.b());
            REQUIRE(exact.value.size() == static_cast<std::size_t>(p.batch * p.m * p.n));
            std::size_t index = 0;
            for (i64 batch = 0; batch < p.batch; ++batch)
                for (i64 row = 0; row < p.m; ++row)
                    for (i64 column = 0; column < p.n; ++column) {
                        double sum = 0;
                        double magnitude = 0;
                        for (i64 k = 0; k < p.k; ++k) {
                            const double term = static_cast<double>(value_a(InputFamily::wide_20, p, batch, row, k)) *
                                                value_b(InputFamily::wide_20, p, batch, k, column);
                            sum += term;
                            magnitude += std::fabs(term);
                        }
                        REQUIRE(std::fabs(exact.value.at(index) - sum) <= magnitude * 0x1p-45);
                        REQUIRE(exact.magnitude.at(index) == doctest::Approx(magnitude).epsilon(1e-12));
                        ++index;
                    }
        }
    }
}

TEST_CASE("what is as accurate as the loop holds on every family") {
    for (const InputFamily family : kInputFamilies) {
        CAPTURE(name_of(family));
        const FamilyAccuracy same = accuracy_of([](float*) {}, family);
        CHECK(same.holds());
        CHECK(verdict(same) == "ok");
        CHECK(same.rms_ratio.value == 1);
        CHECK(same.rms_ratio.deviation == 0);
        CHECK(same.worst_ratio.value == 1);
        CHECK(same.largest_ratio == 1);
        CHECK(same.elements >= 1 << 14);
        CHECK(same.draws == same.elements / 256);
        CHECK(same.tmm.bias == same.loop.bias);
        // No product of vanishing operands is left in FP32.
        CHECK(same.loop.norm < (family == InputFamily::vanishing ? 1.01 : family == InputFamily::cancelling ? 1e-2 : 1e-6));
        CHECK(same.loop.norm > 1e-8);
    }
}

TEST_CASE("planted inaccuracies are reported, each by its name") {
    const FamilyAccuracy one_element = accuracy_of([](float* c) { c[5 * 16 + 3] += 0.001F; });
    CHECK_FALSE(one_element.largest_holds());
    CHECK_FALSE(one_element.holds());
    CHECK(contains(verdict(one_element), "times as far off as any of the loop's, C[5][3]: tmm "));

    // Every element is a little too small: no element is far off.
    const FamilyAccuracy truncated = accuracy_of(
        [](float* c) {
            for (int i = 0; i < 256; ++i) c[i] *= 1 - 0x1p-21F;
        },
        InputFamily::positive);
    CHECK_FALSE(truncated.rms_holds());
    CHECK(truncated.tmm.bias == doctest::Approx(-0x1p-21).epsilon(0.1));
    CHECK(contains(verdict(truncated), "rms "));

    const FamilyAccuracy flushed = accuracy_of(
        [](float* c) {
            for (int i = 0; i < 256; ++i) c[i] = 0;
        },
        InputFamily::subnormal);
    CHECK(flushed.tmm.norm == doctest::Approx(1));
    CHECK_FALSE(flushed.rms_holds());

    const FamilyAccuracy nan_for_infinity = accuracy_of(
        [](float* c) {
            for (int i = 0; i < 256; ++i)
                if (std::isinf(c[i])) c[i] = kNan;
        },
        InputFamily::infinities);
    CHECK(nan_for_infinity.rms_holds());
    CHECK(nan_for_infinity.worst_holds());
    CHECK_FALSE(nan_for_infinity.places_hold());
    CHECK(contains(verdict(nan_for_infinity), "not finite in other places than the loop's, first C["));
    CHECK(contains(verdict(nan_for_infinity), ": tmm nan, loop "));

    const FamilyAccuracy unwritten = accuracy_of([](float* c) { c[17] = kNan; });
    CHECK(std::isinf(unwritten.tmm.norm));
    CHECK(contains(verdict(unwritten), "64 elements not finite in other places than the loop's, first C[1][1]: tmm nan, loop "));
}

TEST_CASE("a shape's accuracy stands in the table, CSV and JSON, with cuBLAS where it was asked for") {
    ShapeAccuracy shape;
    shape.problem = problem(16, 16, 64);
    shape.config = "family=simt,block_m=32";
    shape.match = "exact";
    shape.families = {accuracy_of([](float*) {}), accuracy_of([](float* c) { c[0] = kNan; })};
    shape.families[0].cublas = ErrorMeasure{.rms = 0.1875, .worst = 3.25, .largest = 4, .bias = -2e-9, .norm = 1.5e-7};
    CHECK_FALSE(shape.holds());
    ShapeAccuracy failed;
    failed.problem = problem(9, 9, 9);
    failed.failure = "no kernel";
    CHECK_FALSE(failed.holds());

    for (const bool cublas : {false, true}) {
        CAPTURE(cublas);
        RunInfo info;
        if (cublas) {
            info.peers = {"cublas"};
            info.peer_versions = {"cuBLAS"};
        }
        std::ostringstream out;
        AccuracyTable table(out, {Shape{.problem = shape.problem}}, info, {});
        ShapeAccuracy begun = shape;
        begun.families.pop_back();
        table.row(begun);
        table.row(shape);
        table.end(shape);
        table.end(failed);
        print_verdicts(out, {shape, failed});
        const std::string text = out.str();
        std::string line;
        INFO(text);
        CHECK(contains(text, "# 16x16x64: family=simt,block_m=32 (exact)\nuniform "));
        CHECK(contains(text, "  yes\n"));
        CHECK(contains(text, "  NO\n# uniform: rms inf times the loop's; "));
        CHECK(contains(text, " cublas ") == cublas);
        CHECK(contains(text, " 0.188 ") == cublas);
        // The widths of lines that say why a row is not ok, and of a config's own line, are not checked.
        for (std::stringstream lines(text); std::getline(lines, line);)
            if (!line.starts_with("# uniform: ") && !line.starts_with("# 16x16x64: ")) CHECK(line.size() <= (cublas ? 89U : 80U));
        CHECK(contains(text, "9x9x9     failed: no kernel\n"));
        CHECK(contains(text, "1 of 2 rows are ok, 1 failed\n"));

        std::stringstream csv(accuracy_csv(info, {shape, failed}));
        std::vector<std::string> rows;
        while (std::getline(csv, line))
            if (!line.starts_with("#")) rows.push_back(line);
        REQUIRE(rows.size() == 4);
        CHECK(contains(rows[0], "shape,family,tmm_rms,tmm_worst,tmm_largest,tmm_bias,tmm_norm,loop_rms,"));
        CHECK(contains(rows[0], ",cublas_rms,cublas_worst,cublas_largest,cublas_bias,cublas_norm,rms_ratio,") == cublas);
        CHECK(contains(rows[1], ",0.1875,3.25,4,-2e-09,1.5e-07,1,0,1,0,0,64,16384,1,exact,\"family=simt,block_m=32\",") == cublas);
        CHECK(contains(rows[2], ",inf,0,inf,0,64,64,16384,0,exact,"));
        CHECK(rows[3].ends_with(",no kernel"));
        // Only the config is quoted, and has a comma.
        CHECK(std::count(rows[1].begin(), rows[1].end(), ',') == std::count(rows[0].begin(), rows[0].end(), ',') + 1);
        CHECK(std::count(rows[3].begin(), rows[3].end(), ',') == std::count(rows[0].begin(), rows[0].end(), ','));

        const std::string json = accuracy_json(info, {shape, failed});
        CHECK(contains(json, "\"ok\": true"));
        CHECK(contains(json, "\"ok\": false"));
        CHECK(contains(json, "\"norm\": null"));
        CHECK(contains(json, "\"failure\": \"no kernel\""));
        CHECK(contains(json, "\"cublas\": {"));
    }
}

TEST_CASE("accuracy is promised of f32 in the modes f32 and f32_strict") {
    Shape shape{.problem = problem(4, 4, 4), .alpha = 1, .beta = 0, .line = 3};
    shape.problem.compute = ComputeMode::f32_strict;
    CHECK_NOTHROW(check_promised({shape}, "shapes.txt"));
    shape.problem.compute = ComputeMode::tf32;
    std::string text;
    try {
        check_promised({shape}, "shapes.txt");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::usage);
        text = error.what();
    }
    CHECK(contains(text, "shapes.txt:3"));
    shape.problem.compute = ComputeMode::f32;
    shape.problem.type_a = shape.problem.type_b = ElementType::bf16;
    CHECK_THROWS_AS(check_promised({shape}, "shapes.txt"), Error);
}
