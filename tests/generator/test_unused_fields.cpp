// Tests that every family refuses the fields that it does not use, and that numbers in a config, whatever they are, do no more than make it
// refused.
#include <doctest/doctest.h>

#include <random>
#include <set>
#include <sstream>
#include <string>

#include "base/error.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/select/selection.h"

using namespace tmm;

namespace {

struct FamilyUse {
    // A config that has a kernel for the problem.
    const char* config;
    const char* problem;
    const char* uses;
};

// The fields that each family uses are listed here once more, so that a line that slips into the rules' table does not go unnoticed.
const FamilyUse kFamilies[] = {
    {"family=naive,block_m=8,block_n=32", "64 64 64", "block_m block_n boundary"},
    {"family=tiled,block_m=16,block_n=16,block_k=16", "64 64 64", "block_m block_n block_k boundary"},
    {"family=simt,block_m=16,block_n=16,block_k=16,thread_m=4,thread_n=2,boundary=peeled", "64 64 64",
     "block_m block_n block_k thread_m thread_n stages async_copy vector_width boundary split_k raster min_blocks pack_ab cluster along_k "
     "trim fma_order stream_k slice_k"},
    {"family=gemv,block_n=32,block_k=32,stages=2,vector_width=4,boundary=peeled", "1 64 64",
     "block_m block_n block_k thread_n stages vector_width boundary split_k swap_ab trim"},
    {"family=wgmma,block_m=128,block_n=128,block_k=64,stages=4,vector_width=8,boundary=hardware,warps_m=2", "256 256 256 dtype=bf16",
     "block_m block_n block_k stages vector_width boundary split_k raster min_blocks swap_ab pack_ab cluster trim warps_m warps_n "
     "multicast_a multicast_b planes promote_k ping_pong"},
    {"family=mma,block_m=64,block_n=64,block_k=32,warps_m=2,warps_n=2,stages=2,vector_width=8,boundary=peeled", "256 256 256 dtype=bf16",
     "block_m block_n block_k warps_m warps_n stages async_copy vector_width boundary split_k raster min_blocks"},
    {"family=skinny,block_m=8,block_n=32,block_k=64,thread_m=4,thread_n=4,stages=3,vector_width=4,boundary=hardware", "8 64 64 ops=nt",
     "block_m block_n block_k thread_m thread_n stages vector_width boundary split_k swap_ab slice_k min_blocks"},
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each field of each family, set to what is not neutral, is refused where the family does not use it") {
    std::set<int> seen;
    for (const FamilyUse& family : kFamilies) {
        CAPTURE(family.config);
        const KernelConfig config = parse_config(family.config);
        seen.insert(config.family);
        const KernelSignature signature = main_signature(parse_shape(family.problem).problem, config);
        CHECK_FALSE(why_no_kernel(config, signature));
        std::set<std::string> uses{"family", "overlap"};
        std::stringstream names(family.uses);
        for (std::string name; names >> name;) uses.insert(name);
        for (const Parameter& parameter : kParameters) {
            CAPTURE(parameter.name);
            if (uses.count(parameter.name)) continue;
            for (const int value : {parameter.neutral + 1, parameter.neutral - 1, 2, 4}) {
                KernelConfig changed = config;
                changed.*parameter.member = value;
                if (value == parameter.neutral) continue;
                CHECK(violation_of(changed, signature) != nullptr);
                CHECK(contains(why_no_kernel(changed, signature).value_or(""), parameter.name));
            }
        }
        // A field that is not used does not change a name either: both would be one kernel.
        for (const Parameter& parameter : kParameters)
            if (!uses.count(parameter.name)) CHECK(config.*parameter.member == parameter.neutral);
    }
    CHECK(seen.size() == families().size());
}

TEST_CASE("no field of any family may lie outside its range") {
    for (const FamilyUse& family : kFamilies) {
        const KernelConfig config = parse_config(family.config);
        const KernelSignature signature = main_signature(parse_shape(family.problem).problem, config);
        for (const Parameter& parameter : kParameters)
            for (const int value : {-2147483647 - 1, -1, 8192, 1048576, 2147483647}) {
                CAPTURE(family.config);
                CAPTURE(parameter.name);
                CAPTURE(value);
                KernelConfig changed = config;
                changed.*parameter.member = value;
                CHECK(violation_of(changed, signature) != nullptr);
            }
    }
    const GemmProblem problem = parse_shape("64 64 64").problem;
    const DeviceInfo device = assumed_device("90");
    // 2^32 threads are none in 32 bits.
    CHECK(why_invalid(problem, KernelConfig{.family = family::naive, .block_m = 1048576, .block_n = 4096}, device));
    CHECK(contains(why_invalid(problem, parse_config("family=simt,block_m=16,block_n=16,block_k=16,thread_m=4,thread_n=2,planes=2"), device)
                       .value_or(""),
                   "simt does not use planes: it is 1, not 2"));
}

TEST_CASE("a number that no family has is refused") {
    const GemmProblem problem = parse_shape("64 64 64").problem;
    for (const int number : {-1, 4, 5, 8, 12, family::count, 1000}) {
        CAPTURE(number);
        const KernelConfig config{.family = number};
        CHECK(violation_of(config, signature_of(problem)) != nullptr);
        CHECK(contains(why_invalid(problem, config, assumed_device("90")).value_or(""), "family=" + std::to_string(number)));
        CHECK(contains(to_text(config), "family=" + std::to_string(number)));
    }
}

TEST_CASE("whatever numbers a database's winners have, a choice is made and it is valid") {
    std::mt19937 random(7);
    const DeviceInfo devices[] = {assumed_device("90"), assumed_device("75"), host_device_info()};
    const GemmProblem problems[] = {parse_shape("64 64 64").problem, parse_shape("1 500 33 ops=nt align=4").problem,
                                    parse_shape("129 65 200 dtype=bf16").problem};
    const int values[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 1048576};
    int valid = 0;
    for (std::size_t i = 0; i < 150; ++i) {
        const FamilyUse& family = kFamilies[i % std::size(kFamilies)];
        KernelConfig config = parse_config(family.config);
        for (auto changes = random() % 4; changes > 0; --changes)
            config.*kParameters[random() % kParameterCount].member = values[random() % std::size(values)];
        CAPTURE(to_text(config));
        const DeviceInfo& device = devices[i % std::size(devices)];
        const GemmProblem problem = i % 4 == 0 ? problems[random() % std::size(problems)] : parse_shape(family.problem).problem;
        WinnerRow row;
        row.device = device.name;
        row.compute_capability = device.compute_capability();
        row.sm_count = device.sm_count;
        row.origin = "user";
        row.problem = problem;
        row.config = config;
        row.median_us = 1;
        const bool unfit = rejection_reason(problem, config, device).has_value();
        valid += unfit ? 0 : 1;
        // The config is tried on its own problem, and on one near to it.
        GemmProblem near = problem;
        near.m += 3;
        const Winners winners({row}, device);
        const Selection own = winners.select(problem);
        CHECK((own.match == Match::exact) == !unfit);
        for (const auto& [asked, chosen] : {std::pair(problem, own), std::pair(near, winners.select(near))}) {
            CHECK_FALSE(rejection_reason(asked, chosen.config, device));
        }
    }
    CHECK(valid > 10);
}

TEST_CASE("what sizes and distances make no number of 64 bits is too large, and what is large gets the naive kernel") {
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"1 1 2305843009213693951", "2305843009213693951 1 1", "1 2305843009213693951 1", "2200000000 64 8",
                             "3 3 3 batch=2200000000", "1000000000 1 1000000000 dtype=bf16 lda=1000000000",
                             "1 1 1 lda=2305843009213693951 ldb=2305843009213693951 ldc=2305843009213693951"}) {
        CAPTURE(text);
        const GemmProblem problem = parse_shape(text).problem;
        CHECK(parse_shape(to_text(problem)).problem == problem);
        const KernelConfig config = default_config(problem, device);
        CHECK_FALSE(why_invalid(problem, config, device));
        CHECK((config.family == family::naive || problem.lda > problem.k));
        CHECK(make_launch_plan(problem, config, device).workspace_bytes == 0);
        for (const FamilyUse& family : kFamilies) {
            const KernelConfig other = parse_config(family.config);
            if (other.family == family::naive || problem.lda > problem.k) continue;
            CHECK(contains(why_invalid(problem, other, device).value_or(""), "left to naive"));
        }
    }
    // Counted in bytes, what lies between two rows must be a number, also where there is one row.
    for (const char* text : {"1 1 1 lda=2305843009213693952", "1 1 1 ldc=9223372036854775807", "1 1 1 dtype=bf16 ldb=4611686018427387904",
                             "2 2 2 batch=1000 stride_b=2305843009213693952"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_shape(text), Error);
    }
    CHECK_NOTHROW(parse_shape("1 1 1 dtype=bf16 ldb=4611686018427387903"));
}
