// Records as text, CSV or JSON, with the same columns in both; text that is written reads back as the same records.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "db/store/records.h"

namespace tmm {

// A column, with the way in which a field of a record is spelled and read back.
struct RecordField {
    std::string name;
    bool in_measurements = true;
    bool in_selections = true;
    // A record without this field says nothing.
    bool required = false;
    // Whether JSON needs quotes around the value.
    bool is_text = false;
    // The text is empty where nothing is known.
    std::function<std::string(const TuningRecord&)> get;
    // Throws Error (bad_input) that says which values are valid.
    std::function<void(TuningRecord&, std::string_view)> set;

    bool belongs_to(const TuningRecord& record) const {
        return record.kind == TuningRecord::Kind::selection ? in_selections : in_measurements;
    }
};

// The fields in the order of the columns. The first one is "record": "measurement" or "selection".
const std::vector<RecordField>& record_fields();

std::string to_csv(const std::vector<TuningRecord>& records);
std::string to_json(const std::vector<TuningRecord>& records);

// Text that begins with '{' is JSON, else CSV. Throws Error (bad_input) with "name:line:column" and what is wrong there.
std::vector<TuningRecord> parse_records(std::string_view text, const std::string& name);
// Throws Error (bad_input) also where the file can't be read.
std::vector<TuningRecord> read_records(const std::filesystem::path& file);

}  // namespace tmm
