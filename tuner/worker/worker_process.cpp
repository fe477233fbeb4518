#include "tuner/worker/worker_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "base/processes/elapsed.h"

namespace tmm {
namespace {

// Creating a context on a machine with many GPUs takes seconds.
constexpr double kStartSeconds = 180;
constexpr int kStartAttempts = 5;
// Seconds that an interruption leaves to the candidate in flight.
constexpr double kGraceSeconds = 2;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

WorkerProcess::WorkerProcess(int ordinal, const Interrupt& interrupt) : ordinal_(ordinal), interrupt_(interrupt) {
    start();
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
    try {
        process_.start({"--worker", std::to_string(ordinal_)});
    } catch (const std::system_error& error) {
        throw Error(ExitStatus::no_device, fmt::format("cannot start the worker process: {}", error.what()));
    }

    std::string line;
    WorkingTime time(process_.pid());
    switch (read_line(line, time, kStartSeconds, kNever)) {
        case LinePipe::Read::line: break;
        case LinePipe::Read::end: how = reap().how; return false;
        default:
            process_.kill_and_reap();
            throw Error(ExitStatus::no_device, fmt::format("the worker process did not open its device within {} s", kStartSeconds));
    }
    const Reply reply = decode_reply(line);
    if (const auto* failed = std::get_if<Failed>(&reply)) {
        process_.kill_and_reap();
        throw Error(failed->status, failed->message);
    }
    if (const auto* faulted = std::get_if<Faulted>(&reply)) {
        process_.kill_and_reap();
        throw Error(ExitStatus::no_device, "the device cannot be opened: " + faulted->detail);
    }
    device_ = std::get<Hello>(reply).device;
    sharing_ = std::get<Hello>(reply).sharing;
    return true;
}

void WorkerProcess::respawn() {
    process_.kill_and_reap();
    start();
}

WorkerProcess::Died WorkerProcess::reap() {
    HelperProcess::End end = process_.reap();
    return Died{.how = std::move(end.how), .from_outside = end.signal != 0 && !is_raised_by_code(end.signal)};
}

// Returns timed_out where one of the two times is over.
LinePipe::Read WorkerProcess::read_line(std::string& line, WorkingTime& time, double deadline_seconds, double turn_seconds, int wake_fd) {
    while (true) {
        time.look();
        const double left = std::min(deadline_seconds - time.working(), turn_seconds - time.all());
        const auto read = process_.channel().read_line(line, std::clamp(left, 0.0, WorkingTime::kLook), wake_fd);
        if (read != LinePipe::Read::timed_out || left <= 0) return read;
    }
}

WorkerProcess::Answer WorkerProcess::ask(const Request& request, double deadline_seconds, double turn_seconds,
                                         const std::function<void(int)>& step) {
    if (!alive()) return Died{.how = "was not running"};
    if (!process_.channel().write_line(encode(request))) return reap();
    const auto asked = SteadyClock::now();
    Answer answer = wait_for_answer(deadline_seconds, turn_seconds, step);
    busy_seconds_ += seconds_since(asked);
    return answer;
}

WorkerProcess::Answer WorkerProcess::wait_for_answer(double deadline_seconds, double turn_seconds, const std::function<void(int)>& step) {
    WorkingTime time(process_.pid());
    bool interrupted = false;
    std::string line;
    while (true) {
        switch (read_line(line, time, deadline_seconds, turn_seconds, interrupted ? -1 : interrupt_.fd())) {
            case LinePipe::Read::line: break;
            case LinePipe::Read::end: return reap();
            case LinePipe::Read::timed_out:
                process_.kill_and_reap();
                if (interrupted) return Interrupted{};
                return TimedOut{.turn_is_over = time.working() < deadline_seconds};
            case LinePipe::Read::woken:
                interrupted = true;
                time = WorkingTime(process_.pid());
                deadline_seconds = turn_seconds = kGraceSeconds;
                continue;
        }
        Reply reply = Prepared{};
        try {
            reply = decode_reply(line);
        } catch (const std::exception& error) {
            process_.kill_and_reap();
            return Died{.how = fmt::format("said what makes no sense: {}", error.what())};
        }
        if (const auto* at = std::get_if<RunOffStep>(&reply)) {
            if (step) step(at->index);
            continue;
        }
        if (const auto* failed = std::get_if<Failed>(&reply)) {
            process_.kill_and_reap();
            throw Error(failed->status, failed->message);
        }
        if (const auto* faulted = std::get_if<Faulted>(&reply)) {
            process_.kill_and_reap();
            return Died{.how = faulted->detail};
        }
        return reply;
    }
}

}  // namespace tmm
