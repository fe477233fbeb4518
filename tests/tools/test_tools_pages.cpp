// What the pages have people type is what the tools take: every command line that a page shows names commands and options that there are.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tools/tmm_bench/bench_tool.h"
#include "tools/tmm_db/db_tool.h"
#include "tools/tmm_gen/gen_tool.h"
#include "tools/tmm_tune/tune_tool.h"

using namespace tmm;

namespace {

namespace fs = std::filesystem;
const fs::path kSource = TMM_SOURCE_DIR;

const std::vector<const ToolDescription*>& tools() {
    static const auto& all = *new std::vector<const ToolDescription*>{&tune_tool(), &db_tool(), &gen_tool(), &bench::bench_tool()};
    return all;
}

std::vector<fs::path> pages() {
    std::vector<fs::path> pages = {kSource / "examples/slurm.sh", kSource / "examples/kubernetes.yaml"};
    for (const char* folder : {"", "docs", "docs/schema", "bench/results", "python", "scripts"})
        for (const auto& entry : fs::directory_iterator(kSource / folder))
            if (entry.path().extension() == ".md" || (std::string(folder) == "scripts" && entry.is_regular_file()))
                pages.push_back(entry.path());
    return pages;
}

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// What stands behind a tool's name, as far as it is one command: up to a pipe, a redirection, a comment, a quote or the line's end.
std::vector<std::string> command_lines(const std::string& text, const std::string& tool) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = text.find(tool + " ", at)) != std::string::npos;) {
        at += tool.size() + 1;
        found.push_back(text.substr(at, text.find_first_of("|>#`&;\n'\")(", at) - at));
    }
    return found;
}

bool is_option(const std::string& word) {
    return word.size() > 3 && word.starts_with("--") && std::isalpha(static_cast<unsigned char>(word[2]));
}

}  // namespace

TEST_CASE("every option that a page gives to a tool is one of its options, and of its command's") {
    int count = 0;
    for (const fs::path& page : pages()) {
        const std::string text = text_of(page);
        for (const ToolDescription* tool : tools())
            for (const std::string& line : command_lines(text, tool->name)) {
                CAPTURE(page.filename().string());
                CAPTURE(tool->name + " " + line);
                std::istringstream words(line);
                std::string command;
                for (std::string word; words >> word;) {
                    if (!is_option(word)) {
                        if (command.empty() && find_command(*tool, word)) command = word;
                        continue;
                    }
                    while (!word.empty() && std::string(".,:").find(word.back()) != std::string::npos) word.pop_back();
                    const std::string name = word.substr(2, word.find_first_of("=/") - 2);
                    const auto options = all_options(*tool);
                    const auto option = std::ranges::find_if(options, [&](const OptionDescription& known) { return known.name == name; });
                    CHECK_MESSAGE(option != options.end(), "there is no " << word);
                    if (option != options.end() && !command.empty())
                        CHECK_MESSAGE(belongs_to(*option, command), word << " is not of " << command);
                    ++count;
                }
            }
    }
    CHECK(count > 60);
}

TEST_CASE("docs/database.md names every command of tmm-db, and docs/tuning.md and lists.md every option of tmm-tune that is shown") {
    const std::string database = text_of(kSource / "docs/database.md");
    const std::string tuning = text_of(kSource / "docs/tuning.md") + text_of(kSource / "docs/lists.md");
    for (const CommandDescription& command : db_tool().commands)
        CHECK_MESSAGE(
            (database.find("`" + command.name) != std::string::npos || database.find("tmm-db " + command.name) != std::string::npos),
            command.name);
    for (const OptionDescription& option : tune_tool().options)
        if (!option.hidden) CHECK_MESSAGE(tuning.find("--" + option.name) != std::string::npos, option.name);
}
