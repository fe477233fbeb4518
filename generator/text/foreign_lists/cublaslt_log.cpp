// Reads logs of cublasLt (CUBLASLT_LOG_LEVEL=2 or more) and of hipBLASLt, which have one line for each product:
//     […][cublasLt][53055][Trace][cublasLtMatmul] A=0X7F… Adesc=[type=R_16F rows=32 cols=16 ld=32] … Ddesc=[…]
//     computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T epilogue=EPILOGUE_BIAS] … beta=0 outOfPlace=0
// Lines of other calls are skipped. Matrices are column-major unless the log has order=ORDER_ROW; default values are not logged.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/text/printable.h"
#include "generator/text/foreign_lists/formats.h"
#include "generator/text/foreign_lists/scan.h"
#include "generator/text/spellings.h"

namespace tmm {
namespace {

// Returns the value in a text of "name=value" pairs. The name is given in lower case, because hipBLASLt writes capitals elsewhere.
std::string_view value_of(std::string_view text, std::string_view name) {
    for (const std::string_view part : scan::parts(text, ' ')) {
        const std::size_t equals = part.find('=');
        if (equals != std::string_view::npos && lowered(part.substr(0, equals)) == name) return part.substr(equals + 1);
    }
    return {};
}

// Returns the text between the brackets of "Adesc=[…]", or a view with a null pointer if the line has none.
std::string_view descriptor(std::string_view line, std::string_view name) {
    const std::string opening = std::string(name) + "=[";
    const std::size_t at = line.find(opening);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = at + opening.size();
    const std::size_t end = line.find(']', begin);
    if (end == std::string_view::npos)
        throw ShapeFault{line.data() + line.size(), fmt::format("there is no ] behind {}=[", name), "is the line complete?"};
    return line.substr(begin, end - begin);
}

struct Matrix {
    std::string_view type, rows, columns, ld, batch, stride;
    bool is_row_major = false;
};

Matrix matrix_of(std::string_view layout, std::string_view line, const char* name) {
    if (!layout.data()) throw ShapeFault{line.data() + line.size(), fmt::format("{} is missing", name), "is the line complete?"};
    const std::string_view order = value_of(layout, "order");
    if (!order.empty() && order != "ORDER_COL" && order != "ORDER_ROW")
        refuse_foreign(order, fmt::format("the order {} of a matrix", in_quotes(order)));
    if (const std::string_view mode = value_of(layout, "batchmode"); mode == "POINTER_ARRAY") refuse_foreign(mode, "arrays of pointers");
    if (const std::string_view planes = value_of(layout, "planeoffsetbytes"); !planes.empty() && planes != "0")
        refuse_foreign(planes, "complex numbers in planes");
    return {.type = value_of(layout, "type"),
            .rows = value_of(layout, "rows"),
            .columns = value_of(layout, "cols"),
            .ld = value_of(layout, "ld"),
            .batch = value_of(layout, "batchcount"),
            .stride = value_of(layout, "stridedbatchoffset"),
            .is_row_major = order == "ORDER_ROW"};
}

bool is_transposed(std::string_view op) {
    return op == "OP_T" || op == "OP_C";
}

void add_epilogue(std::string_view description, ForeignProduct& product) {
    const std::string_view epilogue = value_of(description, "epilogue");
    // cublasLt's GELU is the approximation by tanh; its bias has one element for each row of D.
    constexpr std::pair<std::string_view, std::string_view> kEpilogues[] = {
        {"EPILOGUE_DEFAULT", ""},       {"EPILOGUE_BIAS", "bias_rows"},
        {"EPILOGUE_RELU", "relu"},      {"EPILOGUE_RELU_BIAS", "bias_rows+relu"},
        {"EPILOGUE_GELU", "gelu_tanh"}, {"EPILOGUE_GELU_BIAS", "bias_rows+gelu_tanh"}};
    if (epilogue.empty()) return;
    for (const auto& [theirs, ours] : kEpilogues) {
        if (epilogue != theirs) continue;
        product.epilogue = ours;
        if (product.epilogue.starts_with("bias")) product.type_bias = value_of(description, "biasdatatype");
        return;
    }
    product.refuse(epilogue, fmt::format("the epilogue {}", in_quotes(epilogue)));
}

void refuse_unserved(std::string_view description, ForeignProduct& product) {
    for (const std::string_view part : scan::parts(description, ' ')) {
        const std::string name = lowered(part.substr(0, part.find('=')));
        const std::string_view value = part.substr(std::min(part.find('=') + 1, part.size()));
        const bool is_null = value == "0x0" || value == "0X0" || value == "0" || value == "(nil)";
        if ((name.ends_with("scalepointer") || name == "amaxdpointer") && !is_null) product.refuse(part, "scales of a matrix");
        if (name == "fillmode" && value != "MODE_FULL" && value != "FULL") product.refuse(part, "one triangle of D");
        if (name == "transc" && value != "OP_N") product.refuse(part, "a transposed C");
        if (name == "pointermode" && value.find("VECTOR") != std::string_view::npos) product.refuse(part, "an alpha for each row");
        if (name == "biasbatchstride" && !is_null) product.refuse(part, "a bias for each member of the batch");
    }
}

// Checks that op(A), op(B) and D fit.
void check_sizes(const Matrix& a, const Matrix& b, const Matrix& d, bool transposes_a, bool transposes_b, std::string_view place) {
    const std::string_view rows_a = transposes_a ? a.columns : a.rows, columns_a = transposes_a ? a.rows : a.columns;
    const std::string_view rows_b = transposes_b ? b.columns : b.rows, columns_b = transposes_b ? b.rows : b.columns;
    if (rows_a != d.rows || columns_b != d.columns || columns_a != rows_b || a.batch != d.batch || b.batch != d.batch)
        throw ShapeFault{
            place.data(),
            fmt::format("op(A) is {}x{}, op(B) is {}x{} and D is {}x{}: they do not fit, or their batches do not", printable(rows_a),
                        printable(columns_a), printable(rows_b), printable(columns_b), printable(d.rows), printable(d.columns)),
            "is the line complete?"};
}

// A beta in device memory is logged as "?". Then the product reads C, if there is a C.
std::string_view beta_of(std::string_view behind) {
    const std::string_view beta = value_of(behind, "beta");
    if (beta != "?") return beta;
    const std::string c = lowered(value_of(behind, "c"));
    return c == "0x0" ? "0" : "1";
}

ForeignProduct product_of(std::string_view line) {
    ForeignProduct product{.record = line};
    const std::string_view layout_c = descriptor(line, "Cdesc");
    const std::string_view layout_d = descriptor(line, "Ddesc");
    const Matrix a = matrix_of(descriptor(line, "Adesc"), line, "Adesc");
    const Matrix b = matrix_of(descriptor(line, "Bdesc"), line, "Bdesc");
    const Matrix d = matrix_of(layout_d.data() ? layout_d : layout_c, line, "Ddesc");
    const std::string_view description = descriptor(line, "computeDesc");
    if (!description.data()) throw ShapeFault{line.data() + line.size(), "computeDesc is missing", "is the line complete?"};
    refuse_unserved(description, product);
    const std::string_view op_a = value_of(description, "transa"), op_b = value_of(description, "transb");
    check_sizes(a, b, d, is_transposed(op_a), is_transposed(op_b), line);
    product.m = d.rows;
    product.n = d.columns;
    product.k = is_transposed(op_a) ? a.rows : a.columns;
    product.column_major = !d.is_row_major;
    // A row-major matrix is the transpose of a column-major one.
    const auto op_in_order_of_d = [&](std::string_view op, const Matrix& matrix) -> std::string_view {
        if (matrix.is_row_major == d.is_row_major) return op;
        return is_transposed(op) ? "N" : "T";
    };
    product.op_a = op_in_order_of_d(op_a, a);
    product.op_b = op_in_order_of_d(op_b, b);
    product.type_a = a.type;
    product.type_b = b.type;
    product.type_c = d.type;
    product.lda = a.ld;
    product.ldb = b.ld;
    product.ldc = d.ld;
    product.batch = d.batch;
    // The default stride is 0: all members of the batch share the matrix.
    product.stride_a = a.stride.empty() ? "0" : a.stride;
    product.stride_b = b.stride.empty() ? "0" : b.stride;
    product.stride_c = d.stride;
    product.compute = value_of(description, "computetype");
    add_epilogue(description, product);
    product.alpha = value_of(line, "alpha");
    if (product.alpha == "?") product.alpha = {};
    product.beta = beta_of(line);
    if (product.reads_c() && layout_c.data() && layout_d.data() && layout_c != layout_d)
        refuse_foreign(layout_c, "a C that lies otherwise than D");
    return product;
}

// Whether the line logs a call that multiplies. Lines of other calls, such as those for heuristics, repeat the same descriptors.
bool is_matmul(std::string_view line) {
    const std::size_t layouts = line.find("Adesc=[");
    if (layouts == std::string_view::npos) return false;
    const std::size_t name = line.rfind(']', layouts);
    if (name == std::string_view::npos) return false;
    return lowered(line.substr(0, name)).ends_with("matmul");
}

}  // namespace

bool is_cublaslt_log(std::string_view line) {
    return line.find("Adesc=[") != std::string_view::npos || line.find("[cublasLt]") != std::string_view::npos;
}

void read_cublaslt_log(std::string_view text, ForeignList& list) {
    scan::for_each_line(text, [&](std::string_view line) {
        line = scan::trimmed(line);
        if (is_matmul(line)) list.add([&] { return product_of(line); });
    });
}

}  // namespace tmm
