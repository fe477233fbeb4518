#include "generator/compile/python_sites.h"

#include <link.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>

#include "base/text/environment.h"

namespace fs = std::filesystem;

namespace tmm {
namespace {

// The entries are sorted by name, the last first, so that a newer version goes before an older one.
std::vector<fs::path> entries(const fs::path& directory, std::string_view beginning) {
    std::vector<fs::path> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored))
        if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path());
    std::ranges::sort(found, std::greater<>());
    return found;
}

class Sites {
public:
    void add(const fs::path& site) {
        std::error_code ignored;
        if (fs::is_directory(site, ignored) && std::ranges::find(found_, site) == found_.end()) found_.push_back(site);
    }

    void add_prefix(const fs::path& prefix) {
        for (const fs::path& python : entries(prefix / "lib", "python3")) {
            add(python / "site-packages");
            add(python / "dist-packages");
        }
    }

    // A loaded …/site-packages/numpy/… names its site, a loaded …/python3.11/lib-dynload/… the directory that holds it.
    void add_loaded(const std::string& file) {
        for (const std::string_view name : {"/site-packages/", "/dist-packages/"})
            if (const auto at = file.rfind(name); at != std::string::npos) add(file.substr(0, at + name.size() - 1));
        if (const auto at = file.rfind("/lib-dynload/"); at != std::string::npos) {
            const fs::path python = file.substr(0, at);
            add(python / "site-packages");
            add_prefix(python.parent_path().parent_path());
        }
    }

    // Symbolic links stay as they are: a virtual environment's python is one.
    void add_program(const fs::path& program) {
        const fs::path directory = program.parent_path();
        add_prefix(directory.parent_path());
        // pyenv's commands are scripts that choose among its versions.
        if (directory.filename() == "shims")
            for (const fs::path& version : entries(directory.parent_path() / "versions", "")) add_prefix(version);
    }

    std::vector<fs::path> take() { return std::move(found_); }

private:
    std::vector<fs::path> found_;
};

std::optional<fs::path> program_on(const std::string& search_path, const std::string& name) {
    std::size_t begin = 0;
    while (begin <= search_path.size()) {
        const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
        const fs::path file = fs::path(search_path.substr(begin, end - begin)) / name;
        std::error_code ignored;
        if (file.is_absolute() && fs::exists(file, ignored)) return file;
        begin = end + 1;
    }
    return std::nullopt;
}

std::string command_of_process() {
    std::ifstream file("/proc/self/cmdline");
    std::string command;
    std::getline(file, command, '\0');
    return command;
}

}  // namespace

PythonHints python_hints() {
    if (runs_with_raised_privileges()) return {};
    PythonHints hints{.loaded_files = {},
                      .command = command_of_process(),
                      .search_path = program_search_path(),
                      .prefixes = python_prefixes(),
                      .user_base = python_user_base()};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* files) {
            static_cast<std::vector<std::string>*>(files)->emplace_back(info->dlpi_name);
            return 0;
        },
        &hints.loaded_files);
    return hints;
}

std::vector<fs::path> python_sites(const PythonHints& hints) {
    Sites sites;
    for (const std::string& file : hints.loaded_files) sites.add_loaded(file);
    const fs::path command = hints.command;
    if (command.filename().string().starts_with("python")) {
        if (command.has_parent_path())
            sites.add_program(fs::absolute(command));
        else if (const auto program = program_on(hints.search_path, command))
            sites.add_program(*program);
    }
    for (const fs::path& prefix : hints.prefixes) sites.add_prefix(prefix);
    if (const auto program = program_on(hints.search_path, "python3")) sites.add_program(*program);
    if (!hints.user_base.empty()) sites.add_prefix(hints.user_base);
    sites.add_prefix("/usr/local");
    sites.add("/usr/lib/python3/dist-packages");
    return sites.take();
}

std::vector<fs::path> wheel_library_directories(const std::vector<fs::path>& sites) {
    std::vector<fs::path> found;
    for (const fs::path& site : sites)
        for (const fs::path& package : entries(site / "nvidia", ""))
            if (std::error_code ignored; fs::is_directory(package / "lib", ignored)) found.push_back(package / "lib");
    return found;
}

}  // namespace tmm
