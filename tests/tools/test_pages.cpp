// The pages name files and folders that exist: what stands in backticks and begins with a folder of the tree, and what links lead to.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kSource = TMM_SOURCE_DIR;
constexpr const char* kFolders[] = {"base/",  "tools/",  "templates/", "generator/", "db/",      "runtime/", "tuner/",
                                    "bench/", "python/", "docs/",      "tests/",     "scripts/", "cmake/",   "examples/"};

std::vector<fs::path> pages() {
    std::vector<fs::path> pages;
    for (const char* folder : {"", "docs", "docs/schema", "bench/results", "python"})
        for (const auto& entry : fs::directory_iterator(kSource / folder))
            if (entry.path().extension() == ".md") pages.push_back(entry.path());
    return pages;
}

std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// What stands between each pair of these.
std::vector<std::string> between(const std::string& text, const std::string& open, const std::string& close) {
    std::vector<std::string> found;
    for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
        at += open.size();
        const std::size_t end = text.find(close, at);
        if (end == std::string::npos) break;
        found.push_back(text.substr(at, end - at));
        at = end + close.size();
    }
    return found;
}

// "families/X/rules.h" and "check_*" stand for many.
bool stands_for_many(const std::string& path) {
    if (path.find('*') != std::string::npos || path.find('<') != std::string::npos) return true;
    for (const fs::path& part : fs::path(path)) {
        const std::string name = part.stem().string().substr(0, part.stem().string().find('_'));
        if (!name.empty() && name != "README" && std::all_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
            return true;
    }
    return false;
}

bool is_path_of_the_tree(const std::string& word) {
    return word.find_first_of(" \n") == std::string::npos &&
           std::any_of(std::begin(kFolders), std::end(kFolders), [&](const char* folder) { return word.starts_with(folder); });
}

}  // namespace

TEST_CASE("files that pages name exist") {
    int count = 0;
    for (const fs::path& page : pages()) {
        for (const std::string& word : between(text_of(page), "`", "`")) {
            if (!is_path_of_the_tree(word) || stands_for_many(word)) continue;
            CHECK_MESSAGE(fs::exists(kSource / word), page.filename().string() << " names " << word);
            ++count;
        }
    }
    CHECK(count > 30);
}

TEST_CASE("links of pages lead somewhere") {
    int count = 0;
    for (const fs::path& page : pages()) {
        for (std::string link : between(text_of(page), "](", ")")) {
            link = link.substr(0, link.find('#'));
            if (link.empty() || link.find(':') != std::string::npos) continue;
            CHECK_MESSAGE(fs::exists(page.parent_path() / link), page.filename().string() << " links to " << link);
            ++count;
        }
    }
    CHECK(count > 30);
}
