#include "base/text/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/text/environment.h"
#include "base/text/printable.h"
#include "base/text/text_width.h"

namespace tmm {
namespace {

constexpr std::size_t kUnknownSize = 80;

std::size_t terminal_columns(std::FILE* stream) {
    winsize size{};
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUnknownSize;
}

bool is_terminal(std::FILE* stream) {
    return isatty(fileno(stream)) == 1;
}

}  // namespace

Screen screen_of(std::FILE* stream) {
    const bool terminal = is_terminal(stream);
    const auto wanted = columns_override();
    return {.columns = wanted     ? *wanted
                       : terminal ? terminal_columns(stream)
                                  : 0,
            .color = terminal && !color_forbidden() && !terminal_is_dumb()};
}

StatusLine::StatusLine(std::FILE* stream) : stream_(stream), shows_(is_terminal(stream) && !terminal_is_dumb()) {}

std::size_t StatusLine::columns() const {
    // The width is read anew, since a window changes its size.
    const std::size_t columns = terminal_columns(stream_);
    return std::max<std::size_t>(std::min(columns, columns_override().value_or(columns)), 1) - 1;
}

void StatusLine::show(const std::string& text, std::size_t width) {
    if (!shows_) return;
    std::string line = "\r" + text;
    if (shown_ > width) line.append(shown_ - width, ' ');
    std::fputs(line.c_str(), stream_);
    std::fflush(stream_);
    shown_ = width;
}

void StatusLine::show(const std::string& text) {
    const std::string fitting = shortened(printable(text), columns());
    show(fitting, display_width(fitting));
}

void StatusLine::clear() {
    if (shown_ == 0) return;
    std::fputs(("\r" + std::string(shown_, ' ') + "\r").c_str(), stream_);
    std::fflush(stream_);
    shown_ = 0;
}

}  // namespace tmm
