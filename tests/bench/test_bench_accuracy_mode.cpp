// tmm-bench --accuracy as a user runs it, on the emulated device.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "generator/text/text.h"
#include "tests/support/bench_testing.h"

using namespace bench_testing;

TEST_CASE("each shape's accuracy on each family stands in the table, CSV and JSON") {
    const Folder folder;
    const std::string shapes =
        folder.with("shapes.txt", "24 20 100\n9 7 33 ops=tn lda=12 align=4 beta=0.5\n8 8 16 batch=2 compute=f32_strict\n");
    const Outcome run = bench(folder, "--accuracy --gpu host --shapes " + shapes + " --label here --csv " + folder.file("out.csv") +
                                          " --json " + folder.file("out.json"));
    INFO(run.text);
    CHECK(run.status == 0);
    CHECK(contains(run.text, "# 24x20x100: "));
    CHECK(contains(run.text, "\n30 of 30 rows are ok\n"));
    CHECK_FALSE(contains(run.text, "cublas"));
    CHECK_FALSE(contains(run.text, "TFLOP"));

    const auto [comments, rows] = csv_of(read(folder.file("out.csv")));
    CHECK(contains(comments, "# commit: here\n"));
    CHECK_FALSE(contains(comments, "pairs"));
    CHECK(rows.size() == 31);

    const nlohmann::json document = nlohmann::json::parse(read(folder.file("out.json")));
    CHECK(document["run"]["gpu"] == "host");
    REQUIRE(document["shapes"].size() == 3);
    for (const nlohmann::json& shape : document["shapes"]) {
        CHECK_FALSE(shape.contains("failure"));
        CHECK_NOTHROW(tmm::parse_config(shape["config"].get<std::string>()));
        std::set<std::string> families;
        for (const nlohmann::json& row : shape["families"]) {
            CAPTURE(row.dump());
            families.insert(row["family"].get<std::string>());
            CHECK(row["misplaced"] == 0);
            CHECK(row["tmm"]["norm"].get<double>() < (row["family"] == "cancelling" ? 1e-2 : row["family"] == "vanishing" ? 1.01 : 1e-6));
            CHECK(row["elements"].get<int>() >= 1 << 14);
            CHECK(row["ok"].get<bool>());
            CHECK(row["verdict"] == "ok");
        }
        CHECK(families == std::set<std::string>{"uniform", "normal", "wide20", "wide60", "positive", "cancelling", "subnormal", "vanishing",
                                                "inf", "nan"});
    }
}

TEST_CASE("shapes of few elements and of few products keep the promise in every row") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt",
                                           "16 16 16\n64 64 64\n100 90 70\n1 40 2\n40 1 9 ops=nt\n3 50 17 ops=nt align=4\n7 9 4\n"
                                           "2 96 128 ops=nt\n");
    const Outcome run = bench(folder, "--accuracy --gpu host --shapes " + shapes);
    INFO(run.text);
    CHECK(run.status == 0);
    CHECK(contains(run.text, "\n80 of 80 rows are ok\n"));
}

TEST_CASE("what accuracy is not measured for, or with, is a fault of usage") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8\n");
    for (const char* peer : {"cpu", "naive", "cublaslt", "cublas,cpu", "mkl"}) {
        CAPTURE(peer);
        const Outcome run = bench(folder, std::string("--accuracy --gpu host --vs ") + peer + " --shapes " + shapes);
        CHECK(run.status == 1);
        CHECK(contains(run.text, "give cublas, or leave --vs out"));
    }
    const Outcome cublas = bench(folder, "--accuracy --gpu host --vs cublas --shapes " + shapes);
    CHECK(cublas.status == 3);
    CHECK(contains(cublas.text, "cublas needs a GPU"));

    const Outcome roofline = bench(folder, "--accuracy --roofline --gpu host --shapes " + shapes);
    CHECK(roofline.status == 1);
    CHECK(contains(roofline.text, "leave one of them out"));

    for (const char* key : {"dtype=bf16", "dtype=f16 ctype=f32", "dtype=f64", "compute=tf32"}) {
        CAPTURE(key);
        const std::string other = folder.with("other.txt", std::string("8 8 8\n8 8 8 ") + key + "\n");
        const Outcome run = bench(folder, "--accuracy --gpu host --shapes " + other);
        CHECK(run.status == 1);
        CHECK(contains(run.text, "other.txt:2"));
        CHECK(contains(run.text, "give shapes of f32"));
    }
    CHECK(bench(folder, "--accuracy --gpu host --set dtype=bf16 --shapes " + shapes).status == 1);
    CHECK(bench(folder, "--accuracy").status == 1);
    CHECK(bench(folder, "--accuracy --gpu host --shapes " + folder.file("missing.txt")).status == 2);
    CHECK(bench(folder, "--accuracy --gpu host --csv " + folder.file("no/such/folder.csv") + " --shapes " + shapes).status == 2);
    CHECK(contains(bench(folder, "--help").text, "--accuracy"));
}
