// The columns of an export, with the way in which each field of a record is spelled and read back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "db/store/records.h"

namespace tmm {

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

}  // namespace tmm
