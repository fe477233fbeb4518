// What every tool's main() shares: an error becomes one line on stderr and the exit status that it names.
#pragma once

#include <cstdio>
#include <exception>
#include <new>

#include "generator/error.h"

namespace tmm {

// Runs `body`, which returns an ExitStatus, and gives main() its result. `tool` is the name that messages begin with.
template <typename Body>
int tool_main(const char* tool, Body body) {
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
