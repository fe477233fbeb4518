// What stands behind stdout or stderr: a terminal of some width, or a file.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace tmm {

struct Screen {
    // What a line may take; 0: as much as it needs, in files and pipes.
    std::size_t columns = 0;
    // Escape sequences are understood and wanted.
    bool color = false;
    // All columns of tables, and full fields, however wide.
    bool wide = false;
};

// COLUMNS counts before the terminal's own size; a terminal of unknown size has 80 columns.
Screen screen_of(std::FILE* stream);

// One line on a terminal that is written over and over, and taken away in the end. Elsewhere, and on a terminal that can't return to a
// line's begin (TERM=dumb), nothing is written. It needs no escape sequence.
class StatusLine {
public:
    explicit StatusLine(std::FILE* stream);
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    bool shows() const { return shows_; }
    // A line that reached the last column could not be taken away: this is one less.
    std::size_t columns() const;
    // The text's width is what it takes without escape sequences.
    void show(const std::string& text, std::size_t width);
    void show(const std::string& text);
    void clear();

private:
    std::FILE* stream_;
    bool shows_;
    std::size_t shown_ = 0;
};

}  // namespace tmm
