#include "base/processes/helper_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/text/side_by_side.h"

extern char** environ;

namespace tmm {
namespace {

void check(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// Close-on-exec, else a compiler started meanwhile would hold the pipe open and hide the process's end.
LinePipe connect(LinePipe& theirs) {
    int requests[2];
    int replies[2];
    check(pipe2(requests, O_CLOEXEC) == 0 ? 0 : errno, "pipe");
    if (pipe2(replies, O_CLOEXEC) != 0) {
        const int error = errno;
        LinePipe(requests[0], requests[1]).close();
        check(error, "pipe");
    }
    theirs = LinePipe(requests[0], replies[1]);
    return LinePipe(replies[0], requests[1]);
}

}  // namespace

HelperProcess::~HelperProcess() {
    if (!alive()) return;
    channel_.close();
    for (int i = 0; i < 100; ++i) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill_and_reap();
}

void HelperProcess::start(const std::vector<std::string>& arguments, const std::string& program) {
    LinePipe theirs;
    channel_ = connect(theirs);

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, theirs.read_fd(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, theirs.write_fd(), STDOUT_FILENO);
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, signal);
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::vector<std::string> words{"tmm-tune"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    pid_t pid = -1;
    const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) channel_.close();
    check(error, "posix_spawn");
    pid_ = pid;
}

void HelperProcess::signal_kill() const noexcept {
    // kill(-1) would reach every process of the user.
    if (alive()) kill(pid_, SIGKILL);
}

void HelperProcess::kill_and_reap() noexcept {
    if (!alive()) return;
    signal_kill();
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    channel_.close();
}

HelperProcess::End HelperProcess::reap() {
    channel_.close();
    int status = 0;
    pid_t reaped = 0;
    for (int i = 0; i < 500 && reaped == 0; ++i) {
        reaped = waitpid(pid_, &status, WNOHANG);
        if (reaped == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (reaped == 0) {
        kill_and_reap();
        return {.how = "closed its pipe and hung"};
    }
    pid_ = -1;
    if (!WIFSIGNALED(status)) return {.how = fmt::format("exited with status {}", WEXITSTATUS(status))};
    const int signal = WTERMSIG(status);
    return {.how = fmt::format("was ended by signal {} ({})", signal, strsignal(signal)), .signal = signal};
}

LinePipe channel_to_parent() {
    std::signal(SIGPIPE, SIG_IGN);
    LinePipe channel(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (const int null = open("/dev/null", O_RDONLY | O_CLOEXEC); null >= 0) {
        dup2(null, STDIN_FILENO);
        ::close(null);
    }
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return channel;
}

void end_with_starting_thread() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void end_with_pipe(int read_fd) {
    auto watch = start_thread([read_fd] {
        pollfd pipe{.fd = read_fd, .events = 0, .revents = 0};
        while (poll(&pipe, 1, -1) < 0 && errno == EINTR) {
        }
        _exit(0);
    });
    if (watch)
        watch->detach();
    else
        end_with_starting_thread();
}

}  // namespace tmm
