#include "db/time_limit.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <thread>
#include <utility>

namespace tmm {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Steps of SQLite's virtual machine between two looks at the clock: some ten microseconds.
constexpr int kSteps = 1000;
// tmm reads and writes far more than a megabyte in a second; three seconds go on top, so that a small file never meets its limit.
constexpr milliseconds kQueryBase{3000};
constexpr std::int64_t kBytesPerSecond = 1 << 20;
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
    : patience_(patience), database_(std::move(database)), end_(Clock::now() + patience.total) {}

void TimeLimit::attach(sqlite3* connection) {
    sqlite3_progress_handler(
        connection, kSteps,
        [](void* self) {
            auto* const limit = static_cast<TimeLimit*>(self);
            limit->exceeded_ = limit->is_over();
            return limit->exceeded_ ? 1 : 0;
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
    query_began_ = processor_time();
    query_began_at_ = Clock::now();
}

bool TimeLimit::is_over() const {
    const auto now = Clock::now();
    if (patience_.total > milliseconds(0) && now > end_) return true;
    if (now - query_began_at_ <= kStopAfter) return false;
    if (is_stopped()) return true;
    const nanoseconds used = processor_time() - query_began_;
    return patience_.total == milliseconds(0) && used > kQueryBase && used > query_limit(database_);
}

bool TimeLimit::wait_for_lock(int attempts) {
    const auto now = Clock::now();
    if (attempts == 0) lock_wait_began_ = now;
    if (now - lock_wait_began_ > patience_.lock || (patience_.total > milliseconds(0) && now > end_)) return false;
    if (now - lock_wait_began_ > kStopAfter && is_stopped()) return false;
    std::this_thread::sleep_for(attempts < kFirstLockPauses ? kFirstLockPause : kLockPause);
    return true;
}

}  // namespace tmm
