// Every writer of C says which row, column and member of the batch each of its sums has: a planted output adds a number made of them to
// each result, on the emulated device.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/kernels/tma_faults.h"
#include "tests/support/slice.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/writers.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

// A number that elements of 16 bits hold exactly. Wherever a row or a column is another, or both change places, it is another number in
// most elements.
constexpr int number_at(i64 row, i64 column, i64 batch) {
    return static_cast<int>((row * 31 + column * 17 + batch * 101) % 251);
}

TemplateFiles planted(TemplateFiles files) {
    files = with_fault({.what = "results say where they are",
                        .file = "tmm/output/epilogue.cuh",
                        .text = "static_cast<void>(operands), static_cast<void>(row), static_cast<void>(column), static_cast<void>(batch);",
                        .instead = "static_cast<void>(operands);\n"
                                   "if (!Kernel::signature.partial) x += static_cast<float>((row * 31 + column * 17 + batch * 101) % 251);",
                        .config = "",
                        .shape = ""},
                       std::move(files));
    // Partial results are told from others.
    files = with_fault({.what = "signatures know partial results",
                        .file = "tmm/vocabulary/signature.h",
                        .text = "    bool reads_c = false;",
                        .instead = "    bool reads_c = false;\n    bool partial = false;",
                        .config = "",
                        .shape = ""},
                       std::move(files));
    return with_fault({.what = "partial results are sums",
                       .file = "tmm/number/arithmetic.h",
                       .text = "s.reads_c = false;",
                       .instead = "s.reads_c = false;\n    s.partial = true;",
                       .config = "",
                       .shape = ""},
                      std::move(files));
}

float value_of(ElementType type, const std::byte* element) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, element, type == ElementType::f32 ? 4 : 2);
    if (type == ElementType::f32) return std::bit_cast<float>(bits);
    if (type == ElementType::bf16) return std::bit_cast<float>(bits << 16);
    // Whole numbers from 0 on, zero or normal.
    return bits == 0 ? 0 : std::bit_cast<float>((bits & 0x7fffU) * 0x2000U + 0x38000000U);
}

// A sum has nothing to add to the number: A, B and, where it is read, C are zeros. unfit: one row of A has too wide a range for planes.
std::string wrong_place(const std::string& shape, const std::string& config_text, const TemplateFiles& files, bool unfit = false) {
    const DeviceInfo h200 = assumed_device("90");
    const GemmProblem problem = parse_shape(shape).problem;
    const KernelConfig config = parse_config(config_text);
    if (const auto invalid = why_invalid(problem, config, h200)) return "invalid: " + *invalid;
    const TemporaryDirectory directory;
    KernelLoader loader(make_host_device_for(h200, "ascending"), make_host_compiler(files), KernelCache(directory.path() / "kernels"));
    auto plan = ExecutablePlan::make(make_launch_plan(problem, config, h200), loader);
    if (const auto* failure = std::get_if<CompileFailure>(&plan)) return "does not compile: " + failure->log;
    struct alignas(256) Line {
        std::byte bytes[256];
    };
    const auto memory = [](i64 bytes, int fill) {
        std::vector<Line> lines(static_cast<std::size_t>(bytes / 256 + 4));
        std::memset(lines.data(), fill, lines.size() * sizeof(Line));
        return lines;
    };
    auto a = memory((problem.batch * problem.stride_a + stored_rows_a(problem) * problem.lda) * size_of(problem.type_a), 0);
    const auto b = memory((problem.batch * problem.stride_b + stored_rows_b(problem) * problem.ldb) * size_of(problem.type_b), 0);
    auto c = memory((problem.batch * problem.stride_c + problem.m * problem.ldc) * size_of(problem.type_c), problem.reads_c ? 0 : 0xff);
    auto workspace = memory(std::get<ExecutablePlan>(plan).plan().workspace_bytes, 0xff);
    if (unfit) {
        const float wide[2] = {0x1p100f, 0x1p-100f};
        std::memcpy(a.data(), wide, sizeof wide);
    }
    const GemmCall call{
        .a = a.data(), .b = b.data(), .c = c.data(), .workspace = workspace.data(), .alpha = 1, .beta = problem.reads_c ? 1.0 : 0.0};
    std::get<ExecutablePlan>(plan).run(call, nullptr);
    loader.device()->synchronize();
    for (i64 batch = 0; batch < problem.batch; ++batch)
        for (i64 row = 0; row < problem.m; ++row)
            for (i64 column = 0; column < problem.n; ++column) {
                const i64 element = batch * problem.stride_c + row * problem.ldc + column;
                const float got =
                    value_of(problem.type_c, reinterpret_cast<const std::byte*>(c.data()) + element * size_of(problem.type_c));
                if (got != static_cast<float>(number_at(row, column, batch)))
                    return fmt::format("C[{}][{}][{}] is {}, not {}", batch, row, column, got, number_at(row, column, batch));
            }
    return "";
}

}  // namespace

TEST_CASE("every element of C is told the row, the column and the member of the batch that it has") {
    const TemplateFiles files = planted(active_templates());
    std::size_t index = 0;
    for (const Writer& writer : writers()) {
        if (!in_slice(index++, 3)) continue;
        CAPTURE(std::string(writer.shape));
        CAPTURE(writer.config);
        CHECK(wrong_place(writer.shape, writer.config, files, writer.unfit) == "");
    }
}

TEST_CASE("a writer that names another row or column is found") {
    constexpr const char* kWgmma = "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=64,block_k=64,stages=3,";
    constexpr const char* kBoxes = "70x136x64 dtype=bf16 align=16";
    constexpr const char* kUnaligned = "70x77x64 dtype=bf16 align=16 lda=64 ldb=80 ldc=77";
    constexpr const char* kFloats = "70x77x64 dtype=bf16 ctype=f32 align=16 lda=64 ldb=80 ldc=77";
    constexpr const char* kSimt =
        "family=simt,vector_width=4,block_m=32,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=1,boundary=guarded";
    const std::vector<TmaFault> faults = {
        {"a box's rows", "tmm/families/wgmma/boxes.cuh", "(to.y + row,", "(row,", kWgmma, kBoxes},
        {"a box's columns", "tmm/families/wgmma/boxes.cuh", "(to.x + column,", "(column,", kWgmma, kBoxes},
        {"the second of a pair", "tmm/families/wgmma/store.cuh", "row, column + 1, sums[sum + 1]", "row, column, sums[sum + 1]", kWgmma,
         kBoxes},
        {"the lower rows of a pair", "tmm/families/wgmma/store.cuh", "const int row = lane / 4 + lower * 8;", "const int row = lane / 4;",
         kWgmma, kBoxes},
        {"unaligned rows", "tmm/families/wgmma/store.cuh", "made(left + row, right + column, sum);", "made(row, right + column, sum);",
         kWgmma, kUnaligned},
        {"staged sums", "tmm/families/wgmma/store.cuh", "S::made(output, row0 + row, column0 + column, sum)",
         "S::made(output, row0 + row, column, sum)", kWgmma, kFloats},
        {"a tile's first column", "tmm/output/output.cuh", ".column0 = column0, .batch", ".column0 = 0, .batch", kWgmma, kUnaligned},
        {"a vector's columns", "tmm/output/output.cuh", "results.template at<over>(row, column + i,",
         "results.template at<over>(row, column,", kSimt, "64x128x32 align=16"},
        {"the next vector", "tmm/output/output.cuh", "finish<false>(elements, results, row, column + begin,",
         "finish<false>(elements, results, row, column,", kSimt, "64x128x32 align=8"},
        {"single elements of a vector", "tmm/output/output.cuh", "store_result(c + i, results, row, column + i,",
         "store_result(c + i, results, row, column,", kSimt, "61x125x32"},
        {"a strip's begin", "tmm/output/few_by_many.cuh", "= args.strip_begin;", "= 0;",
         "family=simt,vector_width=4,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,boundary=peeled,stages=2,async_copy=3,trim=1,"
         "pack_ab=3",
         "69x73x70"},
        {"the member of the batch", "tmm/output/output.cuh", "origin.row0 + row, origin.column0 + column, origin.batch, sum, before);",
         "origin.row0 + row, origin.column0 + column, 0, sum, before);", kSimt, "64x128x32 batch=2 align=16"},
    };
    const TemplateFiles files = planted(active_templates());
    std::size_t index = 0;
    for (const TmaFault& fault : faults) {
        if (!in_slice(index++, 3)) continue;
        CAPTURE(std::string(fault.what));
        CHECK(wrong_place(fault.shape, fault.config, files) == "");
        CHECK(wrong_place(fault.shape, fault.config, with_fault(fault, files)).find("C[") == 0);
    }
}
