#include "runtime/dropin/record/shape_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace tmm::dropin {

void ShapeRecord::add(const std::string& shape, double work, std::optional<double> seconds) {
    const std::lock_guard lock(mutex_);
    Calls& calls = shapes_[shape];
    ++calls.count;
    calls.work += work;
    if (!seconds) return;
    ++calls.timed;
    calls.seconds += *seconds;
    calls.timed_work += work;
}

long ShapeRecord::count(const std::string& shape) const {
    const std::lock_guard lock(mutex_);
    const auto found = shapes_.find(shape);
    return found == shapes_.end() ? 0 : found->second.count;
}

std::string ShapeRecord::text() const {
    struct Line {
        std::string shape;
        Calls calls;
        // Seconds, or multiply-adds.
        double amount = 0;
    };
    std::vector<Line> lines;
    double seconds = 0;
    double timed_work = 0;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [shape, calls] : shapes_) {
            lines.push_back({shape, calls});
            seconds += calls.seconds;
            timed_work += calls.timed_work;
        }
    }
    const bool timed = seconds > 0;
    double total = 0;
    for (Line& line : lines) {
        const Calls& calls = line.calls;
        // Calls that were not timed took as long as those of the shape that were; without such, as long for their work as all others.
        line.amount = !timed            ? calls.work
                      : calls.timed > 0 ? calls.seconds * static_cast<double>(calls.count) / static_cast<double>(calls.timed)
                                        : calls.work * seconds / timed_work;
        total += line.amount;
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Line& x, const Line& y) { return x.amount > y.amount; });
    char words[128];
    if (timed)
        std::snprintf(words, sizeof words, "# %zu shapes, %.3f s of products; the longest first\n", lines.size(), total);
    else
        std::snprintf(words, sizeof words, "# %zu shapes, %.3g FLOP; those of most work first\n", lines.size(), 2 * total);
    std::string text = words;
    for (const Line& line : lines) {
        std::snprintf(words, sizeof words, "  # %ld calls, %.1f%% of the %s\n", line.calls.count,
                      total > 0 ? 100 * line.amount / total : 0.0, timed ? "time" : "work");
        text += line.shape + words;
    }
    return text;
}

bool ShapeRecord::write(const std::string& file) const {
    // It is written beside and renamed, so that a process that is killed leaves the file whole.
    const std::string beside = file + "." + std::to_string(getpid()) + ".new";
    const int descriptor = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) return false;
    const std::string content = text();
    bool written = true;
    for (std::size_t done = 0; written && done < content.size();) {
        const ssize_t count = ::write(descriptor, content.data() + done, content.size() - done);
        written = count > 0;
        if (written) done += static_cast<std::size_t>(count);
    }
    written = close(descriptor) == 0 && written && rename(beside.c_str(), file.c_str()) == 0;
    if (!written) unlink(beside.c_str());
    return written;
}

}  // namespace tmm::dropin
