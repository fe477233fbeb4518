// A GPU that is shared, throttled or divided is noticed by tmm-tune and tmm-bench, with stand-ins for the driver and the management
// library.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>

#include "generator/compile/compiler.h"
#include "tests/support/database_fixture.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

constexpr const char* kShared = "2 other processes use the GPU";
constexpr const char* kSlice = "it is a slice of a GPU (MIG)";
constexpr const char* kThrottled = "power or heat holds the GPU's clock down";

int count(const std::string& text, const std::string& part) {
    int found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

struct Stand {
    TemporaryDirectory folder;
    Stand() { write_file(folder / "shapes.txt", "64 64 64\n128 64 64\n"); }

    // Kernels of the stand-in do nothing, so that results are wrong; what is said of the device counts here.
    CommandResult run(const std::string& tool, const std::string& environment, bool has_nvml = true) const {
        const char* const before = std::getenv("LD_LIBRARY_PATH");
        const std::string libraries = std::string(TMM_TEST_GPU_STAND_IN) + (has_nvml ? std::string(":") + TMM_TEST_NVML_STAND_IN : "");
        return run_command(fmt::format(
            "env COLUMNS=1000 LD_LIBRARY_PATH='{}:{}' TMM_CACHE_DIR='{}/tests/tuner_cache' {} '{}/{}' --gpu 0 --shapes '{}' --db '{}'",
            libraries, before ? before : "", TMM_BINARY_DIR, environment, TMM_BINARY_DIR, tool, (folder / "shapes.txt").string(),
            (folder / "tmm.db").string()));
    }
    CommandResult bench(const std::string& environment, bool has_nvml = true) const {
        return run(fmt::format("tools/tmm-bench' --vs naive --pairs 2 --settle 0 --csv '{}", (folder / "out.csv").string()), environment,
                   has_nvml);
    }
    CommandResult tune(const std::string& environment, bool has_nvml = true) const {
        return run("tools/tmm-tune' --budget '1", environment, has_nvml);
    }
    std::string csv() const { return read_file(folder / "out.csv"); }
};

bool lacks_nvrtc() {
    if (nvrtc_version() > 0) return false;
    MESSAGE("skipped: libnvrtc was not found");
    return true;
}

std::string state(const char* which, const char* bus = "0000:01:00.0") {
    return fmt::format("TMM_TEST_GPU={} TMM_TEST_GPU_STATE={}", bus, which);
}

}  // namespace

TEST_CASE("tmm-bench says once that a GPU is shared, divided or throttled, and its files keep it") {
    if (lacks_nvrtc()) return;
    const Stand stand;
    for (const auto& [how, said, kept] : {std::array{"3", kShared, "# other_processes: 2\n"}, std::array{"divided", kSlice, "# mig: 1\n"},
                                          std::array{"throttled", kThrottled, ",1500,1,"}}) {
        const CommandResult result = stand.bench(state(how));
        CAPTURE(result.err);
        CAPTURE(stand.csv());
        CHECK(count(result.err, said) == 1);
        for (const char* other : {kShared, kSlice, kThrottled})
            if (std::string(other) != said) CHECK(count(result.err, other) == 0);
        CHECK(count(stand.csv(), kept) >= 1);
    }
}

TEST_CASE("tmm-tune says once that a GPU is shared or divided") {
    if (lacks_nvrtc()) return;
    const Stand stand;
    CHECK(count(stand.tune(state("3")).err, kShared) == 1);
    CHECK(count(stand.tune(state("divided")).err, kSlice) == 1);
}

TEST_CASE("of a GPU of one's own, and where there is no NVML, nothing is said") {
    if (lacks_nvrtc()) return;
    const Stand stand;
    for (const bool has_nvml : {true, false})
        for (const std::string& text :
             {stand.bench(state(has_nvml ? "1" : "3"), has_nvml).err, stand.tune(state(has_nvml ? "1" : "3"), has_nvml).err}) {
            CAPTURE(text);
            for (const char* warning : {kShared, kSlice, kThrottled, "other process", "nvml", "NVML"}) CHECK(count(text, warning) == 0);
        }
    CHECK(count(stand.csv(), "other_processes") == 0);
    CHECK(count(stand.csv(), "mig") == 0);
}

TEST_CASE("what is said is about the GPU that CUDA_VISIBLE_DEVICES picks, and not about its neighbour") {
    if (lacks_nvrtc()) return;
    const Stand stand;
    const std::string second = state("3", "0000:02:00.0");
    CHECK(count(stand.bench(second).err, kShared) == 0);
    CHECK(count(stand.bench(second + " CUDA_VISIBLE_DEVICES=1").err, kShared) == 1);
    CHECK(count(stand.tune(second + " CUDA_VISIBLE_DEVICES=1").err, kShared) == 1);
}
