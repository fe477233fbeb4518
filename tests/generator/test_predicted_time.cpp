// The terms of predicted times: they add up, whatever hides what, and every family names them.
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/families/predicted_time.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <map>
#include <string>

#include "generator/choice/cost_model.h"
#include "generator/choice/search_space.h"
#include "generator/families/family.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

GemmProblem problem_of(const std::string& text) {
    return parse_shapes(text, "test").front().problem;
}

PredictedTime times(double factor, PredictedTime time) {
    return factor * time;
}

}  // namespace

TEST_CASE("the longest part hides the others, and a norm lets a part of them show") {
    const PredictedTime multiplying{.arithmetic = 3, .results = 1};
    const PredictedTime traffic{.memory = 2};
    CHECK(longest_of({multiplying, traffic}).total() == 4);
    CHECK(longest_of({multiplying, traffic}).memory == 0);
    CHECK(longest_of({traffic, times(0.5, multiplying)}).arithmetic == 0);
    CHECK(longest_of({}).total() == 0);

    CHECK(norm_of(1, {multiplying, traffic}).total() == doctest::Approx(6));
    CHECK(norm_of(1, {multiplying, traffic}).memory == doctest::Approx(2));
    const PredictedTime square = norm_of(2, {multiplying, traffic});
    CHECK(square.total() == doctest::Approx(std::sqrt(20.0)));
    // A term counts as t * d(whole)/dt: 2 * 2 / sqrt(20) of memory. A part's own terms keep their proportion.
    CHECK(square.memory == doctest::Approx(4 / std::sqrt(20.0)));
    CHECK(square.arithmetic == doctest::Approx(3 * square.results));
    CHECK(norm_of(60, {multiplying, traffic}).memory == doctest::Approx(0).epsilon(1e-6));
    CHECK(norm_of(2, {{}, {}}).total() == 0);
    CHECK(norm_of(2, {{}, traffic}).memory == doctest::Approx(2));
}

TEST_CASE("every family's terms are times, and the whole is their sum") {
    std::map<int, int> configs_of_family;
    for (const char* const gpu : {"90", "80"}) {
        const DeviceInfo device = assumed_device(gpu);
        for (const char* const shape :
             {"16x4096x4096", "16x4096x4096 ops=nt", "1000x1000x1000", "2048x2048x2048 dtype=bf16", "10x10x10 batch=500",
              "100x4096x4096 dtype=bf16 ops=nt", "1x4096x4096 dtype=f16", "64x64x65536 compute=f32_strict"}) {
            const GemmProblem problem = problem_of(shape);
            const CostModel model(problem, device);
            for (const Family* const family : families())
                for (const Search::Candidate& candidate : family->search.candidates(problem, device)) {
                    if (why_invalid(problem, candidate.config, device)) continue;
                    ++configs_of_family[family->number];
                    CAPTURE(shape);
                    CAPTURE(to_text(candidate.config));
                    const PredictedTime time = model.predict(candidate.config);
                    double sum = 0;
                    for (const PredictedTerm& term : kPredictedTerms) {
                        REQUIRE(std::isfinite(time.*term.member));
                        REQUIRE(time.*term.member >= 0);
                        sum += time.*term.member;
                    }
                    REQUIRE(sum == doctest::Approx(model.estimate(candidate.config)).epsilon(1e-12));
                    // Every plan is launched; a strip beside the tiles may hide that.
                    REQUIRE(time.latency + time.other_kernels > 0);
                }
        }
    }
    for (const Family* const family : families()) CHECK_MESSAGE(configs_of_family[family->number] > 0, family->number);
}

TEST_CASE("the term that bounds a shape is the largest") {
    const DeviceInfo device = assumed_device("90");
    const auto of_default = [&](const std::string& shape) {
        const GemmProblem problem = problem_of(shape);
        return CostModel(problem, device).predict(default_config(problem, device));
    };
    for (const char* const wide : {"8192x8192x8192 dtype=bf16", "4096x4096x4096 compute=f32_strict", "4096x4096x4096 compute=tf32"}) {
        CAPTURE(wide);
        const PredictedTime time = of_default(wide);
        CHECK(time.arithmetic > 0.5 * time.total());
    }
    for (const char* const thin : {"1x28672x8192 dtype=bf16 ops=nt", "16x28672x8192 dtype=bf16 ops=nt", "1x16384x16384"}) {
        CAPTURE(thin);
        const PredictedTime time = of_default(thin);
        CHECK(time.memory > 0.5 * time.total());
    }
    // What is packed or made planes of is another kernel's.
    const GemmProblem problem = problem_of("4096x4096x4096");
    const KernelConfig planes = default_config(problem, device);
    REQUIRE(planes.planes > 1);
    CHECK(CostModel(problem, device).predict(planes).other_kernels > 0.05 * CostModel(problem, device).estimate(planes));
    CHECK(of_default("32x32x32 compute=f32_strict").latency > 0.3 * of_default("32x32x32 compute=f32_strict").total());
}

TEST_CASE("the emulated device's times have terms, too") {
    const GemmProblem problem = problem_of("64x64x64");
    const CostModel model(problem, host_device_info());
    const PredictedTime time = model.predict(default_config(problem, host_device_info()));
    CHECK(time.arithmetic > 0);
    CHECK(time.total() == model.estimate(default_config(problem, host_device_info())));
    const KernelConfig parts = parse_config("tiled 16x16x16");
    CHECK(model.predict(parts).other_kernels == 0);
}

TEST_CASE("a predicted time is told with digits that add up") {
    CHECK(to_text(PredictedTime{.arithmetic = 8.14, .memory = 2.22, .latency = 2}) ==
          "12.4 µs = arithmetic 8.1 + memory 2.2 + latency 2.0");
    CHECK(to_text(PredictedTime{.memory = 161.4, .other_kernels = 0.3}) == "162 µs = memory 161");
    CHECK(to_text(PredictedTime{.latency = 1.5, .other_kernels = 0.25}) == "1.75 µs = latency 1.50 + other kernels 0.25");
    CHECK(to_text(PredictedTime{.arithmetic = 123456}) == "123456 µs = arithmetic 123456");
    CHECK(to_text(PredictedTime{}) == "0 µs");
}
