// Tests what the report makes of results: classes, means and errors, for results that no device is needed for.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/peers/peers.h"
#include "bench/report/report.h"
#include "generator/families/family.h"
#include "generator/text/shapes_file.h"

using namespace tmm;
using namespace tmm::bench;

namespace {

PeerResult peer(const std::string& name, double median_us, double error) {
    PeerResult made;
    made.name = name;
    made.median_us = median_us;
    made.error = error;
    made.in_pairs = true;
    return made;
}

ShapeResult result(const std::string& line, double ratio) {
    ShapeResult made;
    made.shape = parse_shape(line);
    made.shape_class = classify(made.shape.problem);
    made.median_us = 10;
    made.samples_us = {10, 10, 10};
    made.ratios = {ratio, ratio, ratio};
    made.ratio = {.value = ratio, .low = ratio, .high = ratio};
    made.peers = {peer("cublas", 20, 0.002), peer("cublaslt", 10 * ratio, 0.004)};
    made.best_peer = "cublaslt";
    made.check.accuracy.error = 0.001;
    return made;
}

RunInfo run_info() {
    RunInfo info;
    info.peers = {"cublas", "cublaslt"};
    info.peer_versions = {"cuBLAS", "cuBLASLt"};
    return info;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("means stand beside their classes, and the aligned shapes have one of their own") {
    const std::vector<ShapeResult> results = {result("2048 2048 2048 dtype=bf16", 1), result("1023 1023 1023 dtype=bf16", 8),
                                              result("16 4096 4096 dtype=bf16 ops=nt", 4)};
    std::ostringstream out;
    print_means(out, results, {});
    INFO(out.str());
    CHECK(contains(out.str(), "  large          1.000 [1.000, 1.000]    1 shape\n"));
    CHECK(contains(out.str(), "  decode         4.000 [4.000, 4.000]    1 shape\n"));
    CHECK(contains(out.str(), "  unaligned      8.000 [8.000, 8.000]    1 shape\n"));
    CHECK(contains(out.str(), "  all aligned    2.000 [2.000, 2.000]    2 shapes\n"));
    CHECK(contains(out.str(), "  all            3.175 [3.175, 3.175]    3 shapes\n"));

    const nlohmann::json document = nlohmann::json::parse(json(run_info(), results));
    CHECK(document["geometric_mean_aligned"]["value"].get<double>() == doctest::Approx(2));
    CHECK(document["geometric_mean"]["value"].get<double>() == doctest::Approx(3.1748).epsilon(1e-4));
}

TEST_CASE("the errors of tmm, of the best peer and of the naive kernel stand in the table, CSV and JSON") {
    ShapeResult one = result("16 4096 4096 dtype=bf16 ops=nt", 2);
    one.check.checked_elements = 77;
    std::ostringstream out;
    Table table(out, {one.shape}, run_info(), {});
    table.row(one);
    one.check.naive_error = 0.003;
    table.row(one);
    INFO(out.str());
    CHECK(contains(out.str(), "  error  peer error  naive error"));
    CHECK(contains(out.str(), "1.0e-03     4.0e-03            -"));
    CHECK(contains(out.str(), "1.0e-03     4.0e-03      3.0e-03"));
    CHECK_FALSE(contains(out.str(), "WRONG"));
    CHECK(contains(csv(run_info(), {one}), ",0.001,0.004,0,0.003,"));
    const nlohmann::json shape = nlohmann::json::parse(json(run_info(), {one}))["shapes"][0];
    CHECK(shape["tmm"]["error"] == 0.001);
    CHECK(shape["peers"][0]["error"] == 0.002);
    CHECK(shape["naive_error"] == 0.003);
    CHECK(shape["accuracy"]["checked_elements"] == 77);
}

TEST_CASE("a result that errs by more than 1.05 times what the best peer's does is marked, and no mean has it") {
    // The types and modes whose errors differ by orders of magnitude, and an epilogue.
    for (const char* line : {"2048 2048 2048", "2048 2048 2048 compute=f32_strict", "2048 2048 2048 compute=tf32",
                             "2048 2048 2048 dtype=f16", "2048 2048 2048 dtype=bf16 epilogue=bias+gelu"}) {
        CAPTURE(std::string(line));
        ShapeResult within = result(line, 2);
        within.check.accuracy.error = 0.0041;
        ShapeResult beyond = result(line, 8);
        beyond.check.accuracy.error = 0.0043;
        CHECK_FALSE(within.is_less_accurate());
        CHECK(beyond.is_less_accurate());
        // The best peer's error counts, not another one's.
        within.peers[0].error = 1e-9;
        CHECK_FALSE(within.is_less_accurate());
        const std::vector<ShapeResult> results = {within, beyond};

        std::ostringstream out;
        Table table(out, {within.shape, beyond.shape}, run_info(), {});
        table.row(within);
        table.row(beyond);
        print_means(out, results, {});
        INFO(out.str());
        CHECK(contains(out.str(), "*: tmm's error is more than 1.05 times the best peer's; no mean has it."));
        CHECK(contains(out.str(), "  2.000 "));
        CHECK(contains(out.str(), "  8.000* "));
        CHECK_FALSE(contains(out.str(), "2.000*"));
        CHECK(contains(out.str(), "  all            2.000 [2.000, 2.000]    1 shape\n"));
        CHECK(contains(out.str(), "left out: 1 of 2 shapes, marked *; tmm's error is more than 1.05 times the best peer's\n"));

        const std::string text = csv(run_info(), results);
        CHECK(contains(text, ",peer_error,less_accurate,naive_error,"));
        CHECK(contains(text, ",0.0041,0.004,0,"));
        CHECK(contains(text, ",0.0043,0.004,1,"));
        const nlohmann::json document = nlohmann::json::parse(json(run_info(), results));
        CHECK(document["shapes"][0]["less_accurate"] == false);
        CHECK(document["shapes"][1]["less_accurate"] == true);
        CHECK(document["left_out_of_means"] == 1);
        CHECK(document["geometric_mean"]["value"].get<double>() == doctest::Approx(2));
    }
}

TEST_CASE("what can't be compared is not marked, and where no shape is left there is no mean") {
    ShapeResult alone = result("8 8 8", 2);
    alone.peers.clear();
    alone.best_peer.clear();
    alone.ratios.clear();
    CHECK_FALSE(alone.is_less_accurate());
    ShapeResult failed = result("8 8 8", 2);
    failed.check.accuracy.error = 1;
    CHECK(failed.is_less_accurate());
    failed.failure = "no kernel";
    CHECK_FALSE(failed.is_less_accurate());
    // Both are off beyond all bounds, and both are exact.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ShapeResult same = result("8 8 8", 2);
    for (const double error : {0.0, infinity}) {
        same.check.accuracy.error = same.peers[1].error = error;
        CHECK_FALSE(same.is_less_accurate());
    }
    ShapeResult broken = result("8 8 8", 2);
    broken.check.accuracy.error = infinity;
    std::ostringstream out;
    print_means(out, {alone, failed, broken}, {});
    CHECK(out.str() == "left out: 1 of 1 shapes, marked *; tmm's error is more than 1.05 times the best peer's\n");
    const nlohmann::json document = nlohmann::json::parse(json(run_info(), {alone, failed, broken}));
    CHECK_FALSE(document.contains("geometric_mean"));
    CHECK_FALSE(document["shapes"][0].contains("less_accurate"));
    std::ostringstream nothing;
    print_means(nothing, {alone}, {});
    CHECK(nothing.str().empty());
}

TEST_CASE("a result is wrong where it is too far from the peer's or from the exact product") {
    ShapeResult one = result("8 8 8 dtype=f16", 2);
    CHECK_FALSE(one.check.wrong());
    one.check.difference = Difference{.ratio = 0.5, .where = "C[1][1]: tmm 1, peer 2"};
    one.check.accuracy = {.error = std::numeric_limits<double>::infinity(), .ratio = 3, .where = "C[0][1]: 4, exactly 5"};
    CHECK(one.check.wrong());
    std::ostringstream out;
    Table table(out, {one.shape}, run_info(), {});
    table.row(one);
    CHECK(contains(out.str(), "WRONG: C[0][1]: 4, exactly 5 (3 times the bound)"));
    // JSON has no infinity.
    CHECK(nlohmann::json::parse(json(run_info(), {one}))["shapes"][0]["tmm"]["error"].is_null());

    one.check.accuracy = {};
    CHECK_FALSE(one.check.wrong());
    one.check.difference->ratio = 2;
    CHECK(one.check.wrong());
    CHECK(one.check.where() == "C[1][1]: tmm 1, peer 2");
}

TEST_CASE("the naive peer says which rule keeps it from a problem") {
    const std::unique_ptr<Peer> naive = make_peer("naive", open_device(kHostDevice), {});
    CHECK(naive->offers(parse_shape("8 8 8").problem).size() > 0);
    std::string reason;
    try {
        naive->offers(parse_shape("8 8 8 dtype=f64 ctype=f16").problem);
    } catch (const std::runtime_error& error) {
        reason = error.what();
    }
    // The reason is that of the family, not that of a search that found nothing.
    const KernelConfig plainest{.family = family::naive, .block_m = 8, .block_n = 32};
    CHECK(reason == violation_of(plainest, signature_of(parse_shape("8 8 8 dtype=f64 ctype=f16").problem)));
}

TEST_CASE("the times where another kernel stands between are claimed for both sides, and those back to back stand beside them") {
    ShapeResult one = result("64 64 64", 2);
    one.between_us = 11.5;
    one.between_ratio = {.value = 1.75, .low = 1.5, .high = 2};
    one.between_ratios = {1.75};
    one.peers[1].between_us = 20.125;
    std::ostringstream out;
    Table table(out, {one.shape}, run_info(), {});
    table.row(one);
    INFO(out.str());
    CHECK(contains(out.str(), "back to back µs"));
    CHECK(contains(out.str(), " 11.50 "));
    CHECK(contains(out.str(), " 20.12 "));
    CHECK(contains(out.str(), " 1.750 "));
    CHECK(contains(out.str(), "[1.500, 2.000]"));
    CHECK(contains(out.str(), " 10.00/20.00 "));
    const std::string text = csv(run_info(), {one});
    INFO(text);
    CHECK(contains(text, ",cublaslt_host_us,cublaslt_between_us,cublaslt_workspace_bytes,"));
    CHECK(contains(text, ",tmm_between_us,between_ratio,between_ratio_low,between_ratio_high,tmm_workspace_bytes,"));
    CHECK(contains(text, ",11.5,1.75,1.5,2,"));
    const nlohmann::json shape = nlohmann::json::parse(json(run_info(), {one}))["shapes"][0];
    CHECK(shape["tmm"]["between_us"] == 11.5);
    CHECK(shape["peers"][1]["between_us"] == 20.125);
    CHECK_FALSE(shape["peers"][0].contains("between_us"));
    CHECK(shape["between_ratio"]["low"] == 1.5);
    CHECK(shape["ratio"]["value"] == 2);

    // What was not measured is empty, and every line has as many fields as the head.
    one.between_us = 0;
    one.between_ratio = {};
    CHECK_FALSE(nlohmann::json::parse(json(run_info(), {one}))["shapes"][0].contains("between_ratio"));
    ShapeResult failed = result("65 64 64", 2);
    failed.failure = "it did not run";
    std::istringstream lines(csv(run_info(), {one, failed}));
    std::vector<std::ptrdiff_t> commas;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line[0] != '#') commas.push_back(std::count(line.begin(), line.end(), ','));
    REQUIRE(commas.size() == 3);
    CHECK(commas[1] == commas[0]);
    CHECK(commas[2] == commas[0]);
}
