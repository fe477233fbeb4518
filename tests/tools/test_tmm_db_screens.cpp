// The listings of tmm-db as a person sees them in a terminal, and as a program reads them.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/store/records.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"
#include "tests/support/json_schema_testing.h"
#include "tests/support/terminal_testing.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

const char* const kShape = "1000 1000 1000 dtype=bf16 ops=nt lda=1032 ldb=1040";
const char* const kWgmma = "wgmma 128x256x64 w2 s4 c2x1 cluster2 split8 planes2 promote64 o2 swap pack3 raster16 overlap";
const char* const kSimt = "simt 128x128x32 t8x16 s3 async3 v4 peeled split4 slice2 order3 o2 pack7 trim2 raster8 overlap";

// Stores content that fills lines: long shapes, long names, long reasons, times of seven digits.
void fill(const std::filesystem::path& file, double factor = 1) {
    for (const char* device : {"NVIDIA H100 80GB HBM3 with a name that goes on", "host"}) {
        TuningDatabase database(file, Mode::read_write_create);
        // What was decided is all that is said of a generation that tmm does not know.
        database.set_environment(environment_of(device, device == std::string("host") ? 80 : 20));
        int number = 0;
        for (const char* shape : {kShape, "64x64x64", "8192 8192 65536 batch=12 beta=1", "3 5 7 compute=f32_strict align=4"}) {
            const auto problem = problem_of(shape);
            const auto wgmma = parse_config(kWgmma), simt = parse_config(kSimt);
            auto m = measured(1234567.89 * factor / (1 + number * 1000));
            m.kernel_name =
                "tmm_pack_bf16_nn_a16b16c16_64x64x1_exact+tmm_wgmma_bf16_nt_a16b16c16_128x256x64_w2x1_s4_v8_hardware_multicast1x2";
            database.record(problem, wgmma, {}, m);
            m.median_us *= 1.0034;
            database.record(problem, simt, {}, m);
            database.record(
                problem, tiled_config(8), {},
                {.outcome = Outcome::wrong_result, .detail = "C[3][17] = 4, expected 5.000001: larger than the bound of 3.2e-5 by far"});
            database.decide(problem, {},
                            {.config = number % 2 ? simt : wgmma,
                             .median_us = m.median_us,
                             .candidates = 3,
                             .reason = "beat " + std::string(kSimt) + " by 0.3% in a run-off of 9 over 40 rounds; 2 candidates measured"});
            ++number;
        }
    }
}

struct Files {
    TemporaryDirectory directory;
    std::filesystem::path a = directory / "a.db";
    std::filesystem::path b = directory / "b.db";
    Files() {
        fill(a);
        fill(b, 0.9);
        TuningDatabase database(b, Mode::read_write);
        database.set_environment(environment_of("host", 80));
        database.decide(problem_of(kShape), {}, {.config = tiled_config(8), .median_us = 9876543.21});
        database.decide(problem_of("9 9 9"), {}, {.config = tiled_config(8), .median_us = 5});
    }
    std::string tool(const std::string& words) const {
        return fmt::format("TMM_DB='{}' '{}/tools/tmm-db' {}", a.string(), TMM_BINARY_DIR, words);
    }
    std::vector<std::string> listings() const {
        return {"ls",
                std::string("show ") + kShape,
                std::string("candidates ") + kShape,
                fmt::format("diff '{}' '{}'", a.string(), b.string()),
                "shipped --gpu H200",
                "verify"};
    }
};

}  // namespace

TEST_CASE("no line is wider than the terminal, no number is cut, and configs are whole") {
    const Files files;
    for (const int columns : {80, 120, 47}) {
        for (const std::string& listing : files.listings()) {
            CAPTURE(columns);
            CAPTURE(listing);
            const Shown shown = run_in_terminal(files.tool(listing), columns);
            CHECK(shown.status == 0);
            check_fits(shown.text, columns);
        }
        const std::string all = without_colors(run_in_terminal(files.tool("ls"), columns).text);
        for (const char* time : {"1238765", "1238", "619.1", "412.8"}) CHECK_MESSAGE(contains(all, time), all);
        CHECK(contains(all, "NVIDIA H100"));
        CHECK(contains(all, "raster16"));
    }
}

TEST_CASE("what a screen has no room for stands in pipes and with --wide") {
    const Files files;
    const auto piped = run_command(files.tool("ls"));
    CHECK(contains(piped.out, std::string("  ") + kWgmma + "\n"));
    CHECK(contains(piped.out, "  error"));
    const std::string wide = run_in_terminal(files.tool("ls --wide"), 80, "NO_COLOR=1").text;
    CHECK(contains(wide, fields_text(parse_config(kWgmma))));
    CHECK(contains(wide, "in a run-off of 9 over 40 rounds"));
    // COLUMNS counts before what the terminal says, and in pipes.
    check_fits(run_in_terminal(files.tool("ls"), 200, "COLUMNS=60").text, 60);
    for (const std::string& line : lines_shown(run_command("COLUMNS=60 " + files.tool("ls")).out)) CHECK(display_width(line) <= 60);
}

TEST_CASE("a terminal that takes no escape sequences gets none") {
    const Files files;
    for (const std::string& listing : files.listings()) {
        CAPTURE(listing);
        for (const char* environment : {"NO_COLOR=1", "NO_COLOR=0", "TERM=dumb", "TERM="})
            CHECK_FALSE(contains(run_in_terminal(files.tool(listing), 80, environment).text, "\x1b"));
        CHECK_FALSE(contains(run_command(files.tool(listing)).out, "\x1b"));
        // NO_COLOR that is empty forbids nothing.
        if (listing != "verify") CHECK(contains(run_in_terminal(files.tool(listing), 80, "NO_COLOR=").text, "\x1b[1m"));
    }
}

TEST_CASE("--json of every listing is what its schema says") {
    const Files files;
    const auto json_of = [&](const std::string& words) {
        const auto result = run_command(files.tool(words + " --json"));
        CAPTURE(words);
        CHECK(result.status == 0);
        CHECK(result.err.empty());
        return result.out;
    };
    const std::vector<std::string> schemas = {"winners.json", "show.json", "candidates.json", "diff.json", "winners.json", "verify.json"};
    const auto listings = files.listings();
    for (std::size_t i = 0; i < listings.size(); ++i) {
        CAPTURE(listings[i]);
        CHECK(schema_faults(schemas[i], json_of(listings[i])) == "");
    }
    const auto winners = nlohmann::json::parse(json_of("ls"));
    REQUIRE(winners["devices"].size() == 2);
    CHECK(winners["devices"][0]["problems"].size() == 4);
    CHECK(winners["devices"][1]["device"] == "host");
    CHECK(winners["devices"][1]["problems"][0]["tflops"].is_null());
    CHECK(nlohmann::json::parse(json_of("ls --gpu H100"))["devices"].size() == 1);
    const auto show = nlohmann::json::parse(json_of("show 64x64x64"));
    CHECK(show["devices"][0]["winner"]["config"]["block_n"] == 128);
    CHECK(show["devices"][0]["outcomes"]["wrong_result"] == 1);
    const auto diff = nlohmann::json::parse(json_of(listings[3]));
    CHECK(diff["both"] == 8);
    CHECK(diff["different"] == 1);
    CHECK(diff["only_b"] == 1);
    CHECK(diff["problems"].size() == 9);
    std::size_t shipped = 0;
    const auto listed = nlohmann::json::parse(json_of("shipped"));
    for (const auto& device : listed["devices"]) shipped += device["problems"].size();
    CHECK(shipped == shipped_winners().size());
}

TEST_CASE("predicted times stand beside the measured ones, in terms that add up") {
    const TemporaryDirectory directory;
    const std::filesystem::path file = directory / "tmm.db";
    const auto problem = problem_of("16x4096x4096 dtype=bf16 ops=nt");
    const auto config = parse_config("wgmma 64x16x256 s5 cluster2 split2 swap overlap"), other = parse_config("wgmma 64x16x128 s5 swap");
    // Fermi is older than anything that tmm generates for.
    for (const auto& [device, capability] : {std::pair{"NVIDIA H200", 90}, {"NVIDIA H100 80GB HBM3", 90}, {"Tesla M2090", 20}}) {
        TuningDatabase database(file, Mode::read_write_create);
        database.set_environment(environment_of(device, capability));
        database.record(problem, config, {}, measured(9.5));
        database.record(problem, other, {}, measured(10.5));
        // No kernel: 17 columns are no tile of wgmma's.
        database.record(problem, parse_config("wgmma 64x17x128 s5 swap"), {}, {.outcome = Outcome::compile_failed});
        database.decide(problem, {}, {.config = config, .median_us = 9.6, .candidates = 3, .reason = "the fastest"});
    }
    const std::string tool = fmt::format("TMM_DB='{}' '{}/tools/tmm-db' ", file.string(), TMM_BINARY_DIR);
    const auto shown = run_command(tool + "show '16x4096x4096 dtype=bf16 ops=nt'").out;
    CHECK_MESSAGE(contains(shown, "predicted   10.1 µs = memory "), shown);
    CHECK_MESSAGE(contains(shown, "predicted   not known"), shown);
    const std::string candidates = run_command(tool + "candidates '16x4096x4096 dtype=bf16 ops=nt'").out;
    CHECK_MESSAGE(contains(candidates, "   µs  predicted  "), candidates);
    CHECK(contains(without_colors(run_in_terminal(tool + "candidates '16x4096x4096 dtype=bf16 ops=nt'", 80).text), "predicted"));

    const auto json = nlohmann::json::parse(run_command(tool + "show '16x4096x4096 dtype=bf16 ops=nt' --json").out);
    CHECK(schema_faults("show.json", json.dump()) == "");
    std::vector<double> totals;
    for (const auto& device : json["devices"]) {
        const auto& predicted = device["winner"]["predicted_us"];
        CHECK(predicted == device["measured"]["predicted_us"]);
        if (predicted.is_null()) continue;
        double sum = 0;
        for (const auto& [name, term] : predicted.items()) sum += name == "total" ? 0 : term.get<double>();
        CHECK(sum == doctest::Approx(predicted["total"].get<double>()));
        totals.push_back(sum);
    }
    // An H100 has the slower memory.
    REQUIRE(totals.size() == 2);
    CHECK(totals[1] > 1.2 * totals[0]);

    const auto listed = nlohmann::json::parse(run_command(tool + "candidates '16x4096x4096 dtype=bf16 ops=nt' --json").out);
    CHECK(schema_faults("candidates.json", listed.dump()) == "");
    const auto& of_h200 = listed["devices"][0]["candidates"];
    REQUIRE(of_h200.size() == 3);
    CHECK(of_h200[1]["predicted_us"]["total"] > of_h200[0]["predicted_us"]["total"]);
    CHECK(of_h200[2]["predicted_us"].is_null());

    // A config of TF32 is listed among those of FP32, for which it is not valid.
    {
        TuningDatabase database(file, Mode::read_write);
        database.set_environment(environment_of("NVIDIA H200"));
        database.record(problem_of("4096x4096x4096"), parse_config("wgmma 128x256x32 w2 s4 c2x1 swap raster8"), {}, measured(343.8));
    }
    const auto tf32 = nlohmann::json::parse(run_command(tool + "candidates 4096x4096x4096 --json").out);
    CHECK(tf32["devices"][0]["candidates"][0]["predicted_us"]["total"] == doctest::Approx(343.8).epsilon(0.2));
}

TEST_CASE("verify --json names the faults and still fails") {
    const Files files;
    SQLite::Database(files.a, SQLite::OPEN_READWRITE)
        .exec("PRAGMA foreign_keys = OFF; DELETE FROM config WHERE id = (SELECT min(id) FROM config)");
    const auto result = run_command(files.tool("verify --json"));
    CHECK(result.status == 5);
    CHECK(schema_faults("verify.json", result.out) == "");
    const auto json = nlohmann::json::parse(result.out);
    CHECK(json["sound"] == false);
    CHECK(json["faults"].size() >= 1);
}

TEST_CASE("shipped lists what tmm ships with, whatever the database holds") {
    const TemporaryDirectory directory;
    const std::string tool = fmt::format("TMM_DB='{}' '{}/tools/tmm-db' ", (directory / "none.db").string(), TMM_BINARY_DIR);
    const auto all = run_command(tool + "shipped");
    CHECK(all.status == 0);
    CHECK(contains(all.out, "NVIDIA H200 (compute capability 9.0, 132 SMs)\n"));
    CHECK(contains(all.out, to_text(shipped_winners().front().problem)));
    CHECK(contains(all.out, to_text(shipped_winners().front().config)));
    CHECK_FALSE(std::filesystem::exists(directory / "none.db"));
    // Small problems come before large ones, as in ls.
    CHECK(all.out.find("\n128x128x128 ") < all.out.find("\n4096x4096x4096 "));
    const auto none = run_command(tool + "shipped --gpu Voodoo");
    CHECK(none.status == 6);
    CHECK(contains(none.err, "there is nothing of a device named 'Voodoo'"));
}

TEST_CASE("the schema's config is the table's") {
    const auto config = JsonSchema::load("common.json")["$defs"]["config"];
    CHECK(config["properties"].size() == kParameterCount);
    for (const Parameter& parameter : kParameters) {
        CAPTURE(parameter.name);
        REQUIRE(config["properties"].contains(parameter.name));
        const auto& field = config["properties"][parameter.name];
        CHECK(field["description"] == parameter.help);
        if (!parameter.value_names) continue;
        std::vector<std::string> names;
        for (int value = 0; value < parameter.value_count; ++value)
            if (has_name(parameter, value)) names.emplace_back(parameter.value_names[value]);
        CHECK(field["enum"] == names);
    }
}
