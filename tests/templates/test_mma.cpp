// The mma family beside what every family is tested for: tiles that ldmatrix reads without bank conflicts, NaN and infinities where a
// loop of multiplications puts them, registers that suffice, and what is refused. TMM_TEST_PIPELINES says how many of the search's
// pipelines are compiled for each tile; a slice of the tiles is, all with TMM_TEST_FULL=1.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/families/mma/mma.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/kernels/correctness.h"
#include "tests/support/slice.h"
#include "tmm/families/mma/rules.h"

using namespace tmm;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::uint16_t bfloat16(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

KernelSignature signature_for(Operation op_a, Operation op_b, int alignment) {
    return KernelSignature{.type_a = ElementType::bf16,
                           .type_b = ElementType::bf16,
                           .type_c = ElementType::bf16,
                           .op_a = op_a,
                           .op_b = op_b,
                           .align_a = alignment,
                           .align_b = alignment,
                           .align_c = alignment};
}

// Runs the plan on the emulated device; the problem's C holds floats, alpha is 1, beta 0.
std::vector<float> multiplied(const GemmProblem& problem, const KernelConfig& config, const std::vector<std::uint16_t>& a,
                              const std::vector<std::uint16_t>& b) {
    std::vector<float> c(static_cast<std::size_t>(problem.m * problem.ldc), kNan);
    const LaunchPlan plan = make_launch_plan(problem, config, host_device_info());
    std::vector<float> workspace(static_cast<std::size_t>(plan.workspace_bytes / 4) + 1);
    const auto device = make_host_device("ascending");
    for (const LaunchStep& step : plan.steps) {
        const KernelSource source = make_kernel_source(step.signature, step.kernel);
        CompileResult compiled = make_host_compiler()->compile(source);
        if (const auto* failure = std::get_if<CompileFailure>(&compiled)) FAIL(failure->log);
        const auto kernel = device->load(std::get<CompiledKernel>(compiled), source.name);
        alignas(64) std::byte arguments[kMaxArgumentBytes];
        const GemmCall call{.a = a.data(), .b = b.data(), .c = c.data(), .workspace = workspace.data()};
        const std::size_t bytes = step.bind(plan, step, call, arguments);
        device->launch(*kernel, shape_of(step), arguments, bytes, nullptr);
    }
    return c;
}

}  // namespace

namespace {

constexpr std::size_t kBytesOfBanks = 128;

// Each place of the tile must be that of one element.
void check_places(const mma::TileLayout& layout) {
    std::vector<int> found(static_cast<std::size_t>(mma::tile_elements(layout)));
    bool in_range = true;
    for (int row = 0; row < mma::matrix_rows(layout); ++row)
        for (int column = 0; column < mma::matrix_columns(layout); ++column) {
            const int offset = mma::element_offset(layout, row, column);
            in_range = in_range && offset >= 0 && offset < mma::tile_elements(layout);
            if (in_range) ++found[static_cast<std::size_t>(offset)];
        }
    REQUIRE(in_range);
    CHECK(std::all_of(found.begin(), found.end(), [](int times) { return times == 1; }));
}

}  // namespace

TEST_CASE("tiles of bytes keep every element, and ldmatrix's rows meet in no bank") {
    const KernelSignature signature = signature_of(parse_shape("64x64x64 dtype=s8").problem);
    for (const bool rows_along_k : {false, true})
        for (const int outer : {64, 128, 192, 256})
            for (const int depth : {64, 128, 256}) {
                CAPTURE(rows_along_k);
                CAPTURE(outer);
                CAPTURE(depth);
                const KernelConfig config{.block_k = depth, .async_copy = 1, .vector_width = 16};
                const mma::TileLayout layout = mma::tile_layout(rows_along_k, outer, config, signature, 16);
                check_places(layout);
                int conflicts = 0;
                for (int first = 0; first + 16 <= mma::matrix_rows(layout); first += 16)
                    for (int column = 0; column < mma::matrix_columns(layout); column += 16)
                        for (const int half : {0, 1}) {
                            unsigned used = 0;
                            for (int i = 0; i < 8; ++i) {
                                const int row = first + (layout.reads_pairs_of_rows ? i / 2 * 4 + half * 2 + i % 2 : half * 8 + i);
                                const auto offset = static_cast<std::size_t>(mma::element_offset(layout, row, column));
                                conflicts += static_cast<int>(used >> offset % kBytesOfBanks / 16 & 1);
                                used |= 1u << offset % kBytesOfBanks / 16;
                            }
                        }
                CHECK(conflicts == 0);
            }
}

TEST_CASE("tiles of doubles keep every element, and neither half a warp's loads nor copies of 16 bytes meet in a bank") {
    const KernelSignature signature = signature_of(parse_shape("64x64x64 dtype=f64").problem);
    for (const bool rows_along_k : {false, true})
        for (const int outer : {16, 32, 48, 64, 96, 128, 256})
            for (const int depth : {16, 32}) {
                CAPTURE(rows_along_k);
                CAPTURE(outer);
                CAPTURE(depth);
                const KernelConfig config{.block_k = depth, .async_copy = 1, .vector_width = 2};
                const mma::TileLayout layout = mma::tile_layout(rows_along_k, outer, config, signature, 16);
                check_places(layout);
                // Half a warp reads four by four neighbours.
                int conflicts = 0;
                for (int row = 0; row < mma::matrix_rows(layout); row += 4)
                    for (int column = 0; column < mma::matrix_columns(layout); column += 4) {
                        unsigned used = 0;
                        for (int i = 0; i < 16; ++i) {
                            const int offset = mma::element_offset(layout, row + i / 4, column + i % 4);
                            const std::size_t bank = static_cast<std::size_t>(offset) * 8 % kBytesOfBanks / 8;
                            conflicts += used >> bank & 1;
                            used |= 1u << bank;
                        }
                    }
                CHECK(conflicts == 0);
            }
}

TEST_CASE("tiles keep every element, and neither ldmatrix nor copies of 16 bytes meet in a bank") {
    const KernelSignature signature = signature_of(parse_shape("64x64x64 dtype=bf16").problem);
    for (const bool rows_along_k : {false, true})
        for (const int outer : {16, 32, 48, 64, 96, 128, 192, 256})
            for (const int depth : {16, 32, 48, 64, 96, 128}) {
                const KernelConfig config{.block_k = depth, .async_copy = 1, .vector_width = 8};
                const mma::TileLayout layout = mma::tile_layout(rows_along_k, outer, config, signature, 16);
                CAPTURE(rows_along_k);
                CAPTURE(outer);
                CAPTURE(depth);
                const int rows = mma::matrix_rows(layout);
                const int columns = mma::matrix_columns(layout);
                check_places(layout);
                int conflicts = 0;
                const auto count = [&](auto&& place) {
                    unsigned used = 0;
                    for (int i = 0; i < 8; ++i) {
                        const auto bytes = static_cast<std::size_t>(place(i)) * 2;
                        conflicts += bytes % 16 != 0 || (used >> (bytes % kBytesOfBanks / 16) & 1);
                        used |= 1u << (bytes % kBytesOfBanks / 16);
                    }
                };
                for (int row = 0; row < rows; row += 8)
                    for (int column = 0; column < columns; column += 8)
                        count([&](int i) { return mma::element_offset(layout, row + i, column); });
                for (int first = 0; first < rows * columns / 8; first += 8)
                    count([&](int i) { return mma::element_offset(layout, (first + i) * 8 / columns, (first + i) * 8 % columns); });
                CHECK(conflicts == 0);
            }
}

TEST_CASE("NaN and infinities come out where a loop of multiplications puts them, and nowhere else") {
    GemmProblem problem = parse_shape("21x37x43 dtype=bf16 ctype=f32").problem;
    for (const char* text : {"family=mma,block_m=32,block_n=32,block_k=32,warps_n=2,stages=3,async_copy=1,vector_width=8",
                             "family=mma,block_m=32,block_n=32,block_k=32,warps_n=2,stages=2,vector_width=8,boundary=peeled",
                             "family=mma,block_m=32,block_n=32,block_k=16,warps_n=2,stages=2,async_copy=1,vector_width=4,split_k=2"}) {
        for (const int pad : {0, 1}) {
            CAPTURE(text);
            CAPTURE(pad);
            problem.lda = 48 + pad;
            problem.ldb = 40;
            std::vector<std::uint16_t> a(static_cast<std::size_t>(21 * problem.lda), bfloat16(kNan));
            std::vector<std::uint16_t> b(43 * 40, bfloat16(kNan));
            std::vector<float> value_a(21 * 43, 1);
            std::vector<float> value_b(43 * 37, 1);
            // They stand in the last row, column and k among others.
            value_a[20 * 43 + 42] = kInfinity;
            value_a[3 * 43 + 7] = kNan;
            value_a[5 * 43 + 1] = kInfinity;
            value_a[5 * 43 + 2] = -kInfinity;
            value_b[42 * 37 + 36] = -kInfinity;
            value_b[42 * 37 + 35] = 0;
            value_b[0 * 37 + 4] = kInfinity;
            for (std::size_t i = 0; i < 21; ++i)
                for (std::size_t k = 0; k < 43; ++k) a[i * static_cast<std::size_t>(problem.lda) + k] = bfloat16(value_a[i * 43 + k]);
            for (std::size_t k = 0; k < 43; ++k)
                for (std::size_t j = 0; j < 37; ++j) b[k * 40 + j] = bfloat16(value_b[k * 37 + j]);
            const std::vector<float> c = multiplied(problem, parse_config(text), a, b);
            for (std::size_t i = 0; i < 21; ++i)
                for (std::size_t j = 0; j < 37; ++j) {
                    float expected = 0;
                    for (std::size_t k = 0; k < 43; ++k) expected += value_a[i * 43 + k] * value_b[k * 37 + j];
                    const float got = c[i * 37 + j];
                    CAPTURE(i);
                    CAPTURE(j);
                    CHECK((std::isnan(expected) ? std::isnan(got) : got == expected));
                }
        }
    }
}

TEST_CASE("no tile of the search spills registers on any architecture") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    struct Job {
        KernelConfig config;
        KernelSignature signature;
        int architecture;
        CompileResult result;
    };
    std::vector<Job> jobs;
    constexpr Operation kOperations[] = {Operation::none, Operation::transpose};
    constexpr const char* kArchitectures[] = {"80", "90", "120"};
    // Layouts, architectures and alignments take turns.
    std::size_t turn = 0;
    struct Kind {
        ElementType type;
        int alignment;
    };
    for (const Kind kind :
         {Kind{ElementType::bf16, 16}, Kind{ElementType::bf16, 2}, Kind{ElementType::f64, 16}, Kind{ElementType::f64, 8}}) {
        const bool aligned = kind.alignment == 16;
        for (const MmaTile& tile : mma_tiles(kind.type)) {
            ++turn;
            const DeviceInfo device = assumed_device(kArchitectures[turn % 3]);
            GemmProblem problem =
                parse_shape(kind.type == ElementType::f64 ? "2047x2047x2047 dtype=f64" : "2047x2047x2047 dtype=bf16").problem;
            problem.op_a = kOperations[turn % 2];
            problem.op_b = kOperations[turn / 2 % 2];
            problem.alignment = kind.alignment;
            problem.lda = problem.ldb = problem.ldc = aligned ? 2048 : 2047;
            problem.reads_c = turn % 5 == 0;
            const KernelSignature signature = signature_of(problem);
            const auto pipelines = mma_pipelines(signature);
            for (const MmaPipeline& pipeline : pipelines.first(static_cast<std::size_t>(tmm::testing::test_setting("PIPELINES", 1)))) {
                const KernelConfig config = mma_config(tile, pipeline, signature, device);
                // The search leaves these configs out.
                if (why_invalid(problem, config, device) || mma_registers(config, signature) > 255) continue;
                jobs.push_back({config, signature, device.compute_capability(), {}});
            }
        }
    }
    REQUIRE(jobs.size() >= 50);
    std::size_t index = 0;
    std::erase_if(jobs, [&](const Job&) { return !tmm::testing::in_slice(index++, 3); });
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back([&] {
            for (std::size_t job; (job = next++) < jobs.size();) {
                Job& j = jobs[job];
                j.result = make_nvrtc_compiler(j.architecture)->compile(make_kernel_source(j.signature, j.config));
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const Job& job : jobs) {
        const std::string what = to_text(job.config);
        CAPTURE(what);
        CAPTURE(job.architecture);
        if (const auto* failure = std::get_if<CompileFailure>(&job.result)) {
            FAIL_CHECK(failure->log);
            continue;
        }
        const auto& kernel = std::get<CompiledKernel>(job.result);
        CHECK(kernel.log == "");
        CHECK(kernel.spill_bytes == 0);
        if (std::getenv("TMM_TEST_VERBOSE"))
            fmt::print("sm_{} {}{} align {}: {} registers: {}\n", job.architecture, job.signature.op_a == Operation::none ? 'n' : 't',
                       job.signature.op_b == Operation::none ? 'n' : 't', job.signature.align_a, kernel.registers, what);
    }
}

TEST_CASE("a config that mma can't do says why") {
    const auto reason = [](const char* changes, const KernelSignature& signature) {
        const std::string text = "family=mma,block_m=64,block_n=64,block_k=32,";
        const char* const violation = mma::first_violation(parse_config(text + changes), signature);
        return std::string(violation ? violation : "");
    };
    const KernelSignature nn = signature_for(Operation::none, Operation::none, 16);
    const KernelSignature odd = signature_for(Operation::none, Operation::none, 2);
    KernelSignature odd_b = nn;
    odd_b.align_b = 2;
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    CHECK(reason("warps_m=2,warps_n=2,stages=4,async_copy=1,vector_width=8", nn) == "");
    CHECK(reason("warps_m=2,warps_n=2,stages=2,vector_width=8", odd) == "");
    // One operand can take asynchronous copies; the other goes through registers.
    CHECK(reason("warps_m=2,warps_n=2,stages=4,async_copy=1,vector_width=8", odd_b) == "");
    CHECK(has(reason("warps_m=2,warps_n=2,stages=4,async_copy=1,vector_width=8", odd), "at least 4 bytes"));
    CHECK(has(reason("warps_m=2,warps_n=2,stages=4,async_copy=1", nn), "at least 4 bytes"));
    CHECK(has(reason("warps_m=2,warps_n=2,stages=4,vector_width=8", nn), "stages is 1 or 2 through registers"));
    CHECK(has(reason("warps_m=8,warps_n=2,stages=2,vector_width=8", nn), "multiples of 16"));
    CHECK(has(reason("warps_m=2,warps_n=2,stages=2,vector_width=16", nn), "vector_width is"));
    KernelSignature floats = nn;
    floats.type_a = floats.type_b = ElementType::f32;
    CHECK(has(reason("vector_width=4", floats), "f16 by f16"));
    KernelSignature mixed = nn;
    mixed.type_c = ElementType::f16;
    CHECK(has(reason("vector_width=4", mixed), "C is of"));
}
