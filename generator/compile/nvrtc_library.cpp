#include "generator/compile/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/processes/shared_library.h"
#include "generator/compile/nvrtc_search.h"

namespace tmm {

namespace {

constexpr int kOldestMajor = 12;
constexpr const char* kRemedy =
    "pip install nvidia-cuda-nvrtc, or install the CUDA toolkit (12 or newer), or set TMM_NVRTC to libnvrtc.so or its directory";

template <typename Function>
void find_function(void* library, const char* name, Function& function, const std::string& path) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) throw Error(ExitStatus::no_compiler, fmt::format("{} has no function {}", path, name), {}, kRemedy);
}

struct OpenedLibrary {
    void* handle;
    // The path as the loader knows it: an absolute one where it found the file by itself.
    std::string path;
};

std::string loaded_path(void* handle, const std::string& asked) {
    const link_map* map = nullptr;
    return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name ? map->l_name : asked;
}

OpenedLibrary open_first(const std::vector<NvrtcPlace>& places) {
    std::string tried;
    for (const NvrtcPlace& place : places) {
        tried += (tried.empty() ? "" : ", ") + place.shown;
        for (const std::string& file : place.files) {
            const SharedLibrary library = open_shared_library(file);
            if (library.handle) return {library.handle, loaded_path(library.handle, file)};
            // That a bare name was not found says nothing; what is wrong with a file that is there does.
            if (std::error_code ignored; std::filesystem::exists(file, ignored)) tried += fmt::format(" ({})", library.fault);
        }
    }
    throw Error(ExitStatus::no_compiler, "libnvrtc, which compiles GPU kernels, was not found (tried " + tried + ")", {}, kRemedy);
}

// NVRTC opens libnvrtc-builtins by its bare name, which the loader does not find beside a libnvrtc that lies outside its search path;
// once open, the name is known.
void preload_builtins(const NvrtcLibrary& nvrtc) {
    const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", nvrtc.major, nvrtc.minor);
    for (const std::filesystem::path& path : {std::filesystem::path(nvrtc.path), std::filesystem::weakly_canonical(nvrtc.path)})
        if (open_shared_library(path.parent_path() / name).handle) return;
}

NvrtcLibrary open_library(const std::vector<NvrtcPlace>& places) {
    const auto [library, path] = open_first(places);
    NvrtcLibrary nvrtc;
    nvrtc.path = path;

    find_function(library, "nvrtcGetErrorString", nvrtc.get_error_string, nvrtc.path);
    find_function(library, "nvrtcVersion", nvrtc.version, nvrtc.path);
    find_function(library, "nvrtcGetNumSupportedArchs", nvrtc.get_num_supported_archs, nvrtc.path);
    find_function(library, "nvrtcGetSupportedArchs", nvrtc.get_supported_archs, nvrtc.path);
    find_function(library, "nvrtcCreateProgram", nvrtc.create_program, nvrtc.path);
    find_function(library, "nvrtcDestroyProgram", nvrtc.destroy_program, nvrtc.path);
    find_function(library, "nvrtcCompileProgram", nvrtc.compile_program, nvrtc.path);
    find_function(library, "nvrtcGetPTXSize", nvrtc.get_ptx_size, nvrtc.path);
    find_function(library, "nvrtcGetPTX", nvrtc.get_ptx, nvrtc.path);
    find_function(library, "nvrtcGetCUBINSize", nvrtc.get_cubin_size, nvrtc.path);
    find_function(library, "nvrtcGetCUBIN", nvrtc.get_cubin, nvrtc.path);
    find_function(library, "nvrtcGetProgramLogSize", nvrtc.get_program_log_size, nvrtc.path);
    find_function(library, "nvrtcGetProgramLog", nvrtc.get_program_log, nvrtc.path);

    int count = 0;
    const bool answers = nvrtc.version(&nvrtc.major, &nvrtc.minor) == NVRTC_SUCCESS;
    preload_builtins(nvrtc);
    if (!answers || nvrtc.get_num_supported_archs(&count) != NVRTC_SUCCESS || count <= 0)
        throw Error(ExitStatus::no_compiler, nvrtc.path + " does not answer", {}, kRemedy);
    if (nvrtc.major < kOldestMajor)
        throw Error(ExitStatus::no_compiler, fmt::format("{} is NVRTC {}.{}, which lacks C++20", nvrtc.path, nvrtc.major, nvrtc.minor), {},
                    kRemedy);
    nvrtc.architectures.resize(static_cast<std::size_t>(count));
    nvrtc.get_supported_archs(nvrtc.architectures.data());
    std::sort(nvrtc.architectures.begin(), nvrtc.architectures.end());
    return nvrtc;
}

}  // namespace

NvrtcLibrary open_nvrtc_library(const std::string& path) {
    return open_library(nvrtc_places({.given = path, .toolkits = {}, .python_sites = {}}));
}

const NvrtcLibrary& nvrtc_library() {
    static const NvrtcLibrary* library = new NvrtcLibrary(open_library(nvrtc_places(nvrtc_hints())));
    return *library;
}

namespace {

// Chips of embedded systems: their machine code runs on no other chip, and no other chip's runs on them. 10.1 is 11.0's first name.
constexpr std::array kEmbedded{53, 62, 72, 87, 88, 101, 110};

bool is_embedded(int architecture) {
    return std::find(kEmbedded.begin(), kEmbedded.end(), architecture) != kEmbedded.end();
}

// Machine code of one minor version runs on the later ones of the same major version.
bool runs_on(int architecture, int compute_capability) {
    if (architecture == compute_capability) return true;
    return architecture / 10 == compute_capability / 10 && architecture < compute_capability && !is_embedded(architecture) &&
           !is_embedded(compute_capability);
}

}  // namespace

NvrtcTarget nvrtc_target(const std::vector<int>& architectures, int compute_capability) {
    for (auto known = architectures.rbegin(); known != architectures.rend(); ++known) {
        if (!runs_on(*known, compute_capability)) continue;
        // From Hopper on, the suffix 'a' unlocks what only this architecture has; such code runs on no other.
        const bool own_instructions = *known == compute_capability && *known >= 90;
        return {fmt::format("sm_{}{}", *known, own_instructions ? "a" : ""), false};
    }
    const auto newer = std::upper_bound(architectures.begin(), architectures.end(), compute_capability);
    if (newer == architectures.begin()) return {};
    return {fmt::format("compute_{}", *std::prev(newer)), true};
}

}  // namespace tmm
