// The four tools as a user meets them: help, version, manual pages, completion in the shells, and faults of one form.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/command_line/shell_completion.h"
#include "base/command_line/tool_help.h"
#include "base/text/environment.h"
#include "base/text/text_width.h"
#include "runtime/device/device.h"
#include "tests/support/database_fixture.h"
#include "tools/tmm_bench/bench_tool.h"
#include "tools/tmm_db/db_tool.h"
#include "tools/tmm_gen/gen_tool.h"
#include "tools/tmm_tune/tune_tool.h"

using namespace tmm;
using namespace tmm::testing;
namespace fs = std::filesystem;

namespace {

struct Tool {
    const ToolDescription& description;

    fs::path program() const { return fs::path(TMM_BINARY_DIR) / "tools" / description.name; }
    fs::path share(const std::string& file) const { return fs::path(TMM_BINARY_DIR) / "tools" / "share" / file; }
};

const std::vector<Tool>& tools() {
    static const std::vector<Tool> all{{tune_tool()}, {db_tool()}, {gen_tool()}, {bench::bench_tool()}};
    return all;
}

bool is_installed(const char* program) {
    return run_command(fmt::format("command -v {}", program)).status == 0;
}

// Behind this the shell reads the argument as it is.
std::string shell(const std::string& argument) {
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

CommandResult run(const Tool& tool, const std::string& arguments, const std::string& input = "") {
    return run_command(fmt::format("printf %s {} | TMM_DB=/nonexistent/tmm.db '{}' {}", shell(input), tool.program().string(), arguments));
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// The completions that bash offers where the last of the words ends.
std::vector<std::string> bash_offers(const Tool& tool, const std::vector<std::string>& words) {
    std::string quoted;
    for (const std::string& word : words) quoted += " " + shell(word);
    const std::string script = fmt::format(
        "source '{}'; COMP_WORDS=({}{}); COMP_CWORD={}; $(complete -p {} | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); "
        "printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        tool.share(tool.description.name).string(), tool.description.name, quoted, words.size(), tool.description.name);
    return lines_of(run_command("bash --norc -c " + shell(script)).out);
}

bool offers(const std::vector<std::string>& offered, const std::string& word) {
    return std::ranges::find(offered, word) != offered.end();
}

// The name without its middle letter, or with its last letter doubled where it is short; no other option is as near to that.
std::string misspelled(const std::string& name) {
    return name.size() < 4 ? name + name.back() : name.substr(0, name.size() / 2) + name.substr(name.size() / 2 + 1);
}

}  // namespace

TEST_CASE("help is at most 80 columns wide and tells every option, command, exit status and everyday variable") {
    for (const Tool& tool : tools()) {
        CAPTURE(tool.description.name);
        for (const char* option : {"--help", "-h"}) {
            const CommandResult help = run(tool, option);
            CHECK(help.status == 0);
            CHECK(help.err.empty());
            CHECK(help.out == help_text(tool.description));
        }
        const std::string help = help_text(tool.description);
        CHECK(help.starts_with("Usage: " + tool.description.name + " "));
        for (const std::string& line : lines_of(help)) {
            CHECK_MESSAGE(columns(line) <= 80, line);
            CHECK_MESSAGE(!line.ends_with(' '), line);
        }
        for (const OptionDescription& option : all_options(tool.description)) {
            CAPTURE(option.name);
            CHECK(contains(help, " " + spelling(option)) == !option.hidden);
            CHECK(!option.help.empty());
        }
        for (const CommandDescription& command : tool.description.commands)
            CHECK_MESSAGE(contains(help, "\n  " + command.name), command.name);
        for (const std::string& name : tool.description.environment)
            CHECK_MESSAGE(contains(help, "\n  " + name + " ") == environment_variable(name).everyday, name);
        CHECK_MESSAGE(contains(help, "'man " + tool.description.name + "' and docs/environment.md"), help);
        for (const ExitDescription& exit : tool.description.exit_statuses)
            CHECK_MESSAGE(contains(help, fmt::format("\n  {:>3}  {}", static_cast<int>(exit.status), exit.help.substr(0, 20))), exit.help);
    }
}

TEST_CASE("COMMAND --help is at most 80 columns wide and tells the options that the command takes, and no others") {
    for (const Tool& tool : tools()) {
        for (const CommandDescription& command : tool.description.commands) {
            CAPTURE(command.name);
            const CommandResult help = run(tool, command.name + " --help");
            CHECK(help.status == 0);
            CHECK(help.out.starts_with(fmt::format("Usage: {} {} ", tool.description.name, command.name)));
            for (const std::string& line : lines_of(help.out)) CHECK_MESSAGE(columns(line) <= 80, line);
            for (const OptionDescription& option : tool.description.options) {
                const bool taken = std::ranges::find(option.commands, command.name) != option.commands.end();
                CHECK_MESSAGE(contains(help.out, "\n      " + spelling(option)) == taken, option.name);
            }
        }
    }
}

TEST_CASE("all tools have the same version, said in the same way") {
    for (const Tool& tool : tools()) {
        const CommandResult version = run(tool, "--version");
        CHECK(version.status == 0);
        CHECK(version.out == fmt::format("{} {}\n", tool.description.name, tool_version()));
        CHECK(std::regex_match(version.out, std::regex("tmm-[a-z]+ [0-9]+\\.[0-9]+\\.[0-9]+\n")));
    }
}

TEST_CASE("what is installed is what the tools print, and holds every option and command") {
    const TemporaryDirectory prefix;
    const CommandResult install =
        run_command(fmt::format("cmake --install '{}' --prefix '{}' --component Unspecified", TMM_BINARY_DIR, (prefix / "").string()));
    CHECK_MESSAGE(install.status == 0, install.err);
    for (const Tool& tool : tools()) {
        const std::string& name = tool.description.name;
        CAPTURE(name);
        const std::string page = read_file(prefix / ("share/man/man1/" + name + ".1"));
        const std::string bash = read_file(prefix / ("share/bash-completion/completions/" + name));
        const std::string zsh = read_file(prefix / ("share/zsh/site-functions/_" + name));
        const std::string fish = read_file(prefix / ("share/fish/vendor_completions.d/" + name + ".fish"));
        CHECK(page == manual_page(tool.description));
        CHECK(bash == shell_completion(tool.description, "bash"));
        CHECK(zsh == shell_completion(tool.description, "zsh"));
        CHECK(fish == shell_completion(tool.description, "fish"));
        for (const OptionDescription& option : all_options(tool.description)) {
            CAPTURE(option.name);
            CHECK(contains(page, std::regex_replace("--" + option.name, std::regex("-"), "\\-") + "\\fR") != option.hidden);
            CHECK(std::regex_search(bash, std::regex("['| ]--" + option.name + "['|) ]")) != option.hidden);
            CHECK(std::regex_search(zsh, std::regex("--" + option.name + "[=\\[}]")) != option.hidden);
            CHECK(contains(fish, " -l " + option.name + " ") != option.hidden);
        }
        for (const CommandDescription& command : tool.description.commands) {
            CAPTURE(command.name);
            CHECK(contains(page, "\n\\fB" + command.name + "\\fR"));
            CHECK(contains(zsh, "'" + command.name + ":"));
            CHECK(contains(fish, " -a " + command.name + " "));
        }
    }
}

TEST_CASE("the manual pages are sound roff of ASCII alone") {
    for (const Tool& tool : tools()) {
        const std::string page = read_file(tool.share(tool.description.name + ".1"));
        CHECK(page.starts_with(".TH "));
        CHECK(std::ranges::all_of(page, [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); }));
        const std::string file = tool.share(tool.description.name + ".1").string();
        if (is_installed("man")) {
            const CommandResult shown = run_command(fmt::format("LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l '{}'", file));
            CHECK(shown.status == 0);
            CHECK_MESSAGE(shown.err.empty(), shown.err);
            CHECK(contains(shown.out, tool.description.name));
        } else {
            MESSAGE("skipped: man is not installed");
        }
        if (is_installed("groff")) {
            const CommandResult set = run_command(fmt::format("groff -man -Tutf8 -ww '{}'", file));
            CHECK(set.status == 0);
            CHECK_MESSAGE(set.err.empty(), set.err);
        } else {
            MESSAGE("skipped: groff is not installed");
        }
    }
}

TEST_CASE("characters that roff takes for others, and lines that it would obey, stay as they are") {
    if (!is_installed("groff")) {
        MESSAGE("skipped: groff is not installed");
        return;
    }
    const TemporaryDirectory directory;
    ToolDescription tool = tune_tool();
    tool.description = {".br is no request here: - ' ` ^ ~ \\ \" µ … 形 ends"};
    write_file(directory / "page", manual_page(tool));
    const CommandResult set = run_command(fmt::format("groff -man -Tutf8 -ww -P-cbou '{}'", (directory / "page").string()));
    CHECK_MESSAGE(set.err.empty(), set.err);
    CHECK(contains(set.out, ".br is no request here: - ' ` ^ ~ \\ \" µ … 形 ends"));
}

TEST_CASE("bash completes options, commands, values and files") {
    for (const Tool& tool : tools()) {
        CAPTURE(tool.description.name);
        for (const OptionDescription& option : all_options(tool.description)) {
            if (option.hidden) continue;
            CAPTURE(option.name);
            std::vector<std::string> words;
            if (!option.commands.empty()) words.push_back(option.commands.front());
            words.push_back("--" + option.name.substr(0, 1));
            CHECK(offers(bash_offers(tool, words), "--" + option.name));
            if (option.choices.empty()) continue;
            words.back() = "--" + option.name;
            words.emplace_back("");
            CHECK(bash_offers(tool, words) == option.choices);
            // bash takes --option=va for three words.
            words.back() = "=";
            words.push_back(option.choices.front());
            CHECK(bash_offers(tool, words).front() == option.choices.front());
        }
        for (const CommandDescription& command : tool.description.commands)
            CHECK(offers(bash_offers(tool, {command.name.substr(0, 1)}), command.name));
    }
    const Tool& tune = tools()[0];
    const TemporaryDirectory directory;
    write_file(directory / "my shapes.txt", "4 4 4\n");
    CHECK(bash_offers(tune, {"--shapes", (directory / "my").string()}) == std::vector<std::string>{(directory / "my shapes.txt").string()});
    CHECK(bash_offers(tune, {"--budget", ""}) == std::vector<std::string>{""});

    // An option that a command does not take is not offered; a value is not taken for the command.
    const Tool& db = tools()[1];
    CHECK_FALSE(offers(bash_offers(db, {"ls", "--"}), "--csv"));
    CHECK(offers(bash_offers(db, {"export", "--"}), "--csv"));
    CHECK(offers(bash_offers(db, {"--gpu", "ls", "export", "--"}), "--csv"));
    CHECK(offers(bash_offers(db, {"--gpu", "=", "ls", "export", "--"}), "--csv"));
    CHECK(bash_offers(db, {"merge", (directory / "my").string()}) == std::vector<std::string>{(directory / "my shapes.txt").string()});
}

TEST_CASE("zsh reads its completions, which hand it the options of the command at hand") {
    if (!is_installed("zsh")) {
        MESSAGE("skipped: zsh is not installed");
        return;
    }
    for (const Tool& tool : tools()) {
        const std::string file = tool.share("_" + tool.description.name).string();
        const CommandResult read = run_command(fmt::format("zsh -f -n '{}'", file));
        CHECK_MESSAGE(read.status == 0, read.err);
        std::vector<std::string> commands{""};
        for (const CommandDescription& command : tool.description.commands) commands.push_back(command.name);
        for (const std::string& command : commands) {
            // The arguments that zsh's own function would be given, a line each.
            const std::string script =
                fmt::format("_arguments() {{ print -l -- \"$@\" }}; complete_it() {{ source '{}' }}; words=({} {} ''); complete_it", file,
                            tool.description.name, command);
            const CommandResult given = run_command("zsh -f -c " + shell(script));
            CHECK_MESSAGE(given.err.empty(), given.err);
            for (const OptionDescription& option : all_options(tool.description)) {
                const bool belongs =
                    command.empty() || option.commands.empty() || std::ranges::find(option.commands, command) != option.commands.end();
                CHECK_MESSAGE(
                    std::regex_search(given.out, std::regex("(^|\n|\\*|\\))--" + option.name + "(=|\\[)")) == (belongs && !option.hidden),
                    option.name);
            }
        }
    }
}

TEST_CASE("fish completes the options of the command at hand") {
    if (!is_installed("fish")) {
        MESSAGE("skipped: fish is not installed");
        return;
    }
    for (const Tool& tool : tools()) {
        const std::string& name = tool.description.name;
        const TemporaryDirectory home;
        const std::string script = fmt::format("source '{}'; complete -C '{} {}--'", tool.share(name + ".fish").string(), name,
                                               tool.description.commands.empty() ? "" : "export ");
        const CommandResult offered = run_command(fmt::format("HOME='{}' fish --no-config -c {}", (home / "").string(), shell(script)));
        CHECK_MESSAGE(offered.err.empty(), offered.err);
        for (const OptionDescription& option : all_options(tool.description)) {
            const bool belongs = option.commands.empty() || std::ranges::find(option.commands, "export") != option.commands.end();
            CHECK_MESSAGE(contains("\n" + offered.out, "\n--" + option.name + "\t") == (belongs && !option.hidden), option.name);
        }
    }
}

TEST_CASE("every option and command that is misspelled is suggested") {
    for (const Tool& tool : tools()) {
        for (const OptionDescription& option : all_options(tool.description)) {
            if (option.hidden) continue;
            const CommandResult result = run(tool, "--" + misspelled(option.name));
            CHECK(result.status == 1);
            CHECK(result.out.empty());
            CHECK(result.err == fmt::format("{}: there is no option '--{}'; did you mean --{}?\n", tool.description.name,
                                            misspelled(option.name), option.name));
        }
        for (const CommandDescription& command : tool.description.commands)
            CHECK(run(tool, misspelled(command.name)).err == fmt::format("{}: there is no command '{}'; did you mean {}?\n",
                                                                         tool.description.name, misspelled(command.name), command.name));
    }
}

TEST_CASE("options that are empty, missing, repeated or impossible have one form of error in all tools") {
    for (const Tool& tool : tools()) {
        const std::string& name = tool.description.name;
        for (const OptionDescription& option : all_options(tool.description)) {
            CAPTURE(name);
            CAPTURE(option.name);
            const std::string o = "--" + option.name;
            if (option.value.empty()) {
                CHECK(run(tool, o + "=x").err == fmt::format("{}: {}: it takes no value; write {} alone\n", name, o, o));
                CHECK(run(tool, o + " " + o).err == fmt::format("{}: {} is given twice; give it once\n", name, o));
                continue;
            }
            CHECK(run(tool, o).err == fmt::format("{}: {}: its value is missing; write {} {}\n", name, o, o, option.value));
            CHECK(run(tool, o + " ''").err ==
                  fmt::format("{}: {}: its value is empty; give {} {}, or leave the option out\n", name, o, o, option.value));
            const std::string value = option.choices.empty() ? "1" : option.choices.front();
            if (!option.repeatable)
                CHECK(run(tool, fmt::format("{} {} {} {}", o, value, o, value)).err ==
                      fmt::format("{}: {} is given twice; give it once\n", name, o));
            if (!option.choices.empty())
                CHECK(run(tool, o + " zzzzzzzzzz").err ==
                      fmt::format("{}: {}: 'zzzzzzzzzz' is not one of its values; one of {}\n", name, o, fmt::join(option.choices, ", ")));
        }
    }
}

TEST_CASE("--set is read the same everywhere") {
    const TemporaryDirectory directory;
    write_file(directory / "shapes.txt", "8 8 8\n");
    const std::string shapes = fmt::format("--shapes '{}' --gpu host ", (directory / "shapes.txt").string());
    const std::string others[] = {shapes + "--dry-run", "", "--shape 8x8x8", shapes + "--pairs 1 --vs cpu"};
    for (std::size_t i = 0; i < tools().size(); ++i) {
        if (others[i].empty()) continue;
        const Tool& tool = tools()[i];
        const std::string& name = tool.description.name;
        CHECK(run(tool, others[i] + " --set x").err == name + ": --set: 'x' is not key=value; write it like --set compute=f32_strict\n");
        CHECK(run(tool, others[i] + " --set =x").err == name + ": --set: '=x' is not key=value; write it like --set compute=f32_strict\n");
        CHECK(run(tool, others[i] + " --set beta=1 --set beta=2").err == name + ": --set: 'beta' is given twice; give each key once\n");
        CHECK(run(tool, others[i] + " --set bata=1").err == name + ": --set bata=1: there is no key 'bata'; did you mean beta?\n");
        const CommandResult impossible = run(tool, others[i] + " --set beta=none");
        CHECK(impossible.status == 1);
        CHECK(contains(impossible.err, name + ": --set beta=none: beta = 'none' is not a finite number"));
        CHECK(run(tool, others[i] + " --set beta=2").status == 0);
    }
}

TEST_CASE("shapes may come from standard input, which faults call <stdin>") {
    for (const Tool& tool : {tools()[0], tools()[3]}) {
        CAPTURE(tool.description.name);
        const std::string arguments =
            tool.description.name == "tmm-tune" ? "--gpu host --dry-run --shapes -" : "--gpu host --pairs 1 --shapes=-";
        const CommandResult good = run(tool, arguments, "# two\n24 20 16\n5 6 7\n");
        CHECK_MESSAGE(good.status == 0, good.err);
        CHECK(contains(good.out, "24x20x16"));
        CHECK(contains(good.out, "5x6x7"));
        const CommandResult bad = run(tool, arguments, "4 4 4\n\n8 8  x\n");
        CHECK(bad.status == 2);
        CHECK_MESSAGE(contains(bad.err, ": <stdin>:3:6: "), bad.err);
        const CommandResult empty = run(tool, arguments, "");
        CHECK(empty.status == 2);
        CHECK(contains(empty.err, "<stdin>:1:1: there is no shape in it"));
        CHECK(run_command(fmt::format("'{}' {} <&-", tool.program().string(), arguments)).status == 2);
        // A file of that name has a path.
        const TemporaryDirectory directory;
        write_file(directory / "-", "3 3 3\n");
        const CommandResult file = run_command(fmt::format("cd '{}' && '{}' {}", (directory / "").string(), tool.program().string(),
                                                           std::regex_replace(arguments, std::regex("-$"), "./-")));
        CHECK(file.status == 0);
        CHECK(contains(file.out, "3x3x3"));
    }
}

TEST_CASE("--gpu means the same in both tools that run kernels; tmm-bench runs on one and says so") {
    const Tool& tune = tools()[0];
    const Tool& bench = tools()[3];
    const std::string shape = "4 4 4\n";
    for (const char* text : {"x", "-1", "0,x", "0,", ",", "HOST", "1e3", "99999999999"}) {
        CAPTURE(text);
        const std::string message = fmt::format("--gpu: {} is no GPU; give a number such as 0, several such as 0,1, or all, host or auto\n",
                                                text == std::string("0,x")                              ? "'x'"
                                                : text == std::string("0,") || text == std::string(",") ? "''"
                                                                                                        : "'" + std::string(text) + "'");
        CHECK(run(tune, fmt::format("--dry-run --shapes - --gpu '{}'", text), shape).err == "tmm-tune: " + message);
        CHECK(run(bench, fmt::format("--shapes - --gpu '{}'", text), shape).err == "tmm-bench: " + message);
    }
    for (const Tool& tool : {tune, bench})
        CHECK(run(tool, "--shapes - --gpu 0,1,0", shape).err == tool.description.name + ": --gpu: GPU 0 is named twice; name each once\n");
    CHECK(run(bench, "--shapes - --gpu 0,1", shape).err ==
          "tmm-bench: --gpu: '0,1' means 2 GPUs, and tmm-bench runs on one; run it once for each: --gpu 0, then --gpu 1\n");
    if (gpu_count() == 0) {
        // The missing option is at fault, not one that was written.
        const CommandResult first = run(tune, "--shapes - --gpu all", shape);
        const CommandResult second = run(bench, "--shapes - --gpu all", shape);
        CHECK(first.status == 3);
        CHECK(second.status == 3);
        CHECK(first.err.substr(first.err.find(' ')) == second.err.substr(second.err.find(' ')));
        for (const Tool& tool : {tune, bench}) CHECK(contains(run(tool, "--shapes - --gpu auto --set beta=x", shape).err, "--set beta=x"));
    }
}

TEST_CASE("control characters of arguments and file names are shown escaped") {
    const std::string evil = "a\x1b[31m\nb\x07";
    const TemporaryDirectory directory;
    const std::string file = shell((directory / evil).string());
    write_file(directory / evil, "x\n");
    struct Case {
        std::size_t tool;
        std::string arguments;
    };
    const std::string shapes = "--gpu host --shapes - ";
    const Case cases[] = {
        {0, "--gpu host --dry-run --shapes " + file},
        {0, "--gpu host --dry-run --shapes " + file + "/none"},
        {0, shapes + "--db " + file},
        {0, shapes + "--effort " + shell(evil)},
        {0, shapes + "--budget " + shell(evil)},
        {0, shapes + "--set " + shell("beta=" + evil)},
        {0, shapes + "--set " + shell(evil + "=1")},
        {0, "--shapes - --gpu " + shell(evil)},
        {0, shell("--" + evil)},
        {0, shapes + shell(evil)},
        {1, shell(evil)},
        {1, "ls --db " + file},
        {1, "show " + shell("4x4x" + evil)},
        {1, "show 4x4x4 " + shell(evil)},
        {1, "import " + file},
        {1, "merge " + file},
        {1, "diff " + file + " " + file},
        {1, "verify --db " + file},
        {2, "--shape " + shell(evil)},
        {2, "--shape 4x4x4 --config " + shell(evil)},
        {2, "--shape 4x4x4 --config " + shell("family=" + evil)},
        {2, "--shape 4x4x4 --gpu-arch " + shell(evil)},
        {3, shapes + "--vs " + shell(evil)},
        {3, shapes + "--csv " + file + "/none"},
        {3, shapes + "--max-workspace " + shell(evil)},
        {3, shapes + "--label " + shell(evil)},
        {3, shapes + "--pairs 1 --prepared " + shell(evil)},
    };
    for (const Case& c : cases) {
        CAPTURE(tools()[c.tool].description.name);
        CAPTURE(c.arguments);
        const CommandResult result = run(tools()[c.tool], c.arguments, "4 4 4\n");
        CHECK(result.status != 0);
        const std::string last = lines_of(result.err).empty() ? "" : lines_of(result.err).back();
        CHECK_MESSAGE(last.starts_with(tools()[c.tool].description.name + ": "), result.err);
        CHECK_MESSAGE(std::ranges::none_of(result.err + result.out,
                                           [](char byte) { return byte != '\n' && static_cast<unsigned char>(byte) < 0x20; }),
                      result.err);
    }
    // The file's name stands in the place of a fault.
    CHECK(contains(run(tools()[0], "--gpu host --dry-run --shapes " + file).err, "a\\x1b[31m\\nb\\x07:1:"));
}
