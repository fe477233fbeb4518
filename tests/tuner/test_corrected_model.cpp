// What a search makes of the times it has: predictions of the rest, corrected, and how sure they are.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tuner/search/corrected_model.h"

using namespace tmm;

namespace {

KernelConfig config(int family, int block_m, int stages = 1) {
    return {.family = family, .block_m = block_m, .stages = stages};
}

}  // namespace

TEST_CASE("a time that is measured corrects what is predicted of the others, most where they are alike") {
    CorrectedModel model({config(family::wgmma, 64), config(family::wgmma, 64, 2), config(family::wgmma, 128, 3), config(family::mma, 64)},
                         {10, 10, 10, 10});
    model.observe(3, 10);
    model.observe(0, 20);
    CHECK(model.observations() == 2);
    // The middle of what is expected.
    const auto middle = [&](std::size_t place) {
        double low = 1;
        double high = 100;
        while (high - low > 1e-3) (model.chance_below(place, std::sqrt(low * high)) < 0.5 ? low : high) = std::sqrt(low * high);
        return low;
    };
    CHECK(middle(0) == doctest::Approx(20).epsilon(0.05));
    CHECK(middle(3) == doctest::Approx(10).epsilon(0.05));
    CHECK(middle(1) > middle(2));
    CHECK(middle(2) > middle(3));
    for (std::size_t place = 0; place < 4; ++place) CHECK(model.lower_confidence_bound(place) < middle(place));
}

TEST_CASE("times that agree with the predictions, whatever the unit, leave little doubt, others leave much") {
    const auto chance = [](double factor, double error) {
        std::vector<KernelConfig> configs;
        std::vector<double> estimates;
        for (int i = 0; i < 40; ++i) {
            configs.push_back(config(family::simt, 16 * (i % 5 + 1), i / 5 + 1));
            estimates.push_back(10 + 0.1 * i);
        }
        CorrectedModel model(configs, estimates);
        std::mt19937 random(1);
        std::normal_distribution<double> normal;
        for (std::size_t i = 0; i < 39; ++i) model.observe(i, factor * estimates[i] * std::exp(error * normal(random)));
        // The chance that the last one takes nine tenths of what is predicted.
        return model.chance_below(39, factor * 0.9 * estimates[39]);
    };
    CHECK(chance(1, 0.01) < 0.02);
    CHECK(chance(1, 0.3) > 0.1);
    CHECK(chance(50, 0.01) == doctest::Approx(chance(1, 0.01)).epsilon(0.05));
}

TEST_CASE("what is predicted does not hang on the order in which times came, so that a search that goes on ends as it would have") {
    std::mt19937 random(7);
    std::vector<KernelConfig> configs;
    std::vector<double> estimates;
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) {
        configs.push_back(
            config(i % 2 ? family::wgmma : family::mma, 32 * (1 + static_cast<int>(random() % 4)), 1 + static_cast<int>(random() % 4)));
        estimates.push_back(std::uniform_real_distribution<double>(5, 50)(random));
        times.push_back(estimates.back() * std::uniform_real_distribution<double>(0.8, 2)(random));
    }
    CorrectedModel forward(configs, estimates);
    CorrectedModel backward(configs, estimates);
    for (std::size_t i = 0; i < 30; ++i) forward.observe(i, times[i]);
    for (std::size_t i = 30; i-- > 0;) backward.observe(i, times[i]);
    for (std::size_t i = 0; i < 60; ++i) {
        CHECK(forward.lower_confidence_bound(i) == doctest::Approx(backward.lower_confidence_bound(i)).epsilon(1e-9));
        CHECK(forward.chance_below(i, estimates[i]) == doctest::Approx(backward.chance_below(i, estimates[i])).epsilon(1e-6));
    }
}
