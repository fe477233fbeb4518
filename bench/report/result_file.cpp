#include "bench/report/result_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files/output_file.h"
#include "base/text/text_width.h"
#include "generator/text/text.h"

namespace tmm::bench {

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c == '\n' ? ' ' : c;
    }
    return quoted + '"';
}

std::string csv_number(double value, bool known) {
    return known ? fmt::format("{:.6g}", value) : "";
}

std::string config_fields(const std::string& config) {
    try {
        return config.empty() ? config : fields_text(parse_config(config));
    } catch (const Error&) {
        return config;
    }
}

void write_file(const std::string& file, const std::string& text) {
    publish_file(file, text, {.what = "the file of results"});
}

std::string comment(const std::string& text, std::size_t columns) {
    std::string lines = "# " + hanging(text, columns > 2 ? columns - 2 : columns, 0) + "\n";
    for (std::size_t i = lines.find('\n'); i + 1 < lines.size(); i = lines.find('\n', i + 1)) lines.insert(i + 1, "# ");
    return lines;
}

}  // namespace tmm::bench
