#include "base/command_line/tool_main.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>

#include <cstdio>
#include <new>

#include "base/command_line/distinct_files.h"
#include "base/command_line/manual_page.h"
#include "base/command_line/shell_completion.h"
#include "base/command_line/tool_help.h"
#include "base/text/printable.h"

namespace tmm {
namespace {

// A standard stream that is closed leaves its number to the next file that is opened, and what is printed would go into that. Writing to
// stdout goes on to fail, as it should.
void hold_standard_streams() {
    for (const int fd : {0, 1, 2}) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) != fd) return;
    }
}

ExitStatus answer(const CommandLine& line, const std::function<ExitStatus(const CommandLine&)>& run) {
    const ToolDescription& tool = line.tool();
    if (line.has("help")) {
        const CommandDescription* command = find_command(tool, line.command());
        fmt::print("{}", command ? command_help(tool, *command) : help_text(tool));
    } else if (line.has("version")) {
        fmt::print("{} {}\n", tool.name, tool_version());
    } else if (line.has("print-man")) {
        fmt::print("{}", manual_page(tool));
    } else if (line.has("print-completion")) {
        fmt::print("{}", shell_completion(tool, line.text("print-completion")));
    } else {
        check_distinct_files(line);
        return run(line);
    }
    return ExitStatus::done;
}

}  // namespace

int tool_main(const ToolDescription& tool, int argc, char** argv, const std::function<ExitStatus(const CommandLine&)>& run) {
    hold_standard_streams();
    // Where a file reaches its largest size (ulimit -f), writing fails instead, which has a message.
    signal(SIGXFSZ, SIG_IGN);
    const auto fail = [&](const char* what, ExitStatus status) {
        std::fflush(stdout);
        std::fprintf(stderr, "%s: %s\n", tool.name.c_str(), printable(what).c_str());
        return static_cast<int>(status);
    };
    try {
        const ExitStatus status = answer(CommandLine(tool, {argv + (argc > 0), argv + argc}), run);
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
