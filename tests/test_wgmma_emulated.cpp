// Kernels of Hopper's tensor cores on the emulated device, which does what TMA, barriers in shared memory and wgmma do as late as a wait
// allows: sampled configs, held against the references as on a GPU.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <variant>

#include "generator/assumed_device.h"
#include "generator/search_space.h"
#include "generator/shapes_file.h"
#include "generator/template_files.h"
#include "generator/text.h"
#include "runtime/executable_plan.h"
#include "runtime/host_device.h"
#include "support_correctness.h"
#include "support_temporary_directory.h"
#include "tuner/verification.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("sampled configs of wgmma are right on the emulated device") {
    const std::uint64_t seed = test_seed();
    const auto most = static_cast<std::size_t>(test_setting("CONFIGS", 12));
    const DeviceInfo h200 = assumed_device("90");
    std::vector<Sample> samples = sample_configs({.seed = seed, .count = 600, .problems_per_config = 2}, h200);
    samples.erase(std::remove_if(samples.begin(), samples.end(), [](const Sample& s) { return s.config.family != family::wgmma; }),
                  samples.end());
    samples.resize(std::min(samples.size(), most));
    const std::vector<std::shared_ptr<Device>> devices = {make_host_device_for(h200, "ascending"),
                                                          make_host_device_for(h200, "shuffled:" + std::to_string(seed))};
    check_samples(samples, devices, h200, seed, "in two thread orders");
}

namespace {

struct Fault {
    const char* what;
    const char* file;
    const char* text;
    const char* instead;
    const char* config;
    const char* shape = "70x130x333 dtype=bf16 align=16 lda=336 ldb=136";
};

constexpr const char* kPlain = "block_m=128,block_n=64,block_k=64,stages=2,warps_m=2";
constexpr const char* kOneGroup = "block_m=64,block_n=64,block_k=64,stages=2";
constexpr const char* kShared = "block_m=64,block_n=64,block_k=64,stages=2,multicast_a=2";
constexpr const char* kParts = "block_m=128,block_n=64,block_k=64,stages=2,warps_m=2,split_k=2,cluster=2";
constexpr const char* kPlanes = "block_m=64,block_n=64,block_k=64,stages=2,planes=2,promote_k=32";
constexpr const char* kOneTileOfPlanes = "block_m=64,block_n=64,block_k=64,stages=3,planes=2,promote_k=32";

constexpr const char* kFloats = "70x130x333";
constexpr const char* kFloatsOfOneTile = "70x130x61";

constexpr Fault kFaults[] = {
    {"tiles are read before they have landed", "tmm/wgmma.cuh", "pipeline.wait_full();", "", kPlain},
    {"planes are read before they have landed", "tmm/wgmma_planes.cuh", "pipeline.wait_full();", "", kPlanes, kFloats},
    {"the wrong phase is waited for", "tmm/wgmma_pipeline.cuh", "wait(full_ + place_.stage, place_.parity)",
     "wait(full_ + place_.stage, place_.parity ^ 1)", kPlain},
    {"tiles land where others are still read", "tmm/wgmma_pipeline.cuh", "wait(empty_ + place_.stage, place_.parity ^ 1);", "", kPlain},
    {"a stage is free before it has been read", "tmm/wgmma.cuh",
     "ptx::wgmma_wait_group<1>();\n        if (tile > 0) pipeline.release_previous();",
     "if (tile > 0) pipeline.release_previous();\n        ptx::wgmma_wait_group<1>();", kOneGroup},
    {"fewer bytes are waited for than come", "tmm/wgmma_pipeline.cuh", "tile_bytes(left) + tile_bytes(right));\n            const int k",
     "tile_bytes(left));\n            const int k", kPlain},
    {"sums are read before they are there", "tmm/wgmma.cuh", "ptx::wgmma_wait_group<0>();\n#pragma unroll", "\n#pragma unroll", kPlain},
    {"short sums are read before they are there", "tmm/wgmma_planes.cuh", "ptx::wgmma_wait_group<1>();", "", kPlanes, kFloats},
    {"small products are read before they are there", "tmm/wgmma_planes.cuh", "ptx::wgmma_wait_group<0>();", "", kOneTileOfPlanes,
     kFloatsOfOneTile},
    {"only one block hears that a shared tile has been read", "tmm/wgmma_pipeline.cuh",
     "ptx::mbarrier_arrive_cluster(empty_ + stage, thread);", "ptx::mbarrier_arrive_cluster(empty_ + stage, 0);", kShared},
    {"a block ends while others reach into it", "tmm/wgmma.cuh",
     "until they are done.\n    if constexpr (multicast(config) > 1) ptx::cluster_sync();", "", kShared},
    {"parts overwrite tiles that are still read", "tmm/wgmma.cuh", "ptx::bar_sync(1, consumers(config) * kWarpgroup);", "", kParts},
    {"parts are summed before they are there", "tmm/wgmma.cuh", "// Every block's part is there.\n                ptx::cluster_sync();", "",
     kParts},
};

// What is wrong with products of the config, by kernels from these templates; empty where nothing is.
std::string wrong_with(const Fault& fault, const TemplateFiles& files) {
    const DeviceInfo h200 = assumed_device("90");
    const TemporaryDirectory directory;
    const GemmProblem problem = parse_shape(fault.shape).problem;
    const KernelConfig config = parse_config("family=wgmma,vector_width=8,boundary=hardware," + std::string(fault.config));
    if (const auto invalid = why_invalid(problem, config, h200)) return "invalid: " + *invalid;
    for (const char* order : {"ascending", "descending", "shuffled:3", "shuffled:4"}) {
        KernelLoader loader(make_host_device_for(h200, order), make_host_compiler(files), KernelCache(directory.path() / "kernels"));
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&plan)) return "does not compile: " + failure->log;
        try {
            const Verdict verdict = Verifier(loader, problem, {}).verify(std::get<ExecutablePlan>(plan));
            if (verdict.outcome != Outcome::ok) return verdict.detail;
        } catch (const DeviceFault& found) {
            return found.what();
        }
    }
    return {};
}

}  // namespace

// What no emulation and no tool shows is left out: a missing wait for the kernel before (griddepcontrol.wait), for kernels run one after
// the other here, and a missing fence of barriers just made (fence.mbarrier_init).
TEST_CASE("each fault in how wgmma's threads, barriers and copies meet is found on the emulated device") {
    std::set<std::string> seen_right;
    for (const Fault& fault : kFaults) {
        CAPTURE(std::string(fault.what));
        TemplateFiles files = active_templates();
        std::string& text = files.at(fault.file);
        const std::size_t at = text.find(fault.text);
        REQUIRE(at != std::string::npos);
        if (seen_right.insert(fault.config).second) CHECK(wrong_with(fault, files) == "");
        text = text.substr(0, at) + fault.instead + text.substr(at + std::string(fault.text).size());
        const std::string found = wrong_with(fault, files);
        CHECK(found != "");
        CHECK(found.find("does not compile") == std::string::npos);
        if (std::getenv("TMM_TEST_VERBOSE")) fmt::print("{}: {}\n", fault.what, found.substr(0, 200));
    }
}
