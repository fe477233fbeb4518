#include "tuner/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "tuner/elapsed.h"

extern char** environ;

namespace tmm {
namespace {

// Creating a context on a machine with many GPUs takes seconds.
constexpr double kStartSeconds = 180;
constexpr int kStartAttempts = 5;
// Seconds that an interruption leaves to the candidate in flight.
constexpr double kGraceSeconds = 2;
constexpr double kNever = std::numeric_limits<double>::infinity();

void check(int error, const char* what) {
    if (error != 0) throw Error(ExitStatus::no_device, fmt::format("cannot start the worker process: {}: {}", what, std::strerror(error)));
}

}  // namespace

WorkerProcess::WorkerProcess(int ordinal, const Interrupt& interrupt) : ordinal_(ordinal), interrupt_(interrupt) {
    start();
}

WorkerProcess::~WorkerProcess() {
    if (pid_ <= 0) return;
    // It ends by itself once its pipe closes, unless a kernel hangs.
    channel_.close();
    for (int i = 0; i < 100; ++i) {
        if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill_and_reap();
}

void WorkerProcess::start() {
    std::string how;
    const auto begun = SteadyClock::now();
    for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
        if (spawn(how)) {
            start_seconds_ = seconds_since(begun);
            return;
        }
        // The cause of its end may pass: the GPU of a worker that was just killed is busy for a moment.
        std::this_thread::sleep_for(std::chrono::milliseconds(200 * attempt));
    }
    throw Error(ExitStatus::no_device, fmt::format("the worker process did not start in {} attempts: it {}", kStartAttempts, how));
}

// Returns false where the worker ended before it said anything; `how` then tells how.
bool WorkerProcess::spawn(std::string& how) {
    int requests[2];
    int replies[2];
    // Close-on-exec, else a compiler started meanwhile would hold the pipe open and hide the worker's end.
    check(pipe2(requests, O_CLOEXEC) == 0 ? 0 : errno, "pipe");
    check(pipe2(replies, O_CLOEXEC) == 0 ? 0 : errno, "pipe");
    channel_ = LineChannel(replies[0], requests[1]);
    LineChannel theirs(requests[0], replies[1]);

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, requests[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, replies[1], STDOUT_FILENO);
    // The parent handles the signals that end a run: it lets the worker finish.
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&blocked, signal);
    posix_spawnattr_setsigmask(&attributes, &blocked);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    std::string ordinal = std::to_string(ordinal_);
    std::string program = "tmm-tune";
    std::string option = "--worker";
    char* arguments[] = {program.data(), option.data(), ordinal.data(), nullptr};
    pid_t pid = -1;
    const int error = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    check(error, "posix_spawn");
    pid_ = pid;
    theirs.close();

    std::string line;
    WorkingTime time(pid_);
    switch (read_line(line, time, kStartSeconds, kNever)) {
        case LineChannel::Read::line: break;
        case LineChannel::Read::end: how = reap().how; return false;
        default:
            kill_and_reap();
            throw Error(ExitStatus::no_device, fmt::format("the worker process did not open its device within {} s", kStartSeconds));
    }
    const Reply reply = decode_reply(line);
    if (const auto* failed = std::get_if<Failed>(&reply)) {
        kill_and_reap();
        throw Error(failed->status, failed->message);
    }
    if (const auto* faulted = std::get_if<Faulted>(&reply)) {
        kill_and_reap();
        throw Error(ExitStatus::no_device, "the device cannot be opened: " + faulted->detail);
    }
    device_ = std::get<Hello>(reply).device;
    sharing_ = std::get<Hello>(reply).sharing;
    return true;
}

void WorkerProcess::respawn() {
    if (pid_ > 0) kill_and_reap();
    start();
}

void WorkerProcess::kill_and_reap() noexcept {
    // kill(-1) would reach every process of the user.
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    channel_.close();
}

WorkerProcess::Died WorkerProcess::reap() {
    channel_.close();
    int status = 0;
    // The worker's pipe has ended, so it is about to end, too; a process that closed the pipe and lives on is ended here.
    pid_t reaped = 0;
    for (int i = 0; i < 500 && reaped == 0; ++i) {
        reaped = waitpid(pid_, &status, WNOHANG);
        if (reaped == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (reaped == 0) {
        kill_and_reap();
        return Died{.how = "closed its pipe and hung"};
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return Died{.how = fmt::format("was ended by signal {} ({})", signal, strsignal(signal)),
                    .from_outside = !is_raised_by_code(signal)};
    }
    return Died{.how = fmt::format("exited with status {}", WEXITSTATUS(status))};
}

// Returns timed_out where one of the two times is over.
LineChannel::Read WorkerProcess::read_line(std::string& line, WorkingTime& time, double deadline_seconds, double turn_seconds,
                                           int wake_fd) {
    while (true) {
        time.look();
        const double left = std::min(deadline_seconds - time.working(), turn_seconds - time.all());
        const auto read = channel_.read_line(line, std::clamp(left, 0.0, WorkingTime::kLook), wake_fd);
        if (read != LineChannel::Read::timed_out || left <= 0) return read;
    }
}

WorkerProcess::Answer WorkerProcess::ask(const Request& request, double deadline_seconds, double turn_seconds,
                                         const std::function<void(int)>& step) {
    if (!alive()) return Died{.how = "was not running"};
    if (!channel_.write_line(encode(request))) return reap();
    WorkingTime time(pid_);
    bool interrupted = false;
    std::string line;
    while (true) {
        switch (read_line(line, time, deadline_seconds, turn_seconds, interrupted ? -1 : interrupt_.fd())) {
            case LineChannel::Read::line: break;
            case LineChannel::Read::end: return reap();
            case LineChannel::Read::timed_out:
                kill_and_reap();
                if (interrupted) return Interrupted{};
                return TimedOut{.turn_is_over = time.working() < deadline_seconds};
            case LineChannel::Read::woken:
                interrupted = true;
                time = WorkingTime(pid_);
                deadline_seconds = turn_seconds = kGraceSeconds;
                continue;
        }
        Reply reply = Prepared{};
        try {
            reply = decode_reply(line);
        } catch (const std::exception& error) {
            kill_and_reap();
            return Died{.how = fmt::format("said what makes no sense: {}", error.what())};
        }
        if (const auto* at = std::get_if<RunOffStep>(&reply)) {
            if (step) step(at->index);
            continue;
        }
        if (const auto* failed = std::get_if<Failed>(&reply)) {
            kill_and_reap();
            throw Error(failed->status, failed->message);
        }
        if (const auto* faulted = std::get_if<Faulted>(&reply)) {
            kill_and_reap();
            return Died{.how = faulted->detail};
        }
        return reply;
    }
}

}  // namespace tmm
