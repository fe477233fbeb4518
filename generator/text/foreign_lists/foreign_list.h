// Reads lists of products that other programs write. Each format has a row in foreign_formats() and a reader in a file of this folder. A
// reader fills a ForeignProduct from each record; ForeignList turns that into a problem and decides what tmm can't serve.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/text/shape_line.h"
#include "generator/text/shape_set.h"

namespace tmm {

// A product C = op(A) op(B) as a list describes it. The texts are views of the list, so that a fault can name its place. A text is empty
// where the list has none.
struct ForeignProduct {
    // The text of the whole record.
    std::string_view record = {};
    std::string_view m = {}, n = {}, k = {}, batch = {};
    bool column_major = true;
    // Operations are letters in either case, or cuBLAS's names: N, t, OP_C.
    std::string_view op_a = {}, op_b = {};
    std::string_view type_a = {}, type_b = {}, type_c = {}, type_bias = {};
    // The type of the sums, as BLAS libraries name it: f32_r, COMPUTE_32F_FAST_TF32, xf32_r.
    std::string_view compute = {};
    std::string_view lda = {}, ldb = {}, ldc = {};
    std::string_view stride_a = {}, stride_b = {}, stride_c = {};
    std::string_view alpha = {}, beta = {};
    // The epilogue is spelled as in a shapes file, in the layout of the list.
    std::string epilogue = {};
    // A feature that tmm lacks. If tmm lacks a type as well, the remark names the type.
    std::optional<ShapeFault> unserved = {};

    bool reads_c() const { return beta.find_first_not_of("0.-+") != std::string_view::npos; }
    // Notes a feature that tmm lacks; the first one counts.
    void refuse(std::string_view place, const std::string& what);
};

// Throws the fault that ForeignProduct::refuse() notes.
[[noreturn]] void refuse_foreign(std::string_view place, const std::string& what);

// A record that gives no problem. Line and column count from 1.
struct ForeignRemark {
    int line = 1;
    std::size_t column = 1;
    std::string what;
    std::string remedy;
};

// Collects the problems of a list, and remarks on the records that give none.
class ForeignList {
public:
    ForeignList(std::string_view text, const ShapeOverrides& overrides) : text_(text), overrides_(overrides), seen_(text.data()) {}

    // Adds the ForeignProduct that the function returns. A ShapeFault that the function throws becomes a remark, and so does a product that
    // tmm can't serve.
    template <typename Read>
    void add(const Read& read) {
        try {
            add_product(read());
        } catch (const ShapeFault& fault) {
            leave_out(fault);
        }
    }
    void leave_out(const ShapeFault& fault);
    // Adds the product, or throws the ShapeFault that add() would make a remark of.
    void add_product(const ForeignProduct& product);

    ShapeSet& shapes() { return shapes_; }
    // The first hundred remarks, in the order of the list.
    const std::vector<ForeignRemark>& remarks() const { return remarks_; }
    // The number of all records that gave no problem.
    std::size_t left_out() const { return left_out_; }

private:
    // The number of the line that contains the character.
    int line_of(const char* place);

    std::string_view text_;
    const ShapeOverrides& overrides_;
    ShapeSet shapes_;
    std::vector<ForeignRemark> remarks_;
    std::size_t left_out_ = 0;
    // Lines are counted up to here: the next question is usually about a later line.
    const char* seen_;
    int line_ = 1;
};

struct ForeignFormat {
    const char* name;
    // Whether the line occurs in lists of this format only.
    bool (*recognises)(std::string_view line);
    void (*read)(std::string_view text, ForeignList& list);
};
std::span<const ForeignFormat> foreign_formats();
// The format that recognises a line of the text first. The result is null if none does, or if a line of a shapes file comes before.
const ForeignFormat* foreign_format_of(std::string_view text);

}  // namespace tmm
