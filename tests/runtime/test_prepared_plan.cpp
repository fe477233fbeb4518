// Tests which kernels a plan launches to prepare an operand, and for a run that finds one prepared, and with how many thread blocks: on a
// device that only records what is launched, so that no GPU is needed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/occupancy.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/plan/plan.h"
#include "tests/support/database_fixture.h"
#include "tmm/steps/planes/rules.h"

using namespace tmm;

namespace {

constexpr const char* kPlanes =
    "family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2,planes=2,promote_k=32";

struct NamedKernel final : LoadedKernel {
    std::string name;
};

struct Launch {
    std::string kernel;
    std::int64_t grid;
    bool begins_early;
    std::int64_t shared_bytes;
    PlanesArgs args;
    bool of(const std::string& family) const { return kernel.starts_with("tmm_" + family + "_"); }
};

class RecordingDevice final : public Device {
public:
    std::vector<Launch> launches;

    const DeviceInfo& info() const override { return info_; }
    void* allocate(std::size_t) override { return nullptr; }
    void release(void*) noexcept override {}
    void copy_to_device(void*, const void*, std::size_t) override {}
    void copy_to_host(void*, const void*, std::size_t) override {}
    void fill_bytes(void*, unsigned char, std::size_t) override {}
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel&, const std::string& entry) override {
        auto kernel = std::make_shared<NamedKernel>();
        kernel->name = entry;
        return kernel;
    }
    void launch(const LoadedKernel& kernel, const LaunchShape& shape, const void* arguments, std::size_t bytes, Stream) override {
        Launch launch{.kernel = static_cast<const NamedKernel&>(kernel).name,
                      .grid = shape.grid,
                      .begins_early = shape.begins_early,
                      .shared_bytes = shape.shared_bytes,
                      .args = {}};
        std::memcpy(&launch.args, arguments, std::min(bytes, sizeof launch.args));
        launches.push_back(launch);
    }
    void encode_tensor_map(const TensorMapRequest&, void*) const override {}
    void set_address(void*, const void*) const override {}
    void synchronize(Stream) override {}
    std::unique_ptr<Replay> record(const std::function<void(Stream)>&) override { return nullptr; }
    DeviceState state() override { return {}; }
    int blocks_per_sm(const LoadedKernel&, int threads, std::int64_t shared_bytes) override {
        return blocks_known ? tmm::blocks_per_sm(info_, threads, 32, shared_bytes).blocks : 0;
    }
    int clusters_at_once(const LoadedKernel&, const LaunchShape& shape) override {
        return blocks_known && clusters_of ? clusters_of(tmm::blocks_per_sm(info_, shape.threads, 32, shape.shared_bytes).blocks)
                                           : clusters;
    }
    // Number of clusters that the device holds, given the number of thread blocks on an SM.
    std::function<int(int)> clusters_of;
    // The number of clusters is unknown.
    int clusters = 0;
    bool blocks_known = false;

private:
    DeviceInfo info_ = assumed_device("90");
};

// Compiles nothing, and refuses kernels whose name holds a text.
class IdleCompiler final : public Compiler {
public:
    std::string refused;
    CompileResult compile(const KernelSource& source) const override {
        if (!refused.empty() && source.name.find(refused) != std::string::npos) return CompileFailure{.log = "no"};
        return CompiledKernel{};
    }
    std::string identity() const override { return "idle"; }
};

struct Fixture {
    RuntimePlan make(const std::string& config) {
        WinnerRow row;
        row.problem = problem;
        row.device = device->info().name;
        row.compute_capability = device->info().compute_capability();
        row.sm_count = device->info().sm_count;
        row.config = parse_config(config);
        row.origin = "user";
        return RuntimePlan::make({.problem = problem}, Winners({row}, device->info()), loader, RuntimePlan::Pointers::any);
    }
    std::vector<Launch> launched(const std::function<void()>& work) {
        device->launches.clear();
        work();
        return device->launches;
    }
    // An address that is only a number.
    static std::byte* place(std::size_t address) { return reinterpret_cast<std::byte*>(address); }

    GemmProblem problem = parse_shape("300x200x1000").problem;
    testing::TemporaryDirectory directory;
    std::shared_ptr<RecordingDevice> device = std::make_shared<RecordingDevice>();
    std::shared_ptr<IdleCompiler> compiler = std::make_shared<IdleCompiler>();
    KernelLoader loader{device, compiler, KernelCache(directory / "kernels")};
    const GemmCall call{.a = place(0x10000), .b = place(0x20000), .c = place(0x30000), .workspace = place(0x40000)};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a preparation splits one operand, by a kernel for the alignment of its pointer") {
    const RuntimePlan plan = make(kPlanes);
    REQUIRE(plan.selection().match == Match::exact);
    CHECK(plan.prepared_bytes(GemmOperand::a) + plan.prepared_bytes(GemmOperand::b) == plan.workspace_bytes());
    for (const std::size_t misaligned : {0, 4}) {
        for (const GemmOperand operand : {GemmOperand::a, GemmOperand::b}) {
            const bool of_a = operand == GemmOperand::a;
            const auto launches = launched(
                [&] { plan.prepare({.operand = operand, .matrix = place(0x10000 + misaligned), .prepared = place(0x50000)}, nullptr); });
            REQUIRE(launches.size() == 1);
            const Launch& launch = launches.front();
            CHECK(launch.of("planes"));
            CHECK(!launch.begins_early);
            CHECK((launch.kernel.find("a16b16") != std::string::npos) == (misaligned == 0));
            CHECK((of_a ? launch.args.a : launch.args.b) == place(0x10000 + misaligned));
            const PlanesOperand& filled = of_a ? launch.args.planes_a : launch.args.planes_b;
            const PlanesOperand& other = of_a ? launch.args.planes_b : launch.args.planes_a;
            CHECK(filled.planes == place(0x50000));
            // A mark for each tile of lines takes the last 256 bytes.
            CHECK(reinterpret_cast<std::byte*>(filled.unfit) + 256 == place(0x50000) + plan.prepared_bytes(operand));
            CHECK(other.planes == nullptr);
            CHECK(other.unfit == nullptr);
            // Tiles of 32 of the 300 rows of A, of the 200 columns of B, each a cluster of 4 blocks, which have 256 of 1000 elements.
            CHECK(launch.grid == (of_a ? 10 * 4 : 7 * 4));
        }
    }
}

TEST_CASE_FIXTURE(Fixture, "a run launches blocks for what it splits itself, whichever kernels its pointers allow") {
    const RuntimePlan plan = make(kPlanes);
    for (const std::size_t misaligned : {0, 4}) {
        CAPTURE(misaligned);
        GemmCall one = call;
        one.a = place(0x10000 + misaligned);
        std::vector<Launch> launches = launched([&] { plan.run(one, nullptr); });
        REQUIRE(launches.size() == 3);
        CHECK(launches[0].grid == (10 + 7) * 4);
        CHECK((launches[0].kernel.find("a16b16") != std::string::npos) == (misaligned == 0));
        one.prepared_b = place(0x50000);
        launches = launched([&] { plan.run(one, nullptr); });
        REQUIRE(launches.size() == 3);
        CHECK(launches[0].grid == 10 * 4);
        CHECK(launches[0].args.planes_a.planes == call.workspace);
        CHECK(launches[0].args.planes_b.planes == nullptr);
        CHECK(launches[1].of("wgmma"));
        CHECK(launches[1].args.b == place(0x50000));
        CHECK(launches[2].args.b == call.b);
        one.prepared_a = place(0x60000);
        launches = launched([&] { plan.run(one, nullptr); });
        REQUIRE(launches.size() == 2);
        CHECK(launches[0].of("wgmma"));
        CHECK(launches[0].args.a == place(0x60000));
        CHECK(launches[1].of("rescue"));
        // Whatever the first kernel is, all that the stream held before has ended when it begins.
        CHECK(!launches[0].begins_early);
        CHECK(launches[1].begins_early);
    }
}

TEST_CASE_FIXTURE(Fixture, "prepared operands are of no meaning to plans that split none, or not with both of their kernels") {
    const auto ignores = [&](const RuntimePlan& plan) {
        CHECK(plan.prepared_bytes(GemmOperand::a) == 0);
        CHECK(plan.prepared_bytes(GemmOperand::b) == 0);
        GemmCall one = call;
        const std::size_t launches = launched([&] { plan.run(one, nullptr); }).size();
        one.prepared_a = one.prepared_b = place(0x50000);
        for (const Launch& launch : launched([&] { plan.run(one, nullptr); }))
            for (const void* pointer : {launch.args.a, launch.args.b}) CHECK(pointer != one.prepared_a);
        CHECK(device->launches.size() == launches);
    };
    ignores(make("family=tiled,block_m=16,block_n=16,block_k=16"));
    // The kernels that split misaligned matrices can't be had.
    set_log_sink([](const std::string&) {});
    compiler->refused = "planes_f32_nn_planes2";
    ignores(make(kPlanes));
    set_log_sink({});
}

TEST_CASE_FIXTURE(Fixture, "blocks that walk over the work are no more than the clusters that are resident at once") {
    problem = parse_shape("4096x4096x64 dtype=bf16").problem;
    const std::string tile = "family=wgmma,block_m=128,block_n=128,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2";
    const auto grid = [&](const std::string& config, int clusters) {
        device->clusters = clusters;
        const RuntimePlan plan = make(config);
        return launched([&] { plan.run(call, nullptr); }).front().grid;
    };
    CHECK(grid(tile + ",multicast_a=4", 0) == 132);
    CHECK(grid(tile + ",multicast_a=4", 30) == 120);
    CHECK(grid(tile + ",multicast_a=4", 1000) == 132);
    CHECK(grid(tile + ",multicast_a=2,multicast_b=4", 14) == 112);
    CHECK(grid(tile, 30) == 132);
    // Each of these clusters has a tile of its own.
    CHECK(grid(tile + ",split_k=4,cluster=4", 30) == 32 * 32 * 4);
}

TEST_CASE_FIXTURE(Fixture,
                  "kernels that overlap begin early, of others what sums parts up, and no SM holds more than its share of the blocks") {
    problem = parse_shape("512x512x512 dtype=bf16").problem;
    const std::string tile = "family=wgmma,block_m=64,block_n=64,block_k=64,stages=2,vector_width=8,boundary=hardware,min_blocks=2";
    const auto launches_of = [&](const std::string& config) {
        const RuntimePlan plan = make(config);
        return launched([&] { plan.run(call, nullptr); });
    };
    device->blocks_known = true;
    const std::vector<Launch> apart = launches_of(tile + ",split_k=4");
    REQUIRE(apart.size() == 2);
    CHECK(!apart[0].begins_early);
    // The kernel that adds up the partial sums does not depend on the order of the SMs.
    CHECK(apart[1].begins_early);
    // There are 256 thread blocks on 132 SMs.
    const std::vector<Launch> overlapping = launches_of(tile + ",split_k=4,overlap=1");
    REQUIRE(overlapping.size() == 2);
    CHECK(overlapping[0].begins_early);
    CHECK(overlapping[1].begins_early);
    const auto resident = [&](const Launch& launch) { return blocks_per_sm(device->info(), 256, 32, launch.shared_bytes).blocks; };
    CHECK(resident(apart[0]) > 2);
    CHECK(resident(overlapping[0]) == 2);
    CHECK(overlapping[1].shared_bytes == apart[1].shared_bytes);
    // Clusters that do not find places at once take a place more of each SM.
    const auto clustered = [&](int places) {
        device->clusters_of = [places](int blocks) { return blocks >= places ? 64 : 60; };
        return resident(launches_of(tile + ",split_k=4,cluster=4,overlap=1")[0]);
    };
    CHECK(clustered(2) == 2);
    CHECK(clustered(3) == 3);
    CHECK(clustered(9) == resident(launches_of(tile + ",split_k=4,cluster=4")[0]));
    // If the driver does not say how many there are, nothing is changed.
    device->blocks_known = false;
    CHECK(launches_of(tile + ",split_k=4,overlap=1")[0].shared_bytes == apart[0].shared_bytes);
}
