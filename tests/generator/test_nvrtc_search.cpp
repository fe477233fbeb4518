// Tests where libnvrtc is searched for, and in which order. Python's packages are found without running Python.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "generator/compile/nvrtc_search.h"
#include "generator/compile/python_sites.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using tmm::testing::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

fs::path make_directory(const fs::path& directory) {
    fs::create_directories(directory);
    return directory;
}

fs::path make_file(const fs::path& file) {
    make_directory(file.parent_path());
    std::ofstream(file) << "x";
    return file;
}

// The sites below root alone: the system's own follow them.
std::vector<std::string> sites_below(const fs::path& root, const PythonHints& hints) {
    std::vector<std::string> found;
    for (const fs::path& site : python_sites(hints))
        if (site.string().starts_with(root.string())) found.push_back(fs::relative(site, root).string());
    return found;
}

std::vector<std::string> files_of(const std::vector<NvrtcPlace>& places) {
    std::vector<std::string> files;
    for (const NvrtcPlace& place : places) files.insert(files.end(), place.files.begin(), place.files.end());
    return files;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("TMM_NVRTC is the only place where it is set: a file, a bare name, a directory or a toolkit") {
    const TemporaryDirectory folder;
    const fs::path file = make_file(folder.path() / "flat/libnvrtc.so.12");
    const fs::path in_toolkit = make_file(folder.path() / "cuda/lib64/libnvrtc.so.13");
    const auto files_given = [&](const fs::path& given) {
        return files_of(nvrtc_places({.given = given.string(), .toolkits = {folder.path() / "cuda"}, .python_sites = {folder.path()}}));
    };
    CHECK(files_given(file) == Strings{file});
    CHECK(files_given("libnvrtc.so.12") == Strings{"libnvrtc.so.12"});
    CHECK(files_given(folder.path() / "flat") == Strings{file});
    CHECK(files_given(folder.path() / "cuda") == Strings{in_toolkit});
    // Nothing else is taken in place of a library that was asked for and is not there.
    CHECK(files_given(folder.path()).empty());
    CHECK(files_given(folder.path() / "none.so") == Strings{(folder.path() / "none.so").string()});
}

TEST_CASE("The loader's places go before toolkits, and those before wheels") {
    const TemporaryDirectory folder;
    const fs::path toolkit = make_file(folder.path() / "cuda/lib/libnvrtc.so.12");
    const fs::path wheel_13 = make_file(folder.path() / "site/nvidia/cu13/lib/libnvrtc.so.13");
    const fs::path wheel_12 = make_file(folder.path() / "site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    make_file(folder.path() / "site/nvidia/cublas/lib/libcublas.so.12");
    const auto places = nvrtc_places(
        {.given = std::nullopt, .toolkits = {folder.path() / "cuda", folder.path() / "none"}, .python_sites = {folder.path() / "site"}});
    const Strings files = files_of(places);
    REQUIRE(files.size() == 5);
    CHECK(files[0] == "libnvrtc.so.13");
    CHECK(files[1] == "libnvrtc.so.12");
    CHECK(files[2] == toolkit);
    CHECK(std::count(files.begin() + 3, files.end(), wheel_13.string()) == 1);
    CHECK(std::count(files.begin() + 3, files.end(), wheel_12.string()) == 1);
    // Messages name the places that had nothing, too.
    CHECK(places[2].shown == (folder.path() / "none").string());
    CHECK(places[3].shown == (folder.path() / "site").string());
}

TEST_CASE("A Python in this process shows its sites by the modules that it has loaded") {
    const TemporaryDirectory folder;
    const fs::path& root = folder.path();
    make_directory(root / "venv/lib/python3.11/site-packages");
    make_directory(root / "base/lib/python3.12/site-packages");
    make_directory(root / "base/lib/python3/dist-packages");
    PythonHints hints;
    hints.loaded_files = {"", "/usr/lib/libc.so.6", root / "venv/lib/python3.11/site-packages/numpy/core/_multiarray.so",
                          root / "base/lib/python3.12/lib-dynload/_ctypes.so", root / "gone/site-packages/x.so"};
    CHECK(sites_below(root, hints) ==
          Strings{"venv/lib/python3.11/site-packages", "base/lib/python3.12/site-packages", "base/lib/python3/dist-packages"});
}

TEST_CASE("A virtual environment is found by the command, by VIRTUAL_ENV and by python3 on PATH") {
    const TemporaryDirectory folder;
    const fs::path& root = folder.path();
    for (const char* name : {"a", "b", "c"}) {
        make_directory(root / name / "lib/python3.11/site-packages");
        make_directory(root / name / "bin");
        fs::create_symlink("/bin/true", root / name / "bin/python3");
        fs::create_symlink("/bin/true", root / name / "bin/python3.11");
    }
    const auto site = [](const std::string& name) { return name + "/lib/python3.11/site-packages"; };
    PythonHints hints;
    hints.command = root / "a/bin/python3.11";
    hints.prefixes = {root / "b"};
    hints.search_path = "relative:" + (root / "none").string() + ":" + (root / "c/bin").string();
    CHECK(sites_below(root, hints) == Strings{site("a"), site("b"), site("c")});

    hints.command = "python3";
    CHECK(sites_below(root, hints) == Strings{site("c"), site("b")});
    // Another program's place says nothing of Python.
    hints.command = root / "a/bin/tmm-tune";
    CHECK(sites_below(root, hints) == Strings{site("b"), site("c")});
}

TEST_CASE("The user's packages are found, of several Pythons those of the newest name first, pyenv's behind its shims") {
    const TemporaryDirectory folder;
    const fs::path& root = folder.path();
    make_directory(root / "home/lib/python3.9/site-packages");
    make_directory(root / "home/lib/python3.8/site-packages");
    make_directory(root / "pyenv/versions/3.11.7/lib/python3.11/site-packages");
    make_file(root / "pyenv/shims/python3");
    PythonHints hints;
    hints.user_base = root / "home";
    hints.search_path = root / "pyenv/shims";
    CHECK(sites_below(root, hints) == Strings{"pyenv/versions/3.11.7/lib/python3.11/site-packages", "home/lib/python3.9/site-packages",
                                              "home/lib/python3.8/site-packages"});
}

TEST_CASE("Of a site every wheel's library directory is searched") {
    const TemporaryDirectory folder;
    make_directory(folder.path() / "nvidia/cu13/lib");
    make_directory(folder.path() / "nvidia/cublas/lib");
    make_directory(folder.path() / "nvidia/headers/include");
    const auto found = wheel_library_directories({folder.path(), folder.path() / "none"});
    REQUIRE(found.size() == 2);
    CHECK(std::count(found.begin(), found.end(), folder.path() / "nvidia/cu13/lib") == 1);
    CHECK(std::count(found.begin(), found.end(), folder.path() / "nvidia/cublas/lib") == 1);
}
