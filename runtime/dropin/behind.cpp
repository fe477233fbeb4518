#include "runtime/dropin/behind.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <vector>

namespace tmm::dropin {
namespace {

void* function_of_loaded_library(const char* name) {
    std::vector<std::string> libraries;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* into) {
            if (info->dlpi_name && *info->dlpi_name) static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
            return 0;
        },
        &libraries);
    void* const own = dlsym(RTLD_DEFAULT, name);
    for (const std::string& library : libraries) {
        void* const opened = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        void* const found = opened ? dlsym(opened, name) : nullptr;
        if (opened) dlclose(opened);
        if (found && found != own) return found;
    }
    return nullptr;
}

}  // namespace

void* function_behind(const char* name) {
    if (void* const found = dlsym(RTLD_NEXT, name)) return found;
    return function_of_loaded_library(name);
}

}  // namespace tmm::dropin
