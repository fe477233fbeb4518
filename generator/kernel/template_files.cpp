// Where template text comes from, and how an include tree becomes one text.
#include "generator/kernel/template_files.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/files/trusted_path.h"
#include "base/text/environment.h"

namespace tmm {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The text after "#<directive>", where the line is that directive.
std::optional<std::string_view> directive(std::string_view line, std::string_view name) {
    line = trimmed(line);
    if (line.empty() || line.front() != '#') return std::nullopt;
    line = trimmed(line.substr(1));
    if (line.substr(0, name.size()) != name) return std::nullopt;
    return trimmed(line.substr(name.size()));
}

std::optional<std::string> quoted_include(std::string_view line) {
    const auto rest = directive(line, "include");
    if (!rest || rest->size() < 2 || rest->front() != '"') return std::nullopt;
    const auto end = rest->find('"', 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string(rest->substr(1, end - 1));
}

void append_flattened(std::string_view text, const TemplateFiles& files, std::set<std::string>& included, std::string& out) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (directive(line, "pragma") == "once") continue;
        const auto path = quoted_include(line);
        if (!path || path->starts_with("host/")) {
            out.append(line).push_back('\n');
            continue;
        }
        if (!included.insert(*path).second) continue;
        const auto file = files.find(*path);
        if (file == files.end())
            throw Error(ExitStatus::bad_input, "template file '" + *path + "' is missing", {},
                        "TMM_TEMPLATES, where it is set, must name a complete copy of templates/");
        append_flattened(file->second, files, included, out);
    }
}

}  // namespace

TemplateFiles read_templates(const std::filesystem::path& directory) {
    namespace fs = std::filesystem;
    std::error_code error;
    TemplateFiles files;
    for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
        const auto extension = it->path().extension();
        if ((extension != ".h" && extension != ".cuh") || !it->is_regular_file(error)) continue;
        std::ifstream file(it->path(), std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        if (!file) throw Error(ExitStatus::bad_input, "can't read the template", it->path().string());
        files.emplace(it->path().lexically_relative(directory).generic_string(), std::move(text));
    }
    if (error)
        throw Error(ExitStatus::bad_input, "can't read the template directory: " + error.message(), directory.string(),
                    "TMM_TEMPLATES must name a copy of templates/");
    return files;
}

const TemplateFiles& active_templates() {
    static const TemplateFiles* files = [] {
        const auto directory = template_directory_override();
        if (!directory) return &embedded_templates();
        const std::string fault = why_others_can_replace(*directory, who_named(*directory));
        if (!fault.empty())
            throw Error(ExitStatus::bad_input, "the templates, which become code, are not read, since " + fault, directory->string(),
                        "TMM_TEMPLATES must name a directory that nobody else may write to");
        return static_cast<const TemplateFiles*>(new TemplateFiles(read_templates(*directory)));
    }();
    return *files;
}

std::string hash_of(const TemplateFiles& files) {
    std::string text;
    for (const auto& [name, content] : files) text += name + '\0' + content + '\0';
    return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string flatten(const std::string& text, const TemplateFiles& files) {
    std::set<std::string> included;
    return flatten(text, files, included);
}

std::string flatten(std::string_view text, const TemplateFiles& files, std::set<std::string>& included) {
    std::string out;
    append_flattened(text, files, included, out);
    return out;
}

}  // namespace tmm
