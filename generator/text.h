// How the vocabulary is written and read: command lines, JSON, database columns and messages all use these spellings.
#pragma once

#include <string>
#include <string_view>

#include "tmm/config.h"
#include "tmm/problem.h"

namespace tmm {

std::string_view name_of(ElementType type);
std::string_view name_of(ComputeMode mode);
std::string_view name_of(Epilogue epilogue);
// "nn", "nt", "tn", "tt".
std::string ops_name(Operation op_a, Operation op_b);
// Throw Error (usage) that lists the valid names.
ElementType parse_element_type(std::string_view text);
ComputeMode parse_compute_mode(std::string_view text);
Epilogue parse_epilogue(std::string_view text);

// "1024x1024x1024", then what differs from an unpadded f32 nn problem: " ops=nt batch=4 lda=1032".
// A row-major shapes-file line that parses back to the same problem.
std::string to_text(const GemmProblem& problem);
// What operands of the type are computed in unless something else is said.
constexpr ComputeMode default_compute(ElementType type) {
    return type == ElementType::f64 ? ComputeMode::f64 : ComputeMode::f32;
}

// "family=simt,block_m=128,…": the fields that differ from their neutral values.
std::string to_text(const KernelConfig& config);
// The inverse; unknown names, values out of range and repeated fields throw Error (usage) that names the field.
KernelConfig parse_config(std::string_view text);

}  // namespace tmm
