// Reads the files of PyTorch's TunableOp: results of tuning (tunableop_results0.csv) and products to be tuned (tunableop_untuned0.csv):
//     GemmTunableOp_Half_TN,tn_768_24_64_ld_64_64_768,Gemm_Rocblas_1216,0.033
// A line has operator and types, then operations, sizes M, N, K and leading dimensions of column-major matrices, then the result. Older
// versions write no leading dimensions. PYTORCH_TUNABLEOP_BLAS_LOG=1 appends the product as YAML of hipblaslt-bench.
#include <fmt/core.h>

#include <optional>

#include "base/text/printable.h"
#include "generator/text/foreign_lists/formats.h"
#include "generator/text/foreign_lists/scan.h"
#include "generator/text/spellings.h"

namespace tmm {
namespace {

constexpr std::string_view kOperation = "TunableOp_";

// Removes and returns the part before the next '_'; it is empty at the end.
std::string_view next(std::string_view& text) {
    const std::size_t end = std::min(text.find('_'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

[[noreturn]] void refuse(std::string_view text, const char* what) {
    throw ShapeFault{text.data(), fmt::format("{} is no {}", in_quotes(text), what), "TunableOp writes one like tn_768_24_64_ld_64_64_768"};
}

// Reads text like "tn_768_24_64_B_6_ld_64_64_768".
void read_sizes(std::string_view text, ForeignProduct& product) {
    const std::string_view whole = text;
    const std::string_view operations = next(text);
    if (operations.size() != 2) refuse(whole, "list of operations and sizes");
    product.op_a = operations.substr(0, 1);
    product.op_b = operations.substr(1, 1);
    product.m = next(text);
    product.n = next(text);
    product.k = next(text);
    while (!text.empty()) {
        const std::string_view name = next(text);
        if (name == "B") {
            product.batch = next(text);
        } else if (name == "ld") {
            product.lda = next(text);
            product.ldb = next(text);
            product.ldc = next(text);
            if (product.ldc.empty()) refuse(whole, "whole list of leading dimensions");
        } else if (name == "rw" || name == "bias") {
            // A scaled product also has the layout of its scales and the type of its bias.
            next(text);
        } else {
            refuse(name, "part of a list of sizes");
        }
    }
}

// Reads text like "GemmTunableOp_Half_TN" or "GemmTunableOp_c10::complex<float>_NN".
void read_operation(std::string_view text, ForeignProduct& product) {
    const std::size_t end = text.find(kOperation);
    if (end == std::string_view::npos) refuse(text, "operation of TunableOp");
    const std::string_view operation = text.substr(0, end);
    std::string_view types = text.substr(end + kOperation.size());
    if (operation == "ScaledGemm") product.refuse(text, "scales of A and B");
    if (operation != "ScaledGemm" && operation != "Gemm" && operation != "GemmStridedBatched" && operation != "GemmAndBias")
        refuse(text, "operation of TunableOp that tmm has");
    const std::size_t operations = types.rfind('_');
    if (operations == std::string_view::npos) refuse(text, "operation with its type");
    types = types.substr(0, operations);
    if (types == "tf32") {
        product.compute = types;
        types = {};
    }
    product.type_a = types;
    // The bias has one element for each row of the column-major C.
    if (operation == "GemmAndBias") product.epilogue = "bias_rows";
}

ForeignProduct read(std::string_view line) {
    const std::vector<std::string_view> fields = scan::parts(line, ',');
    ForeignProduct product{.record = line};
    if (fields.size() < 2) throw ShapeFault{line.data() + line.size(), "the sizes are missing", "is the line complete?"};
    read_operation(fields[0], product);
    read_sizes(fields[1], product);
    // The first two fields lack strides, scalars and activation.
    const std::size_t parameters = line.find("- {");
    if (parameters != std::string_view::npos) add_rocm_parameters(line.substr(parameters), product);
    return product;
}

}  // namespace

bool is_tunableop(std::string_view line) {
    return line.starts_with("Validator,") || (line.find("GemmTunableOp_") < 16) || line.starts_with("GemmAndBiasTunableOp_") ||
           line.starts_with("GemmStridedBatchedTunableOp_");
}

void read_tunableop(std::string_view text, ForeignList& list) {
    scan::for_each_line(text, [&](std::string_view line) {
        line = scan::trimmed(line);
        if (line.find(kOperation) == std::string_view::npos) {
            // Lines of Validator name the versions that the results belong to.
            if (line.empty() || line.front() == '#' || line.starts_with("Validator,")) return;
            list.leave_out({line.data(), fmt::format("{} is no line of TunableOp", in_quotes(line)),
                            "such lists have lines of Validator and of operations"});
            return;
        }
        list.add([&] { return read(line); });
    });
}

}  // namespace tmm
