// Tests which candidates are rejected before they run, by what the compiler reports of their kernels.
#include <doctest/doctest.h>

#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tuner/search/compile_queue.h"

using namespace tmm;

namespace {

// Operands that are copied first, a product, and parts that are summed.
Candidate three_kernels(KernelBook& book) {
    const GemmProblem problem = parse_shape("1023x1023x1023 dtype=bf16").problem;
    const KernelConfig config = parse_config(
        "family=wgmma,block_m=128,block_n=64,block_k=64,stages=4,vector_width=8,boundary=hardware,split_k=2,pack_ab=3,warps_m=2");
    return make_candidate(problem, config, assumed_device("90"), book);
}

std::vector<CompileQueue::Result> reports() {
    const auto report = [](int registers) { return CompileQueue::Result{.registers = registers, .spill_bytes = 0, .failure = {}}; };
    return {report(80), report(168), report(40)};
}

}  // namespace

TEST_CASE("a product, or sums of its parts, that spill are out, but not for what is copied before") {
    KernelBook book;
    const Candidate candidate = three_kernels(book);
    REQUIRE(candidate.kernels.size() == 3);
    REQUIRE(candidate.main_kernel == 1);
    const DeviceInfo device = assumed_device("90");
    CHECK(!rejection(candidate, reports(), device, false));
    auto copy_spills = reports();
    copy_spills[0].spill_bytes = 64;
    CHECK(!rejection(candidate, copy_spills, device, false));
    for (const std::size_t spilling : {std::size_t{1}, std::size_t{2}}) {
        auto kernels = reports();
        kernels[spilling].spill_bytes = 8;
        const auto out = rejection(candidate, kernels, device, false);
        REQUIRE(out);
        CHECK(out->outcome == Outcome::spills);
        CHECK(out->detail == "spills 8 bytes of registers");
        CHECK(out->registers == 168);
        CHECK(out->spill_bytes == 8);
        // An untuned call would run it.
        CHECK(!rejection(candidate, kernels, device, true));
    }
}

TEST_CASE("each kernel must compile and fit the device") {
    KernelBook book;
    Candidate candidate = three_kernels(book);
    const DeviceInfo device = assumed_device("90");
    for (std::size_t i = 0; i < 3; ++i) {
        auto kernels = reports();
        kernels[i].failure = "error: no";
        const auto failed = rejection(candidate, kernels, device, true);
        REQUIRE(failed);
        CHECK(failed->outcome == Outcome::compile_failed);
        CHECK(failed->detail == "error: no");

        kernels = reports();
        kernels[i].registers = device.registers_per_sm / candidate.threads[i] + 8;
        const auto large = rejection(candidate, kernels, device, true);
        REQUIRE(large);
        CHECK(large->outcome == Outcome::exceeds_limits);
    }
    candidate.shared_bytes = device.shared_bytes_per_block + 1;
    const auto large = rejection(candidate, reports(), device, false);
    REQUIRE(large);
    CHECK(large->detail.find("of shared memory") != std::string::npos);
}
