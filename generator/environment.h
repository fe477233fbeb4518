// The one place where environment variables are read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tmm {

// TMM_DB, else ${XDG_DATA_HOME:-~/.local/share}/tmm/tmm.db.
std::filesystem::path default_database_path();
// TMM_CACHE_DIR, else ${XDG_CACHE_HOME:-~/.cache}/tmm.
std::filesystem::path default_cache_directory();
// TMPDIR, else /tmp: where kernels are compiled, and loaded from, for the emulated device. Absolute; it may not be there.
std::filesystem::path temporary_directory();
// TMM_TEMPLATES: a directory that replaces the templates embedded in the library, for whoever works on them.
std::optional<std::filesystem::path> template_directory_override();
// TMM_NVRTC: the path of libnvrtc to open instead of searching for it.
std::optional<std::string> nvrtc_library_override();
// CUDA_HOME, else CUDA_PATH: the toolkit's directory, one of the places where libnvrtc is searched for.
std::optional<std::filesystem::path> cuda_home();
// TMM_CXX, else c++: the compiler of kernels for the emulated device.
std::string host_compiler_command();
// TMM_HOST_ORDER: ascending (default), descending, shuffled[:seed] or straggling:thread: the order in which the emulated device runs a
// block's threads.
std::string host_thread_order();
// NO_COLOR is set and not empty.
bool color_forbidden();

}  // namespace tmm
