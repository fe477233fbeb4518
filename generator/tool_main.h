// What every tool's main() shares: an error becomes one line on stderr and the exit status that it names.
#pragma once

#include <fcntl.h>

#include <cstdio>
#include <exception>
#include <new>

#include "generator/error.h"

namespace tmm {

// A standard stream that is closed leaves its number to the next file that is opened, and what is printed would go into that. Writing to
// stdout goes on to fail, as it should.
inline void hold_standard_streams() {
    for (const int fd : {0, 1, 2}) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd) return;
    }
}

// Runs `body`, which returns an ExitStatus, and gives main() its result. `tool` is the name that messages begin with.
template <typename Body>
int tool_main(const char* tool, Body body) {
    hold_standard_streams();
    const auto fail = [&](const char* what, ExitStatus status) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", tool, what);
        return static_cast<int>(status);
    };
    try {
        const ExitStatus status = body();
        // A full disk or a closed pipe shows here at the latest.
        if (std::fflush(stdout) != 0 || std::ferror(stdout)) return fail("can't write the results to stdout", ExitStatus::usage);
        return static_cast<int>(status);
    } catch (const Error& error) {
        return fail(error.what(), error.status());
    } catch (const std::bad_alloc&) {
        return fail("out of memory; use smaller problems or free some", ExitStatus::bad_input);
    } catch (const std::exception& error) {
        return fail(error.what(), ExitStatus::usage);
    }
}

}  // namespace tmm
