#include "base/processes/shared_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "base/files/trusted_path.h"

namespace tmm {

SharedLibrary open_shared_library(const std::string& file, int flags) {
    std::string opened = file;
    if (file.find('/') != std::string::npos) {
        SharedLibrary library;
        library.fault = why_others_can_replace(file, who_named(file));
        if (!library.fault.empty()) {
            library.fault.insert(0, "not loaded, since ");
            return library;
        }
        // What was looked at is what is loaded, wherever a symbolic link leads by now.
        std::error_code error;
        if (const auto whole = std::filesystem::canonical(file, error); !error) opened = whole;
    }
    SharedLibrary library{.handle = dlopen(opened.c_str(), RTLD_NOW | (flags ? flags : RTLD_LOCAL)), .fault = {}};
    if (const char* message = library.handle ? nullptr : dlerror()) library.fault = message;
    return library;
}

}  // namespace tmm
