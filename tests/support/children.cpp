#include "tests/support/children.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

namespace tmm::testing {
namespace {

// Runs, in a child, the cases from the first one on.
[[noreturn]] void serve(const std::vector<std::size_t>& numbers, std::size_t first, int pipe,
                        const std::function<void(std::size_t, const CaseReport&)>& body) {
    setpgid(0, 0);
    std::signal(SIGPIPE, SIG_DFL);
    const CaseReport report(pipe);
    for (std::size_t i = first; i < numbers.size(); ++i) {
        report.begin(numbers[i]);
        try {
            body(numbers[i], report);
        } catch (const std::exception& error) {
            report.fail(numbers[i], std::string("an exception: ") + error.what());
        }
        report.end(numbers[i]);
    }
    std::fflush(nullptr);
    _exit(0);
}

// A child and what it has said.
struct Child {
    pid_t process = -1;
    int pipe = -1;
    std::string unread = {};
    std::size_t ended = 0;

    // False at the end of what it says, or after so many seconds of silence.
    bool read_some(int seconds, bool& silent) {
        pollfd ready{pipe, POLLIN, 0};
        const int polled = poll(&ready, 1, seconds * 1000);
        silent = polled == 0;
        if (polled <= 0) return false;
        char buffer[4096];
        const ssize_t count = read(pipe, buffer, sizeof buffer);
        if (count <= 0) return false;
        unread.append(buffer, static_cast<std::size_t>(count));
        return true;
    }

    void take_lines(CasesRun& run) {
        for (std::size_t end = 0; (end = unread.find('\n')) != std::string::npos; unread.erase(0, end + 1)) {
            const std::string line = unread.substr(0, end);
            const std::size_t blank = line.find(' '), second = line.find(' ', blank + 1);
            const std::string kind = line.substr(0, blank), text = line.substr(second + 1);
            if (kind == "end") ++ended, ++run.ended;
            if (kind == "note") run.notes.push_back(text);
            if (kind == "fail") run.failures.push_back({.number = std::strtoull(line.c_str() + blank, nullptr, 10), .reason = text});
        }
    }
};

Child start(const std::vector<std::size_t>& numbers, std::size_t first, const std::function<void(std::size_t, const CaseReport&)>& body) {
    int ends[2];
    std::fflush(nullptr);
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    Child child{.process = fork(), .pipe = ends[0]};
    if (child.process < 0) throw std::runtime_error("fork failed");
    if (child.process == 0) {
        close(ends[0]);
        serve(numbers, first, ends[1], body);
    }
    close(ends[1]);
    return child;
}

}  // namespace

void CaseReport::line(const char* kind, std::size_t number, const std::string& text) const {
    std::string whole = fmt::format("{} {} {}", kind, number, text.substr(0, 3000));
    std::replace(whole.begin(), whole.end(), '\n', ' ');
    whole += '\n';
    if (write(pipe_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) _exit(1);
}

CasesRun run_in_children(const std::vector<std::size_t>& numbers, int seconds,
                         const std::function<void(std::size_t, const CaseReport&)>& body) {
    CasesRun run;
    for (std::size_t first = 0; first < numbers.size();) {
        Child child = start(numbers, first, body);
        bool silent = false;
        while (child.read_some(seconds, silent)) child.take_lines(run);
        if (silent) kill(-child.process, SIGKILL);
        int status = 0;
        waitpid(child.process, &status, 0);
        kill(-child.process, SIGKILL);
        close(child.pipe);
        first += child.ended;
        if (first == numbers.size()) break;
        run.failures.push_back({.number = numbers[first],
                                .reason = silent ? fmt::format("hangs for more than {} s", seconds)
                                          : WIFSIGNALED(status)
                                              ? fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                              : fmt::format("ended with status {}", WEXITSTATUS(status))});
        ++first;
    }
    return run;
}

}  // namespace tmm::testing
