// When nothing is multiplied, C becomes zeros or beta times what it holds, whatever kernel TMA serves; on the emulated device.
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/kernels/tma_products.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"
#include "tuner/measure/verification.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("where nothing is multiplied, nothing is packed, and C becomes zeros or beta times what it holds") {
    const DeviceInfo h200 = assumed_device("90");
    const TemporaryDirectory directory;
    KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(), KernelCache(directory.path() / "kernels"));
    const GemmProblem problem = parse_shape("65x67x449 beta=1").problem;
    for (const char* packing : {"pack_ab=7", "pack_ab=3,trim=2"}) {
        CAPTURE(packing);
        const KernelConfig config = parse_config(
            std::string("family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,stages=3,"
                        "async_copy=3,") +
            packing);
        CHECK(why_invalid(problem, config, h200).value_or("") == "");
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        REQUIRE(std::holds_alternative<ExecutablePlan>(plan));
        for (const double beta : {0.0, 0.75})
            CHECK(Verifier(loader, problem, {.alpha = 0, .beta = beta}).verify(std::get<ExecutablePlan>(plan)).detail == "");
    }
}

TEST_CASE("where nothing is multiplied, skinny leaves zeros, or beta times what C holds, whatever stands in A and B") {
    const DeviceInfo h200 = assumed_device("90");
    constexpr const char* kTile = "block_m=4,block_n=32,block_k=64,thread_m=4,thread_n=4,stages=3,slice_k=2";
    for (const char* changes : {"", ",split_k=3", ",swap_ab=1"}) {
        for (const char* text : {"7x70x300 ops=nt align=16", "7x70x300 ops=nt align=16 beta=1 batch=2"}) {
            CAPTURE(changes);
            CAPTURE(text);
            const TemporaryDirectory directory;
            KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(), KernelCache(directory.path() / "kernels"));
            const GemmProblem problem = parse_shape(text).problem;
            const KernelConfig config = parse_config(std::string("family=skinny,vector_width=4,boundary=hardware,") + kTile + changes);
            CHECK(why_invalid(problem, config, h200).value_or("") == "");
            auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
            REQUIRE(std::holds_alternative<ExecutablePlan>(plan));
            for (const double beta : {0.0, 0.75}) {
                if (beta != 0 && !problem.reads_c) continue;
                const VerificationOptions nothing{.alpha = 0, .beta = beta};
                CHECK(Verifier(loader, problem, nothing).verify(std::get<ExecutablePlan>(plan)).detail == "");
            }
        }
    }
}

TEST_CASE("more parts than tiles leave some of skinny's empty") {
    CHECK(wrong_with({.what = "",
                      .file = "",
                      .text = "",
                      .instead = "",
                      .config = "family=skinny,vector_width=4,boundary=hardware,block_m=4,block_n=32,block_k=64,thread_m=4,thread_n=4,"
                                "stages=3,slice_k=2,split_k=100",
                      .shape = "3x70x130 ops=nt align=16 lda=132 ldb=132"},
                     active_templates()) == "");
}

TEST_CASE("where nothing is multiplied, C becomes zeros, or beta times what it holds, whatever the sums hold") {
    const DeviceInfo h200 = assumed_device("90");
    const auto wrong_without_product = [&](const char* text, const std::string& changes, const TemplateFiles& files) -> std::string {
        const TemporaryDirectory directory;
        KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(files), KernelCache(directory.path() / "kernels"));
        const GemmProblem problem = parse_shape(text).problem;
        const KernelConfig config = parse_config("family=wgmma,vector_width=8,boundary=hardware,block_m=64,stages=2" + changes);
        if (const auto invalid = why_invalid(problem, config, h200)) return "invalid: " + *invalid;
        auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
        if (const auto* failure = std::get_if<CompileFailure>(&plan)) return "does not compile: " + failure->log;
        return Verifier(loader, problem, {.alpha = 0, .beta = 0.75}).verify(std::get<ExecutablePlan>(plan)).detail;
    };
    const TemplateFiles unset = templates_with_unset_sums();
    constexpr const char* kPlain = "70x136x90 dtype=bf16 align=16 lda=96";
    const std::string tile = ",block_n=64,block_k=64";
    std::size_t index = 0;
    for (const char* text : {kPlain, "70x136x90 dtype=bf16 align=16 lda=96 beta=1", "70x133x90 dtype=f16 align=16 lda=96 ldb=136",
                             "70x136x90 dtype=bf16 ctype=f32 align=16 lda=96"}) {
        for (const char* changes : {"", ",swap_ab=1", ",ping_pong=1", ",split_k=2,cluster=2", ",split_k=2"}) {
            if (!in_slice(index++, 4)) continue;
            CAPTURE(text);
            CAPTURE(changes);
            CHECK(wrong_without_product(text, tile + changes, unset) == "");
        }
    }
    CHECK(wrong_without_product("70x136x90 compute=tf32 align=16 lda=92", ",block_n=64,block_k=32,swap_ab=1", unset) == "");
    const TmaFault forgotten{.what = "what nothing was added to is stored",
                             .file = "tmm/families/wgmma/boxes.cuh",
                             .text = "item.tiles == 0",
                             .instead = "false",
                             .config = "",
                             .shape = ""};
    CHECK(wrong_without_product(kPlain, tile, with_fault(forgotten, unset)).find("C[0][0]") != std::string::npos);
}
