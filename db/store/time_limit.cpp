#include "db/store/time_limit.h"

#include <fmt/core.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <thread>
#include <utility>

#include "db/store/database_file.h"

namespace tmm {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Steps of SQLite's virtual machine between two looks at the clock: some ten microseconds.
constexpr int kSteps = 1000;
// tmm reads and writes far more than a megabyte in a second; three seconds go on top, so that a small file never meets its limit.
constexpr milliseconds kQueryBase{3000};
constexpr std::int64_t kBytesPerSecond = 1 << 20;
// A busy machine may give a thread a fifth of its time, and so may a slow disk.
constexpr int kWaiting = 5;
// A shorter query is not worth ending: Ctrl-C then waits for it, and nothing that was measured is lost.
constexpr milliseconds kStopAfter{1000};
// Others hold the lock for a few milliseconds, mostly.
constexpr milliseconds kFirstLockPause{1};
constexpr milliseconds kLockPause{10};
constexpr int kFirstLockPauses = 20;

// The limit follows the space that the file takes on its disk: its length may be any number.
nanoseconds query_limit(const std::filesystem::path& database) {
    struct stat status {};
    const std::int64_t bytes = stat(database.c_str(), &status) == 0 ? std::int64_t{status.st_blocks} * 512 : 0;
    return kQueryBase + milliseconds(bytes * 1000 / kBytesPerSecond);
}

nanoseconds processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

}  // namespace

TimeLimit::TimeLimit(const Patience& patience, std::filesystem::path database)
    : patience_(patience), database_(std::move(database)), began_at_(Clock::now()) {}

void TimeLimit::attach(sqlite3* connection) {
    sqlite3_progress_handler(
        connection, kSteps,
        [](void* self) {
            auto* const limit = static_cast<TimeLimit*>(self);
            limit->end_ = limit->reason_to_end();
            return limit->was_exceeded() ? 1 : 0;
        },
        this);
    sqlite3_busy_handler(
        connection, [](void* self, int attempts) { return static_cast<TimeLimit*>(self)->wait_for_lock(attempts) ? 1 : 0; }, this);
    sqlite3_trace_v2(
        connection, SQLITE_TRACE_STMT,
        [](unsigned, void* self, void*, void*) {
            static_cast<TimeLimit*>(self)->begin_query();
            return 0;
        },
        this);
    begin_query();
}

void TimeLimit::begin_query() {
    queries_took_ += query_took_;
    query_took_ = {};
    query_began_ = processor_time();
    query_began_at_ = Clock::now();
}

TimeLimit::End TimeLimit::reason_to_end() {
    const auto now = Clock::now();
    const bool has_total = patience_.total > milliseconds(0);
    // The processor's clock is read by a system call, and is never ahead of the other.
    if (now - query_began_at_ <= kStopAfter && !(has_total && now - began_at_ > patience_.total)) return End::none;
    query_took_ = processor_time() - query_began_;
    if (has_total ? queries_took_ + query_took_ > patience_.total : query_took_ > kQueryBase) {
        const bool is_endless = query_took_ > query_limit(database_);
        if (has_total || is_endless) return is_endless ? End::endless : End::slow;
    }
    if (is_late(now)) return End::busy;
    return now - query_began_at_ > kStopAfter && is_stopped() ? End::stopped : End::none;
}

bool TimeLimit::is_late(Clock::time_point now) const {
    return patience_.total > milliseconds(0) && now - began_at_ > kWaiting * patience_.total;
}

bool TimeLimit::wait_for_lock(int attempts) {
    const auto now = Clock::now();
    if (attempts == 0) lock_wait_began_ = now;
    if (now - lock_wait_began_ > patience_.lock) return false;
    if (is_late(now)) {
        end_ = End::busy;
        return false;
    }
    if (now - lock_wait_began_ > kStopAfter && is_stopped()) return false;
    std::this_thread::sleep_for(attempts < kFirstLockPauses ? kFirstLockPause : kLockPause);
    return true;
}

void TimeLimit::fail(const std::filesystem::path& file) const {
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    const double processor = seconds(queries_took_ + query_took_);
    switch (end_) {
        case End::stopped: fail_database(file, "reading was interrupted", "run again; nothing stored before is lost");
        case End::busy:
            fail_database(file,
                          fmt::format("the machine is busy: reading was ended after {:.1f} s, in which it had the processor for {:.1f} s",
                                      seconds(Clock::now() - began_at_), processor),
                          "run again when the machine or its disk has less to do; the file may well be sound");
        case End::slow:
            fail_database(file, fmt::format("reading took more than {:.1f} s of processor time, and was ended", seconds(patience_.total)),
                          "the machine is slow, or the file is damaged: tmm-db verify says which");
        case End::none:
        case End::endless: break;
    }
    fail_database(file, "reading took longer than it takes with any sound database of this size, and was ended",
                  std::string("the file is damaged, or was made to hold up its readers; ") + kUseAnother);
}

}  // namespace tmm
