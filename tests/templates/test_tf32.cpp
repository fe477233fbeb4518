// Operands of compute=tf32 are rounded to the nearest number of TF32 on their way to the tensor cores, and kernels that cut them off are
// judged inaccurate. The emulated device does what the copy engine and the tensor cores do.
#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "generator/machine/assumed_device.h"
#include "generator/text/text.h"
#include "host/asynchronous.h"
#include "tests/support/kernels/tf32_rounding.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/verification_testing.h"

using namespace verification_testing;
using namespace tmm::testing;

namespace {

// An emulated H200 whose copy engine may do something else than it is asked to.
struct Hopper {
    explicit Hopper(std::function<void(TensorMapRequest&)> change = nullptr)
        : device(std::make_shared<FaultyDevice>(make_host_device_for(assumed_device("90"), "ascending"))),
          loader(device, make_host_compiler(), KernelCache(compiled_once().path())) {
        device->change_map = std::move(change);
    }

    Verdict verdict(const std::string& shape, const std::string& config_text) {
        const Shape parsed = parse_shape(shape);
        const DeviceInfo h200 = assumed_device("90");
        const KernelConfig config = parse_config(config_text);
        REQUIRE(why_invalid(parsed.problem, config, h200).value_or("") == "");
        auto made = ExecutablePlan::make(make_launch_plan(parsed.problem, config, h200), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
        return Verifier(loader, parsed.problem, {.alpha = parsed.alpha, .beta = parsed.beta}).verify(std::get<ExecutablePlan>(made));
    }

    // Kernels are the same for all of them.
    static const TemporaryDirectory& compiled_once() {
        static const TemporaryDirectory directory;
        return directory;
    }

    std::shared_ptr<FaultyDevice> device;
    KernelLoader loader;
};

const std::string kWgmma = "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=64,block_k=32,stages=2";

struct Judged {
    const char* shape;
    std::string config;
};
// One element of C, few and many products of each, parts of K, C that is read, epilogues, batches, copies of operands, a left operand from
// registers, and strips beside the tiles, which are multiplied by FMAs.
const std::vector<Judged> kJudged = {
    {"1x1x1 compute=tf32 ops=nt align=4", kWgmma + ",pack_ab=3"},
    {"70x70x64 compute=tf32 ops=nt align=16 lda=64 ldb=64", kWgmma},
    {"66x40x4100 compute=tf32 ops=nt align=16", kWgmma},
    {"70x72x400 compute=tf32 ops=nt align=16", kWgmma + ",split_k=3"},
    {"70x72x64 compute=tf32 ops=nt align=16 alpha=0.5 beta=-1.5", kWgmma},
    {"70x72x64 compute=tf32 align=16 epilogue=bias+gelu+residual", kWgmma + ",swap_ab=1"},
    {"70x144x64 compute=tf32 ops=nt align=16 epilogue=bias+swiglu", kWgmma},
    {"33x40x50 compute=tf32 ops=tn batch=3 beta=1", kWgmma + ",pack_ab=3"},
    {"72x72x64 compute=tf32 ops=tt align=16", kWgmma},
    {"65x66x41 compute=tf32 ops=tn", kWgmma + ",pack_ab=3,trim=1"},
};

}  // namespace

TEST_CASE("floats are rounded to TF32 as IEEE 754 rounds to the nearest, and no NaN is lost") {
    struct Rounded {
        std::uint32_t from;
        std::uint32_t to;
    };
    for (const auto& [from, to] : {Rounded{0x3f800000, 0x3f800000}, Rounded{0x3f800fff, 0x3f800000}, Rounded{0x3f801000, 0x3f800000},
                                   Rounded{0x3f801001, 0x3f802000}, Rounded{0x3f803000, 0x3f804000}, Rounded{0xbf803000, 0xbf804000},
                                   Rounded{0x3fffffff, 0x40000000}, Rounded{0x7f7fefff, 0x7f7fe000}, Rounded{0x7f7ff000, 0x7f800000},
                                   Rounded{0xff7fffff, 0xff800000}, Rounded{0x7f800000, 0x7f800000}, Rounded{0x00000fff, 0x00000000},
                                   Rounded{0x80001000, 0x80000000}, Rounded{0x00003000, 0x00004000}, Rounded{0x007fffff, 0x00800000}})
        CHECK(host::rounded_to_tf32(from) == to);
    for (const std::uint32_t nan : {0x7f800001U, 0x7f801fffU, 0xff800001U, 0x7fbfffffU, 0x7fc00000U, 0xffffffffU}) {
        CAPTURE(nan);
        CHECK(std::isnan(std::bit_cast<float>(host::rounded_to_tf32(nan))));
        CHECK((host::rounded_to_tf32(nan) & 0x1fff) == 0);
    }
}

TEST_CASE("operands reach the emulated tensor cores as the nearest numbers of TF32") {
    Hopper hopper;
    std::size_t index = 0;
    for (const Tf32Case& one : tf32_cases()) {
        if (!in_slice(index++, 4)) continue;
        CAPTURE(std::string(one.ops));
        CAPTURE(std::string(one.config));
        const Tf32Rounding found = tf32_rounding(hopper.loader, assumed_device("90"), "72x88x40", one);
        CHECK(found.wrong == "");
        CHECK(found.wrong_nans == "");
    }
}

TEST_CASE("kernels that round their operands pass, and those that cut one of them off are inaccurate") {
    Hopper right;
    // The maps of one operand, of the other, and of both lack the rounding.
    Hopper cut([](TensorMapRequest& map) { map.rounds_to_tf32 = false; });
    int seen = 0;
    Hopper half([&](TensorMapRequest& map) {
        if (map.rounds_to_tf32) map.rounds_to_tf32 = seen++ % 2 == 0;
    });
    std::size_t index = 0;
    for (const Judged& one : kJudged) {
        if (!in_slice(index++, 3)) continue;
        CAPTURE(std::string(one.shape));
        CAPTURE(std::string(one.config));
        const Verdict verdict = right.verdict(one.shape, one.config);
        CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        for (Hopper* wrong : {&cut, &half}) {
            const Verdict found = wrong->verdict(one.shape, one.config);
            CHECK_MESSAGE(found.outcome == Outcome::inaccurate, found.detail);
            CHECK_MESSAGE(contains(found.detail, "values next to numbers of TF32"), found.detail);
            CHECK(found.error_ratio > 1.5);
            CHECK(found.error_ratio < 5);
        }
    }
}

TEST_CASE("FP32 FMAs, which round no operand, serve compute=tf32") {
    for (const char* shape : {"33x29x5170 compute=tf32 beta=1", "2x40x30000 compute=tf32 ops=nt", "70x64x8200 compute=tf32 align=16"}) {
        CAPTURE(std::string(shape));
        const GemmProblem problem = problem_of(shape);
        for (const KernelConfig& config : {fallback_config(), default_config(problem, bench().device->info())}) {
            CAPTURE(to_text(config));
            const ExecutablePlan plan = bench().plan(problem, config);
            const Verdict verdict = Verifier(*bench().loader, problem).verify(plan);
            CHECK_MESSAGE(verdict.outcome == Outcome::ok, verdict.detail);
        }
    }
}
