// tmm-tune as a person sees it in a terminal: bar, lines and table.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/text/text_width.h"
#include "tests/support/json_schema_testing.h"
#include "tests/support/terminal_testing.h"
#include "tests/support/tuner_testing.h"
#include "tuner/progress/progress.h"

using namespace tmm;
using namespace tmm::testing;
using namespace tuner_testing;

namespace {

constexpr const char* kShapes = "4 4 4\n3 5 7 beta=1 lda=9 ldb=11 ldc=13 dtype=bf16 ops=nt align=2\n";

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string command_of(const TunerFolder& folder, const std::string& more = {}) {
    std::string command;
    for (const auto& [name, value] : folder.environment) command += fmt::format("{}='{}' ", name, value);
    command += TunerFolder::program();
    for (const std::string& argument : folder.usual()) command += " " + argument;
    return command + " " + more;
}

}  // namespace

TEST_CASE("the bar holds whole numbers in any width, and gives up the least important first") {
    const ProgressState state{.problems = 40,
                              .problems_done = 12,
                              .share = 0.31,
                              .eta = "3 min 20 s",
                              .name = "4096x4096x4096",
                              .done = 120,
                              .candidates = 640,
                              .best_us = 8123.45};
    CHECK(progress_text(state, 79) == "[##.....] 12/40 shapes  ETA 3 min 20 s  4096x4096x4096  120/640  best 8123 µs");
    CHECK(progress_text(state, 120) == "[#######.................] 12/40 shapes  ETA 3 min 20 s  4096x4096x4096  120/640  best 8123 µs");
    CHECK(progress_text(state, 71) == "12/40 shapes  ETA 3 min 20 s  4096x4096x4096  120/640  best 8123 µs");
    CHECK(progress_text(state, 66) == "[##.......] 12/40 shapes  ETA 3 min 20 s  4096x4096x4096  120/640");
    // The bar keeps its length while the numbers beside it grow.
    ProgressState early = state;
    early.eta = "9 s";
    early.done = 1;
    early.best_us = 9;
    for (std::size_t columns = 0; columns < 130; ++columns) {
        const std::string text = progress_text(state, columns);
        CHECK(progress_text(early, columns).find(']') == text.find(']'));
        CAPTURE(text);
        CHECK(display_width(text) <= columns);
        if (columns >= 12) CHECK(contains(text, "12/40 shapes"));
        // Each part is shown whole or not at all.
        CHECK(contains(text, "best") == contains(text, "best 8123 µs"));
        CHECK(contains(text, "ETA") == contains(text, "ETA 3 min 20 s"));
        CHECK(contains(text, "4096") == contains(text, "4096x4096x4096"));
    }
}

TEST_CASE("a run in a terminal never wraps a line") {
    for (const int columns : {80, 120}) {
        const TunerFolder folder(kShapes);
        const Shown shown = run_in_terminal(command_of(folder), columns);
        CAPTURE(shown.text);
        CHECK(shown.status == 0);
        check_fits(shown.text, columns);
        CHECK(contains(shown.text, "/2 shapes"));
        CHECK(contains(without_colors(shown.text), "3x5x7 dtype=bf16 ops=nt lda=9 ldb=11 ldc=13"));
        CHECK(contains(shown.text, "\x1b[32m["));
        // The output of a second run, which has nothing to measure.
        const Shown again = run_in_terminal(command_of(folder), columns);
        check_fits(again.text, columns);
        CHECK(contains(again.text, "nothing to measure"));
        const Shown dry = run_in_terminal(command_of(folder, "--dry-run"), columns);
        check_fits(dry.text, columns);
    }
}

TEST_CASE("without colour there is a bar and no escape sequence, in a dumb terminal and a pipe no bar") {
    const TunerFolder folder(kShapes);
    const Shown plain = run_in_terminal(command_of(folder), 80, "NO_COLOR=1");
    CHECK(plain.status == 0);
    CHECK_FALSE(contains(plain.text, "\x1b"));
    CHECK(contains(plain.text, "ETA"));
    const TunerFolder other(kShapes);
    const Shown dumb = run_in_terminal(command_of(other), 80, "TERM=dumb");
    CHECK(dumb.status == 0);
    CHECK_FALSE(contains(dumb.text, "\x1b"));
    CHECK_FALSE(contains(dumb.text, "ETA"));
    const Finished piped = other.tune();
    CHECK_FALSE(contains(piped.out + piped.err, "\x1b"));
    CHECK_FALSE(contains(piped.out + piped.err, "\r"));
}

TEST_CASE("--json is what its schema says, of a run and of a dry one") {
    const TunerFolder folder(std::string(kShapes) + "64 64 64 dtype=f16 ctype=bf16\n");
    const Finished run = folder.tune({"--json"});
    CHECK(schema_faults("tune.json", run.out) == "");
    const Finished dry = folder.tune({"--json", "--dry-run"});
    CHECK(dry.status == 0);
    CHECK(schema_faults("dry_run.json", dry.out) == "");
}
