// Tests in what order the rest of a search is measured, once some candidates have times.
#include <doctest/doctest.h>

#include "tuner/corrected_order.h"

namespace {

constexpr int kWgmma = tmm::family::wgmma;
constexpr int kMma = tmm::family::mma;

struct Row {
    int family;
    double predicted;
    double measured;
};

// The places that have no time, in the order that they are measured in; none where the order stays.
std::vector<std::size_t> corrected(const std::vector<Row>& rows) {
    std::vector<std::size_t> places;
    std::vector<tmm::Candidate> candidates;
    std::vector<double> estimates;
    std::vector<std::optional<tmm::Measurement>> results;
    for (const Row& row : rows) {
        candidates.emplace_back().config.family = row.family;
        estimates.push_back(row.predicted);
        results.emplace_back();
        if (row.measured == 0) {
            places.push_back(results.size() - 1);
        } else {
            results.back().emplace();
            results.back()->outcome = row.measured > 0 ? tmm::Outcome::ok : tmm::Outcome::spills;
            results.back()->median_us = row.measured;
        }
    }
    return tmm::correct_order(places, candidates, estimates, results) ? places : std::vector<std::size_t>{};
}
using Places = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a family whose predictions are too short comes later, each family in its own order") {
    CHECK(corrected({{kWgmma, 10, 20}, {kMma, 12, 12}, {kWgmma, 11, 0}, {kWgmma, 10.5, 0}, {kMma, 13, 0}, {kMma, 21, 0}, {kMma, 23, 0}}) ==
          Places{4, 5, 2, 3, 6});
}

TEST_CASE("the order stays where all families are off alike, or there is one") {
    CHECK(corrected({{kWgmma, 10, 20}, {kMma, 12, 25}, {kWgmma, 11, 0}, {kMma, 13, 0}}).empty());
    CHECK(corrected({{kWgmma, 10, 40}, {kWgmma, 11, 0}, {kWgmma, 12, 0}}).empty());
    CHECK(corrected({{kWgmma, 10, 10}, {kMma, 10, 20}, {kWgmma, 11, 0}, {kWgmma, 12, 0}}).empty());
}

TEST_CASE("a family without a time is taken at its word, and what was rejected tells nothing") {
    CHECK(corrected({{kWgmma, 10, 20}, {kMma, 12, -1}, {kWgmma, 11, 0}, {kMma, 13, 0}}) == Places{3, 2});
    CHECK(corrected({{kWgmma, 10, -1}, {kMma, 12, -1}, {kWgmma, 11, 0}, {kMma, 13, 0}}).empty());
}
