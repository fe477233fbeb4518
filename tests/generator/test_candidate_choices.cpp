// Tests into how many parts the searches divide K, and how many of them a cluster sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "generator/families/candidate_choices.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"

using namespace tmm;

namespace {

bool offers(const std::vector<int>& splits, int split) {
    return std::find(splits.begin(), splits.end(), split) != splits.end();
}

}  // namespace

TEST_CASE("a cluster sums a power of two of the parts, or all, or none does") {
    const DeviceInfo hopper = assumed_device("90");
    CHECK(cluster_choices(1, hopper) == std::vector<int>{1});
    CHECK(cluster_choices(6, hopper) == std::vector<int>{1, 2});
    CHECK(cluster_choices(8, hopper) == std::vector<int>{1, 8});
    CHECK(cluster_choices(12, hopper) == std::vector<int>{1, 4});
    CHECK(cluster_choices(13, hopper) == std::vector<int>{1});
    CHECK(cluster_choices(32, hopper) == std::vector<int>{1, 8});
    CHECK(cluster_choices(6, assumed_device("80")) == std::vector<int>{1});
    CHECK(whole_cluster_choices(1, hopper) == std::vector<int>{1});
    CHECK(whole_cluster_choices(6, hopper) == std::vector<int>{1, 6});
    CHECK(whole_cluster_choices(16, hopper) == std::vector<int>{1});
    CHECK(whole_cluster_choices(6, assumed_device("80")) == std::vector<int>{1});
}

TEST_CASE("parts that fill the SMs evenly are offered beside powers of two") {
    const DeviceInfo device = assumed_device("90");
    REQUIRE(device.sm_count == 132);
    const GemmProblem problem = parse_shape("7680x64x2560").problem;
    // 6 x 240 blocks are 10.9 waves, 5 x 240 9.1.
    const std::vector<int> of_240 = split_choices(problem, device, 240, 16);
    CHECK(offers(of_240, 6));
    CHECK(offers(of_240, 4));
    CHECK(!offers(of_240, 5));
    // 7 x 55 blocks are 2.9 waves.
    CHECK(offers(split_choices(problem, device, 55, 16), 7));
    // Each part keeps four tiles.
    for (const int split : split_choices(parse_shape("64x64x100").problem, device, 1, 8)) CHECK(split <= 3);
}
