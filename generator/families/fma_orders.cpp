#include "generator/families/fma_orders.h"

#include "tmm/families/simt/rules.h"

namespace tmm {
namespace {

bool suits(KernelConfig config, int order) {
    config.fma_order = order;
    return simt::order_violation(config) == nullptr;
}

int likely_order(const KernelConfig& c, bool a_along_k, bool b_along_k) {
    if (a_along_k) return fma_order::one_row;
    if (b_along_k) return fma_order::one_column;
    if (simt::brings_by_tma(c) && c.thread_m >= 8) return fma_order::one_column;
    if (c.thread_m > c.thread_n) return c.thread_n >= 8 ? fma_order::four_columns : fma_order::one_row;
    if (c.thread_m < c.thread_n) return fma_order::one_column;
    return c.thread_m >= 8 ? fma_order::one_column : fma_order::two_columns;
}

}  // namespace

int likely_order(const KernelConfig& config, const KernelSignature& signature) {
    const int order =
        likely_order(config, simt::layout_a(config, signature).lines_along_k, simt::layout_b(config, signature).lines_along_k);
    return suits(config, order) ? order : fma_order::two_rows;
}

std::vector<KernelConfig> with_other_orders(const KernelConfig& config) {
    std::vector<KernelConfig> others;
    for (int order = 0; order < fma_order::count; ++order) {
        if (order == config.fma_order || !suits(config, order)) continue;
        others.push_back(config);
        others.back().fma_order = order;
    }
    return others;
}

}  // namespace tmm
