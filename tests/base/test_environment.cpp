// Tests where the database and the cache lie, by the variables that say so; and that docs/environment.md names every variable.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text/environment.h"

using namespace tmm;

namespace {

// Sets a variable, or removes it, until the end of the scope.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = getenv(name)) old_ = old;
        set(value);
    }
    ~Variable() { set(old_ ? old_->c_str() : nullptr); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const char* value) { value ? setenv(name_, value, 1) : unsetenv(name_); }
    const char* name_;
    std::optional<std::string> old_;
};

std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// Files of the repository, without what is built or fetched.
std::vector<std::filesystem::path> sources() {
    std::vector<std::filesystem::path> files;
    const std::filesystem::path root = TMM_SOURCE_DIR;
    for (const char* directory :
         {"base", "bench", "cmake", "db", "generator", "runtime", "scripts", "templates", "tests", "tools", "tuner"})
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / directory))
            if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
    std::set<std::string> found;
    const std::regex expression(pattern);
    for (auto match = std::sregex_iterator(text.begin(), text.end(), expression); match != std::sregex_iterator(); ++match)
        found.insert((*match)[1].str());
    return found;
}

}  // namespace

TEST_CASE("the database: TMM_DB, else XDG_DATA_HOME, else ~/.local/share") {
    const Variable home("HOME", "/home/somebody");
    const Variable none("TMM_DB", nullptr);
    const Variable no_xdg("XDG_DATA_HOME", nullptr);
    CHECK(default_database_path() == "/home/somebody/.local/share/tmm/tmm.db");
    const Variable xdg("XDG_DATA_HOME", "/data");
    CHECK(default_database_path() == "/data/tmm/tmm.db");
    const Variable relative("XDG_DATA_HOME", "data");
    CHECK(default_database_path() == "/home/somebody/.local/share/tmm/tmm.db");
    const Variable named("TMM_DB", "my.db");
    CHECK(default_database_path() == "my.db");
    const Variable empty("TMM_DB", "");
    CHECK(default_database_path() == "/home/somebody/.local/share/tmm/tmm.db");
}

TEST_CASE("the cache: TMM_CACHE_DIR, else XDG_CACHE_HOME, else ~/.cache") {
    const Variable home("HOME", "/home/somebody");
    const Variable none("TMM_CACHE_DIR", nullptr);
    const Variable no_xdg("XDG_CACHE_HOME", nullptr);
    CHECK(default_cache_directory() == "/home/somebody/.cache/tmm");
    const Variable xdg("XDG_CACHE_HOME", "/cache");
    CHECK(default_cache_directory() == "/cache/tmm");
    const Variable named("TMM_CACHE_DIR", "/fast/tmm");
    CHECK(default_cache_directory() == "/fast/tmm");
}

TEST_CASE("temporary files: TMPDIR, else /tmp; never the working directory unless it is named") {
    const Variable none("TMPDIR", nullptr);
    CHECK(temporary_directory() == "/tmp");
    const Variable missing("TMPDIR", "/there/is/none");
    CHECK(temporary_directory() == "/there/is/none");
    const Variable relative("TMPDIR", "below");
    CHECK(temporary_directory() == std::filesystem::current_path() / "below");
}

TEST_CASE("without HOME the account's own home counts") {
    const Variable no_home("HOME", nullptr);
    const Variable none("TMM_DB", nullptr);
    const Variable no_xdg("XDG_DATA_HOME", nullptr);
    CHECK(default_database_path().is_absolute());
}

TEST_CASE("overrides are there only where they are set") {
    const Variable no_templates("TMM_TEMPLATES", nullptr);
    CHECK_FALSE(template_directory_override());
    const Variable templates("TMM_TEMPLATES", "/my/templates");
    CHECK(template_directory_override() == std::filesystem::path("/my/templates"));

    const Variable no_compiler("TMM_CXX", nullptr);
    CHECK(host_compiler_command() == "c++");
    const Variable compiler("TMM_CXX", "clang++");
    CHECK(host_compiler_command() == "clang++");

    const Variable free("TMM_INVARIANT", nullptr);
    CHECK_FALSE(invariant_by_default());
    const Variable off("TMM_INVARIANT", "0");
    CHECK_FALSE(invariant_by_default());
    const Variable invariant("TMM_INVARIANT", "1");
    CHECK(invariant_by_default());

    const Variable plain("NO_COLOR", nullptr);
    CHECK_FALSE(color_forbidden());
    const Variable empty("NO_COLOR", "");
    CHECK_FALSE(color_forbidden());
    const Variable forbidden("NO_COLOR", "1");
    CHECK(color_forbidden());
}

TEST_CASE("docs/environment.md names every variable that anything here reads, and no other") {
    const std::string page = read_text(std::filesystem::path(TMM_SOURCE_DIR) / "docs/environment.md");
    std::set<std::string> read;
    for (const EnvironmentVariable& known : kEnvironmentVariables) read.insert(known.name);
    for (const std::filesystem::path& file : sources()) {
        const std::string text = read_text(file);
        read.merge(matches(text, "getenv\\(\"([A-Z0-9_]+)\""));
        read.merge(matches(text, "KnownName\\(\"([A-Z0-9_]+)\""));
        // Tests put their names together, and scripts and shells have a syntax of their own.
        for (const std::string& name : matches(text, "test_setting\\(\"([A-Z]+)\"")) read.insert("TMM_TEST_" + name);
        read.merge(matches(text, "\\$\\{(TMM_[A-Z0-9_]+):-"));
        // A value that is compiled into tests is no variable.
        for (const std::string& name : matches(text, "\\b(TMM_TEST_[A-Z]+)\\b"))
            if (name != "TMM_TEST_CBLAS" && name != "TMM_TEST_COUNTED" && name != "TMM_TEST_OPENBLAS") read.insert(name);
    }
    CHECK(read.size() > 20);
    for (const std::string& name : read) CHECK_MESSAGE(page.find("`" + name + "`") != std::string::npos, name);
    std::set<std::string> named = matches(page, "\n\\| `([A-Z0-9_]+)` \\|");
    named.merge(matches(page, "`(TMM_[A-Z0-9_]+)`"));
    for (const std::string& name : named) CHECK_MESSAGE((read.contains(name) || name == "TMM_PLANTED_FAULT"), name);
}

// The drop-in libraries stand on the public header alone, and have a place of their own.
TEST_CASE("the environment is read in one place") {
    for (const std::filesystem::path& file : sources()) {
        const std::string name = file.lexically_relative(TMM_SOURCE_DIR).string();
        if (name.starts_with("tests/") || name == "base/text/environment.cpp" || name == "runtime/dropin/settings.cpp") continue;
        CHECK_MESSAGE(read_text(file).find("getenv") == std::string::npos, name);
    }
}

TEST_CASE("a variable that tools name and nobody knows is a mistake") {
    CHECK(std::string(environment_variable("TMM_DB").name) == "TMM_DB");
    CHECK_THROWS_AS((void)environment_variable("TMM_BD"), std::logic_error);
}
