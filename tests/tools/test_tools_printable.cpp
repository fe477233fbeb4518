// Tests that, whatever an argument, a file's name, a file's content or a variable holds, a tool's output moves no terminal's cursor and
// breaks no line.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/database_fixture.h"
#include "tests/support/slice.h"
#include "tools/tmm_bench/bench_tool.h"
#include "tools/tmm_db/db_tool.h"
#include "tools/tmm_gen/gen_tool.h"
#include "tools/tmm_tune/tune_tool.h"

using namespace tmm;
using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

// An escape sequence, line ends, a bell, a tab, DEL, C1's control sequence introducer, what turns text around, and a byte that is no UTF-8.
constexpr const char* kEvil = "e\x1b[31mv\ni\r\x07l\t\x7f\xc2\x9b\xe2\x80\xae\xff";

struct Tool {
    const ToolDescription& description;
};

const std::vector<Tool>& tools() {
    static const auto& all = *new std::vector<Tool>{{tune_tool()}, {db_tool()}, {gen_tool()}, {bench::bench_tool()}};
    return all;
}

std::string shell(const std::string& argument) {
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// A folder in which shapes.txt is sound and a file and a directory have the evil name.
class Folder {
public:
    Folder() {
        std::ofstream(path() / "shapes.txt") << "4 4 4\n";
        std::ofstream(path() / kEvil) << kEvil << "\n" << kEvil << " 4 4\n";
    }
    fs::path path() const { return scratch_ / "."; }

    CommandResult run(const Tool& tool, const std::string& arguments, const std::string& variables = "") const {
        return run_command(fmt::format("cd '{}' && TMM_DB=none.db TMM_CACHE_DIR=cache TERM=xterm {} {}/tools/{} {}", path().string(),
                                       variables, TMM_BINARY_DIR, tool.description.name, arguments));
    }

private:
    TemporaryDirectory scratch_;
};

void check_printable(const CommandResult& result) {
    for (const std::string& text : {result.out, result.err}) {
        CAPTURE(text);
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if ((byte < 0x20 && c != '\n') || byte == 0x7f) {
                FAIL_CHECK("the control character " << static_cast<int>(byte) << " is printed");
                break;
            }
        }
        CHECK(text.find("v\ni") == std::string::npos);
        for (const char* part : {"\xc2\x9b", "\xe2\x80\xae", "\xff"}) CHECK(text.find(part) == std::string::npos);
    }
}

// The options that the tool needs to get as far as looking at one more.
std::string usual(const Tool& tool, const std::string& without) {
    if (tool.description.name == "tmm-gen") return without == "shape" ? "" : "--shape 4x4x4";
    const std::string quick = tool.description.name == "tmm-tune" && without != "budget" ? " --budget 1" : "";
    return (without == "shapes" ? "--gpu host" : "--shapes shapes.txt --gpu host") + quick;
}

}  // namespace

TEST_CASE("every option's value, and options and commands that there are not") {
    const Folder folder;
    std::size_t index = 0;
    for (const Tool& tool : tools()) {
        CAPTURE(tool.description.name);
        for (const OptionDescription& option : tool.description.options) {
            if (option.value.empty() || option.hidden) continue;
            CAPTURE(option.name);
            for (const std::string& command : option.commands.empty() ? std::vector<std::string>{""} : option.commands) {
                if (!in_slice(index++, 2)) continue;
                const std::string given = fmt::format(" --{} {} ", option.name, shell(kEvil));
                if (tool.description.commands.empty())
                    check_printable(folder.run(tool, usual(tool, option.name) + given));
                else
                    check_printable(folder.run(tool, (command.empty() ? "ls" : command) + given));
            }
        }
        check_printable(folder.run(tool, shell(std::string("--") + kEvil)));
        check_printable(folder.run(tool, shell(std::string("-") + kEvil)));
        check_printable(folder.run(tool, shell(kEvil)));
    }
}

TEST_CASE("the words of every command") {
    const Folder folder;
    const Tool& tool = tools()[1];
    REQUIRE(tool.description.commands.size() > 5);
    for (const CommandDescription& command : tool.description.commands) {
        CAPTURE(command.name);
        std::string words;
        for (std::size_t i = 0; i <= command.most_words && i < 4; ++i) {
            check_printable(folder.run(tool, command.name + words));
            words += " " + shell(kEvil);
        }
    }
}

TEST_CASE("a database of that name, and files of that content on stdin") {
    const Folder folder;
    const Tool &tune = tools()[0], &db = tools()[1];
    const std::string name = shell(std::string("db") + kEvil);
    const CommandResult tuned = folder.run(tune, "--gpu host --shapes shapes.txt --effort quick --budget 1 --db " + name);
    CHECK_MESSAGE((tuned.status == 0 || tuned.status == 6), tuned.err);
    check_printable(tuned);
    for (const char* command :
         {"ls", "show 4x4x4", "candidates 4x4x4", "verify", "export --csv", "export --json", "report --html r.html"}) {
        CAPTURE(command);
        const CommandResult result = folder.run(db, std::string(command) + " --db " + name);
        // A budget of a second may leave no measurements.
        CHECK_MESSAGE((result.status == 0 || result.status == 6), result.err);
        check_printable(result);
    }
    check_printable(folder.run(db, "merge " + name + " --db other.db"));
    check_printable(folder.run(db, "diff " + name + " " + name));
    check_printable(folder.run(tune, "--gpu host --shapes - <" + shell(kEvil)));
    check_printable(folder.run(db, "import - --db other.db <" + shell(kEvil)));
}

TEST_CASE("every variable that a tool reads") {
    const Folder folder;
    for (const Tool& tool : tools())
        for (const std::string& variable : tool.description.environment) {
            CAPTURE(tool.description.name);
            CAPTURE(variable);
            if (variable == "PATH") continue;
            const std::string set = variable + "=" + shell(kEvil);
            if (tool.description.commands.empty())
                check_printable(folder.run(tool, usual(tool, "") + (tool.description.name == "tmm-tune" ? " --dry-run" : ""), set));
            else
                check_printable(folder.run(tool, "ls", set));
        }
}

TEST_CASE("what is wrong with a JSON import is said in tmm's words, with its place") {
    const Folder folder;
    const Tool& db = tools()[1];
    const std::string head = R"({"tmm_export": 1, "records": [{)";
    for (const std::string& text :
         {head + R"("m": 1e999}]})", head + R"("m": -1e999}]})", head + R"("time_us": 1e99999}]})", std::string(R"({"tmm_export": 1e400})"),
          std::string("1e999"), std::string("[1e999"), head + R"("m": 01}]})", head + R"("m": 1.e5}]})", head + R"("m": "\ud800"}]})", head,
          std::string("{"), std::string("{\"tmm_export\": nul"), std::string(3000, '['), std::string("{\"a\xff\": 1}")}) {
        CAPTURE(text);
        std::ofstream(folder.path() / "import.json") << text;
        const CommandResult result = folder.run(db, "import import.json --db other.db");
        CHECK(result.status == 2);
        CHECK_MESSAGE(result.err.find("import.json:1:") != std::string::npos, result.err);
        CHECK_MESSAGE(result.err.find("exception") == std::string::npos, result.err);
        check_printable(result);
    }
}
