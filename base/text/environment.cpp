// The one place where environment variables are read.
#include "base/text/environment.h"

#include <pwd.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace tmm {
namespace {

// A name that has its row among kEnvironmentVariables; another does not compile.
struct KnownName {
    consteval KnownName(const char* text) : name(text) {
        if (std::ranges::none_of(kEnvironmentVariables,
                                 [&](const EnvironmentVariable& known) { return std::string_view(known.name) == text; }))
            throw std::logic_error("the variable has no row in environment.h");
    }
    const char* name;
};

// A variable that is set to nothing counts as not set, and so does every one in a set-user-ID program: whoever starts it sets them.
std::optional<std::string> variable(KnownName known) {
    const char* value = secure_getenv(known.name);
    if (!value || !*value) return std::nullopt;
    return value;
}

std::filesystem::path home_directory() {
    if (const auto home = variable("HOME")) return *home;
    std::vector<char> buffer(1 << 14);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found && found->pw_dir && *found->pw_dir)
        return found->pw_dir;
    return "/tmp/tmm-" + std::to_string(geteuid());
}

// The XDG specification has relative paths ignored.
std::filesystem::path xdg_directory(KnownName name, const char* below_home) {
    if (const auto value = variable(name); value && std::filesystem::path(*value).is_absolute()) return *value;
    return home_directory() / below_home;
}

}  // namespace

const EnvironmentVariable& environment_variable(std::string_view name) {
    const auto* found = std::ranges::find_if(kEnvironmentVariables, [&](const EnvironmentVariable& known) { return known.name == name; });
    if (found == std::end(kEnvironmentVariables)) throw std::logic_error("environment.h has no row for " + std::string(name));
    return *found;
}

std::filesystem::path default_database_path() {
    if (const auto path = variable("TMM_DB")) return *path;
    return xdg_directory("XDG_DATA_HOME", ".local/share") / "tmm" / "tmm.db";
}

std::optional<std::filesystem::path> bundle_path() {
    if (const auto path = variable("TMM_BUNDLE")) return std::filesystem::path(*path);
    return std::nullopt;
}

std::filesystem::path default_cache_directory() {
    if (const auto path = variable("TMM_CACHE_DIR")) return *path;
    return xdg_directory("XDG_CACHE_HOME", ".cache") / "tmm";
}

std::filesystem::path temporary_directory() {
    const std::filesystem::path directory = variable("TMPDIR").value_or("/tmp");
    // Without a working directory whoever uses a relative name says what is wrong with it.
    std::error_code error;
    std::filesystem::path absolute = std::filesystem::absolute(directory, error);
    return error ? directory : absolute;
}

std::optional<std::filesystem::path> template_directory_override() {
    if (const auto path = variable("TMM_TEMPLATES")) return std::filesystem::path(*path);
    return std::nullopt;
}

std::optional<std::string> nvrtc_override() {
    return variable("TMM_NVRTC");
}

std::vector<std::filesystem::path> cuda_toolkits() {
    std::vector<std::filesystem::path> toolkits;
    for (const KnownName name : {KnownName("CUDA_HOME"), KnownName("CUDA_PATH")})
        if (const auto path = variable(name)) toolkits.emplace_back(*path);
    return toolkits;
}

std::vector<std::filesystem::path> python_prefixes() {
    std::vector<std::filesystem::path> prefixes;
    for (const KnownName name : {KnownName("VIRTUAL_ENV"), KnownName("CONDA_PREFIX")})
        if (const auto path = variable(name)) prefixes.emplace_back(*path);
    return prefixes;
}

std::filesystem::path python_user_base() {
    if (const auto path = variable("PYTHONUSERBASE")) return *path;
    return home_directory() / ".local";
}

std::string program_search_path() {
    return variable("PATH").value_or("");
}

bool runs_with_raised_privileges() {
    return getauxval(AT_SECURE) != 0;
}

std::string host_compiler_command() {
    return variable("TMM_CXX").value_or("c++");
}

std::string host_thread_order() {
    return variable("TMM_HOST_ORDER").value_or("ascending");
}

bool invariant_by_default() {
    return variable("TMM_INVARIANT").value_or("0") != "0";
}

bool color_forbidden() {
    return variable("NO_COLOR").has_value();
}

bool terminal_is_dumb() {
    return variable("TERM").value_or("dumb") == "dumb";
}

std::optional<std::size_t> columns_override() {
    const std::string text = variable("COLUMNS").value_or("");
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error != std::errc() || end != text.data() + text.size() || columns == 0) return std::nullopt;
    return columns;
}

}  // namespace tmm
