#include "runtime/dropin/shape_record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace tmm::dropin {

void ShapeRecord::add(const std::string& shape, double amount) {
    const std::lock_guard lock(mutex_);
    Calls& calls = shapes_[shape];
    ++calls.count;
    calls.amount += amount;
}

std::string ShapeRecord::text() const {
    std::vector<std::pair<std::string, Calls>> shapes;
    {
        const std::lock_guard lock(mutex_);
        shapes.assign(shapes_.begin(), shapes_.end());
    }
    std::stable_sort(shapes.begin(), shapes.end(), [](const auto& x, const auto& y) { return x.second.amount > y.second.amount; });
    double total = 0;
    for (const auto& [shape, calls] : shapes) total += calls.amount;
    const bool timed = measure_ == Measure::time;
    char line[128];
    if (timed)
        std::snprintf(line, sizeof line, "# %zu shapes, %.3f s of products; the longest first\n", shapes.size(), total);
    else
        std::snprintf(line, sizeof line, "# %zu shapes, %.3g FLOP; those of most work first\n", shapes.size(), 2 * total);
    std::string text = line;
    for (const auto& [shape, calls] : shapes) {
        std::snprintf(line, sizeof line, "  # %ld calls, %.1f%% of the %s\n", calls.count, total > 0 ? 100 * calls.amount / total : 0.0,
                      timed ? "time" : "work");
        text += shape + line;
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
