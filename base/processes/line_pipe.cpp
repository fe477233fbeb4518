#include "base/processes/line_pipe.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <utility>

namespace tmm {

LinePipe::LinePipe(LinePipe&& other) noexcept {
    *this = std::move(other);
}

LinePipe& LinePipe::operator=(LinePipe&& other) noexcept {
    if (this != &other) {
        close();
        read_fd_ = std::exchange(other.read_fd_, -1);
        write_fd_ = std::exchange(other.write_fd_, -1);
        buffer_ = std::exchange(other.buffer_, {});
    }
    return *this;
}

LinePipe::~LinePipe() {
    close();
}

void LinePipe::close() noexcept {
    if (read_fd_ >= 0) ::close(read_fd_);
    if (write_fd_ >= 0) ::close(write_fd_);
    read_fd_ = write_fd_ = -1;
    buffer_.clear();
}

bool LinePipe::write_line(std::string_view line) {
    std::string text(line);
    text += '\n';
    std::string_view rest = text;
    while (!rest.empty()) {
        // A peer that has gone must be an answer, not a SIGPIPE: both sides ignore the signal.
        const ssize_t written = ::write(write_fd_, rest.data(), rest.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return false;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

LinePipe::Read LinePipe::read_line(std::string& line, double seconds, int wake_fd) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    while (true) {
        if (const auto newline = buffer_.find('\n'); newline != std::string::npos) {
            line = buffer_.substr(0, newline);
            buffer_.erase(0, newline + 1);
            return Read::line;
        }
        int wait_ms = -1;
        if (seconds >= 0) {
            const double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
            if (left <= 0) return Read::timed_out;
            wait_ms = static_cast<int>(std::min(std::ceil(left * 1000), 1e9));
        }
        pollfd fds[2] = {{read_fd_, POLLIN, 0}, {wake_fd, POLLIN, 0}};
        const int ready = ::poll(fds, wake_fd >= 0 ? 2 : 1, wait_ms);
        if (ready < 0 && errno != EINTR) return Read::end;
        if (ready <= 0) continue;
        if (fds[0].revents != 0) {
            char chunk[65536];
            const ssize_t got = ::read(read_fd_, chunk, sizeof chunk);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return Read::end;
            buffer_.append(chunk, static_cast<std::size_t>(got));
        } else if (wake_fd >= 0 && fds[1].revents != 0) {
            return Read::woken;
        }
    }
}

}  // namespace tmm
