// tmm-bench --accuracy as a user runs it, on the emulated device.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench_testing.h"
#include "generator/text.h"

using namespace bench_testing;

TEST_CASE("each shape's accuracy on each family stands in the table, CSV and JSON") {
    const Folder folder;
    const std::string shapes =
        folder.with("shapes.txt", "24 20 100\n9 7 33 ops=tn lda=12 align=4 beta=0.5\n8 8 16 batch=2 compute=f32_strict\n");
    const Outcome run = bench(folder, "--accuracy --gpu host --shapes " + shapes + " --label here --csv " + folder.file("out.csv") +
                                          " --json " + folder.file("out.json"));
    INFO(run.text);
    // What the guessed kernels give is their own matter; 6 says that some row is worse than the loop's.
    CHECK((run.status == 0 || run.status == 6));
    CHECK(contains(run.text, "# 24x20x100: "));
    CHECK(contains(run.text, " of 30 rows are ok\n"));
    CHECK_FALSE(contains(run.text, "cublas"));
    CHECK_FALSE(contains(run.text, "TFLOP"));

    const auto [comments, rows] = csv_of(read(folder.file("out.csv")));
    CHECK(contains(comments, "# commit: here\n"));
    CHECK_FALSE(contains(comments, "pairs"));
    CHECK(rows.size() == 31);

    const nlohmann::json document = nlohmann::json::parse(read(folder.file("out.json")));
    CHECK(document["run"]["gpu"] == "host");
    REQUIRE(document["shapes"].size() == 3);
    bool all_good = true;
    for (const nlohmann::json& shape : document["shapes"]) {
        CHECK_FALSE(shape.contains("failure"));
        CHECK_NOTHROW(tmm::parse_config(shape["config"].get<std::string>()));
        std::set<std::string> families;
        for (const nlohmann::json& row : shape["families"]) {
            CAPTURE(row.dump());
            families.insert(row["family"].get<std::string>());
            CHECK(row["misplaced"] == 0);
            CHECK(row["tmm"]["norm"].get<double>() < (row["family"] == "cancelling" ? 1e-2 : row["family"] == "vanishing" ? 1.01 : 1e-6));
            CHECK(row["norm_ratio"].get<double>() < 2);
            CHECK(row["ok"].get<bool>() == (row["verdict"] == "ok"));
            all_good = all_good && row["ok"].get<bool>();
        }
        CHECK(families == std::set<std::string>{"uniform", "normal", "wide20", "wide60", "positive", "cancelling", "subnormal", "vanishing",
                                                "inf", "nan"});
    }
    CHECK(run.status == (all_good ? 0 : 6));
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
