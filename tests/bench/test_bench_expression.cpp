// tmm-bench --expression as a user runs it, on the emulated device.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/bench_testing.h"

using namespace bench_testing;

namespace {

// All names of an expression but the parameters, which are 0.
constexpr const char* kExpression = "'fmaxf(x + bias, -2.0f) * 0.5f + residual + 3 * row - column + 7 * batch + p0'";

// The fields of a row without quoted ones.
std::vector<std::string> fields_of(const std::string& row) {
    std::vector<std::string> fields;
    bool quoted = false;
    fields.emplace_back();
    for (const char c : row) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    return fields;
}

}  // namespace

TEST_CASE("an expression is timed against the plain product and a kernel behind it, with the same result") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt",
                                           "24 40 32 epilogue=bias+residual ldr=44\n"
                                           "9 7 33 ops=tn batch=2 beta=0.5 epilogue=bias_rows+residual\n"
                                           "16 24 8 dtype=bf16 epilogue=residual\n"
                                           "5 600 3 dtype=f16\n");
    const Outcome run = bench(folder, std::string("--gpu host --pairs 3 --label here --shapes ") + shapes + " --expression " + kExpression +
                                          " --csv " + folder.file("out.csv"));
    INFO(run.text);
    CHECK(run.status == 0);
    CHECK(run.text.find("# 24x40x32 ") != std::string::npos);
    CHECK(run.text.find("naive 8x32x1 + elementwise kernel") != std::string::npos);
    CHECK(run.text.find("tmm / plain") != std::string::npos);
    const auto [comments, rows] = csv_of(read(folder.file("out.csv")));
    CHECK(comments.find("# expression: fmaxf(x + bias, -2.0f) * 0.5f + residual + 3 * row - column + 7 * batch + p0\n") !=
          std::string::npos);
    CHECK(comments.find("# commit: here\n") != std::string::npos);
    REQUIRE(rows.size() == 5);
    const std::vector<std::string> head = fields_of(rows[0]);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        CAPTURE(rows[i]);
        const std::vector<std::string> fields = fields_of(rows[i]);
        REQUIRE(fields.size() == head.size());
        const auto field = [&](const std::string& name) {
            for (std::size_t at = 0; at < head.size(); ++at)
                if (head[at] == name) return fields[at];
            return std::string("no such field");
        };
        const double plain = std::stod(field("plain_us")), tmm = std::stod(field("tmm_us")), peer = std::stod(field("peer_us"));
        CHECK(plain > 0);
        CHECK(tmm > 0);
        CHECK(peer > 0);
        CHECK(std::stod(field("over_plain")) > 0);
        CHECK(std::stod(field("ratio_low")) <= std::stod(field("ratio")));
        CHECK((field("place") == "kernel" || field("place") == "step"));
        CHECK(field("best_peer") == "naive");
        // A peer rounds twice, to elements of 16 bits; sums in FP32 differ in their order alone.
        CHECK(std::stod(field("difference")) < (field("shape").find("dtype=") != std::string::npos ? 4e-3 : 1e-5));
        CHECK(field("note").empty());
    }
}

TEST_CASE("what is timed with no expression, or is none, is refused") {
    const Folder folder;
    const std::string shapes = folder.with("shapes.txt", "8 8 8\n");
    const std::string start = "--gpu host --pairs 1 --shapes " + shapes;
    const auto refused = [&](const std::string& arguments, int status, const std::string& words) {
        const Outcome run = bench(folder, arguments);
        CAPTURE(arguments);
        CAPTURE(run.text);
        CHECK(run.status == status);
        CHECK(run.text.find(words) != std::string::npos);
    };
    for (const char* other : {"--accuracy", "--roofline", "--prepared a", "--json out.json"})
        refused(start + " --expression x " + other, 1, "says nothing of an expression");
    refused(start + " --expression ''", 1, "value is empty");
    refused(start + " --expression 'x; y'", 1, "character 2");
    refused(start + " --expression '(x'", 1, "'(' is not closed");
    refused(start + " --expression 'x + nope'", 6, "'nope' was not declared");
    refused(start + " --expression x --vs cpu", 0, "cpu skipped: it computes on the CPU");
    const std::string activated = folder.with("activated.txt", "8 8 8\n8 8 16 epilogue=bias+relu\n");
    refused("--gpu host --expression x --shapes " + activated, 2, "activated.txt:2");
    refused("--gpu host --pairs 1 --expression 'x + bias' --set epilogue=bias --shapes " + activated, 0, "8x8x16 epilogue=bias+custom");
}
