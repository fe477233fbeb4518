// The one place where environment variables are read.
#include "generator/environment.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
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

// A variable that is set to nothing counts as not set.
std::optional<std::string> variable(KnownName known) {
    const char* value = std::getenv(known.name);
    if (!value || !*value) return std::nullopt;
    return value;
}

std::filesystem::path home_directory() {
    if (const auto home = variable("HOME")) return *home;
    std::vector<char> buffer(1 << 14);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found && found->pw_dir && *found->pw_dir)
        return found->pw_dir;
    return "/tmp/tmm-" + std::to_string(getuid());
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

std::filesystem::path default_cache_directory() {
    if (const auto path = variable("TMM_CACHE_DIR")) return *path;
    return xdg_directory("XDG_CACHE_HOME", ".cache") / "tmm";
}

std::filesystem::path temporary_directory() {
    return std::filesystem::absolute(variable("TMPDIR").value_or("/tmp"));
}

std::optional<std::filesystem::path> template_directory_override() {
    if (const auto path = variable("TMM_TEMPLATES")) return std::filesystem::path(*path);
    return std::nullopt;
}

std::optional<std::string> nvrtc_library_override() {
    return variable("TMM_NVRTC");
}

std::optional<std::filesystem::path> cuda_home() {
    for (const KnownName name : {KnownName("CUDA_HOME"), KnownName("CUDA_PATH")})
        if (const auto path = variable(name)) return std::filesystem::path(*path);
    return std::nullopt;
}

std::string host_compiler_command() {
    return variable("TMM_CXX").value_or("c++");
}

std::string host_thread_order() {
    return variable("TMM_HOST_ORDER").value_or("ascending");
}

bool color_forbidden() {
    return variable("NO_COLOR").has_value();
}

}  // namespace tmm
