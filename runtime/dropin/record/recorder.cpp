#include "runtime/dropin/record/recorder.h"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "runtime/dropin/log.h"
#include "runtime/dropin/process.h"
#include "runtime/dropin/record/record_file.h"

namespace tmm::dropin {
namespace {

using Clock = std::chrono::steady_clock;

// A process that is killed loses what it has called since it wrote last. So a shape that is new is written at once, and all else after a
// second, as long as all writing together takes no more than this and a share of the program's time.
constexpr std::chrono::nanoseconds kBetweenWrites = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kAllowance = std::chrono::milliseconds(200);
constexpr int kShareOfTime = 20;

class Recorder {
public:
    explicit Recorder(const std::string& path) : file_(path) {
        if (const std::string complaint = file_.complaint(); !complaint.empty()) complain(complaint);
    }

    void add(const std::string& shape, const Calls& calls) {
        adopt();
        if (counts_.add(shape, calls)) has_new_shape_.store(true, std::memory_order_relaxed);
        if (!is_ending_ && !is_due(Clock::now())) return;
        write();
        complain_of_write();
    }
    long count(const std::string& shape) const noexcept { return static_cast<long>(counts_.count(shape)); }

    // All of it. Waits where another thread is writing.
    void write_now() noexcept {
        adopt();
        for (int waited_ms = 0; waited_ms < 2000 && counts_.has_pending() && !write(); ++waited_ms) {
            if (!writing_.is_raised()) return;
            wait_a_moment();
        }
    }
    void end() noexcept {
        is_ending_ = true;
        write_now();
        complain_of_write();
    }
    // Nobody writes while the process is forked: a child would have the open file, and with it the lock.
    void begin_fork() noexcept {
        for (int waited_ms = 0; waited_ms < 2000 && !(holds_for_fork_ = writing_.raise()); ++waited_ms) wait_a_moment();
    }
    void end_fork() noexcept {
        if (holds_for_fork_) writing_.lower();
        holds_for_fork_ = false;
    }
    // A child begins with nothing to write.
    void adopt() noexcept {
        const unsigned self = process_number();
        if (process_.load(std::memory_order_acquire) == self) return;
        counts_.forget_pending();
        written_.store(0, std::memory_order_relaxed);
        process_.store(self, std::memory_order_release);
    }

private:
    static void wait_a_moment() noexcept {
        const timespec millisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
        nanosleep(&millisecond, nullptr);
    }
    bool is_due(Clock::time_point now) const noexcept {
        const std::chrono::nanoseconds spent(spent_.load(std::memory_order_relaxed));
        if (spent > kAllowance + (now - began_) / kShareOfTime) return false;
        const std::chrono::nanoseconds written(written_.load(std::memory_order_relaxed));
        return has_new_shape_.load(std::memory_order_relaxed) || now.time_since_epoch() - written >= kBetweenWrites;
    }
    // False where another thread is writing, or where it can't.
    bool write() noexcept {
        const QuietWrites quiet(QuietWrites::Holding::all_signals);
        if (!writing_.raise()) return false;
        has_new_shape_.store(false, std::memory_order_relaxed);
        const auto began = Clock::now();
        const bool done = file_.add(counts_);
        const int reason = errno;
        const auto ended = Clock::now();
        spent_.fetch_add((ended - began).count(), std::memory_order_relaxed);
        written_.store(ended.time_since_epoch().count(), std::memory_order_relaxed);
        writing_.lower();
        failure_.store(done ? 0 : reason, std::memory_order_relaxed);
        return done;
    }
    // A directory that is made later is found all the same; once is enough to say that it is missing.
    void complain(const std::string& complaint) {
        if (!has_complained_.exchange(true)) log(LogLevel::error, complaint);
    }
    void complain_of_write() {
        const int reason = failure_.load(std::memory_order_relaxed);
        if (reason != 0) complain("TMM_RECORD=" + settings().record + " can't be written: " + std::strerror(reason));
    }

    const RecordFile file_;
    CallCounts counts_;
    std::atomic<unsigned> process_ = process_number();
    ProcessFlag writing_;
    // Whether this thread forks and holds the recorder meanwhile.
    static inline thread_local bool holds_for_fork_ = false;
    std::atomic<bool> has_new_shape_ = false;
    std::atomic<bool> is_ending_ = false;
    std::atomic<bool> has_complained_ = false;
    std::atomic<std::int64_t> written_ = 0;
    const Clock::time_point began_ = Clock::now();
    std::atomic<std::int64_t> spent_ = 0;
    std::atomic<int> failure_ = 0;
};

// Never destroyed: handlers of exit() may multiply.
Recorder& recorder() {
    static auto* const made = new Recorder(settings().record);
    return *made;
}

// In this process there may be something to write.
std::atomic<bool> records = false;

// The signal ends the process then as it would have without.
void on_termination(int signal) {
    const int errno_before = errno;
    write_record_now();
    errno = errno_before;
    raise(signal);
}

// A batch system ends a job by SIGTERM. What the program does about it goes before.
void write_at_termination() noexcept {
    struct sigaction known {};
    if (sigaction(SIGTERM, nullptr, &known) != 0 || (known.sa_flags & SA_SIGINFO) != 0 || known.sa_handler != SIG_DFL) return;
    struct sigaction ours {};
    ours.sa_handler = on_termination;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_ONSTACK | SA_RESTART);
    sigaction(SIGTERM, &ours, nullptr);
}

}  // namespace

void begin_recording() noexcept {
    try {
        recorder();
    } catch (...) {
        log(LogLevel::error, "nothing is recorded: memory is short");
        return;
    }
    pthread_atfork([] { recorder().begin_fork(); }, [] { recorder().end_fork(); },
                   [] {
                       recorder().end_fork();
                       recorder().adopt();
                   });
    std::atexit([] { recorder().end(); });
    at_quick_exit(write_record_now);
}

void record(const std::string& shape, std::optional<double> seconds) {
    if (!records.load(std::memory_order_relaxed) && !records.exchange(true)) write_at_termination();
    const bool timed = seconds.has_value();
    recorder().add(shape, {.count = 1, .timed = timed ? 1 : 0, .nanoseconds = timed ? static_cast<std::int64_t>(*seconds * 1e9 + 0.5) : 0});
}

long recorded_calls(const std::string& shape) noexcept {
    return recorder().count(shape);
}

void write_record_now() noexcept {
    if (records.load(std::memory_order_relaxed)) recorder().write_now();
}

}  // namespace tmm::dropin
