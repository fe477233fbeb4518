// Kernels that begin while the one before them in the stream ends: what their texts, their launches and the search make of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "base/error.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/kernels/overlap_chains.h"
#include "tests/support/plan_testing.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

const DeviceInfo kHopper = assumed_device("90");

std::size_t position(const std::string& text, const std::regex& what) {
    std::smatch found;
    return std::regex_search(text, found, what) ? static_cast<std::size_t>(found.position(0)) : std::string::npos;
}

}  // namespace

TEST_CASE("every kernel waits for the one before it, first of all, and then lets the next one come; strips at their end") {
    try {
        make_nvrtc_compiler(90);
    } catch (const Error&) {
        MESSAGE("skipped: libnvrtc is missing");
        return;
    }
    const std::regex global_memory("(ld|st|atom|red)\\.[a-z.]*global|cp\\.async\\.(ca|cg)|cp\\.async\\.bulk\\.tensor");
    const std::regex next_may_come("griddepcontrol\\.launch_dependents");
    std::set<std::string> kernels;
    const auto check_steps = [&](const LaunchPlan& plan) {
        for (const LaunchStep& step : plan.steps) {
            const KernelSource source = make_kernel_source(step.signature, step.kernel);
            CAPTURE(source.name);
            const std::string ptx = compile_to_ptx(source, 90);
            const std::size_t wait = ptx.find("griddepcontrol.wait");
            REQUIRE(wait != std::string::npos);
            REQUIRE(position(ptx, global_memory) != std::string::npos);
            kernels.insert(name_of(step));
            const KernelConfig* const product = config_of(step);
            // Strips run at the same time as the product before them.
            if (product && product->trim != 0 && product->family == family::gemv) {
                CHECK(position(ptx, next_may_come) < position(ptx, global_memory));
                CHECK(wait > ptx.rfind("st.global"));
                continue;
            }
            CHECK(wait < position(ptx, global_memory));
            // After products of planes comes a kernel that most often has nothing to do.
            if (!product || product->family != family::wgmma || product->planes == 1) {
                REQUIRE(position(ptx, next_may_come) != std::string::npos);
                CHECK(wait < position(ptx, next_may_come));
            }
        }
    };
    for (const OverlapChain& chain : overlap_chains())
        check_steps(make_launch_plan(parse_shape(chain.shape).problem, config_of(chain), kHopper));
    const KernelConfig simt = parse_config("simt 32x32x8 t4x4 s3 async v4 peeled overlap");
    check_steps(make_launch_plan(parse_shape("200x200x200 epilogue=relu").problem, simt, kHopper, {}, EpiloguePlace::step));
    check_steps(make_launch_plan(parse_shape("200x200x200 result=symmetric").problem, simt, kHopper));
    // Addresses in memory may be what the kernel before writes.
    for (const char* config :
         {"simt 32x32x8 t4x4 s3 async v4 peeled overlap", "tiled 16x16x16 overlap", "naive 8x32x1 overlap", "gemv 2x32x16 t4 v4 overlap"})
        check_steps(make_launch_plan(parse_shape("200x200x200 batch=3 pointers=1").problem, parse_config(config), kHopper));
    // These are all families and steps.
    CHECK(kernels.size() == families().size() + std::variant_size_v<PlanKernel> - 1);
}

TEST_CASE("the best predictions are offered with overlap and without, on devices that have it") {
    for (const char* text : {"1024x1024x1024 dtype=bf16", "128x128x128", "16x4096x4096 dtype=bf16 ops=nt", "1x4096x4096"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        for (const Effort effort : {Effort::quick, Effort::normal}) {
            const std::vector<KernelConfig> found = search_space(problem, kHopper, effort).candidates;
            for (std::size_t i = 0; i < 16; i += 2) {
                CHECK(found[i].overlap != found[i + 1].overlap);
                KernelConfig same = found[i];
                same.overlap = found[i + 1].overlap;
                CHECK(same == found[i + 1]);
            }
        }
        for (const char* architecture : {"80", "75"})
            for (const KernelConfig& config : search_space(problem, assumed_device(architecture), Effort::quick).candidates)
                CHECK(config.overlap == 0);
    }
    for (const KernelConfig& config : search_space(parse_shape("128x128x128").problem, host_device_info(), Effort::quick).candidates)
        CHECK(config.overlap == 0);
}

TEST_CASE("an untuned problem's kernels overlap, but where few blocks read much memory") {
    const auto overlap = [](const char* shape) { return default_config(parse_shape(shape).problem, kHopper).overlap; };
    CHECK(overlap("1024x1024x1024 dtype=bf16") == 1);
    CHECK(overlap("128x128x128") == 1);
    CHECK(overlap("8x11008x4096 dtype=bf16 ops=nt") == 0);
}

TEST_CASE("overlap is 0 or 1, and needs a device that has it") {
    const GemmProblem problem = parse_shape("100x100x100").problem;
    KernelConfig config = fallback_config();
    config.overlap = 1;
    CHECK(why_invalid(problem, config, kHopper).value_or("") == "");
    CHECK(why_invalid(problem, config, assumed_device("86")).value_or("").find("9.0") != std::string::npos);
    CHECK(why_invalid(problem, config, host_device_info()).value_or("").find("9.0") != std::string::npos);
    config.overlap = 2;
    CHECK(why_invalid(problem, config, kHopper).value_or("").find("0 or 1") != std::string::npos);
}

TEST_CASE("kernels with overlap and without are the same text") {
    for (const OverlapChain& chain : overlap_chains()) {
        const GemmProblem problem = parse_shape(chain.shape).problem;
        KernelConfig without = config_of(chain);
        without.overlap = 0;
        const LaunchPlan one = make_launch_plan(problem, config_of(chain), kHopper);
        const LaunchPlan other = make_launch_plan(problem, without, kHopper);
        REQUIRE(one.steps.size() == other.steps.size());
        for (std::size_t i = 0; i < one.steps.size(); ++i)
            CHECK(make_kernel_source(one.steps[i].signature, one.steps[i].kernel).text ==
                  make_kernel_source(other.steps[i].signature, other.steps[i].kernel).text);
    }
}
