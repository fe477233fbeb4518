// Writes and parses exports. The parser keeps each cell's place, so that an error can name it.
#include "db/store/record_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "db/store/fields.h"
#include "generator/families/family.h"
#include "generator/machine/device_info.h"
#include "generator/text/text.h"

namespace tmm {
namespace {

constexpr int kFormatVersion = 1;

struct Place {
    std::size_t line = 1;
    std::size_t column = 1;
};

struct Cell {
    std::string name;
    std::string text;
    Place place;
};

struct Source {
    std::string_view text;
    const std::string& name;

    [[noreturn]] void fail(Place place, std::string what, std::string remedy = {}) const {
        throw Error(ExitStatus::bad_input, std::move(what), fmt::format("{}:{}:{}", name, place.line, place.column), std::move(remedy));
    }
    Place place_of(std::size_t offset) const {
        offset = std::min(offset, text.size());
        const auto before = text.substr(0, offset);
        const auto newline = before.rfind('\n');
        return {.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
                .column = newline == std::string_view::npos ? offset + 1 : offset - newline};
    }
};

const RecordField* find_field(std::string_view name) {
    for (const auto& field : record_fields())
        if (field.name == name) return &field;
    return nullptr;
}

// A record from cells of known names. Leading dimensions and strides that are left out are those of matrices without padding.
TuningRecord make_record(const Source& source, Place start, const std::vector<Cell>& cells) {
    TuningRecord record;
    // Exports have their cells in the order of the fields, so that a cell mostly stands right behind the one that was found before.
    std::size_t next = 0;
    const auto cell_of = [&](std::string_view name) -> const Cell* {
        for (std::size_t i = 0; i < cells.size(); ++i, ++next) {
            if (next >= cells.size()) next = 0;
            if (cells[next].name == name) return cells[next].text.empty() ? nullptr : &cells[next];
        }
        return nullptr;
    };
    for (const auto& field : record_fields()) {
        const Cell* cell = cell_of(field.name);
        if (!cell && field.required && field.belongs_to(record)) source.fail(start, fmt::format("this record has no {}", field.name));
        if (!cell) continue;
        if (!field.belongs_to(record)) source.fail(cell->place, fmt::format("a {} has no {}", record_fields()[0].get(record), field.name));
        try {
            field.set(record, cell->text);
        } catch (const Error& error) {
            source.fail(cell->place, error.what());
        }
    }
    GemmProblem& p = record.problem;
    for (const ProblemField& field : kProblemFields) {
        if (cell_of(field.name)) continue;
        const i64 value = field.unwritten(p);
        if (value < 0) source.fail(start, fmt::format("the default of {} does not fit in 64 bits", field.name));
        field.set(p, std::max(value, field.range.least_written));
    }
    // A batch without members has no strides.
    if (p.batch == 0) {
        if (!cell_of("stride_a")) p.stride_a = 0;
        if (!cell_of("stride_b")) p.stride_b = 0;
        if (!cell_of("stride_c")) p.stride_c = 0;
    }
    if (const auto misused = find_misused_field(record.config)) {
        const Cell* cell = cell_of(misused->field->name);
        source.fail(cell ? cell->place : start, misused->why);
    }
    record.environment.device.emulated = record.environment.device.name == kEmulatedName;
    for (const auto& reason : {why_inconsistent(p), why_inconsistent(record.measurement)})
        if (!reason.empty()) source.fail(start, reason);
    return record;
}

class CsvParser {
public:
    explicit CsvParser(const Source& source) : source_(source) {}

    std::vector<TuningRecord> parse() {
        const std::vector<Cell> header = line();
        if (header.empty() || (header.size() == 1 && header[0].text.empty()))
            source_.fail(here(), "the file is empty", "the first line names the columns, as 'tmm-db export --csv' writes them");
        for (std::size_t i = 0; i < header.size(); ++i) {
            if (!find_field(header[i].text))
                source_.fail(header[i].place, fmt::format("'{}' is no column of an export", one_line(header[i].text, 60)),
                             "the first line names the columns, as 'tmm-db export --csv' writes them");
            for (std::size_t j = 0; j < i; ++j)
                if (header[j].text == header[i].text)
                    source_.fail(header[i].place, fmt::format("column {} is named twice", header[i].text));
        }
        std::vector<TuningRecord> records;
        const std::string_view rest = source_.text.substr(next_);
        records.reserve(static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '\n')) + 1);
        columns_ = header.size();
        while (next_ < source_.text.size()) {
            const Place start = here();
            std::vector<Cell> cells = line();
            if (cells.size() == 1 && cells[0].text.empty()) continue;
            if (cells.size() != header.size())
                source_.fail(start, fmt::format("{} cells, but the first line names {} columns", cells.size(), header.size()));
            for (std::size_t i = 0; i < cells.size(); ++i) cells[i].name = header[i].text;
            records.push_back(make_record(source_, start, cells));
        }
        return records;
    }

private:
    Place here() const { return {.line = line_, .column = next_ - line_start_ + 1}; }

    void advance() {
        if (source_.text[next_++] != '\n') return;
        ++line_;
        line_start_ = next_;
    }

    std::string quoted() {
        const Place start = here();
        std::string text;
        for (advance(); next_ < source_.text.size(); advance()) {
            if (source_.text[next_] != '"') {
                text += source_.text[next_];
                continue;
            }
            if (source_.text.substr(next_, 2) != "\"\"") {
                advance();
                return text;
            }
            text += '"';
            advance();
        }
        source_.fail(start, "a quote is opened here and never closed");
    }

    // Reads the cells up to the end of the line, and goes past that.
    std::vector<Cell> line() {
        std::vector<Cell> cells;
        cells.reserve(columns_);
        while (true) {
            Cell cell{.name = {}, .text = {}, .place = here()};
            if (next_ < source_.text.size() && source_.text[next_] == '"') {
                cell.text = quoted();
            } else {
                std::size_t end = next_;
                while (end < source_.text.size() && source_.text[end] != ',' && source_.text[end] != '\r' && source_.text[end] != '\n')
                    ++end;
                cell.text = std::string(source_.text.substr(next_, end - next_));
                next_ = end;
            }
            cells.push_back(std::move(cell));
            if (source_.text.substr(next_, 2) == "\r\n") ++next_;
            if (next_ == source_.text.size()) return cells;
            const char separator = source_.text[next_];
            if (separator != ',' && separator != '\n') source_.fail(here(), "expected a comma or the end of the line");
            advance();
            if (separator == '\n') return cells;
        }
    }

    const Source& source_;
    std::size_t next_ = 0;
    std::size_t line_ = 1;
    std::size_t line_start_ = 0;
    // How many cells a line is expected to have.
    std::size_t columns_ = 0;
};

// Tells how far the JSON parser has read.
struct CountingIterator {
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    const char* at = nullptr;
    const char** furthest = nullptr;

    reference operator*() const { return *at; }
    CountingIterator& operator++() {
        ++at;
        if (furthest) *furthest = at;
        return *this;
    }
    CountingIterator operator++(int) {
        auto old = *this;
        ++*this;
        return old;
    }
    friend bool operator==(const CountingIterator& x, const CountingIterator& y) { return x.at == y.at; }
    friend bool operator!=(const CountingIterator& x, const CountingIterator& y) { return x.at != y.at; }
};

// Takes the parts of {"tmm_export": 1, "records": [{…}, …]} as the parser reads them.
class JsonHandler : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit JsonHandler(const Source& source) : source_(source), furthest_(source.text.data()) {}

    const char** furthest() { return &furthest_; }
    std::vector<TuningRecord> take() { return std::move(records_); }

    bool null() override { return value({}); }
    bool boolean(bool x) override { return value(x ? "1" : "0"); }
    bool number_integer(number_integer_t x) override { return value(std::to_string(x)); }
    bool number_unsigned(number_unsigned_t x) override { return value(std::to_string(x)); }
    bool number_float(number_float_t, const string_t& text) override { return value(text); }
    bool string(string_t& text) override { return value(text); }
    bool binary(binary_t&) override { return false; }

    bool start_object(std::size_t) override {
        if (depth_ == 0)
            depth_ = 1;
        else if (depth_ == 2)
            depth_ = 3, start_ = before(1), cells_.clear();
        else
            unexpected("an object");
        return true;
    }
    bool key(string_t& name) override {
        key_ = name;
        key_place_ = before(name.size() + 2);
        if (depth_ == 3) {
            if (!find_field(name)) source_.fail(key_place_, fmt::format("a record has no field '{}'", one_line(name, 60)));
            for (const auto& cell : cells_)
                if (cell.name == name) source_.fail(key_place_, fmt::format("{} is given twice", name));
        } else if (name != "tmm_export" && name != "records") {
            source_.fail(key_place_, fmt::format("'{}' is no part of an export", one_line(name, 60)), kShape);
        }
        return true;
    }
    bool end_object() override {
        if (depth_ == 3) {
            records_.push_back(make_record(source_, start_, cells_));
            depth_ = 2;
        } else if (!version_seen_) {
            source_.fail({}, "this is no export of tmm-db: \"tmm_export\" is missing", kShape);
        }
        return true;
    }
    bool start_array(std::size_t) override {
        if (depth_ != 1 || key_ != "records") unexpected("an array");
        depth_ = 2;
        return true;
    }
    bool end_array() override {
        depth_ = 1;
        return true;
    }
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
        std::string what = error.what();
        constexpr int kOverflow = 406;
        if (error.id == kOverflow) what = fmt::format("the number {} is larger than any that a field takes", token);
        // "[json.exception…] parse error at line 1, column 2: syntax error while …": the place is ours to say.
        if (const auto colon = what.find(": "); colon != std::string::npos) what.erase(0, colon + 2);
        source_.fail(source_.place_of(position > 0 ? position - 1 : 0), one_line(what, 300));
    }

private:
    static constexpr const char* kShape = "it looks like {\"tmm_export\": 1, \"records\": [{…}, …]}, as 'tmm-db export --json' writes it";

    // Counts on from the last place that was asked for: counting from the beginning each time would take for ever on a large export.
    Place before(std::size_t bytes) {
        const auto read = static_cast<std::size_t>(furthest_ - source_.text.data());
        const std::size_t offset = read - std::min(read, bytes);
        if (offset < counted_) return source_.place_of(offset);
        for (; counted_ < offset; ++counted_) {
            ++counted_place_.column;
            if (source_.text[counted_] == '\n') counted_place_ = {.line = counted_place_.line + 1, .column = 1};
        }
        return counted_place_;
    }
    [[noreturn]] void unexpected(const char* what) { source_.fail(before(1), fmt::format("{} has no place here", what), kShape); }

    bool value(const std::string& text) {
        if (depth_ == 3) {
            cells_.push_back({.name = key_, .text = text, .place = key_place_});
            return true;
        }
        if (depth_ != 1 || key_ != "tmm_export") unexpected("a value");
        if (text != std::to_string(kFormatVersion))
            source_.fail(key_place_,
                         fmt::format("the export has format {}, and this tmm reads format {}", one_line(text, 20), kFormatVersion),
                         "update tmm");
        version_seen_ = true;
        return true;
    }

    const Source& source_;
    const char* furthest_;
    std::size_t counted_ = 0;
    Place counted_place_;
    // Depth of nesting: 1 in the outer object, 2 in the array of records, 3 in a record.
    int depth_ = 0;
    bool version_seen_ = false;
    std::string key_;
    Place key_place_;
    Place start_;
    std::vector<Cell> cells_;
    std::vector<TuningRecord> records_;
};

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string cell = "\"";
    for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
    return cell + '"';
}

}  // namespace

std::string to_csv(const std::vector<TuningRecord>& records) {
    std::string text;
    const char* separator = "";
    for (const auto& field : record_fields()) {
        text += separator + field.name;
        separator = ",";
    }
    text += '\n';
    for (const auto& record : records) {
        separator = "";
        for (const auto& field : record_fields()) {
            text += separator;
            if (field.belongs_to(record)) text += csv_cell(field.get(record));
            separator = ",";
        }
        text += '\n';
    }
    return text;
}

std::string to_json(const std::vector<TuningRecord>& records) {
    std::string text = fmt::format("{{\"tmm_export\": {}, \"records\": [", kFormatVersion);
    const char* line = "\n";
    for (const auto& record : records) {
        text += line;
        line = ",\n";
        const char* separator = "{";
        for (const auto& field : record_fields()) {
            if (!field.belongs_to(record)) continue;
            const std::string value = field.get(record);
            if (value.empty()) continue;
            // Infinity is no JSON number.
            const bool plain = !field.is_text && value.find("inf") == std::string::npos;
            text += fmt::format("{}\"{}\": {}", separator, field.name, plain ? value : nlohmann::json(value).dump());
            separator = ", ";
        }
        text += '}';
    }
    return text + "\n]}\n";
}

std::vector<TuningRecord> parse_records(std::string_view text, const std::string& name) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const Source source{.text = text, .name = name};
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || text[first] != '{') return CsvParser(source).parse();
    JsonHandler handler(source);
    const CountingIterator begin{.at = text.data(), .furthest = handler.furthest()};
    const CountingIterator end{.at = text.data() + text.size()};
    nlohmann::json::sax_parse(begin, end, &handler);
    return handler.take();
}

std::vector<TuningRecord> read_records(const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error)) throw Error(ExitStatus::bad_input, "this is a directory, not an export", file.string());
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (stream && stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
    // When a buffer is copied, an exception of reading is kept in the stream that it is copied to.
    if (!stream.is_open() || stream.bad() || text.bad())
        throw Error(ExitStatus::bad_input, "the file can't be read", file.string(), "check its name and permissions");
    return parse_records(text.view(), file.string());
}

}  // namespace tmm
