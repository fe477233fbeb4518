// Tests what the tuner measures in addition to the search's candidates: the fastest with other orders of their products or of their tiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "generator/families/candidate_choices.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tmm/families/simt/rules.h"
#include "tuner/search/variants.h"

using namespace tmm;

namespace {

constexpr const char* kWide =
    "family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=3,async_copy=1,vector_width=4,boundary=peeled";
constexpr const char* kNarrow =
    "family=simt,block_m=32,block_n=32,block_k=16,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled";
constexpr const char* kNaive = "family=naive,block_m=8,block_n=32";

struct Timed {
    std::string config;
    double median_us;
    Outcome outcome = Outcome::ok;
};

std::vector<KernelConfig> variants(const std::vector<Timed>& measured, const char* shape = "1000x1000x1000",
                                   const std::vector<std::string>& unmeasured = {kNaive}) {
    std::vector<Candidate> candidates;
    std::vector<std::optional<Measurement>> results;
    for (const Timed& one : measured) {
        candidates.emplace_back().config = parse_config(one.config);
        Measurement measurement;
        measurement.outcome = one.outcome;
        measurement.median_us = one.median_us;
        results.emplace_back(measurement);
    }
    // These candidates have no result yet.
    for (const std::string& config : unmeasured) {
        candidates.emplace_back().config = parse_config(config);
        results.emplace_back();
    }
    return variants_of_fastest(parse_shape(shape).problem, candidates, results);
}

std::multiset<int> orders(const std::vector<KernelConfig>& configs, const char* of) {
    std::multiset<int> found;
    for (KernelConfig config : configs) {
        const int order = std::exchange(config.fma_order, 0);
        if (config == parse_config(of)) found.insert(order);
    }
    return found;
}

}  // namespace

TEST_CASE("the fastest of simt is tried with each order that it has not been measured with") {
    const auto tried = variants({{kNaive, 900}, {kWide, 50}, {std::string(kWide) + ",fma_order=3", 52}, {kNarrow, 90}});
    CHECK(orders(tried, kWide) == std::multiset<int>{1, 2, 4, 5});
    CHECK(tried.size() == 4);
}

TEST_CASE("before a search the variants of those that lead it are expected, but none that is a candidate") {
    std::vector<Candidate> candidates;
    for (const std::string& config : {std::string(kNaive), std::string(kWide), std::string(kWide) + ",fma_order=3", std::string(kNarrow)})
        candidates.emplace_back().config = parse_config(config);
    const auto expected = variants_of_first(parse_shape("1000x1000x1000").problem, candidates);
    CHECK(orders(expected, kWide) == std::multiset<int>{1, 2, 4, 5});
    CHECK_FALSE(orders(expected, kNarrow).empty());
    CHECK(variants_of_first(parse_shape("1000x1000x1000").problem, {candidates.begin(), candidates.begin() + 1}).empty());
}

TEST_CASE("both ways of overlap are one kernel, whose faster is tried") {
    const auto tried = variants({{kWide, 51}, {std::string(kWide) + ",overlap=1", 50}});
    CHECK(tried.size() == 5);
    CHECK(std::all_of(tried.begin(), tried.end(), [](const KernelConfig& config) { return config.overlap == 1; }));
}

TEST_CASE("where another family is ahead, or simt's failed, nothing is tried") {
    CHECK(variants({{kNaive, 10}, {kWide, 50}}).empty());
    CHECK(variants({{kNaive, 100}, {kWide, 50, Outcome::wrong_result}}).empty());
    CHECK(variants({}).empty());
}

TEST_CASE("the fastest of wgmma whose last tiles lack rows is tried with the other boundary mode") {
    constexpr const char* kShape = "80x5120x5120 dtype=bf16 ops=nt";
    const std::string tile = "family=wgmma,block_m=64,block_n=80,block_k=64,stages=4,vector_width=8,boundary=";
    const auto tried = [&](const char* mode, const char* shape) { return variants({{tile + mode, 50}}, shape); };
    REQUIRE(tried("peeled", kShape).size() == 1);
    CHECK(tried("peeled", kShape).front() == parse_config(tile + "hardware"));
    CHECK(tried("hardware", kShape) == std::vector<KernelConfig>{parse_config(tile + "peeled")});
    CHECK(tried("hardware", "128x5120x5120 dtype=bf16 ops=nt").empty());
    CHECK(variants({{tile + "peeled", 50}, {tile + "hardware", 60}}, kShape).empty());
}

TEST_CASE("the fastest of wgmma and the default are tried with other orders of their tiles") {
    constexpr const char* kShape = "4096x4096x1024 dtype=bf16 ops=tn";
    const std::string tiles = "family=wgmma,block_k=64,stages=4,vector_width=8,boundary=hardware,";
    const std::string slow_default = tiles + "block_m=128,block_n=128";
    std::vector<Timed> measured = {{slow_default, 57}};
    for (const char* fast : {"block_m=128,block_n=256", "block_m=256,block_n=128", "block_m=192,block_n=128", "block_m=128,block_n=192"})
        measured.push_back({tiles + fast, 52});
    const auto tried = variants(measured, kShape);
    for (const Timed& one : measured)
        for (const char* band : {",raster=8", ",raster=16"})
            CHECK(std::count(tried.begin(), tried.end(), parse_config(one.config + band)) == 1);
    // One that is far behind is not saved by an order.
    measured.front().median_us = 70;
    CHECK(variants(measured, kShape).size() == tried.size() - 2);
    // Where the tiles are one row of clusters, there is one order.
    CHECK(variants({{tiles + "block_m=128,block_n=128,multicast_a=2", 50}}, "4096x256x1024 dtype=bf16").empty());
}

TEST_CASE("a variant that the budget ended before as a candidate is tried all the same") {
    constexpr const char* kShape = "80x5120x5120 dtype=bf16 ops=nt";
    const std::string tile = "family=wgmma,block_m=64,block_n=80,block_k=64,stages=4,vector_width=8,boundary=";
    CHECK(variants({{tile + "hardware", 50}}, kShape, {tile + "peeled"}) == std::vector<KernelConfig>{parse_config(tile + "peeled")});
}

TEST_CASE("time is kept for variants where a candidate has some, whatever its operands' type") {
    const auto may = [](const char* shape, const std::string& config) {
        std::vector<Candidate> candidates(1);
        candidates.front().config = parse_config(config);
        return may_have_variants(parse_shape(shape).problem, candidates);
    };
    const std::string tile = "family=wgmma,block_m=64,block_n=80,block_k=64,stages=4,vector_width=8,boundary=peeled";
    CHECK(may("80x5120x5120 dtype=bf16 ops=nt", tile));
    CHECK_FALSE(may("64x5120x5120 dtype=bf16 ops=nt", tile));
    CHECK(may("1000x1000x1000", kWide));
    CHECK_FALSE(may("1000x1000x1000", kNaive));
}

TEST_CASE("an order that would be another's twin is none of a small thread tile's") {
    // With four rows or columns, four at a time are one column or row at a time.
    CHECK(orders(variants({{kNarrow, 50}}), kNarrow) == std::multiset<int>{1, 3, 4});
}

TEST_CASE("the order to begin with suits its config") {
    const KernelSignature signature = signature_of(parse_shape("1000x1000x1000").problem);
    for (const int thread_m : {1, 2, 4, 8, 12, 16}) {
        for (const int thread_n : {1, 2, 4, 8, 12, 16}) {
            for (const int along_k : {0, 1}) {
                CAPTURE(thread_m);
                CAPTURE(thread_n);
                KernelConfig config = parse_config(kWide);
                config.thread_m = thread_m;
                config.thread_n = thread_n;
                config.along_k = along_k;
                config.fma_order = likely_order(config, signature);
                CHECK(simt::order_violation(config) == nullptr);
            }
        }
    }
}
