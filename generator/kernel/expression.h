// An expression that a caller wrote, as the epilogue of a kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tmm {

// The text of an expression over x, row, column, batch, bias, residual and p0 to p3. The caller's program gives it, and nothing else: no
// database, file or environment.
struct Expression {
    std::string text;
    // The caller's matrices are column-major: what a kernel takes for a row of C is a column to the caller.
    bool column_major = false;

    friend bool operator==(const Expression&, const Expression&) = default;
};

// Why the text can't be one expression, in words; nothing where it may be one. What it means the compiler says.
std::optional<std::string> why_no_expression(std::string_view text);

// Does the text name row or column?
bool names_place(std::string_view text);

// What the compiler says of the expression in a log of a kernel that it stands in: its lines, with places counted from the expression's
// first character on; empty where the log says nothing of the expression.
std::string words_on_expression(const std::string& log);

// The member `expression` of a stub's struct Kernel, which templates/tmm/output/epilogue.cuh calls.
std::string definition_of(const Expression& expression);
// What the stub includes for it.
inline constexpr const char* kExpressionInclude = "#include \"tmm/output/expression.cuh\"\n\n";

// A few letters and digits that tell texts apart in the names of kernels.
std::string short_name_of(const Expression& expression);

}  // namespace tmm
