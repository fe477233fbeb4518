// shapes.txt: one problem a line, "M N K [key=value …]"; also "1024x1024x1024"; ranges "128:1024:128" multiply out; # comments. One size of
// a line may vary, "1:8192:auto": whoever reads the file picks the sizes.
// Keys: dtype, ctype, compute, ops, layout, batch, lda, ldb, ldc, align, alpha, beta; and for what a program may ask of the
// runtime but seldom stands in a file: btype, stride_a, stride_b, stride_c, epilogue.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generator/text/shape_line.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// A size that varies, first:last:auto, while all else that the line says stays.
struct VaryingSize {
    // 'M', 'N' or 'K'.
    char name = 'M';
    i64 first = 1;
    i64 last = 1;
    std::function<GemmProblem(i64 size)> problem_of;
};

struct Shape {
    GemmProblem problem;
    double alpha = 1;
    double beta = 0;
    // Line in the file, from 1.
    int line = 0;
    // Null where no size varies. Otherwise the problem is that of the last size.
    std::shared_ptr<const VaryingSize> varying = {};
    // The problem's size was picked of those of a line where it varies: others are judged by what is measured for it.
    bool is_sample_size = false;
};

// Whether lines may have sizes that vary.
enum class Varying { refused, allowed };

// The problem with the line's own alpha and beta, which are no part of it: a problem by itself spells beta=1 for any beta but 0.
std::string to_text(const Shape& shape);

// A column-major line becomes the row-major problem over the same memory: A and B change places, m and n too.
// Leading dimensions are an unpadded row's unless given, strides rows * ld. Sizes start at 1: an empty product needs no kernel.
// Ranges multiply out to at most 1,000,000 problems.
// Equal problems are kept once, in order of first appearance. Throws Error (bad_input) with "name:line:column", the first
// fault and, where there are more, their number. "-" is standard input, which faults call <stdin>.
//
// A list of another program's is known by its first line that says so, and read as generator/text/foreign_lists/ has it. What of it gives
// no problem is said in log lines, each with its place, and costs no other line; where nothing is left, the first of them is thrown.
std::vector<Shape> parse_shapes(std::string_view text, const std::string& name, const ShapeOverrides& overrides = {},
                                Varying varying = Varying::refused);
std::vector<Shape> read_shapes(const std::filesystem::path& file, const ShapeOverrides& overrides = {}, Varying varying = Varying::refused);

// A line of another program's list that gives no problem.
struct ShapeRemark {
    // "name:line:column"
    std::string where;
    std::string what;
    std::string remedy;
};
struct ShapeList {
    std::vector<Shape> shapes = {};
    // Whose list it is; null where it is a shapes file.
    const char* format = nullptr;
    // The first hundred of the lines that are left out.
    std::vector<ShapeRemark> remarks = {};
    std::size_t left_out = 0;
};
// The same, with what parse_shapes says in log lines.
ShapeList parse_shape_list(std::string_view text, const std::string& name, const ShapeOverrides& overrides = {},
                           Varying varying = Varying::refused);
// One line, as --shape and tmm-db show take it. Throws Error (usage) with the column.
Shape parse_shape(std::string_view text, const ShapeOverrides& overrides = {});

}  // namespace tmm
