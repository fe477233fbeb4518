// Where Python keeps installed packages, found without running Python: NVIDIA's wheels bring libraries there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tmm {

// What the search starts from; what is empty is passed over.
struct PythonHints {
    // Files that are loaded into this process: where a Python runs in it, its extension modules are among them.
    std::vector<std::string> loaded_files;
    // The command that started this process, and PATH.
    std::string command;
    std::string search_path;
    // VIRTUAL_ENV, CONDA_PREFIX and the like.
    std::vector<std::filesystem::path> prefixes;
    // PYTHONUSERBASE, else ~/.local.
    std::filesystem::path user_base;
};

// The hints of this process. A set-user-ID program has none, because whoever starts it could name any directory.
PythonHints python_hints();

// The site directories that are there, each once: of the Python in this process, of the Python that the command names, of the prefixes,
// of python3 on PATH, of the user, of the system.
std::vector<std::filesystem::path> python_sites(const PythonHints& hints);

// The directories nvidia/*/lib below the sites, where NVIDIA's wheels have their libraries: one for each library before CUDA 13, one for
// each toolkit since.
std::vector<std::filesystem::path> wheel_library_directories(const std::vector<std::filesystem::path>& sites);

}  // namespace tmm
