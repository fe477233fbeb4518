// Stream capture on a GPU: calls and plans are recorded into a graph, which gives the same bits as the calls themselves. The
// capture is of the mode that watches every thread, which is what programs use unless they say otherwise.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "tests/support/api_testing.h"
#include "tests/support/captured_stream.h"

using namespace api_testing;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// For the first product K is not split; the second has deep K and few elements, and takes a workspace.
const Product kProducts[] = {{.m = 100, .n = 60, .k = 70}, {.m = 64, .n = 64, .k = 65536}};

}  // namespace

TEST_CASE("a call is captured, whether the handle knows the problem, the stream, or neither") {
    if (no_gpu()) return;
    const CapturedStream stream;
    for (const Product& p : kProducts) {
        CAPTURE(p.text());
        const std::vector<float> a = normal_values(p.size_a(), 1);
        const std::vector<float> b = normal_values(p.size_b(), 2);
        const std::vector<float> before(p.size_c(), kNan);
        std::vector<float> first;
        for (const bool known : {true, false}) {
            CAPTURE(known);
            const Fixture on(0);
            const OnDevice da(on, a), db(on, b), dc(on, before);
            if (known) {
                REQUIRE_MESSAGE(sgemm(on.handle, p, da.data(), db.data(), dc.data()) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
                on.device->synchronize();
                first = dc.read();
                CHECK(difference(p, a, b, before, first) == "");
                dc.write(before);
            }
            REQUIRE(tmmSetStream(on.handle, stream.get()) == TMM_STATUS_SUCCESS);
            stream.capture_and_replay([&] {
                CHECK_MESSAGE(sgemm(on.handle, p, da.data(), db.data(), dc.data()) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
            });
            CHECK(same_bits(dc.read(), first));
        }
    }
}

TEST_CASE("a plan's run is captured, in its own workspace or in one that it is brought") {
    if (no_gpu()) return;
    const CapturedStream stream;
    for (const Product& p : kProducts) {
        CAPTURE(p.text());
        const Fixture on(0);
        const std::vector<float> a = normal_values(p.size_a(), 3);
        const std::vector<float> b = normal_values(p.size_b(), 4);
        const std::vector<float> before(p.size_c(), kNan);
        const tmmGemmProblem_t problem = problem_of(p);
        tmmPlan_t plan = nullptr;
        REQUIRE_MESSAGE(tmmPlanCreate(on.handle, &problem, &plan) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        std::size_t bytes = 0;
        REQUIRE(tmmPlanWorkspaceSize(plan, &bytes) == TMM_STATUS_SUCCESS);
        const tmm::DeviceBuffer workspace(on.device, bytes);
        // With an offset of 1, misaligned pointers send the call to the plan's other kernel.
        for (const std::size_t offset : {0, 1}) {
            for (const bool brought : {false, true}) {
                const OnDevice da(on, a, offset), db(on, b, offset), dc(on, before, offset);
                tmmGemmArgs_t args = args_of(p, da.data(), db.data(), dc.data());
                if (brought) {
                    args.workspace = workspace.data();
                    args.workspace_size = bytes;
                }
                stream.capture_and_replay(
                    [&] { CHECK_MESSAGE(tmmPlanRun(plan, stream.get(), &args) == TMM_STATUS_SUCCESS, tmmLastError(on.handle)); });
                CHECK(difference(p, a, b, before, dc.read()) == "");
            }
        }
        tmmPlanDestroy(plan);
    }
}

TEST_CASE("a call is captured behind a copy and a call of another stream, both of which it waits for") {
    if (no_gpu()) return;
    const CapturedStream stream;
    const CapturedStream other;
    const auto copy =
        CapturedStream::driver_function<CUresult (*)(CUdeviceptr, CUdeviceptr, std::size_t, CUstream)>("cuMemcpyDtoDAsync_v2");
    const auto wait = CapturedStream::driver_function<CUresult (*)(CUstream, CUevent, unsigned)>("cuStreamWaitEvent");
    const tmm::CudaDriver& driver = tmm::cuda_driver();
    CUevent forked = nullptr, joined = nullptr;
    REQUIRE(driver.event_create(&forked, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    REQUIRE(driver.event_create(&joined, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    // The other stream's product is B of this one's.
    for (const int size : {64, 1000}) {
        const Product p{.m = size, .n = size, .k = size};
        CAPTURE(p.text());
        const std::vector<float> a = normal_values(p.size_a(), 5);
        std::vector<float> identity(p.size_b());
        for (int i = 0; i < size; ++i) identity[static_cast<std::size_t>(i * size + i)] = 1;
        const std::vector<float> b = normal_values(p.size_b(), 6);
        const std::vector<float> before(p.size_c(), kNan);
        const Fixture on(0), beside(0);
        const OnDevice source(on, a), da(on, before), unit(on, identity), db(on, b), product(on, before), dc(on, before);
        REQUIRE(tmmSetStream(on.handle, stream.get()) == TMM_STATUS_SUCCESS);
        REQUIRE(tmmSetStream(beside.handle, other.get()) == TMM_STATUS_SUCCESS);
        const auto address = [](const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); };
        stream.capture_and_replay([&] {
            CHECK(driver.event_record(forked, stream.get()) == CUDA_SUCCESS);
            CHECK(wait(other.get(), forked, 0) == CUDA_SUCCESS);
            CHECK(sgemm(beside.handle, p, unit.data(), db.data(), product.data()) == TMM_STATUS_SUCCESS);
            CHECK(driver.event_record(joined, other.get()) == CUDA_SUCCESS);
            CHECK(copy(address(da.data()), address(source.data()), a.size() * sizeof(float), stream.get()) == CUDA_SUCCESS);
            CHECK(wait(stream.get(), joined, 0) == CUDA_SUCCESS);
            CHECK_MESSAGE(sgemm(on.handle, p, da.data(), product.data(), dc.data()) == TMM_STATUS_SUCCESS, tmmLastError(on.handle));
        });
        CHECK(difference(p, a, b, before, dc.read()) == "");
    }
    driver.event_destroy(forked);
    driver.event_destroy(joined);
}
