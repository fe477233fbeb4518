// The names that people and other programs give to what tmm calls f16, tf32 or nt.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tmm/vocabulary/problem_fields.h"

namespace tmm {

// ASCII letters in lower case.
std::string lowered(std::string_view text);

// plain: names that everybody understands (half, bfloat16, torch.float32). blas: also those of BLAS libraries (h, f16_r, CUDA_R_16F).
enum class Spelling { plain, blas };

// Returns tmm's name of an element type, or the text in lower case if the type is unknown.
std::string type_name(std::string_view text, Spelling spelling);
// Returns what an element type is that tmm lacks, such as "FP8" for "f8_r" and "Float8_e4m3fn", or an empty text if that is unknown, too.
std::string_view foreign_type(std::string_view text);
// Returns the number of the value that the text names, in either case.
std::optional<int> value_of(const ValueNames& names, std::string_view text);
// Returns a remedy like "did you mean bf16? One of f32, f16, bf16", with the values that kernels serve.
std::string meant_value(const ValueNames& names, std::string_view text);
// Whether a layout like "col", "column_major" or "RowMajor" is column-major; nothing if the text is no layout.
std::optional<bool> is_column_major(std::string_view text);

}  // namespace tmm
