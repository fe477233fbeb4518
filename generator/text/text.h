// How the vocabulary is written and read: command lines, JSON, database columns and messages all use these spellings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm {

std::string_view name_of(ElementType type);
std::string_view name_of(ComputeMode mode);
std::string_view name_of(Epilogue epilogue);
std::string_view name_of(Activation activation);
std::string_view name_of(BiasAxis axis);
std::string_view name_of(Result result);
// The name is "nn", "nt", "tn" or "tt".
std::string ops_name(Operation op_a, Operation op_b);
// The names of the values that kernels serve: "f32, f16, bf16".
std::string offered_names(const ValueNames& values);
// Throw Error (usage) that lists the valid names.
ElementType parse_element_type(std::string_view text);
ComputeMode parse_compute_mode(std::string_view text);
// Why a text can't be read, and what to write instead.
struct TextFault {
    std::string what;
    std::string remedy;
};
// Reads "bias+gelu+residual" or "none" as the problem's epilogue. An expression can't be written so. Nothing is returned where it is read.
std::optional<TextFault> read_epilogue(std::string_view text, GemmProblem& problem);
// "bias+gelu+residual"; "none" where there is no epilogue.
std::string epilogue_text(const GemmProblem& problem);

// "1024x1024x1024", then what differs from an unpadded f32 nn problem: " ops=nt batch=4 lda=1032".
// A row-major shapes-file line that parses back to the same problem.
std::string to_text(const GemmProblem& problem);

// "simt 128x64x16 t8x4 s3": the family, the block's tile, then what differs from neutral, by the tokens of kParameters.
std::string to_text(const KernelConfig& config);
// "family=simt,block_m=128,…": the fields that differ from their neutral values under their own names.
std::string fields_text(const KernelConfig& config);
// Reads either spelling: tokens and name=value fields, separated by spaces or commas. What it does not know, values out of range
// and repeated fields throw Error (usage) that names the token.
KernelConfig parse_config(std::string_view text);
// The same text, with configs that are spelled by their fields in the short spelling: sentences that older programs stored.
std::string with_short_configs(std::string_view text);

// What a field of a config means, and its token in the short spelling; empty where another field's token holds it as well.
struct ConfigFieldHelp {
    std::string name;
    std::string token;
    std::string help;
};
// The fields stand in the order of the spelling.
std::vector<ConfigFieldHelp> config_field_help();

}  // namespace tmm
