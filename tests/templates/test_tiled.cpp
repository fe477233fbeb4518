// Tests the teaching kernel with every TILE_WIDTH from 2 to 32, exact and guarded: sizes of whole tiles, one more, one less, and less than
// a tile.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/kernels/correctness.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

KernelConfig config_of(int width, int mode) {
    return {.family = family::tiled, .block_m = width, .block_n = width, .block_k = width, .boundary = mode};
}

GemmProblem problem_of(int m, int n, int k, const char* more = "") {
    return parse_shape(fmt::format("{}x{}x{}{}", m, n, k, more)).problem;
}

}  // namespace

TEST_CASE("tiled takes every width from 2 to 32 and says so of others") {
    const DeviceInfo device = assumed_device("90");
    for (int width = 2; width <= 32; ++width) {
        CAPTURE(width);
        CHECK(why_invalid(problem_of(100, 100, 100), config_of(width, boundary::guarded), device).value_or("") == "");
        CHECK(why_invalid(problem_of(3 * width, width, 2 * width), config_of(width, boundary::exact), device).value_or("") == "");
        CHECK(why_invalid(problem_of(3 * width + 1, width, width), config_of(width, boundary::exact), device).has_value());
        CHECK(threads_of(config_of(width, boundary::guarded)) == width * width);
        const PhaseLoads loads = family_of(config_of(width, boundary::guarded)).model.phase_loads(config_of(width, boundary::guarded));
        CHECK(loads.flop_per_load == width);
    }
    for (const int width : {0, 1, 33, 64})
        CHECK(why_invalid(problem_of(100, 100, 100), config_of(width, boundary::guarded), device).has_value());
    CHECK(why_invalid(problem_of(100, 100, 100), config_of(33, boundary::guarded), device).value_or("").find("2 to 32") !=
          std::string::npos);
}

TEST_CASE("tiled is right with widths of all kinds, on whole tiles and at every edge") {
    std::vector<Sample> samples;
    for (const int width : {2, 3, 5, 7, 13, 16, 31, 32}) {
        Sample sample{.config = config_of(width, boundary::guarded), .problems = {}, .alpha = 1.5, .beta = 0};
        for (const int edge : {-1, 0, 1}) sample.problems.push_back(problem_of(2 * width + edge, width - edge, width + 2 * edge + 2));
        sample.problems.push_back(problem_of(1, 1, 1));
        samples.push_back(sample);
    }
    for (const int width : {2, 9, 16, 32})
        samples.push_back({.config = config_of(width, boundary::exact), .problems = {problem_of(2 * width, width, 3 * width)}});
    const std::vector<std::shared_ptr<Device>> devices = {make_host_device("ascending"), make_host_device("descending")};
    check_samples(samples, devices, devices.front()->info(), 1, "of the tiled kernel");
}
