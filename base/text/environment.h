// The one place where environment variables are read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tmm {

struct EnvironmentVariable {
    const char* name;
    // What it says, and what holds without it.
    const char* help;
    // Whether --help names it: manual pages name all.
    bool everyday = false;
};
// Every variable that tmm reads; one that is set to nothing counts as not set. docs/environment.md says more of each.
inline constexpr EnvironmentVariable kEnvironmentVariables[] = {
    {"TMM_DB", "the tuning database; else ~/.local/share/tmm/tmm.db, or tmm/tmm.db in $XDG_DATA_HOME", true},
    {"TMM_BUNDLE", "a file of ready kernels (tmm-db bundle) that programs load; else none"},
    {"TMM_CACHE_DIR", "where compiled kernels are kept; else ~/.cache/tmm, or tmm in $XDG_CACHE_HOME", true},
    {"TMM_NVRTC", "libnvrtc, or a directory that holds it; else it is searched for", true},
    {"TMM_CXX", "the C++ compiler of kernels for the emulated device; else c++", true},
    {"TMM_TEMPLATES", "a directory of kernel templates to use instead of those built in"},
    {"TMM_HOST_ORDER",
     "the order in which the emulated device runs a block's threads: ascending, descending, shuffled[:SEED] or straggling:THREAD; else "
     "ascending"},
    {"TMM_INVARIANT",
     "1: rows of results have the same bits whatever rows they are computed with, unless a program says otherwise; else 0"},
    {"CUDA_HOME", "a CUDA toolkit, one of the places where CUDA's libraries are searched for", true},
    {"CUDA_PATH", "another toolkit, tried after CUDA_HOME"},
    {"VIRTUAL_ENV", "a Python environment, whose packages may bring CUDA's libraries"},
    {"CONDA_PREFIX", "another environment, tried after VIRTUAL_ENV"},
    {"PYTHONUSERBASE", "the user's own Python packages, which may bring them, too; else ~/.local"},
    {"PATH", "where the C++ compiler is found, and the python3 whose packages may bring them"},
    {"XDG_DATA_HOME", "where users' data is; else ~/.local/share"},
    {"XDG_CACHE_HOME", "where users' caches are; else ~/.cache"},
    {"HOME", "the home directory; else the account's"},
    {"TMPDIR", "where temporary files are made; else /tmp"},
    {"COLUMNS", "the width of lines; else the terminal's, and no limit in files and pipes"},
    {"TERM", "dumb: neither colour nor a progress bar"},
    {"NO_COLOR", "any value: no colour", true},
};
// The row of a name; throws std::logic_error where there is none.
const EnvironmentVariable& environment_variable(std::string_view name);

// TMM_DB, else ${XDG_DATA_HOME:-~/.local/share}/tmm/tmm.db.
std::filesystem::path default_database_path();
// TMM_BUNDLE: a file of ready kernels.
std::optional<std::filesystem::path> bundle_path();
// TMM_CACHE_DIR, else ${XDG_CACHE_HOME:-~/.cache}/tmm.
std::filesystem::path default_cache_directory();
// TMPDIR, else /tmp: where kernels are compiled, and loaded from, for the emulated device. The path is absolute; it may not exist.
std::filesystem::path temporary_directory();
// TMM_TEMPLATES: a directory that replaces the templates embedded in the library, for whoever works on them.
std::optional<std::filesystem::path> template_directory_override();
// TMM_NVRTC: libnvrtc, or a directory that holds it, to open instead of searching for it.
std::optional<std::string> nvrtc_override();
// CUDA_HOME and CUDA_PATH: toolkits' directories, where CUDA's libraries are searched for.
std::vector<std::filesystem::path> cuda_toolkits();
// VIRTUAL_ENV and CONDA_PREFIX: Python environments, where wheels' CUDA libraries are searched for.
std::vector<std::filesystem::path> python_prefixes();
// PYTHONUSERBASE, else ~/.local: the user's own Python packages.
std::filesystem::path python_user_base();
// PATH.
std::string program_search_path();
// Whether this is a set-user-ID program or the like, to which environment variables say nothing.
bool runs_with_raised_privileges();
// TMM_CXX, else c++: the compiler of kernels for the emulated device.
std::string host_compiler_command();
// TMM_HOST_ORDER: ascending (default), descending, shuffled[:seed] or straggling:thread: the order in which the emulated device runs a
// block's threads.
std::string host_thread_order();
// TMM_INVARIANT is set, and not to 0: whether problems are invariant whose program does not say.
bool invariant_by_default();
// NO_COLOR is set and not empty.
bool color_forbidden();
// TERM is dumb or not set: the terminal can neither show colours nor write a line over.
bool terminal_is_dumb();
// COLUMNS, where it is a whole number above 0: what lines may take instead of the terminal's width.
std::optional<std::size_t> columns_override();

}  // namespace tmm
