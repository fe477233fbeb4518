#include "bench/report/comment_lines.h"

#include "base/text/text_width.h"

namespace tmm::bench {

std::string comment(const std::string& text, std::size_t columns) {
    std::string lines = "# " + hanging(text, columns > 2 ? columns - 2 : columns, 0) + "\n";
    for (std::size_t i = lines.find('\n'); i + 1 < lines.size(); i = lines.find('\n', i + 1)) lines.insert(i + 1, "# ");
    return lines;
}

}  // namespace tmm::bench
