// A shell stands between: it tells the program's status through a pipe. A process that ignores SIGCHLD, or whose handler reaps every child,
// can't learn it from waitpid().
#include "base/processes/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "base/files/locked_temporary.h"
#include "base/text/environment.h"

extern char** environ;

namespace tmm {
namespace {

constexpr int kStatusPipe = 3;
// What the program writes is its owner's to read, whatever the caller's umask.
constexpr const char* kScript = "umask 077; \"$@\" 3>&-; echo $? >&3";
constexpr int kLook_ms = 500;

[[noreturn]] void fail(int error, const char* what) {
    throw std::system_error(error, std::generic_category(), what);
}

// The descriptor moves out of the way of the numbers that the child's own files get.
FileDescriptor moved_up(int descriptor) {
    FileDescriptor moved(fcntl(descriptor, F_DUPFD_CLOEXEC, 10));
    const int error = errno;
    close(descriptor);
    if (!moved) fail(error, "fcntl");
    return moved;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
    std::vector<std::string> lines;
    // Whoever starts a set-user-ID program chose its variables, and compilers and shells obey many.
    if (runs_with_raised_privileges()) lines.emplace_back("PATH=/usr/bin:/bin");
    for (char** entry = environ; entry && *entry && !runs_with_raised_privileges(); ++entry) {
        const std::string line = *entry;
        if (changes.count(line.substr(0, line.find('='))) == 0) lines.push_back(line);
    }
    for (const auto& [name, value] : changes) lines.push_back(name + "=" + value);
    return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

class SpawnSettings {
public:
    SpawnSettings(const std::filesystem::path& output, int status_pipe) {
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        posix_spawn_file_actions_adddup2(&actions, status_pipe, kStatusPipe);
        posix_spawnattr_init(&attributes);
        // Ignored and blocked signals stay so in a program that is started.
        sigset_t set;
        sigfillset(&set);
        posix_spawnattr_setsigdefault(&attributes, &set);
        sigemptyset(&set);
        posix_spawnattr_setsigmask(&attributes, &set);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnSettings() {
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

// Reaps it, where the caller's process lets it.
void wait_for(pid_t child) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
}

bool has_ended(pid_t child) {
    const pid_t reaped = waitpid(child, nullptr, WNOHANG);
    return reaped == child || (reaped < 0 && errno == ECHILD && kill(child, 0) != 0 && errno == ESRCH);
}

// The line that the shell writes; it is empty where the shell ended without one. The end of the pipe is no sign: a process that the caller
// forks meanwhile may hold it open.
std::string read_status(int pipe, pid_t child) {
    std::string line;
    bool ended = false;
    while (true) {
        pollfd look{.fd = pipe, .events = POLLIN, .revents = 0};
        const int ready = poll(&look, 1, ended ? 0 : kLook_ms);
        if (ready < 0 && errno != EINTR) fail(errno, "poll");
        if (ready > 0) {
            char c = 0;
            const ssize_t count = read(pipe, &c, 1);
            if (count < 0 && errno == EINTR) continue;
            if (count > 0 && c != '\n') line.push_back(c);
            if (count > 0 && c != '\n') continue;
            if (count > 0) return line;
            return {};
        }
        if (ended) return {};
        if (ready == 0) ended = has_ended(child);
    }
}

}  // namespace

int run_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                const std::filesystem::path& output, RunningPrograms& running) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(errno, "pipe");
    const FileDescriptor ours = moved_up(ends[0]);
    FileDescriptor theirs = moved_up(ends[1]);
    std::vector<std::string> words = {"sh", "-c", kScript, "sh"};
    // Without this option a shell gives up the program's user, whose directories the compiler needs.
    if (runs_with_raised_privileges()) words.insert(words.begin() + 1, "-p");
    words.insert(words.end(), command.begin(), command.end());
    std::vector<std::string> variables = merged_environment(environment);
    pid_t child = 0;
    {
        const SpawnSettings settings(output, theirs.get());
        const int error = posix_spawn(&child, "/bin/sh", &settings.actions, &settings.attributes, pointers_to(words).data(),
                                      pointers_to(variables).data());
        if (error) fail(error, "posix_spawn");
    }
    theirs = FileDescriptor();
    running.begin(child);
    const std::string status = read_status(ours.get(), child);
    running.end(child);
    wait_for(child);
    if (status.empty()) fail(ECHILD, "the end of the program can't be told");
    return std::atoi(status.c_str());
}

}  // namespace tmm
