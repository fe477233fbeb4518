// Limits how long a connection may take. What a file makes SQLite do is chosen by whoever made the file: a few pages that refer to each
// other can be a table without end.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>

struct sqlite3;

namespace tmm {

struct Patience {
    // Longest time to wait for another process's lock.
    std::chrono::milliseconds lock{10'000};
    // Longest processor time for all queries of the connection; waiting included, they may take five times as long. Where it is zero, each
    // query may take as much processor time as the size of the file accounts for, however slow the disk is.
    std::chrono::milliseconds total{0};
    // The function is called when a query, or waiting for a lock, has taken a second: true ends it. It may be called from any thread that
    // uses the connection.
    std::function<bool()> stop = {};
};

// Holds connections to a patience: SQLite ends what exceeds it with SQLITE_INTERRUPT, and waiting for a lock with SQLITE_BUSY. It outlives
// them and is not moved.
class TimeLimit {
public:
    TimeLimit(const Patience& patience, std::filesystem::path database);
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

    void attach(sqlite3* connection);
    // Whether a query was ended.
    bool was_exceeded() const { return end_ != End::none; }
    // Throws Error (database): why the last query was ended.
    [[noreturn]] void fail(const std::filesystem::path& file) const;

private:
    using Clock = std::chrono::steady_clock;
    // What ended a query: Patience::stop; the clock, on a machine that is too busy to say anything of the file; processor time that a sound
    // file may take on a slow machine; more than that.
    enum class End { none, stopped, busy, slow, endless };

    void begin_query();
    End reason_to_end();
    bool is_late(Clock::time_point now) const;
    bool is_stopped() const { return patience_.stop && patience_.stop(); }
    bool wait_for_lock(int attempts);

    Patience patience_;
    std::filesystem::path database_;
    Clock::time_point began_at_;
    // Processor time: of this thread when the query began, of the query when it was last looked at, of all queries before it.
    std::chrono::nanoseconds query_began_{};
    std::chrono::nanoseconds query_took_{};
    std::chrono::nanoseconds queries_took_{};
    Clock::time_point query_began_at_{};
    Clock::time_point lock_wait_began_{};
    End end_ = End::none;
};

}  // namespace tmm
