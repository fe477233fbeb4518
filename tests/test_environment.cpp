// Where the database and the cache lie, by the variables that say so.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <optional>
#include <string>

#include "generator/environment.h"

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

    const Variable plain("NO_COLOR", nullptr);
    CHECK_FALSE(color_forbidden());
    const Variable empty("NO_COLOR", "");
    CHECK_FALSE(color_forbidden());
    const Variable forbidden("NO_COLOR", "1");
    CHECK(color_forbidden());
}
