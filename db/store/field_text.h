// Configs and problems as the database stores them: JSON text of the fields that differ from neutral, written and read by the tables that
// list the fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {

// What the text says of one field.
struct StoredField {
    // Its name there, and the column of the views problem_fields and config_fields.
    const char* name;
    // A field without a place in the text has this value.
    i64 neutral;
    i64 least;
    i64 most;
    // Where values have names, the text has those.
    ValueNames values;

    bool is_named() const { return values.count > 0; }
    bool has_name(i64 value) const { return value >= 0 && value < values.count && values.names[value][0] != '\0'; }
};
// They are in the order of kParameters, and of problem_fields(). A problem's neutral values are those of GemmProblem{}.
const std::vector<StoredField>& stored_config_fields();
const std::vector<StoredField>& stored_problem_fields();

// {"family":"simt","block_m":64}. Equal ones have equal texts.
std::string field_text(const KernelConfig& config);
std::string field_text(const GemmProblem& problem);

// Reads such a text and returns what is wrong with it: no JSON, a field that there is none of, a value out of its range ("slice_k is 77,
// outside 1 … 64"), or not what field_text() would have written. The result is empty where nothing is wrong. Whether the values belong
// together is left to the caller.
std::string read_field_text(std::string_view text, KernelConfig& config);
std::string read_field_text(std::string_view text, GemmProblem& problem);

}  // namespace tmm
