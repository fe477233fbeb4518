// For which architecture a kernel is compiled, by an NVRTC that knows a GPU and by one that is older or newer than it.
#include <doctest/doctest.h>

#include <vector>

#include "generator/compile/nvrtc_library.h"

using namespace tmm;

namespace {

// What NVRTC 12.0, 12.8, 12.9 and 13.0 say that they know.
const std::vector<int> k12_0{50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};
const std::vector<int> k12_8{50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 120};
const std::vector<int> k12_9{50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121};
const std::vector<int> k13_0{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

void check_code(const std::vector<int>& known, int gpu, const char* architecture) {
    CAPTURE(gpu);
    const NvrtcTarget target = nvrtc_target(known, gpu);
    CHECK(target.architecture == architecture);
    CHECK(!target.ptx);
}
void check_ptx(const std::vector<int>& known, int gpu, const char* architecture) {
    CAPTURE(gpu);
    const NvrtcTarget target = nvrtc_target(known, gpu);
    CHECK(target.architecture == architecture);
    CHECK(target.ptx);
}

}  // namespace

TEST_CASE("a GPU that NVRTC knows gets its own machine code, from Hopper on with what only it has") {
    check_code(k13_0, 75, "sm_75");
    check_code(k13_0, 89, "sm_89");
    check_code(k12_0, 90, "sm_90a");
    check_code(k12_8, 100, "sm_100a");
    check_code(k13_0, 110, "sm_110a");
}

TEST_CASE("a newer GPU gets machine code of the same major version, without what only the older one has") {
    check_code(k12_8, 103, "sm_100");
    check_code(k12_8, 121, "sm_120");
    check_code(std::vector<int>{80, 90}, 89, "sm_80");
}

TEST_CASE("machine code never passes between embedded chips and others") {
    // 10.1 stands between 10.0 and 10.3, 8.7 before 8.9 and 8.8.
    CHECK(nvrtc_target(k12_8, 103).architecture != "sm_101");
    check_code(std::vector<int>{80, 86, 87, 90}, 89, "sm_86");
    check_ptx(k12_9, 88, "compute_87");
    check_ptx(std::vector<int>{80, 86, 90}, 87, "compute_86");
    check_ptx(std::vector<int>{90, 100, 120}, 101, "compute_100");
}

TEST_CASE("a GPU of a newer generation gets PTX of the newest that NVRTC knows before it") {
    check_ptx(k12_0, 100, "compute_90");
    check_ptx(k12_9, 110, "compute_103");
    check_ptx(k13_0, 130, "compute_121");
}

TEST_CASE("a GPU older than all that NVRTC knows gets nothing") {
    CHECK(nvrtc_target(k13_0, 70).architecture.empty());
    CHECK(nvrtc_target(k13_0, 61).architecture.empty());
}
