// Reads command lines of rocblas-bench and hipblaslt-bench, from scripts and from the logs of ROCBLAS_LAYER=2 and HIPBLASLT_LOG_MASK=32,
// and the YAML that ROCBLAS_LAYER=4 and HIPBLASLT_LOG_MASK=64 log:
//     ./rocblas-bench -f gemm_ex --transposeA N --transposeB T -m 48 -n 40 -k 24 --a_type f16_r … --compute_type f32_r
//     - { rocblas_function: "rocblas_gemm_ex", a_type: "f16_r", transA: 'N', M: 48, N: 40, K: 24, lda: 48, … }
// Matrices are column-major, and D = alpha op(A) op(B) + beta C. tmm's C is this D.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/printable.h"
#include "generator/text/foreign_lists/formats.h"
#include "generator/text/foreign_lists/scan.h"
#include "generator/text/spellings.h"

namespace tmm {
namespace {

constexpr std::array<std::string_view, 3> kPrograms = {"rocblas-bench", "hipblaslt-bench", "hipblas-bench"};

// Returns the offset of the options of such a command, or npos if the line has no such command.
std::size_t options_begin(std::string_view line) {
    for (const std::string_view program : kPrograms) {
        const std::size_t at = line.find(program);
        const std::size_t end = at + program.size();
        if (at != std::string_view::npos && end < line.size() && scan::kBlanks.find(line[end]) != std::string_view::npos) return end;
    }
    return std::string_view::npos;
}

bool is_yaml(std::string_view line) {
    return line.starts_with("-") && line.find('{') != std::string_view::npos && line.find("function:") != std::string_view::npos;
}

bool is_number(std::string_view word) {
    return word.size() > 1 && (word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
}

// Returns the words of a command up to a pipe, a redirection or the next command.
std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view kBetween = " \t\r\n";
    constexpr std::string_view kQuotes = "\"'`,";
    std::vector<std::string_view> words;
    for (std::size_t begin = 0; (begin = text.find_first_not_of(kBetween, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
        std::string_view word = text.substr(begin, end - begin);
        begin = end;
        if (word == "\\") continue;
        if (std::string_view("|&;>#").find(word.front()) != std::string_view::npos || word.starts_with("2>")) break;
        while (!word.empty() && kQuotes.find(word.front()) != std::string_view::npos) word.remove_prefix(1);
        while (!word.empty() && (kQuotes.find(word.back()) != std::string_view::npos || word.back() == ';')) word.remove_suffix(1);
        if (!word.empty()) words.push_back(word);
    }
    return words;
}

scan::Pairs options_of(std::string_view command) {
    scan::Pairs options;
    const std::vector<std::string_view> words = words_of(command);
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string_view name = words[i];
        if (!name.starts_with('-') || is_number(name)) continue;
        name.remove_prefix(name.starts_with("--") ? 2 : 1);
        const std::size_t equals = name.find('=');
        if (equals != std::string_view::npos) {
            options.push_back({name.substr(0, equals), name.substr(equals + 1)});
            continue;
        }
        const bool has_value = i + 1 < words.size() && (!words[i + 1].starts_with('-') || is_number(words[i + 1]));
        // The value of a flag is its name.
        options.push_back({name, has_value ? words[++i] : name});
    }
    return options;
}

scan::Pairs fields_of(std::string_view yaml) {
    const std::size_t begin = yaml.find('{');
    const std::size_t end = yaml.rfind('}');
    if (end == std::string_view::npos || end < begin)
        throw ShapeFault{yaml.data() + yaml.size(), "there is no } at its end", "is the line complete?"};
    scan::Pairs fields;
    for (const std::string_view field : scan::parts(yaml.substr(begin + 1, end - begin - 1), ',')) {
        const std::size_t colon = field.find(':');
        if (colon == std::string_view::npos) continue;
        fields.push_back({scan::unquoted(scan::trimmed(field.substr(0, colon))), scan::unquoted(scan::trimmed(field.substr(colon + 1)))});
    }
    return fields;
}

void add_epilogue(const scan::Pairs& pairs, ForeignProduct& product) {
    for (const auto& [name, what] : {std::pair{"gradient", "an epilogue of the backward pass"},
                                     {"use_e", "a second output of the epilogue"},
                                     {"scaleA", "scales of A"},
                                     {"scaleB", "scales of B"},
                                     {"scaleC", "scales of C"},
                                     {"scaleD", "scales of D"},
                                     {"scaleAlpha_vector", "an alpha for each row"},
                                     {"swizzleA", "an A whose tiles are reordered"},
                                     {"swizzleB", "a B whose tiles are reordered"},
                                     {"grouped_gemm", "a grouped product"}})
        if (const std::string_view value = scan::value_of(pairs, {name}); scan::says_yes(value)) product.refuse(value, what);
    // The bias has one element for each row of the column-major D.
    if (scan::says_yes(scan::value_of(pairs, {"bias_vector"}))) {
        product.epilogue = "bias_rows";
        product.type_bias = scan::value_of(pairs, {"bias_type"});
    }
    const std::string_view activation = scan::value_of(pairs, {"activation_type", "activation"});
    if (!scan::says_yes(activation)) return;
    constexpr std::pair<std::string_view, std::string_view> kActivations[] = {{"relu", "relu"}, {"gelu", "gelu_tanh"},  {"swish", "silu"},
                                                                              {"silu", "silu"}, {"sigmoid", "sigmoid"}, {"tanh", "tanh"}};
    for (const auto& [theirs, ours] : kActivations) {
        if (lowered(activation) != theirs) continue;
        product.epilogue += (product.epilogue.empty() ? "" : "+") + std::string(ours);
        return;
    }
    product.refuse(activation, fmt::format("the activation {}", in_quotes(activation)));
}

// Returns what the line has for D, or for C if it has nothing for D.
std::string_view of_result(const scan::Pairs& pairs, std::string_view of_d, std::string_view of_c, bool reads_c) {
    const std::string_view d = scan::value_of(pairs, {of_d});
    const std::string_view c = scan::value_of(pairs, {of_c});
    if (reads_c && !d.empty() && !c.empty() && lowered(d) != lowered(c))
        refuse_foreign(c, fmt::format("a C that lies otherwise than D ({})", of_c));
    return d.empty() ? c : d;
}

void add_strides(const scan::Pairs& pairs, bool reads_c, ForeignProduct& product) {
    product.batch = scan::value_of(pairs, {"batch_count", "batch"});
    product.stride_a = scan::value_of(pairs, {"stride_a"});
    product.stride_b = scan::value_of(pairs, {"stride_b"});
    product.stride_c = of_result(pairs, "stride_d", "stride_c", reads_c);
    // A stride of 0 is a default that was never filled in: the members of a batch can't share a result.
    if (product.stride_c == "0") product.stride_c = {};
}

void add_scalars(const scan::Pairs& pairs, ForeignProduct& product) {
    product.alpha = scan::value_of(pairs, {"alpha"});
    product.beta = scan::value_of(pairs, {"beta"});
}

bool reads_c(std::string_view beta) {
    return beta.find_first_not_of("0.-+") != std::string_view::npos;
}

// A function's name without library and type, such as gemm_strided_batched for rocblas_sgemm_strided_batched_64, and the letter of its
// type.
struct Function {
    std::string name;
    std::string_view type;
};

Function function_of(std::string_view text) {
    std::string name = lowered(text);
    for (const std::string_view prefix : {"rocblas_", "hipblas_", "testing_"})
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
    if (name.ends_with("_64")) name.erase(name.size() - 3);
    std::string_view type;
    if (name.size() > 4 && name.compare(1, 4, "gemm") == 0) {
        type = text.substr(lowered(text).find(name), 1);
        name.erase(0, 1);
    }
    return {name, type};
}

ForeignProduct product_of(std::string_view record, const scan::Pairs& pairs) {
    ForeignProduct product{.record = record};
    const std::string_view written = scan::value_of(pairs, {"f", "function", "rocblas_function"});
    const Function function = function_of(written);
    const bool is_matmul = function.name.empty() || function.name == "matmul";
    const bool is_strided = function.name.starts_with("gemm_strided_batched");
    if (function.name.starts_with("gemm_batched")) refuse_foreign(written, "arrays of pointers");
    if (!is_matmul && !is_strided && function.name != "gemm" && function.name != "gemm_ex")
        refuse_foreign(written, "a call of " + in_quotes(written));
    product.m = scan::value_of(pairs, {"m", "sizem"});
    product.n = scan::value_of(pairs, {"n", "sizen"});
    product.k = scan::value_of(pairs, {"k", "sizek"});
    product.op_a = scan::value_of(pairs, {"transA", "transposeA"});
    product.op_b = scan::value_of(pairs, {"transB", "transposeB"});
    add_scalars(pairs, product);
    const bool reads = reads_c(product.beta);
    const auto type_of = [&](std::string_view own) {
        if (!own.empty()) return own;
        const std::string_view all = scan::value_of(pairs, {"r", "precision"});
        return all.empty() ? function.type : all;
    };
    product.type_a = type_of(scan::value_of(pairs, {"a_type"}));
    product.type_b = type_of(scan::value_of(pairs, {"b_type"}));
    product.type_c = type_of(of_result(pairs, "d_type", "c_type", reads));
    product.compute = scan::value_of(pairs, {"compute_type", "composite_compute_type"});
    // Mode 1 is rocblas_xf32_xdl_math_op, which rounds FP32 operands.
    if (scan::value_of(pairs, {"math_mode"}) == "1") product.compute = "tf32";
    product.lda = scan::value_of(pairs, {"lda"});
    product.ldb = scan::value_of(pairs, {"ldb"});
    product.ldc = of_result(pairs, "ldd", "ldc", reads);
    if (is_matmul || is_strided) add_strides(pairs, reads, product);
    add_epilogue(pairs, product);
    return product;
}

}  // namespace

void add_rocm_parameters(std::string_view text, ForeignProduct& product) {
    const scan::Pairs pairs = fields_of(text);
    add_scalars(pairs, product);
    if (!product.batch.empty()) add_strides(pairs, reads_c(product.beta), product);
    if (const std::string_view type = scan::value_of(pairs, {"d_type"}); !type.empty()) product.type_c = type;
    add_epilogue(pairs, product);
}

bool is_rocm_bench(std::string_view line) {
    return is_yaml(line) || options_begin(line) != std::string_view::npos;
}

void read_rocm_bench(std::string_view text, ForeignList& list) {
    while (!text.empty()) {
        std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view record = scan::trimmed(text.substr(0, end));
        const bool is_command = !is_yaml(record) && options_begin(record) != std::string_view::npos && record.front() != '#';
        // A backslash continues a command on the next line.
        while (is_command && record.ends_with('\\') && end < text.size()) {
            end = std::min(text.find('\n', end + 1), text.size());
            const char* const begin = record.data();
            record = scan::trimmed(
                text.substr(static_cast<std::size_t>(begin - text.data()), end - static_cast<std::size_t>(begin - text.data())));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
        if (is_command) {
            list.add([&] { return product_of(record, options_of(record.substr(options_begin(record)))); });
        } else if (is_yaml(record)) {
            list.add([&] { return product_of(record, fields_of(record)); });
        }
    }
}

}  // namespace tmm
