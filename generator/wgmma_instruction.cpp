#include "generator/wgmma_instruction.h"

#include <fmt/core.h>

#include "generator/text.h"
#include "tmm/wgmma.h"

namespace tmm {

std::string wgmma_instruction(const KernelSignature& signature, const KernelConfig& config) {
    // The kernel itself says what is wrong.
    if (wgmma::first_violation(config, signature)) return {};
    const int n = wgmma::group_n(config);
    const bool transpose_left = !wgmma::left_tile(config, signature).along_k;
    const bool transpose_right = !wgmma::right_tile(config, signature).along_k;
    const int registers = n / 2;
    std::string names;
    std::string operands;
    for (int i = 0; i < registers; ++i) {
        const char* separator = i == 0 ? "" : i % 16 == 0 ? ", \"\n        \"" : ", ";
        names += fmt::format("{}%{}", separator, i);
        operands += fmt::format("{}\"+f\"(sums[{}])", i == 0 ? "" : i % 6 == 0 ? ",\n          " : ", ", i);
    }
    const std::string_view type = name_of(signature.type_a);
    // The flags behind the descriptors: add to the sums, take both operands' signs as they are, and who is transposed.
    return fmt::format(
        "template <>\n"
        "__device__ inline void tmm::ptx::wgmma_mma_async<tmm::ElementType::{0}, {1}, {2}, {3}>(\n"
        "    float (&sums)[{4}], unsigned long long left, unsigned long long right) {{\n"
        "    asm volatile(\n"
        "        \"wgmma.mma_async.sync.aligned.m64n{1}k{5}.f32.{0}.{0} \"\n"
        "        \"{{{6}}}, \"\n"
        "        \"%{4}, %{7}, 1, 1, 1, {8}, {9};\"\n"
        "        : {10}\n"
        "        : \"l\"(left), \"l\"(right));\n"
        "}}\n\n",
        type, n, transpose_left, transpose_right, registers, wgmma::k_step(signature), names, registers + 1, transpose_left ? 1 : 0,
        transpose_right ? 1 : 0, operands);
}

}  // namespace tmm
