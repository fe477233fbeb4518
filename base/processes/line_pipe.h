// Lines of text over a pair of pipes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tmm {

// The channel owns both descriptors. It is not thread-safe.
class LinePipe {
public:
    LinePipe() = default;
    LinePipe(int read_fd, int write_fd) : read_fd_(read_fd), write_fd_(write_fd) {}
    LinePipe(LinePipe&& other) noexcept;
    LinePipe& operator=(LinePipe&& other) noexcept;
    ~LinePipe();

    // Returns false where the other side has closed its end.
    bool write_line(std::string_view line);

    enum class Read { line, end, timed_out, woken };
    // Waits for a line, at most so many seconds (negative: for ever), or until wake_fd (-1: none) is readable.
    Read read_line(std::string& line, double seconds, int wake_fd = -1);

    int read_fd() const { return read_fd_; }
    int write_fd() const { return write_fd_; }
    void close() noexcept;

private:
    int read_fd_ = -1;
    int write_fd_ = -1;
    std::string buffer_;
};

}  // namespace tmm
