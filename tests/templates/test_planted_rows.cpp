// The planted database on the emulated device: what serves from it is right, if slow. TMM_TEST_SEED repeats a run.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "generator/choice/search_space.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/kernels/planted_rows.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("three hundred legal but unusual winners serve their problems and give right results") {
    const std::vector<std::shared_ptr<Device>> devices = {make_host_device("shuffled:1")};
    const DeviceInfo& device = devices.front()->info();
    const std::vector<PlantedRow> rows = unusual_rows({.seed = test_seed(), .count = 300, .largest_block = 32}, device);
    REQUIRE(rows.size() == 300);
    // They are what no search finds, of every family that the device takes.
    int found = 0;
    std::set<int> families;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        families.insert(rows[i].config.family);
        if (i % 10 != 0) continue;
        const auto candidates = search_space(rows[i].problem, device, Effort::full).candidates;
        found += std::find(candidates.begin(), candidates.end(), rows[i].config) != candidates.end() ? 1 : 0;
    }
    CHECK(found < 3);
    CHECK(families == std::set<int>{family::naive, family::tiled, family::simt, family::gemv, family::mma});
    check_planted_rows(rows, devices, test_seed(), 50);
}
