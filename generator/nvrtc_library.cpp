// Searches for libnvrtc: TMM_NVRTC alone where it is set; else the loader's own search, tmm's .deps, the toolkit.
#include "generator/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "generator/environment.h"
#include "generator/error.h"

namespace tmm {
namespace {

constexpr const char* kSonames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr int kOldestMajor = 12;
constexpr const char* kRemedy = "install the CUDA toolkit's NVRTC (12 or newer) or set TMM_NVRTC to the path of libnvrtc.so";

std::vector<std::string> candidate_paths() {
    if (const auto path = nvrtc_library_override()) return {*path};
    std::vector<std::string> paths(std::begin(kSonames), std::end(kSonames));
    std::vector<std::filesystem::path> directories{TMM_NVRTC_DIRECTORY, "/usr/local/cuda/lib64"};
    if (const auto home = cuda_home()) directories.insert(directories.end(), {*home / "lib64", *home / "lib"});
    for (const auto& directory : directories)
        for (const char* soname : kSonames) paths.push_back((directory / soname).string());
    return paths;
}

template <typename Function>
void find_function(void* library, const char* name, Function& function, const std::string& path) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) throw Error(ExitStatus::no_compiler, fmt::format("{} has no function {}", path, name), {}, kRemedy);
}

// NVRTC opens libnvrtc-builtins by its bare name, which the loader does not find beside a libnvrtc that lies outside its search
// path; once open, the name is known.
void preload_builtins(const std::filesystem::path& nvrtc) {
    if (!nvrtc.has_parent_path()) return;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(nvrtc.parent_path(), ignored))
        if (entry.path().filename().string().starts_with("libnvrtc-builtins.so.")) dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
}

NvrtcLibrary open_library() {
    void* library = nullptr;
    NvrtcLibrary nvrtc;
    std::string tried;
    for (const std::string& path : candidate_paths()) {
        preload_builtins(path);
        library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        nvrtc.path = path;
        if (library) break;
        tried += (tried.empty() ? "" : ", ") + path;
    }
    if (!library)
        throw Error(ExitStatus::no_compiler, "libnvrtc, which compiles GPU kernels, was not found (tried " + tried + ")", {}, kRemedy);

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
    if (nvrtc.version(&nvrtc.major, &nvrtc.minor) != NVRTC_SUCCESS || nvrtc.get_num_supported_archs(&count) != NVRTC_SUCCESS || count <= 0)
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

const NvrtcLibrary& nvrtc_library() {
    static const NvrtcLibrary* library = new NvrtcLibrary(open_library());
    return *library;
}

}  // namespace tmm
