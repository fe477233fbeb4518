#include "generator/families/wgmma/wgmma.h"

#include <fmt/core.h>

#include <string_view>

#include "generator/text/text.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/number/arithmetic.h"

namespace tmm {

std::string wgmma_instruction(const KernelSignature& signature, const KernelConfig& config) {
    // The kernel itself says what is wrong.
    if (wgmma::first_violation(config, signature)) return {};
    const int n = wgmma::group_n(config);
    const bool transpose_left = !wgmma::left_tile(config, signature).along_k;
    const bool transpose_right = !wgmma::right_tile(config, signature).along_k;
    const int registers = n / 2;
    const ElementType sum = sum_type(signature);
    const bool whole = format_of(sum).is_integer;
    const char* const register_of_sum = whole ? "r" : "f";
    std::string names;
    std::string operands;
    for (int i = 0; i < registers; ++i) {
        const char* separator = i == 0 ? "" : i % 16 == 0 ? ", \"\n        \"" : ", ";
        names += fmt::format("{}%{}", separator, i);
        operands += fmt::format("{}\"+{}\"(sums[{}])", i == 0 ? "" : i % 6 == 0 ? ",\n          " : ", ", register_of_sum, i);
    }
    const std::string_view type = name_of(signature.type_a);
    const std::string_view multiplied = signature.compute == ComputeMode::tf32 ? "tf32" : type;
    const auto instruction =
        fmt::format("wgmma.mma_async.sync.aligned.m64n{0}k{1}.{2}.{3}.{3} ", n, wgmma::k_step(signature), name_of(sum), multiplied);
    if (wgmma::left_from_registers(config, signature)) {
        // Behind the descriptor stand a predicate, whether it adds to the sums, and two ones, by which both operands' signs are taken as
        // they are.
        return fmt::format(
            "#ifdef __CUDACC__\n"
            "template <>\n"
            "__device__ inline void tmm::ptx::wgmma_mma_async_fragments<tmm::ElementType::{0}, {1}>(\n"
            "    float (&sums)[{2}], const unsigned (&left)[4], unsigned long long right, bool adds) {{\n"
            "    asm volatile(\n"
            "        \"{{\\n\\t.reg .pred adds;\\n\\tsetp.ne.u32 adds, %{9}, 0;\\n\\t\"\n"
            "        \"{3}\"\n"
            "        \"{{{4}}}, \"\n"
            "        \"{{%{2}, %{5}, %{6}, %{7}}}, %{8}, adds, 1, 1;\\n\\t}}\"\n"
            "        : {10}\n"
            "        : \"r\"(left[0]), \"r\"(left[1]), \"r\"(left[2]), \"r\"(left[3]), \"l\"(right), \"r\"(adds ? 1 : 0));\n"
            "}}\n"
            "#endif\n\n",
            type, n, registers, instruction, names, registers + 1, registers + 2, registers + 3, registers + 4, registers + 5, operands);
    }
    // Two ones take both operands' signs as they are, which there is no choice about with whole numbers. The last operands say which
    // matrix is transposed, which only matrices of 16 bits can be.
    std::string options = whole ? "" : ", 1, 1";
    if (is_16_bit(signature.type_a)) options += fmt::format(", {}, {}", transpose_left ? 1 : 0, transpose_right ? 1 : 0);
    return fmt::format(
        "#ifdef __CUDACC__\n"
        "template <>\n"
        "__device__ inline void tmm::ptx::wgmma_mma_async<tmm::ElementType::{0}, {1}, {2}, {3}>(\n"
        "    {11} (&sums)[{4}], unsigned long long left, unsigned long long right, bool adds) {{\n"
        "    asm volatile(\n"
        "        \"{{\\n\\t.reg .pred adds;\\n\\tsetp.ne.u32 adds, %{8}, 0;\\n\\t\"\n"
        "        \"{5}\"\n"
        "        \"{{{6}}}, \"\n"
        "        \"%{4}, %{7}, adds{9};\\n\\t}}\"\n"
        "        : {10}\n"
        "        : \"l\"(left), \"l\"(right), \"r\"(adds ? 1 : 0));\n"
        "}}\n"
        "#endif\n\n",
        type, n, transpose_left, transpose_right, registers, instruction, names, registers + 1, registers + 2, options, operands,
        whole ? "unsigned" : "float");
}

}  // namespace tmm
