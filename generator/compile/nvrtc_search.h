// The places where libnvrtc is searched for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tmm {

struct NvrtcPlace {
    // The place as messages show it.
    std::string shown;
    // What the loader is asked for: bare names, which it searches for in its own places, or the paths of files.
    std::vector<std::string> files;
};

struct NvrtcHints {
    // TMM_NVRTC: a file, or a directory that holds one.
    std::optional<std::string> given;
    std::vector<std::filesystem::path> toolkits;
    // The places of Python packages, wheels of NVRTC among them.
    std::vector<std::filesystem::path> python_sites;
};

// The hints of this process.
NvrtcHints nvrtc_hints();

// The places in the order in which they are tried: what is given, and nothing else then; the loader's places; toolkits; wheels. From
// directories only files that exist are taken.
std::vector<NvrtcPlace> nvrtc_places(const NvrtcHints& hints);

}  // namespace tmm
