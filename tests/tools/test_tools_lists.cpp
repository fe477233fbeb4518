// Tests that the tools read lists of other programs, and that tmm-tune prints them as a shapes file.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <fstream>
#include <string>

#include "tests/support/database_fixture.h"

using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

class Folder {
public:
    explicit Folder(const std::string& list) { std::ofstream(folder_ / "list") << list; }
    CommandResult run(const std::string& tool) const {
        return run_command(
            fmt::format("cd '{}' && TMM_DB=t.db TMM_CACHE_DIR=cache TMPDIR=/tmp {}/{}", (folder_ / "").string(), TMM_BINARY_DIR, tool));
    }

private:
    TemporaryDirectory folder_;
};

const std::string kTunableOp =
    "Validator,PT_VERSION,2.6.0\nGemmTunableOp_float_TN,tn_12_8_16_ld_16_16_12,Default,0.1\n"
    "GemmTunableOp_c10::complex<float>_NN,nn_8_8_8_ld_8_8_8,Default,0.1\nGemmAndBiasTunableOp_float_TN,tn_12_8_17_ld_17_17_12,Default,0."
    "1\n";

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("tmm-tune --convert prints a list as a shapes file that reads as the same problems") {
    const Folder folder(kTunableOp);
    const CommandResult converted = folder.run("tools/tmm-tune --convert --shapes list | tee shapes.txt");
    CHECK(converted.out == "# 2 problems of list, row-major\n8x12x16 ops=nt\n8x12x17 ops=nt epilogue=bias\n");
    CHECK(contains(converted.err, "list:3:15: left out: A is complex ('c10::complex<float>'), which tmm does not have"));
    CHECK(contains(converted.err, "list: read as PyTorch's TunableOp: 2 problems, 1 line left out"));
    const CommandResult again = folder.run("tools/tmm-tune --convert --shapes shapes.txt --set dtype=half");
    CHECK(again.status == 0);
    CHECK(again.err == "");
    CHECK(again.out == "# 2 problems of shapes.txt, row-major\n8x12x16 dtype=f16 ops=nt\n8x12x17 dtype=f16 ops=nt epilogue=bias\n");
    CHECK(folder.run("tools/tmm-tune --convert --shapes list").status == 0);
    CHECK(folder.run("tools/tmm-tune --convert").status == 1);
}

TEST_CASE("a list of which nothing is left is bad input") {
    const Folder folder("GemmTunableOp_c10::complex<float>_NN,nn_8_8_8_ld_8_8_8\n");
    for (const char* tool : {"tools/tmm-tune --convert", "tools/tmm-tune --gpu host --dry-run", "tools/tmm-bench --gpu host --vs cpu"}) {
        CAPTURE(tool);
        const CommandResult result = folder.run(fmt::format("{} --shapes list", tool));
        CHECK(result.status == 2);
        CHECK(contains(result.err, "list:1:15: A is complex"));
    }
}

TEST_CASE("what a list asks is tuned, compared and bundled") {
    const Folder folder(kTunableOp);
    const CommandResult tuned = folder.run("tools/tmm-tune --gpu host --effort quick --budget 3 --shapes list");
    CHECK_MESSAGE((tuned.status == 0 || tuned.status == 6), tuned.err);
    CHECK(contains(tuned.out, "8x12x16 ops=nt"));
    CHECK(contains(tuned.out, "8x12x17 ops=nt epilogue=bias"));
    const CommandResult compared = folder.run("tools/tmm-bench --gpu host --vs cpu --csv r.csv --shapes - < list");
    CHECK_MESSAGE(compared.status == 0, compared.err);
    CHECK(contains(compared.err, "<stdin>:3:15: left out"));
    CHECK(contains(compared.out, "8x12x16"));
    const CommandResult bundled = folder.run("tools/tmm-db bundle --gpu host --shapes list --out b.tmm");
    CHECK_MESSAGE(bundled.status == 0, bundled.err);
}
