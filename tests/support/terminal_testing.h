// Runs a command line in a terminal of some size, as a person would.
#pragma once

#include <doctest/doctest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "base/text/text_width.h"

namespace tmm::testing {

struct Shown {
    int status = -1;
    // All text that was sent to the terminal, stdout and stderr.
    std::string text;
};

// environment: more variables, "NO_COLOR=1 TERM=dumb"; TERM is xterm and COLUMNS is not set unless it says so.
inline Shown run_in_terminal(const std::string& command, int columns, const std::string& environment = {}) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = 50;
    int terminal = -1;
    const std::string line = "exec env -u NO_COLOR -u COLUMNS TERM=xterm " + environment + " " + command;
    const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
    REQUIRE(pid >= 0);
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
        _exit(127);
    }
    Shown shown;
    std::array<char, 4096> buffer;
    while (true) {
        const ssize_t count = read(terminal, buffer.data(), buffer.size());
        if (count > 0) shown.text.append(buffer.data(), static_cast<std::size_t>(count));
        // A terminal whose last process has gone reads as an error.
        if (count == 0 || (count < 0 && errno != EINTR)) break;
    }
    close(terminal);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    shown.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return shown;
}

// The text without the escape sequences of colours.
inline std::string without_colors(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "\x1b[") != 0)
            plain += text[i];
        else
            i = text.find('m', i);
    }
    return plain;
}

// The texts that stood in one line of the terminal at some time: lines, and those that a carriage return began anew.
inline std::vector<std::string> lines_shown(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : without_colors(text)) {
        if (c == '\n' || c == '\r')
            lines.emplace_back();
        else
            lines.back() += c;
    }
    return lines;
}

inline void check_fits(const std::string& text, int columns) {
    for (const std::string& line : lines_shown(text)) CHECK_MESSAGE(static_cast<int>(display_width(line)) <= columns, line);
}

}  // namespace tmm::testing
