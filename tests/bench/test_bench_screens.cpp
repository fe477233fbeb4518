// tmm-bench as a person sees it in a terminal, and its JSON.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

#include "bench/report/report.h"
#include "tests/support/bench_testing.h"
#include "tests/support/json_schema_testing.h"
#include "tests/support/terminal_testing.h"

using namespace bench_testing;
using tmm::testing::check_fits;
using tmm::testing::run_in_terminal;
using tmm::testing::schema_faults;
using tmm::testing::Shown;

namespace {

constexpr const char* kShapes = "8 8 8\n9 7 33 ops=tn lda=12 ldb=40 ldc=17 align=4 beta=1 compute=f32_strict\n";

std::string command_of(const Folder& folder, const std::string& arguments) {
    return fmt::format("TMM_DB='{}' '{}/tools/tmm-bench' --gpu host --pairs 3 --shapes '{}' {}", folder.file("none.db"), TMM_BINARY_DIR,
                       folder.with("shapes.txt", kShapes), arguments);
}

}  // namespace

TEST_CASE("a comparison in a terminal never wraps a line, and takes no colour where none is wanted") {
    const Folder folder;
    for (const int columns : {80, 120}) {
        const Shown shown = run_in_terminal(command_of(folder, "--vs cpu,naive"), columns);
        CAPTURE(shown.text);
        CHECK(shown.status == 0);
        check_fits(shown.text, columns);
        CHECK(contains(shown.text, "tmm µs"));
        CHECK(contains(shown.text, "9x7x33 compute=f32_strict ops=tn lda=12 ldb=40 ldc=17 align=4 beta=1"));
    }
    // What has no room is named, and what is not shown is not explained.
    const std::string narrow = run_in_terminal(command_of(folder, "--vs cpu,naive"), 80).text;
    CHECK(contains(narrow, "# Left out for want of room: "));
    CHECK_FALSE(contains(narrow, "# error:"));
    CHECK_FALSE(contains(run_in_terminal("NO_COLOR=1 " + command_of(folder, "--vs cpu,naive"), 80).text, "\x1b"));
    const std::string wide = run_in_terminal(command_of(folder, "--vs cpu,naive --wide"), 80).text;
    CHECK(contains(wide, "# error:"));
    CHECK_FALSE(contains(wide, "Left out"));
    for (const char* head : {"cpu µs", "naive µs", "95% interval", "naive error", "config"}) CHECK(contains(wide, head));
}

TEST_CASE("accuracy in a terminal never wraps a line") {
    const Folder folder;
    const Shown shown = run_in_terminal(command_of(folder, "--accuracy"), 80);
    CAPTURE(shown.text);
    check_fits(shown.text, 80);
}

TEST_CASE("the JSON of a comparison is what its schema says") {
    const Folder folder;
    folder.with("shapes.txt", kShapes);
    const Outcome run =
        bench(folder, "--gpu host --pairs 3 --vs cpu,naive --shapes " + folder.file("shapes.txt") + " --json " + folder.file("out.json"));
    CHECK(run.status == 0);
    CHECK(schema_faults("bench.json", read(folder.file("out.json"))) == "");
}
