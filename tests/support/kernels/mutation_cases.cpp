#include "tests/support/kernels/mutation_cases.h"

#include <algorithm>
#include <utility>

#include "generator/machine/assumed_device.h"
#include "tmm/vocabulary/problem_fields.h"
#include "tmm/vocabulary/signature.h"

namespace tmm::testing {
namespace {

constexpr Operation kNone = Operation::none;
constexpr Operation kTranspose = Operation::transpose;
using boundary::exact;
using boundary::guarded;
using boundary::peeled;

const KernelConfig kSimtConfig{
    .family = family::simt, .block_m = 32, .block_n = 64, .block_k = 8, .thread_m = 8, .thread_n = 8, .vector_width = 4};
const KernelConfig kSimtSmall{
    .family = family::simt, .block_m = 16, .block_n = 32, .block_k = 8, .thread_m = 4, .thread_n = 4, .vector_width = 4};
const KernelConfig kMmaConfig{.family = family::mma,
                              .block_m = 32,
                              .block_n = 64,
                              .block_k = 32,
                              .stages = 3,
                              .async_copy = 1,
                              .vector_width = 8,
                              .boundary = peeled,
                              .warps_m = 1,
                              .warps_n = 2};
const KernelConfig kGemvConfig{.family = family::gemv, .block_m = 2, .block_n = 32, .block_k = 16, .thread_n = 4, .vector_width = 4};

const KernelConfig kWgmmaConfig{
    .family = family::wgmma, .block_m = 64, .block_n = 64, .block_k = 64, .stages = 2, .vector_width = 8, .boundary = boundary::hardware};

KernelConfig with(KernelConfig config, int KernelConfig::*first, int value) {
    config.*first = value;
    return config;
}
template <class... Rest>
KernelConfig with(KernelConfig config, int KernelConfig::*first, int value, Rest... rest) {
    return with(with(config, first, value), rest...);
}
using C = KernelConfig;

const KernelConfig kTiledSmall{.family = family::tiled, .block_m = 8, .block_n = 8, .block_k = 8};

Case triangle(const char* name, const KernelConfig& config, std::vector<Case::Size> sizes, Result result) {
    Case one{name, kNone, kTranspose, 2, 4, true, config, std::move(sizes)};
    one.result = result;
    return one;
}
Case pointers(const char* name, const KernelConfig& config) {
    Case one{name, kNone, kNone, 3, 4, true, config, {{19, 13, 11}}};
    one.pointers = true;
    return one;
}

}  // namespace

const std::map<std::string, std::vector<Case>>& cases() {
    static const std::map<std::string, std::vector<Case>> all = {
        {"tmm/families/naive/kernel.cuh",
         {{"naive nn", kNone, kNone, 2, 4, true, {.family = family::naive, .block_m = 4, .block_n = 8}, {{19, 13, 11}, {5, 23, 7}}},
          {"naive tt", kTranspose, kTranspose, 1, 4, false, {.family = family::naive, .block_m = 8, .block_n = 4}, {{19, 13, 11}}}}},
        {"tmm/families/tiled/kernel.cuh",
         {{"tiled nn",
           kNone,
           kNone,
           2,
           4,
           true,
           {.family = family::tiled, .block_m = 8, .block_n = 8, .block_k = 8},
           {{19, 13, 21}, {5, 23, 7}}},
          {"tiled tt",
           kTranspose,
           kTranspose,
           1,
           4,
           false,
           {.family = family::tiled, .block_m = 8, .block_n = 8, .block_k = 8},
           {{19, 13, 21}, {23, 3, 9}}}}},
        {"tmm/families/simt/kernel.cuh",
         {{"simt registers", kNone, kNone, 1, 16, true, kSimtConfig, {{45, 75, 21}, {3, 130, 9}}},
          {"simt async", kTranspose, kNone, 1, 16, false, with(kSimtSmall, &C::async_copy, 1, &C::stages, 3), {{37, 41, 43}, {7, 70, 5}}},
          {"simt peeled",
           kNone,
           kNone,
           2,
           8,
           true,
           with(kSimtConfig, &C::vector_width, 2, &C::boundary, peeled),
           {{45, 75, 21}, {70, 70, 16}}},
          {"simt split", kNone, kNone, 2, 16, true, with(kSimtSmall, &C::split_k, 3, &C::raster, 2), {{45, 70, 50}}},
          {"simt cluster", kNone, kNone, 2, 16, true, with(kSimtSmall, &C::split_k, 4, &C::cluster, 4), {{45, 70, 50}, {16, 7, 9}}},
          {"simt clusters", kTranspose, kNone, 1, 16, false, with(kSimtSmall, &C::split_k, 6, &C::cluster, 3), {{37, 41, 43}}},
          {"simt stream", kNone, kNone, 2, 16, true, with(kSimtSmall, &C::stream_k, 1), {{13, 27, 50}, {45, 70, 50}}},
          {"simt stream and whole tiles",
           kNone,
           kNone,
           1,
           16,
           false,
           with(kSimtSmall, &C::stream_k, 1, &C::async_copy, 1, &C::stages, 3),
           {{45, 130, 21}, {37, 41, 0}}},
          {"simt stream along k", kNone, kTranspose, 1, 16, false, with(kSimtSmall, &C::stream_k, 1, &C::along_k, 1), {{13, 27, 100}}},
          {"simt order",
           kNone,
           kNone,
           1,
           16,
           false,
           with(kSimtSmall, &C::block_m, 32, &C::thread_m, 8, &C::async_copy, 2, &C::stages, 2, &C::fma_order, fma_order::two_rows),
           {{37, 41, 43}}},
          {"simt order of columns", kNone, kNone, 1, 16, false, with(kSimtConfig, &C::fma_order, fma_order::four_columns), {{37, 41, 43}}},
          {"simt along k of A", kNone, kNone, 1, 16, false, with(kSimtSmall, &C::along_k, 1), {{37, 41, 43}}},
          {"simt along k", kNone, kTranspose, 1, 16, false, with(kSimtSmall, &C::along_k, 1, &C::stages, 2), {{37, 41, 43}, {7, 70, 5}}},
          {"simt sliced",
           kNone,
           kNone,
           2,
           16,
           true,
           with(kSimtSmall, &C::block_k, 16, &C::slice_k, 4, &C::async_copy, 1, &C::stages, 3),
           {{37, 41, 43}, {7, 70, 5}}},
          {"simt sliced along k",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kSimtSmall, &C::block_k, 32, &C::slice_k, 4, &C::along_k, 1, &C::split_k, 2, &C::cluster, 2),
           {{37, 41, 130}}},
          {"simt lanes in a line",
           kNone,
           kNone,
           2,
           4,
           true,
           with(kSimtSmall, &C::block_m, 64, &C::block_n, 72, &C::thread_n, 12, &C::async_copy, 1, &C::stages, 3),
           {{70, 75, 21}, {64, 72, 16}}},
          {"simt exact", kNone, kNone, 1, 16, false, with(kSimtSmall, &C::boundary, exact), {{32, 64, 16}, {16, 32, 0}}},
          {"simt async exact",
           kNone,
           kNone,
           1,
           16,
           false,
           with(kSimtSmall, &C::boundary, exact, &C::async_copy, 1, &C::stages, 3),
           {{32, 64, 16}}},
          {"simt turned batch", kTranspose, kTranspose, 2, 16, true, with(kSimtSmall, &C::stages, 2), {{37, 41, 43}}}}},
        {"tmm/families/mma/kernel.cuh",
         {{"mma async",
           kNone,
           kNone,
           1,
           16,
           true,
           with(kMmaConfig, &C::block_m, 16, &C::warps_n, 4),
           {{45, 75, 107}, {7, 130, 40}},
           0,
           ElementType::f16,
           ElementType::f16},
          {"mma async turned",
           kTranspose,
           kTranspose,
           2,
           8,
           false,
           with(kMmaConfig, &C::warps_m, 2, &C::warps_n, 1, &C::boundary, guarded),
           {{45, 75, 107}},
           0,
           ElementType::bf16,
           ElementType::bf16},
          {"mma bytes",
           kNone,
           kNone,
           1,
           16,
           true,
           with(kMmaConfig, &C::block_m, 16, &C::warps_n, 4, &C::vector_width, 16),
           {{45, 75, 107}, {7, 130, 40}},
           0,
           ElementType::s8,
           ElementType::s32},
          {"mma bytes turned",
           kTranspose,
           kTranspose,
           2,
           16,
           false,
           with(kMmaConfig, &C::warps_m, 2, &C::warps_n, 1, &C::vector_width, 16),
           {{45, 75, 107}},
           0,
           ElementType::s8,
           ElementType::s32},
          {"mma doubles",
           kNone,
           kNone,
           1,
           16,
           true,
           with(kMmaConfig, &C::vector_width, 2),
           {{45, 75, 107}, {7, 130, 40}},
           0,
           ElementType::f64,
           ElementType::f64},
          {"mma doubles turned",
           kTranspose,
           kTranspose,
           2,
           8,
           false,
           with(kMmaConfig, &C::vector_width, 1, &C::block_k, 16),
           {{45, 75, 107}},
           0,
           ElementType::f64,
           ElementType::f64},
          {"mma registers",
           kNone,
           kTranspose,
           1,
           2,
           true,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 1),
           {{37, 41, 67}, {3, 70, 33}},
           0,
           ElementType::f16,
           ElementType::f16},
          {"mma realigned",
           kTranspose,
           kNone,
           2,
           2,
           false,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 2, &C::block_n, 128),
           {{37, 141, 67}, {5, 3, 11}},
           0,
           ElementType::bf16,
           ElementType::bf16},
          {"mma single elements",
           kNone,
           kNone,
           1,
           2,
           false,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 2, &C::vector_width, 1),
           {{37, 75, 67}},
           0,
           ElementType::f16,
           ElementType::f32},
          {"mma two stages",
           kTranspose,
           kNone,
           2,
           4,
           false,
           with(kMmaConfig, &C::async_copy, 0, &C::stages, 2, &C::block_k, 16, &C::vector_width, 2),
           {{37, 41, 67}},
           0,
           ElementType::bf16,
           ElementType::f32},
          {"mma split",
           kTranspose,
           kTranspose,
           2,
           16,
           true,
           with(kMmaConfig, &C::split_k, 3, &C::raster, 2, &C::block_k, 48, &C::block_m, 16, &C::block_n, 96, &C::warps_n, 3),
           {{45, 110, 150}},
           0,
           ElementType::bf16,
           ElementType::f32},
          {"mma exact",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kMmaConfig, &C::boundary, exact, &C::block_k, 64, &C::stages, 2),
           {{32, 64, 192}, {32, 128, 0}},
           0,
           ElementType::f16,
           ElementType::f32}}},
        {"tmm/families/gemv/kernel.cuh",
         {{"gemv rows", kNone, kNone, 1, 16, true, kGemvConfig, {{3, 45, 37}, {2, 70, 5}}},
          {"gemv along k",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 256, &C::stages, 2),
           {{3, 21, 301}}},
          {"gemv transposed", kTranspose, kNone, 1, 4, false, kGemvConfig, {{3, 45, 37}}},
          {"gemv peeled",
           kNone,
           kNone,
           1,
           8,
           true,
           with(kGemvConfig, &C::vector_width, 2, &C::boundary, peeled),
           {{3, 45, 40}, {3, 45, 37}}},
          {"gemv swapped",
           kNone,
           kNone,
           2,
           16,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 128, &C::swap_ab, 1, &C::split_k, 2),
           {{21, 3, 250}}},
          {"gemv of 16 bits",
           kNone,
           kNone,
           1,
           8,
           true,
           with(kGemvConfig, &C::block_n, 64, &C::block_k, 32, &C::thread_n, 8, &C::vector_width, 4, &C::boundary, peeled),
           {{3, 75, 70}},
           0,
           ElementType::f16},
          {"gemv in chunks",
           kNone,
           kNone,
           2,
           2,
           true,
           with(kGemvConfig, &C::block_n, 64, &C::block_k, 32, &C::thread_n, 8, &C::vector_width, 8, &C::boundary, peeled),
           {{3, 75, 70}, {3, 64, 67}},
           0,
           ElementType::f16},
          {"gemv in chunks, along k",
           kNone,
           kTranspose,
           1,
           2,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 256, &C::stages, 2, &C::vector_width, 8, &C::boundary, peeled),
           {{3, 21, 1031}, {1, 25, 1032}},
           0,
           ElementType::bf16},
          {"gemv in chunks of floats",
           kNone,
           kTranspose,
           1,
           4,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 128, &C::stages, 2, &C::boundary, peeled),
           {{3, 21, 523}, {2, 8, 301}}},
          {"gemv of 16 bits, along k",
           kNone,
           kTranspose,
           1,
           16,
           false,
           with(kGemvConfig, &C::block_n, 8, &C::block_k, 256, &C::stages, 2, &C::vector_width, 8, &C::boundary, peeled),
           {{3, 21, 520}, {3, 8, 301}},
           0,
           ElementType::f16}}},
        {"tmm/steps/reduce/kernel.cuh",
         {{"reduce shared", kNone, kNone, 2, 4, true, with(kGemvConfig, &C::split_k, 8), {{5, 45, 120}}, 2},
          {"reduce wide", kNone, kNone, 2, 16, false, with(kGemvConfig, &C::split_k, 2), {{6, 301, 40}}}}},
        {"tmm/steps/pack/kernel.cuh",
         {{"pack both", kNone, kTranspose, 2, 4, true, with(kSimtSmall, &C::pack_ab, 3, &C::split_k, 2), {{37, 41, 43}, {7, 70, 5}}, 2},
          {"pack beyond squares", kNone, kNone, 1, 4, false, with(kSimtSmall, &C::pack_ab, 3), {{37, 70, 66}, {70, 37, 130}}},
          {"pack straight", kTranspose, kNone, 2, 4, false, with(kSimtSmall, &C::pack_ab, 3), {{37, 41, 43}, {5, 70, 67}}},
          {"pack for tf32", kTranspose, kNone, 2, 4, false, with(kWgmmaConfig, &C::pack_ab, 3), {{5, 70, 300}}}}},
        {"tmm/steps/pad/kernel.cuh",
         {{"pad both",
           kNone,
           kNone,
           2,
           2,
           false,
           with(kWgmmaConfig, &C::pack_ab, 3),
           {{3, 5, 4300}, {5, 270, 3}, {45, 70, 200}},
           0,
           ElementType::bf16,
           ElementType::f32},
          {"pad both, turned",
           kTranspose,
           kTranspose,
           2,
           2,
           false,
           with(kWgmmaConfig, &C::pack_ab, 3),
           {{3, 5, 301}, {259, 4, 7}},
           0,
           ElementType::f16,
           ElementType::f32},
          {"turn both", kTranspose, kNone, 2, 4, false, with(kWgmmaConfig, &C::pack_ab, 3), {{37, 41, 43}, {5, 70, 3}}},
          {"pad one, turn one", kNone, kNone, 2, 4, false, with(kWgmmaConfig, &C::pack_ab, 3), {{3, 40, 301}, {3, 40, 257}}},
          {"pad bytes",
           kNone,
           kTranspose,
           2,
           1,
           false,
           with(kWgmmaConfig, &C::block_k, 128, &C::vector_width, 16, &C::pack_ab, 3),
           {{3, 5, 4300}, {37, 270, 203}},
           0,
           ElementType::s8,
           ElementType::s32}}},
        {"tmm/schedule/triangle.h",
         {triangle("simt triangle", kSimtSmall, {{70, 70, 9}, {100, 100, 3}}, Result::lower),
          triangle("simt upper", kSimtSmall, {{70, 70, 9}, {41, 41, 3}}, Result::upper),
          triangle("tiled triangle", kTiledSmall, {{21, 21, 9}}, Result::lower),
          triangle("naive triangle", {.family = family::naive, .block_m = 4, .block_n = 8}, {{21, 21, 9}}, Result::upper)}},
        {"tmm/copy/batch.cuh",
         {{"naive nn", kNone, kNone, 2, 4, true, {.family = family::naive, .block_m = 4, .block_n = 8}, {{19, 13, 11}}},
          {"simt turned batch", kTranspose, kTranspose, 3, 4, false, kSimtSmall, {{19, 40, 11}}},
          pointers("naive pointers", {.family = family::naive, .block_m = 4, .block_n = 8}),
          pointers("simt pointers", kSimtSmall)}},
        {"tmm/steps/mirror/kernel.cuh",
         {triangle("simt mirror", kSimtSmall, {{70, 70, 9}, {33, 33, 5}}, Result::symmetric),
          triangle("tiled mirror", kTiledSmall, {{100, 100, 3}}, Result::symmetric)}},
        {"tmm/steps/pad/turn_bytes.cuh",
         {{"turn bytes",
           kTranspose,
           kNone,
           2,
           1,
           false,
           with(kWgmmaConfig, &C::block_k, 128, &C::vector_width, 16, &C::pack_ab, 3),
           {{37, 150, 143}, {259, 3, 300}, {260, 3, 5}},
           0,
           ElementType::s8,
           ElementType::s32},
          {"turn one operand of bytes",
           kNone,
           kNone,
           1,
           16,
           false,
           with(kWgmmaConfig, &C::block_k, 128, &C::vector_width, 16, &C::pack_ab, 2),
           {{5, 144, 270}},
           0,
           ElementType::s8,
           ElementType::s32}}},
    };
    return all;
}

std::vector<Case> cases_for(const Mutation& mutation) {
    std::vector<Case> tried;
    if (const auto family = cases().find(mutation.file); family != cases().end()) {
        tried = family->second;
        // Cases of triangles use what they share, wherever it stands.
        for (const Case& one : cases().at("tmm/schedule/triangle.h"))
            if (one.name == std::string(mutation.first_case)) tried.push_back(one);
    } else {
        for (const char* file : {"tmm/families/tiled/kernel.cuh", "tmm/families/simt/kernel.cuh", "tmm/families/mma/kernel.cuh",
                                 "tmm/families/gemv/kernel.cuh", "tmm/steps/reduce/kernel.cuh", "tmm/schedule/triangle.h"})
            tried.insert(tried.end(), cases().at(file).begin(), cases().at(file).end());
    }
    const std::string first = mutation.first_case;
    std::stable_partition(tried.begin(), tried.end(), [&](const Case& one) { return one.name == first; });
    return tried;
}

GemmProblem problem_of(const Case& one, const Case::Size& size) {
    const i64 unit = std::max(1, one.alignment / size_of(one.type));
    const i64 unit_c = std::max(1, one.alignment / size_of(one.type_c));
    const auto padded = [](i64 columns, i64 pad, i64 to) { return (columns + to - 1) / to * to + pad * to; };
    const bool tf32 = one.config.family == family::wgmma && one.type == ElementType::f32;
    GemmProblem problem{.m = size.m,
                        .n = size.n,
                        .k = size.k,
                        .batch = one.batch,
                        .type_a = one.type,
                        .type_b = one.type,
                        .type_c = one.type_c,
                        .compute = tf32 ? ComputeMode::tf32 : default_compute(one.type),
                        .op_a = one.op_a,
                        .op_b = one.op_b};
    problem.lda = padded(stored_columns_a(problem), 1, unit);
    problem.ldb = padded(stored_columns_b(problem), 2, unit);
    problem.ldc = padded(size.n, 3, unit_c);
    if (one.batch > 1) {
        problem.stride_a = stored_rows_a(problem) * problem.lda + unit;
        problem.stride_b = stored_rows_b(problem) * problem.ldb + 2 * unit;
        problem.stride_c = size.m * problem.ldc + 3 * unit_c;
    }
    problem.alignment = one.alignment;
    problem.reads_c = one.reads_c;
    problem.result = one.result;
    problem.pointers = one.pointers;
    return problem;
}

DeviceInfo device_of(const Case& one) {
    return one.config.family == family::wgmma ? assumed_device("90") : host_device_info();
}

}  // namespace tmm::testing
