// The HTML report: what its page holds, and what a browser shows of it. The browser's part is skipped where Chromium is not there.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/machine/assumed_device.h"
#include "generator/text/text.h"
#include "tests/support/database_fixture.h"
#include "tools/tmm_db/html_report/html_report.h"
#include "tools/tmm_db/html_report/report_content.h"

using namespace tmm;
using namespace tmm::testing;
using Mode = TuningDatabase::Mode;

namespace tmm {
const std::map<std::string, std::string>& embedded_chart_library();
}

namespace {

constexpr const char* kMarkup = "</script><img src=x onerror='window.hacked=1'><script>window.hacked=1</script>&amp;";
constexpr std::size_t kAll = 1'000'000;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

KernelConfig simt_config(int rows, int columns) {
    return {.family = family::simt, .block_m = rows, .block_n = columns, .block_k = 16, .thread_m = 8, .thread_n = 8, .stages = 2};
}

// Stores some winners and candidates on the device; `us` is the time of the first problem's winner.
void tune(TuningDatabase& database, const std::string& device, double us) {
    database.set_environment(environment_of(device, device == "host" ? 80 : 90, device == "host" ? 4 : 132));
    const char* const shapes[] = {"1024 1024 1024", "4096 4096 4096 dtype=f16",       "16 4096 4096 dtype=f16 ops=nt",
                                  "128 1024 1024",  "128 64 1024 compute=f32_strict", "64 64 64"};
    for (const char* shape : shapes) {
        const GemmProblem problem = problem_of(shape);
        const KernelConfig fastest = default_config(problem, assumed_device("90"));
        database.record(problem, tiled_config(16), {}, measured(us * 1.5));
        database.record(problem, fastest, {}, measured(us));
        database.record(problem, simt_config(64, 64), {}, measured(us * 1.25));
        database.record(problem, simt_config(128, 128), {}, {.outcome = Outcome::spills, .detail = fmt::format("{} bytes", us)});
        database.decide(problem, {},
                        {.config = fastest, .median_us = us, .candidates = 4, .reason = "the fastest of 4", .default_us = us * 1.5});
        us += 0.04;
    }
}

// Without Chart.js there is no page, and an error says so.
bool draws() {
    if (!embedded_chart_library().empty()) return true;
    MESSAGE("skipped: built without Chart.js (apt-get install libjs-chart.js)");
    CHECK_THROWS_WITH_AS(html_report(ReportContent{}), doctest::Contains("libjs-chart.js"), Error);
    return false;
}

ReportContent content_of(TuningDatabase& database, std::size_t most = kAll, const std::string& device = "") {
    std::vector<std::string> known;
    for (const DeviceModel& model : database.devices()) known.push_back(model.name);
    return read_report_content(database, {.devices = DeviceFilter(device, known), .most_candidates = most});
}

}  // namespace

TEST_CASE("the report knows winners, candidates and failures of each device") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    tune(database, "NVIDIA H200", 10);
    tune(database, "host", 3000);
    const ReportContent content = content_of(database);
    REQUIRE(content.devices.size() == 2);
    CHECK(content.devices[0].modelled.has_value());
    CHECK_FALSE(content.devices[1].modelled.has_value());
    CHECK(content.winners.size() == 12);
    CHECK(content.winners[0].candidates == 4);
    REQUIRE(content.groups.size() == 12);
    for (const auto& winner : content.winners) {
        REQUIRE(winner.group.has_value());
        // A winner of another compute mode, too, was chosen from the candidates of
        // its problem.
        CHECK(content.groups[*winner.group].problem.m == winner.row.problem.m);
        CHECK(content.groups[*winner.group].candidates.front().config == winner.row.config);
    }
    for (const auto& group : content.groups) {
        REQUIRE(group.candidates.size() == 4);
        CHECK(group.candidates.back().measurement.outcome == Outcome::spills);
        CHECK((group.candidates.front().predicted_us > 0) == (group.device == 0));
    }
    // Six reasons that differ in a number.
    REQUIRE(content.failures.size() == 2);
    CHECK(content.failures[0].count == 6);
    CHECK(content.failures[0].reason == "10 bytes");
    CHECK(content_of(database, kAll, "h200").devices.size() == 1);
}

TEST_CASE("a remeasured candidate counts once, by its newest time") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    const GemmProblem problem = problem_of("64 64 64");
    database.record(problem, tiled_config(16), {}, {.outcome = Outcome::timed_out, .detail = "ran long"});
    database.record(problem, tiled_config(16), {}, measured(7));
    database.record(problem, tiled_config(16), {.cold_l2 = false}, measured(3));
    const ReportContent content = content_of(database);
    REQUIRE(content.groups.size() == 1);
    REQUIRE(content.groups[0].candidates.size() == 1);
    CHECK(content.groups[0].candidates[0].measurement.median_us == 7);
    CHECK(content.failures.empty());
}

TEST_CASE("a run that never reported is a failure") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    tune(database, "NVIDIA H200", 10);
    const std::string announce = fmt::format("sqlite3 '{}' \"INSERT INTO in_flight SELECT 1, 1, 1, 0, 'k', 2, 'another start', 1, 1, 1\"",
                                             (directory / "tmm.db").string());
    REQUIRE(run_command(announce).status == 0);
    const ReportContent content = content_of(database);
    REQUIRE(content.failures.size() == 2);
    CHECK(content.failures[1].outcome == "unfinished");
    CHECK(content.failures[1].reason == "another host announced it, and nothing was reported");
}

TEST_CASE("many candidates are thinned out, and the page is told") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    for (int width = 2; width <= 32; ++width) database.record(problem_of("64 64 64"), tiled_config(width), {}, measured(100.0 + width));
    database.record(problem_of("32 64 64"), tiled_config(2), {}, measured(1));
    const ReportContent content = content_of(database, 11);
    REQUIRE(content.groups.size() == 2);
    const auto& large = content.groups[0].measured > 1 ? content.groups[0] : content.groups[1];
    CHECK(large.measured == 31);
    REQUIRE(large.candidates.size() == 10);
    for (int i = 0; i < 5; ++i) CHECK(large.candidates[static_cast<std::size_t>(i)].measurement.median_us == 102 + i);
    for (std::size_t i = 1; i < 10; ++i) CHECK(large.candidates[i].measurement.median_us > large.candidates[i - 1].measurement.median_us);
    CHECK(large.candidates.back().measurement.median_us > 122);
}

TEST_CASE("ceilings are known of an H200, and of what tmm-bench measured") {
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    for (const char* device : {"NVIDIA H200", "NVIDIA H100", "host"}) tune(database, device, 10);
    ReportContent content = content_of(database);
    CHECK(content.devices[0].ceilings->tflops.at("bf16") == 937);
    CHECK_FALSE(content.devices[1].ceilings.has_value());
    CHECK_FALSE(content.devices[2].ceilings.has_value());

    write_file(directory / "bench.json",
               R"({"run": {"gpu": "NVIDIA H100", "read_gb_s": "3050.5", "bf16_tflops": "610", "driver": "580"}})");
    content = read_report_content(database, {.ceilings = read_ceilings(directory / "bench.json")});
    CHECK(content.devices[1].ceilings->read_gb_s == 3050.5);
    CHECK(content.devices[1].ceilings->tflops == std::map<std::string, double>{{"bf16", 610}});
    CHECK(contains(content.devices[1].ceilings->source, "driver 580"));
    // wgmma, which is known of the H200, passes what tmm-bench measures.
    write_file(directory / "bench.json", R"({"run": {"gpu": "NVIDIA H200", "read_gb_s": "4700", "bf16_tflops": "640"}})");
    content = read_report_content(database, {.ceilings = read_ceilings(directory / "bench.json")});
    CHECK(content.devices[0].ceilings->read_gb_s == 4700);
    CHECK(content.devices[0].ceilings->tflops.at("bf16") == 937);

    for (const char* text : {"", "[1]", "{}", R"({"run": 3})", R"({"run": {"gpu": 3}})", R"({"run": {"gpu": "host", "date": "today"}})"}) {
        CAPTURE(text);
        write_file(directory / "bench.json", text);
        CHECK_THROWS_AS(read_ceilings(directory / "bench.json"), Error);
    }
    CHECK_THROWS_AS(read_ceilings(directory / "none.json"), Error);
}

TEST_CASE("tmm-db report writes the file, or says why not") {
    if (!draws()) return;
    const TemporaryDirectory directory;
    {
        TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
        for (const char* device : {"NVIDIA H200", "NVIDIA H100"}) tune(database, device, 10);
    }
    const auto report = [&](const std::string& arguments) {
        return run_command(
            fmt::format("cd '{}' && '{}/tools/tmm-db' report --db tmm.db {}", (directory / "").string(), TMM_BINARY_DIR, arguments));
    };
    auto result = report("--html page.html");
    CHECK(result.status == 0);
    CHECK(result.err == "");
    CHECK(result.out == "page.html: 12 winners and 48 candidates\n");
    CHECK(contains(read_file(directory / "page.html"), "NVIDIA H200"));

    write_file(directory / "bench.json",
               R"({"run": {"gpu": "NVIDIA H100", "read_gb_s": "3050.5", "bf16_tflops": "610", "driver": "580"}})");
    CHECK(report("--html page.html --gpu h100 --ceilings bench.json").status == 0);
    CHECK_FALSE(contains(read_file(directory / "page.html"), "\"NVIDIA H200\""));
    CHECK(contains(read_file(directory / "page.html"), "driver 580"));

    result = report("");
    CHECK(result.status == 1);
    CHECK(contains(result.err, "--html"));
    result = report("--html nowhere/page.html");
    CHECK(result.status == 2);
    CHECK(contains(result.err, "nowhere/page.html"));
    result = report("--html page.html --ceilings none.json");
    CHECK(result.status == 2);
    CHECK(contains(result.err, "none.json"));
}

TEST_CASE("reasons that differ in numbers only are of one kind") {
    CHECK(without_numbers("184 bytes spilled") == without_numbers("96 bytes spilled"));
    CHECK(without_numbers("ran 1.5 ms") == "ran … ms");
    CHECK(without_numbers("at (3, 17).") == "at (…, …).");
    CHECK(without_numbers("none") == "none");
}

namespace {

// The results of a browser: the values of html_report_check.js, and its errors.
struct Seen {
    std::map<std::string, std::string> values;
    std::string faults;

    const std::string& operator[](const std::string& name) const {
        const auto found = values.find(name);
        static const std::string none = "(not there)";
        return found == values.end() ? none : found->second;
    }
    int number(const std::string& name) const { return std::atoi((*this)[name].c_str()); }
};

// The first that runs: Ubuntu's `chromium` may be a stub without the snap. Empty where none does.
std::string browser() {
    for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"})
        if (run_command(fmt::format("timeout 60 {} --version", name)).status == 0) return name;
    MESSAGE("skipped: no Chromium here (apt-get install chromium-headless-shell)");
    return "";
}

void insert_before(std::string& text, const std::string& mark, const std::string& what) {
    const std::size_t place = text.rfind(mark);
    REQUIRE(place != std::string::npos);
    text.insert(place, what);
}

std::string unescaped(std::string text) {
    for (const auto& [entity, character] :
         std::vector<std::pair<std::string, std::string>>{{"&lt;", "<"}, {"&gt;", ">"}, {"&nbsp;", " "}, {"&amp;", "&"}})
        for (std::size_t place = 0; (place = text.find(entity, place)) != std::string::npos; place += character.size())
            text.replace(place, entity.size(), character);
    return text;
}

// Opens the page with the check in it.
Seen open_in_browser(const std::string& name, std::string page, bool dark, int width, int scale = 1) {
    const std::size_t nonce = page.find("nonce-") + 6;
    const std::string script = "<script nonce=\"" + page.substr(nonce, page.find('\'', nonce) - nonce) + "\">";
    insert_before(page, "</body>", script + read_file(TMM_SOURCE_DIR "/tests/tools/html_report_check.js") + "</script>\n");
    const std::string listen =
        "window.pageFaults = [];for (const kind of ['error', 'unhandledrejection', 'securitypolicyviolation'])  addEventListener(kind, "
        "(event) => pageFaults.push(`${kind} ${event.message ?? event.reason ?? event.violatedDirective}`));";
    page.insert(page.find("<style nonce"), script + listen + "</script>\n");
    const TemporaryDirectory directory;
    write_file(directory / "report.html", page);
    const auto result = run_command(fmt::format(
        "HOME='{0}' timeout 300 {1} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--user-data-dir='{0}/profile' --blink-settings=preferredColorScheme={2} --window-size={3},1200 --force-device-scale-factor={4} "
        "--virtual-time-budget=20000 --enable-logging=stderr --dump-dom 'file://{0}/report.html'",
        (directory / "").string(), name, dark ? 0 : 1, width, scale));
    Seen seen;
    std::istringstream lines(result.out.substr(std::min(result.out.size(), result.out.find("\nCHECK\n"))));
    for (std::string line; std::getline(lines, line) && line != "END";) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos) continue;
        const std::string key = unescaped(line.substr(0, tab)), value = unescaped(line.substr(tab + 1));
        if (key == "fault" || key == "exception") seen.faults += value + "\n";
        seen.values[key] = value;
    }
    std::istringstream log(result.err);
    for (std::string line; std::getline(log, line);)
        if (contains(line, "CONSOLE")) seen.faults += line + "\n";
    REQUIRE_MESSAGE(!seen.values.empty(), result.err);
    return seen;
}

// One of many configs, most of which differ from all others, as in a database of many shapes.
KernelConfig some_config(std::mt19937& random) {
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    return {.family = family::wgmma,
            .block_m = 64 << below(3),
            .block_n = 8 * (1 + below(32)),
            .block_k = 64,
            .stages = 2 + below(8),
            .boundary = below(4),
            .split_k = 1 + below(16),
            .raster = below(9),
            .warps_m = 1 + below(2),
            .multicast_a = 1 + below(2),
            .overlap = below(2)};
}

// 400 winners with 100 candidates each, a tenth of which failed.
ReportContent large_content() {
    std::mt19937 random(1);
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    ReportContent content;
    content.devices.push_back({.info = environment_of("NVIDIA H200").device});
    for (std::size_t i = 0; i < 400; ++i) {
        const GemmProblem problem =
            problem_of(fmt::format("{} {} {} dtype=bf16 ops=nt", 1 + below(9000), 1 + below(9000), 1 + below(9000)));
        ReportContent::Group group{.device = 0, .problem = problem, .measured = 100};
        for (int j = 0; j < 100; ++j) {
            ReportContent::Candidate candidate{.config = some_config(random), .predicted_us = below(1'000'000) / 777.0};
            candidate.measurement = j < 90 ? measured(below(1'000'000) / 777.0)
                                           : Measurement{.outcome = Outcome::timed_out, .detail = fmt::format("ran {} us", below(100'000))};
            group.candidates.push_back(candidate);
        }
        ReportContent::Winner winner{.device = 0, .candidates = 100, .group = i};
        winner.row = {.problem = problem, .device = "NVIDIA H200", .config = group.candidates.front().config, .median_us = 12.34};
        winner.row.reason = fmt::format("beat {} by 1.2% in a run-off of 9 over 40 rounds; {} candidates measured, {} rejected",
                                        to_text(group.candidates.back().config), below(600), below(600));
        content.winners.push_back(std::move(winner));
        content.groups.push_back(std::move(group));
    }
    return content;
}

}  // namespace

TEST_CASE("a browser draws every chart, filters and sorts, in light and dark, and runs nothing that the database holds") {
    const std::string name = draws() ? browser() : "";
    if (name.empty()) {
        MESSAGE("skipped: no Chromium here (apt-get install chromium-headless-shell)");
        return;
    }
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    tune(database, "NVIDIA H200", 10);
    tune(database, kMarkup, 20);
    database.record(problem_of("64 64 64"), tiled_config(8), {}, {.outcome = Outcome::crashed, .detail = kMarkup});
    database.decide(problem_of("64 64 64"), {}, {.config = tiled_config(32), .median_us = 20, .candidates = 4, .reason = kMarkup});
    tune(database, "host", 3000);
    const std::string page = html_report(content_of(database));
    for (const bool dark : {false, true}) {
        CAPTURE(dark);
        const Seen seen = open_in_browser(name, page, dark, dark ? 400 : 1280);
        CHECK(seen.faults == "");
        CHECK((seen.number("background") < 60) == dark);
        CHECK((seen.number("foreground") > 180) == dark);
        CHECK(seen["overflows"] == "false");
        CHECK(seen["loads"] == "0");
        CHECK(seen["hacked"] == "no");
        CHECK(seen["devices"] == fmt::format("NVIDIA H200|{}|host", kMarkup));
        for (const std::string device : {"NVIDIA H200", kMarkup, "host"}) {
            CAPTURE(device);
            CHECK(seen.number(device + ".roofline.points") == 6);
            CHECK(seen.number(device + ".heat.points") > 0);
            CHECK(seen.number(device + ".tried.points") > 0);
            for (const char* chart : {"roofline", "heat", "tried"}) CHECK(seen.number(fmt::format("{}.{}.pixels", device, chart)) > 30);
            CHECK(seen[device + ".tflops"] == (device == "host" ? "false" : "true"));
            CHECK(contains(seen[device + ".failures"], "spills;simt"));
        }
        CHECK(seen["NVIDIA H200.roofs"] == "reads 4.67 TB/s|FFMA 65.9 TFLOP/s|FP16 842 TFLOP/s");
        // 1024 cubed, at 107 TFLOP/s, is multiplied as 16-bit planes: the best by FFMA is 128x1024x1024.
        CHECK(contains(seen[fmt::format("{}.roofs", kMarkup)], "|FFMA, best here 13.3 TFLOP/s|"));
        CHECK(seen["host.roofs"] == "");
        CHECK(contains(seen["NVIDIA H200.note"], "one H200"));
        CHECK(contains(seen[fmt::format("{}.note", kMarkup)], "No ceiling was measured"));
        CHECK(contains(seen["host.title"], "Time against work"));
        CHECK(contains(seen["host.tried.note"], "Nothing is predicted"));
        CHECK(contains(seen[fmt::format("{}.failures", kMarkup)], kMarkup));
        CHECK(contains(seen[fmt::format("{}.why", kMarkup)], kMarkup));

        CHECK(seen["winners.rows"] == "6");
        CHECK(seen["winners.ascending"] == "10.00 10.04 10.08 10.12 10.16 10.20");
        CHECK(seen["winners.descending"] == "10.20 10.16 10.12 10.08 10.04 10.00");
        CHECK(seen["winners.aria"] == "ascending");
        CHECK(seen["winners.filtered"] == "16x4096x4096 dtype=f16 ops=nt|4096x4096x4096 dtype=f16");
        CHECK(seen["winners.versus"] == "1.50");
        CHECK(seen["winners.count"] == "2 of 6");
        CHECK(seen["pressed"] != "(not there)");
        CHECK(seen["tried.shape"].starts_with(seen["pressed"] + " ("));
    }
}

TEST_CASE("a heat map of 10,000 sizes is drawn, on a screen of a large scale, too, and says what its cells are") {
    const std::string name = draws() ? browser() : "";
    if (name.empty()) return;
    struct Sizes {
        const char* shape;
        const char* note;
    };
    for (const Sizes& sizes :
         {Sizes{"{} 4096 4096 dtype=bf16", "10000 sizes of M share 100 rows"}, {"4096 {} 64", "10000 sizes of N share 40 columns"}}) {
        ReportContent content;
        content.devices.push_back({.info = environment_of("NVIDIA H200").device});
        for (int size = 1; size <= 10'000; ++size)
            content.winners.push_back({.device = 0,
                                       .row = {.problem = problem_of(fmt::format(fmt::runtime(sizes.shape), size * 3)),
                                               .device = "NVIDIA H200",
                                               .config = tiled_config(16),
                                               .median_us = 5 + size * 0.01}});
        const std::string page = html_report(content);
        const Seen seen = open_in_browser(name, page, false, 1200, 3);
        CHECK(seen.faults == "");
        CHECK(seen.number("NVIDIA H200.heat.pixels") > 1000);
        // Each browser draws on a canvas of this size.
        CHECK(seen.number("NVIDIA H200.heat.width") <= 16384);
        CHECK(seen.number("NVIDIA H200.heat.height") <= 16384);
        CHECK_MESSAGE(contains(seen["NVIDIA H200.heat.note"], sizes.note), seen["NVIDIA H200.heat.note"]);
        CHECK_MESSAGE(contains(seen["NVIDIA H200.heat.tip"], " more"), seen["NVIDIA H200.heat.tip"]);
    }
}

TEST_CASE("a report without winners says so") {
    const std::string name = draws() ? browser() : "";
    if (name.empty()) return;
    const TemporaryDirectory directory;
    TuningDatabase database(directory / "tmm.db", Mode::read_write_create);
    const std::string page = html_report(content_of(database));
    write_file(directory / "empty.html", page);
    const auto result = run_command(fmt::format(
        "HOME='{0}' timeout 300 {1} --headless --no-sandbox --disable-gpu --enable-logging=stderr --dump-dom 'file://{0}/empty.html'",
        (directory / "").string(), name));
    CHECK(contains(result.out, "<p id=\"nothing\">"));
    CHECK_FALSE(contains(result.err, "CONSOLE"));
}

TEST_CASE("400 winners with 40,000 candidates take less than 2 MB") {
    if (!draws()) return;
    const std::size_t bytes = html_report(large_content()).size();
    MESSAGE(bytes, " bytes");
    CHECK(bytes < 2'000'000);
}
