#include "generator/compile/nvrtc_search.h"

#include <algorithm>

#include "base/text/environment.h"
#include "generator/compile/python_sites.h"

namespace fs = std::filesystem;

namespace tmm {
namespace {

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

NvrtcPlace place(const fs::path& shown, const std::vector<fs::path>& directories) {
    NvrtcPlace found{.shown = shown.string(), .files = {}};
    for (const fs::path& directory : directories)
        for (const char* name : kNames)
            if (std::error_code ignored; fs::exists(directory / name, ignored)) found.files.push_back((directory / name).string());
    return found;
}

NvrtcPlace toolkit_place(const fs::path& toolkit) {
    return place(toolkit, {toolkit / "lib64", toolkit / "lib"});
}

NvrtcPlace given_place(const std::string& given) {
    if (std::error_code ignored; !fs::is_directory(given, ignored)) return {.shown = given, .files = {given}};
    return place(given, {given, fs::path(given) / "lib64", fs::path(given) / "lib"});
}

}  // namespace

NvrtcHints nvrtc_hints() {
    NvrtcHints hints{.given = nvrtc_override(), .toolkits = cuda_toolkits(), .python_sites = {}};
    const fs::path usual = "/usr/local/cuda";
    if (std::ranges::find(hints.toolkits, usual) == hints.toolkits.end()) hints.toolkits.push_back(usual);
    hints.python_sites = python_sites(python_hints());
    return hints;
}

std::vector<NvrtcPlace> nvrtc_places(const NvrtcHints& hints) {
    if (hints.given) return {given_place(*hints.given)};
    std::vector<NvrtcPlace> places{{.shown = "the loader's path", .files = {std::begin(kNames), std::end(kNames)}}};
    for (const fs::path& toolkit : hints.toolkits) places.push_back(toolkit_place(toolkit));
    for (const fs::path& site : hints.python_sites) places.push_back(place(site, wheel_library_directories({site})));
    return places;
}

}  // namespace tmm
