// Candidates that hang, fault, write out of bounds or compute wrongly, planted in a copy of the templates: each is recorded as
// what it did, none wins, and the run goes on to its end.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tuner_testing.h"

using tuner_testing::Finished;
using tuner_testing::TunerFolder;

namespace {

namespace fs = std::filesystem;

// A folder whose tmm-tune reads templates of its own.
class PlantedFolder : public TunerFolder {
public:
    explicit PlantedFolder(const std::string& shapes) : TunerFolder(shapes) {
        fs::copy(fs::path(TMM_SOURCE_DIR) / "templates", path / "templates", fs::copy_options::recursive);
        environment["TMM_TEMPLATES"] = (path / "templates").string();
    }

    // Puts the code behind the anchor of a family's kernel.
    void plant(const std::string& file, const std::string& anchor, const std::string& code) {
        const fs::path template_file = path / "templates" / "tmm" / file;
        std::string text = tuner_testing::read_text(template_file);
        const auto at = text.find(anchor);
        REQUIRE_MESSAGE(at != std::string::npos, "the template has lost its anchor: " << anchor);
        text.insert(at + anchor.size(), "\n" + code + "\n");
        tuner_testing::write_text(template_file, text);
    }

    std::string outcome(const std::string& condition) const {
        return query(
            "SELECT outcome.name || ': ' || detail FROM measurement JOIN config ON config.id = config_id JOIN family ON family.value = "
            "config.family JOIN outcome ON outcome.value = outcome WHERE " +
            condition);
    }
    int wins(const std::string& condition) const {
        return count(
            "SELECT count(*) FROM selection JOIN config ON config.id = config_id JOIN family ON family.value = config.family WHERE " +
            condition);
    }
};

constexpr const char* kTiledAnchor = "constexpr int width = config.block_m;";
constexpr const char* kNaiveAnchor = "static_assert(first_violation(config, signature) == nullptr);";

}  // namespace

TEST_CASE("hanging, faulting, overrunning and wrong candidates are recorded by name and never win") {
    PlantedFolder folder("32 32 32\n");
    folder.plant("tiled.cuh", kTiledAnchor,
                 "    if constexpr (width == 4) {\n"
                 "        volatile bool on = true;\n"
                 "        while (on) {\n"
                 "        }\n"
                 "    }\n"
                 "    if constexpr (width == 8) *reinterpret_cast<volatile int*>(args.k) = 1;\n"
                 "    if constexpr (width == 16) static_cast<volatile float*>(args.c)[-1] = 1.0f;\n");
    folder.plant("naive.cuh", "float sum = 0.0f;", "            sum = 1.0f;");
    const Finished finished = folder.run({"--gpu", "host", "--shapes", folder.shapes().string(), "--db", folder.database().string(),
                                          "--effort", "full", "--deadline-floor", "1", "--budget", "20"});
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(folder.outcome("family.name = 'tiled' AND block_m = 4").starts_with("timed_out: no result within"));
    CHECK(folder.outcome("family.name = 'tiled' AND block_m = 8").starts_with("crashed: "));
    const std::string overrun = folder.outcome("family.name = 'tiled' AND block_m = 16");
    // Under AddressSanitizer the worker ends at the write itself.
    CHECK((overrun.starts_with("wrong_result: ") || overrun.starts_with("crashed: ")));
    CHECK(folder.outcome("family.name = 'naive'").starts_with("wrong_result: "));
    CHECK(folder.outcome("family.name = 'tiled' AND block_m = 32").starts_with("ok: "));
    CHECK(folder.wins("family.name = 'naive' OR (family.name = 'tiled' AND block_m < 32)") == 0);
    CHECK(folder.wins("1") == 1);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(finished.err.find("timed_out") != std::string::npos);
    CHECK(folder.query("SELECT reason FROM selection").find("rejected: ") != std::string::npos);

    const Finished again = folder.run({"--gpu", "host", "--shapes", folder.shapes().string(), "--db", folder.database().string(),
                                       "--effort", "full", "--deadline-floor", "1", "--budget", "20"});
    CHECK(again.status == 0);
    CHECK(again.out.find("nothing to measure") != std::string::npos);
}

TEST_CASE("a kernel that does not compile is data") {
    PlantedFolder folder("32 32 32\n");
    folder.plant("tiled.cuh", kTiledAnchor, "    static_assert(config.block_m != 16, \"planted\");");
    const Finished finished = folder.tune({"--budget", "1"});
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    const std::string outcome = folder.outcome("family.name = 'tiled' AND block_m = 16");
    if (!outcome.empty()) {
        CHECK(outcome.starts_with("compile_failed: "));
        CHECK(outcome.find("planted") != std::string::npos);
    }
}

TEST_CASE("where no candidate is right the problem has no winner, the exit status says so, and what was seen is kept") {
    PlantedFolder folder("4 4 4\n");
    for (const char* family : {"naive.cuh", "tiled.cuh", "simt.cuh", "gemv.cuh"}) folder.plant(family, kNaiveAnchor, "    return;");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 6);
    CHECK(finished.out.find("no candidate passed") != std::string::npos);
    CHECK(folder.wins("1") == 0);
    CHECK(folder.count("SELECT count(*) FROM measurement") > 0);
    CHECK(folder.count("SELECT count(*) FROM measurement WHERE outcome = 0") == 0);
}

TEST_CASE("a candidate that was running when two runs died is quarantined by name") {
    TunerFolder folder("4 4 4\n");
    REQUIRE(folder.tune().status == 0);
    // As two killed runs leave it: announced twice, by a process that is no more.
    folder.query("DELETE FROM selection");
    folder.query(
        "INSERT INTO in_flight SELECT device.id, problem_id, config_id, 0, kernel_name, 2, '', 1, 1, 0 FROM measurement, device LIMIT 1");
    folder.query("DELETE FROM measurement WHERE config_id = (SELECT config_id FROM in_flight)");
    const std::string name = folder.query("SELECT kernel_name FROM in_flight");
    const Finished finished = folder.tune();
    CAPTURE(finished.err);
    CHECK(finished.status == 0);
    CHECK(finished.err.find("quarantined") != std::string::npos);
    CHECK(folder.query("SELECT detail FROM measurement WHERE outcome = 5").find("quarantined") != std::string::npos);
    CHECK(folder.query("SELECT kernel_name FROM measurement WHERE outcome = 5") == name);
    CHECK(folder.count("SELECT count(*) FROM in_flight") == 0);
    CHECK(folder.count("SELECT count(*) FROM selection WHERE config_id = (SELECT config_id FROM measurement WHERE outcome = 5)") == 0);
}
