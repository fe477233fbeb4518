// Opens libraries of others, where nobody else can have put something in their place.
#pragma once

#include <string>

namespace tmm {

struct SharedLibrary {
    void* handle = nullptr;
    // Why it is not open.
    std::string fault;
};

// A bare name is searched for by the loader; a path is followed from the working directory. flags: RTLD_GLOBAL, if all is to see it.
SharedLibrary open_shared_library(const std::string& file, int flags = 0);

}  // namespace tmm
