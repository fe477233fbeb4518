// tmm-bench on the emulated device: its table, its files, and what it says when something is wrong.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/text/byte_count.h"
#include "tests/support/bench_testing.h"

using namespace bench_testing;

namespace {

// No field of these tests holds a quoted comma but the config, which stands behind those that are looked at.
std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    // The last field may be empty.
    std::stringstream stream(line + ',');
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    return fields;
}

// Is tmm's error no more than 1.05 times that of the CPU, the fastest peer here? Which kernels OpenBLAS takes, and so how they round, hangs
// on the processor.
bool is_as_accurate(const nlohmann::json& shape) {
    return shape["tmm"]["error"].get<double>() <= 1.05 * shape["peers"][0]["error"].get<double>();
}

}  // namespace

TEST_CASE("the emulated device is compared with the CPU and the naive kernel, in a table, CSV and JSON") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "24 20 16\n3 5 7 ops=tt beta=0.5 alpha=-2\n4 4 4 batch=3 align=4\n");
    const Outcome run = bench(folder, "--gpu host --pairs 3 --shapes " + shapes + " --label here --csv " + folder.file("out.csv") +
                                          " --json " + folder.file("out.json"));
    INFO(run.text);
    REQUIRE(run.status == 0);
    CHECK(contains(run.text, "say nothing about a GPU"));
    CHECK(contains(run.text, "24x20x16"));
    CHECK(contains(run.text, "geometric mean"));

    const auto [comments, rows] = csv_of(read(folder.file("out.csv")));
    CHECK(comments.starts_with("# tmm-bench\n# commit: here"));
    REQUIRE(rows.size() == 4);
    const std::vector<std::string> header = split(rows[0]);
    CHECK(header.at(0) == "shape");
    CHECK(header.at(4) == "cpu_us");
    const std::vector<std::string> first = split(rows[1]);
    CHECK(first.at(0) == "24x20x16");
    CHECK(std::stod(first.at(2)) > 0);
    CHECK(std::stod(first.at(4)) > 0);

    const nlohmann::json document = nlohmann::json::parse(read(folder.file("out.json")));
    CHECK(document["run"]["gpu"] == "host");
    REQUIRE(document["shapes"].size() == 3);
    for (const nlohmann::json& shape : document["shapes"]) {
        CHECK(shape["tmm"]["samples_us"].size() == 3);
        CHECK(shape["tmm"]["median_us"].get<double>() > 0);
        CHECK(shape["peers"].size() == 2);
        CHECK(shape["difference"]["of_bound"].get<double>() <= 1);
        CHECK(shape["accuracy"]["of_bound"].get<double>() <= 1);
        // Every element of shapes as small as these is checked, and rounding is seen.
        for (const nlohmann::json& error : {shape["tmm"]["error"], shape["peers"][0]["error"], shape["naive_error"]}) {
            CHECK(error.get<double>() > 1e-9);
            CHECK(error.get<double>() < 1e-6);
        }
        CHECK(shape["peers"][1]["error"] == shape["naive_error"]);
        CHECK(shape["ratio"]["low"].get<double>() <= shape["ratio"]["value"].get<double>());
        CHECK(shape["ratio"]["value"].get<double>() <= shape["ratio"]["high"].get<double>());
        // Without a database every choice is a guess or the fallback.
        CHECK(shape["tmm"]["match"] != "exact");
        CHECK(shape["tmm"]["config"].contains("family"));
    }
    CHECK(document["shapes"][2]["class"] == "batched");
    CHECK(document["shapes"][0]["accuracy"]["checked_elements"] == 480);
    CHECK(document["shapes"][2]["accuracy"]["checked_elements"] == 48);
    const auto column = [&header](const std::string& name) {
        return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
    };
    // Counted from the end: the config, which stands before them, is quoted and has commas.
    const std::size_t behind = header.size() - column("error");
    CHECK(std::stod(first.at(first.size() - behind)) == doctest::Approx(document["shapes"][0]["tmm"]["error"].get<double>()));
    CHECK(header.at(column("error") + 1) == "peer_error");
    CHECK(header.at(column("error") + 3) == "naive_error");
    CHECK(contains(run.text, "peer error  naive error"));
    // 3 5 7 and 4 4 4 align=4 are not aligned.
    const nlohmann::json& aligned = document["shapes"][0];
    if (is_as_accurate(aligned)) {
        CHECK(contains(run.text, "all aligned"));
        CHECK(document["geometric_mean_aligned"]["value"].get<double>() == doctest::Approx(aligned["ratio"]["value"].get<double>()));
    } else {
        CHECK(contains(run.text, "marked *; tmm's error is more than 1.05 times"));
        CHECK_FALSE(contains(run.text, "all aligned"));
    }
}

TEST_CASE("with --roofline each shape's floor and the distances from it stand in the table, CSV and JSON") {
    const Folder folder;
    // An operand that no load of 16 bytes is aligned to, C read, a shared B, and a product that reads only C.
    const std::string shapes =
        folder.with("shapes.txt", "24 20 16 align=4\n3 5 7 ops=tt beta=0.5\n4 4 4 batch=3 stride_b=0\n5 6 7 alpha=0\n");
    const Outcome run = bench(folder, "--gpu host --roofline --pairs 3 --shapes " + shapes + " --csv " + folder.file("out.csv") +
                                          " --json " + folder.file("out.json"));
    INFO(run.text);
    REQUIRE(run.status == 0);
    CHECK(contains(run.text, "ceilings: read "));
    CHECK(contains(run.text, "of read"));
    CHECK(contains(run.text, "geometric mean of time / floor"));

    const auto [comments, rows] = csv_of(read(folder.file("out.csv")));
    for (const char* ceiling : {"# read_gb_s: ", "# ffma_tflops: ", "# launch_gap_us: "}) CHECK(contains(comments, ceiling));
    REQUIRE(rows.size() == 5);
    CHECK(
        contains(rows[0],
                 ",note,read_floor_us,traffic_floor_us,fma_floor_us,launch_gap_us,floor_us,bound,tmm_distance,cpu_distance,naive_distance,"
                 "tmm_of_read_floor,read_launch"));

    const nlohmann::json document = nlohmann::json::parse(read(folder.file("out.json")));
    CHECK(std::stod(document["run"]["read_gb_s"].get<std::string>()) > 0);
    CHECK(std::stod(document["run"]["ffma_tflops"].get<std::string>()) > 0);
    REQUIRE(document["shapes"].size() == 4);
    for (const nlohmann::json& shape : document["shapes"]) {
        const nlohmann::json& roofline = shape["roofline"];
        const double floor = roofline["floor_us"].get<double>();
        CHECK(floor > 0);
        for (const char* part : {"read_floor_us", "fma_floor_us", "launch_gap_us"}) CHECK(roofline[part].get<double>() <= floor);
        CHECK(roofline["tmm_distance"].get<double>() == doctest::Approx(shape["tmm"]["median_us"].get<double>() / floor));
        CHECK(roofline["cpu_distance"].get<double>() == doctest::Approx(shape["peers"][0]["median_us"].get<double>() / floor));
    }
    CHECK(document["shapes"][3]["roofline"]["fma_floor_us"] == 0);
    CHECK(document["mean_distance"].back()["class"] == "all");
    CHECK(document["mean_distance"].back()["shapes"] ==
          std::count_if(document["shapes"].begin(), document["shapes"].end(), is_as_accurate));

    // Without --roofline nothing of this is there.
    const Outcome plain = bench(folder, "--gpu host --pairs 1 --vs cpu --shapes " + shapes + " --csv " + folder.file("plain.csv"));
    CHECK(plain.status == 0);
    CHECK_FALSE(contains(plain.text, "floor"));
    CHECK_FALSE(contains(read(folder.file("plain.csv")), "floor"));
}

TEST_CASE("16-bit operands are compared too, with C of their type and of f32") {
    const Folder folder;
    const std::string shapes = folder.with(
        "shapes.txt", "24 20 16 dtype=bf16\n3 5 7 ops=tt beta=0.5 alpha=-2 dtype=f16\n4 4 100 batch=3 align=2 dtype=bf16 ctype=f32\n");
    const Outcome run = bench(folder, "--gpu host --pairs 1 --roofline --shapes " + shapes + " --json " + folder.file("out.json"));
    INFO(run.text);
    REQUIRE(run.status == 0);
    const nlohmann::json all = nlohmann::json::parse(read(folder.file("out.json")))["shapes"];
    REQUIRE(all.size() == 3);
    CHECK(all[0]["class"] == "unaligned");
    CHECK(all[2]["class"] == "batched");
    // Half a unit of the last place at most, and rounding is seen: 2^-8, 2^-11, and f32.
    const double most[] = {4e-3, 5e-4, 1e-6};
    for (std::size_t i = 0; i < 3; ++i)
        for (const nlohmann::json& error : {all[i]["tmm"]["error"], all[i]["peers"][0]["error"], all[i]["naive_error"]}) {
            CHECK(error.get<double>() < most[i]);
            CHECK(error.get<double>() > most[i] / 100);
        }
    for (const nlohmann::json& shape : all) {
        CHECK(shape["accuracy"]["of_bound"].get<double>() <= 1);
        CHECK(shape["difference"]["of_bound"].get<double>() <= 1);
        // No rate of tensor cores is measured here, so products put no floor under the shape.
        CHECK(shape["roofline"]["fma_floor_us"] == 0);
        CHECK(shape["roofline"]["bound"] != "fma");
    }
}

TEST_CASE("the naive kernel's error is shown beside a comparison without it, and no mean of aligned shapes where all are") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "16 20 24\n");
    const Outcome run = bench(folder, "--gpu host --pairs 1 --vs cpu --shapes " + shapes + " --json " + folder.file("out.json"));
    INFO(run.text);
    REQUIRE(run.status == 0);
    const nlohmann::json shape = nlohmann::json::parse(read(folder.file("out.json")))["shapes"][0];
    CHECK(shape["peers"].size() == 1);
    CHECK(shape["naive_error"].get<double>() > 1e-9);
    CHECK(shape["naive_error"].get<double>() < 1e-6);
    CHECK_FALSE(contains(run.text, "all aligned"));
}

TEST_CASE("what tmm was given prepared stands at the head of the files") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8\n");
    const Outcome run = bench(folder, "--gpu host --pairs 1 --vs cpu --prepared ab --shapes " + shapes + " --csv " +
                                          folder.file("out.csv") + " --json " + folder.file("out.json"));
    INFO(run.text);
    REQUIRE(run.status == 0);
    CHECK(contains(read(folder.file("out.csv")), "# prepared: ab\n"));
    CHECK(nlohmann::json::parse(read(folder.file("out.json")))["run"]["prepared"] == "ab");
}

TEST_CASE("a peer that can't take part is left out with its reason") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8\n");
    const Outcome run = bench(folder, "--gpu host --pairs 1 --vs cpu --shapes " + shapes);
    INFO(run.text);
    CHECK(run.status == 0);

    const Outcome gpu_only = bench(folder, "--gpu host --vs cublas --shapes " + shapes);
    CHECK(gpu_only.status == 3);
    CHECK(contains(gpu_only.text, "cublas needs a GPU"));
}

TEST_CASE("with --max-workspace tmm's plans keep to it, and table, CSV and JSON say so") {
    const Folder folder;
    // The product has one tile and deep K: a guess splits K.
    const std::string shapes = folder.with("shapes.txt", "127 127 1023\n");
    const auto run_with = [&](const std::string& option) {
        const Outcome run = bench(folder, "--gpu host --pairs 1 --vs cpu --shapes " + shapes + " --csv " + folder.file("out.csv") +
                                              " --json " + folder.file("out.json") + option);
        INFO(run.text);
        REQUIRE(run.status == 0);
        return run.text;
    };
    const auto workspace = [&] {
        return nlohmann::json::parse(read(folder.file("out.json")))["shapes"][0]["tmm"]["workspace_bytes"].get<std::int64_t>();
    };
    CHECK_FALSE(contains(run_with(""), "--max-workspace"));
    CHECK_FALSE(contains(read(folder.file("out.csv")), "max_workspace_bytes"));
    const std::int64_t unbounded = workspace();
    REQUIRE(unbounded > 1024);

    CHECK(contains(run_with(" --max-workspace 1KiB"), "# tmm's plans need at most 1 KiB of workspace (--max-workspace).\n"));
    CHECK(contains(read(folder.file("out.csv")), "\n# max_workspace_bytes: 1024\n"));
    CHECK(nlohmann::json::parse(read(folder.file("out.json")))["run"]["max_workspace_bytes"] == "1024");
    CHECK(workspace() <= 1024);
    run_with(" --max-workspace 1GiB");
    CHECK(workspace() == unbounded);

    const Outcome accuracy = bench(folder, "--accuracy --gpu host --max-workspace 0 --shapes " + folder.with("small.txt", "8 8 8\n") +
                                               " --csv " + folder.file("accuracy.csv"));
    CHECK(contains(accuracy.text, "# tmm's plans need at most 0 bytes of workspace"));
    CHECK(contains(read(folder.file("accuracy.csv")), "\n# max_workspace_bytes: 0\n"));
}

TEST_CASE("numbers of bytes have suffixes") {
    using tmm::exact_bytes_text;
    using tmm::parse_bytes;
    CHECK(parse_bytes("0") == 0);
    CHECK(parse_bytes("67108864") == 64 << 20);
    CHECK(parse_bytes("64MiB") == 64 << 20);
    CHECK(parse_bytes("64 MiB") == 64 << 20);
    CHECK(parse_bytes("3KiB") == 3072);
    CHECK(parse_bytes("8GiB") == std::int64_t{8} << 30);
    for (const char* text : {"", "MiB", "-1", "64MB", "64mib", "64  MiB", "6.4MiB", "64MiB ", "9223372036854775808", "9000000000GiB"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_bytes(text));
    }
    CHECK(exact_bytes_text(64 << 20) == "64 MiB");
    CHECK(exact_bytes_text(std::int64_t{2} << 30) == "2 GiB");
    CHECK(exact_bytes_text((64 << 20) + 1) == "67108865 bytes");
    CHECK(exact_bytes_text(0) == "0 bytes");
}

TEST_CASE("each kind of fault has its exit status and says what to do") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8\n");
    const Outcome no_bytes = bench(folder, "--gpu host --max-workspace 64MB --shapes " + shapes);
    CHECK(no_bytes.status == 1);
    CHECK(contains(no_bytes.text, "'64MB' is no number of bytes"));
    CHECK(bench(folder, "--help").status == 0);
    CHECK(bench(folder, "").status == 1);
    CHECK(bench(folder, "--no-such-option --shapes " + shapes).status == 1);
    CHECK(bench(folder, "--gpu host --pairs 0 --shapes " + shapes).status == 1);
    // Options are not abbreviated: tomorrow's would change what they mean.
    CHECK(bench(folder, "--gpu host --shap " + shapes).status == 1);
    CHECK(bench(folder, "--gpu 1x --shapes " + shapes).status == 1);
    CHECK(bench(folder, "--gpu host --db '' --shapes " + shapes).status == 1);
    for (const char* seconds : {"-1", "nan", "inf"})
        CHECK(bench(folder, fmt::format("--settle {} --shapes {}", seconds, shapes)).status == 1);
    CHECK(bench(folder, "--gpu host --label 'a\nb' --shapes " + shapes).status == 1);
    const std::string both = folder.file("both");
    CHECK(bench(folder, fmt::format("--gpu host --csv {} --json {} --shapes {}", both, both, shapes)).status == 1);
    CHECK(bench(folder, "--gpu host --set k --shapes " + shapes).status == 1);
    CHECK(bench(folder, "--gpu host --prepared c --shapes " + shapes).status == 1);
    CHECK(bench(folder, "--gpu host --prepared b --accuracy --shapes " + shapes).status == 1);

    const Outcome unknown_peer = bench(folder, "--gpu host --vs cublass --shapes " + shapes);
    CHECK(unknown_peer.status == 1);
    CHECK(contains(unknown_peer.text, "--vs: there is no peer 'cublass'; did you mean cublas? choose from cublas, cublaslt, cpu, naive"));

    CHECK(bench(folder, "--gpu host --shapes " + folder.file("missing.txt")).status == 2);
    const Outcome bad_line = bench(folder, "--gpu host --shapes " + folder.with("bad.txt", "8 8\n"));
    CHECK(bad_line.status == 2);
    CHECK(contains(bad_line.text, "bad.txt:1"));

    const Outcome unwritable =
        bench(folder, "--gpu host --pairs 1 --vs cpu --csv " + folder.file("no/such/folder.csv") + " --shapes " + shapes);
    CHECK(unwritable.status == 2);
    CHECK(contains(unwritable.text, "folder.csv"));
    // Before anything was timed.
    CHECK_FALSE(contains(unwritable.text, "8x8x8"));
}

TEST_CASE("a shape that tmm has no kernels for fails alone") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8 dtype=f64 ctype=f32\n8 8 8\n");
    const Outcome run = bench(folder, "--gpu host --pairs 1 --vs cpu --shapes " + shapes);
    INFO(run.text);
    CHECK(run.status == 6);
    CHECK(contains(run.text, "failed: tmmPlanCreate: "));
    // The other shape has a time.
    CHECK(contains(run.text, "\n8x8x8 "));
}

TEST_CASE("a config takes part under its own spelling, in whatever order it was typed") {
    const Folder folder;
    folder.with("shapes.txt", "16 16 16\n");
    const Outcome run = bench(folder, "--gpu host --pairs 3 --vs 'naive,tiled exact 8x8x8' --shapes " + folder.file("shapes.txt") +
                                          " --csv " + folder.file("out.csv"));
    CHECK(run.status == 0);
    std::vector<std::vector<std::string>> lines;
    std::istringstream text(read(folder.file("out.csv")));
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("#")) continue;
        lines.emplace_back();
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');) lines.back().push_back(field);
    }
    REQUIRE(lines.size() == 2);
    const auto column = std::find(lines[0].begin(), lines[0].end(), "tiled 8x8x8 exact_us");
    REQUIRE(column != lines[0].end());
    CHECK(std::stod(lines[1].at(static_cast<std::size_t>(column - lines[0].begin()))) > 0);
}
