// TF32 on wgmma without a GPU that has it: the left operand's way from shared memory into registers, and which operand goes which way.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/families/wgmma/wgmma.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/plan_testing.h"
#include "tmm/families/wgmma/rules.h"

using namespace tmm;

namespace {

const std::string kTile = "family=wgmma,block_m=128,block_n=192,block_k=32,stages=2,vector_width=8,boundary=hardware,warps_m=2";

GemmProblem with_ops(const std::string& shape, const std::string& ops) {
    return parse_shape(shape + " compute=tf32 ops=" + ops).problem;
}

// The address at which TMA leaves the word (m, k) of a left tile whose rows run along M: a box of 32 columns after the other, lines of 128
// bytes one below the other, and with the 128-byte swizzle bits 4 to 6 of the address differ by bits 7 to 9.
int landing(const wgmma::TileLayout& tile, int m, int k) {
    const int box = m / 32 * (tile.depth * 128);
    const int inside = k * 128 + m % 32 * 4;
    return box + (inside ^ (inside >> 7 & 7) << 4);
}

std::vector<KernelConfig> wgmma_of(const SearchSpace& space) {
    std::vector<KernelConfig> found;
    std::copy_if(space.candidates.begin(), space.candidates.end(), std::back_inserter(found),
                 [](const KernelConfig& c) { return c.family == family::wgmma; });
    return found;
}

}  // namespace

TEST_CASE("each thread reads its fragments where TMA has left them, and no two lanes of a warp in one bank") {
    for (const int block_m : {64, 128, 256}) {
        for (const int block_k : {32, 64}) {
            const wgmma::TileLayout tile{.along_k = false, .outer = block_m, .depth = block_k, .element_bytes = 4, .planes = 1};
            REQUIRE(wgmma::slab_bytes(tile) == block_k * 128);
            for (int row0 = 0; row0 < block_m; row0 += 64) {
                for (int k0 = 0; k0 < block_k; k0 += 8) {
                    const int start = row0 / 32 * wgmma::slab_bytes(tile) + k0 * 128;
                    std::set<std::pair<int, int>> words;
                    for (int thread = 0; thread < 128; ++thread) {
                        std::set<int> fragments;
                        for (int read = 0; read < wgmma::kFragments; ++read) {
                            const int fragment = wgmma::fragment_of(thread, read);
                            fragments.insert(fragment);
                            // PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8": of lane t of warp w.
                            const int row = 16 * (thread / 32) + thread % 32 / 4 + (fragment & 1 ? 8 : 0);
                            const int k = thread % 4 + (fragment & 2 ? 4 : 0);
                            CHECK(start + wgmma::fragment_offset(thread, fragment, wgmma::slab_bytes(tile)) ==
                                  landing(tile, row0 + row, k0 + k));
                            words.emplace(row, k);
                        }
                        CHECK(fragments == std::set{0, 1, 2, 3});
                    }
                    CHECK(words.size() == 64 * 8);
                    for (int warp = 0; warp < 4; ++warp) {
                        for (int read = 0; read < wgmma::kFragments; ++read) {
                            std::set<int> banks;
                            for (int thread = warp * 32; thread < warp * 32 + 32; ++thread)
                                banks.insert(wgmma::fragment_offset(thread, wgmma::fragment_of(thread, read), wgmma::slab_bytes(tile)) / 4 %
                                             32);
                            CHECK(banks.size() == 32);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("what lies along M or N is the left operand, and where both do one is turned") {
    const DeviceInfo device = assumed_device("90");
    // swap_ab and pack_ab of what an untuned problem gets.
    struct Expected {
        const char* shape;
        const char* ops;
        int swap_ab;
        int pack_ab;
    };
    for (const auto& [shape, ops, swap_ab, pack_ab] :
         {Expected{"4096x4096x4096", "nt", 0, 0}, Expected{"4096x4096x4096", "nn", 1, 0}, Expected{"4096x4096x4096", "tt", 0, 0},
          Expected{"4096x512x4096", "tn", 0, 2}, Expected{"512x4096x4096", "tn", 1, 1}, Expected{"16x4096x4096", "nn", 1, 0},
          Expected{"4096x16x4096", "tt", 0, 0}, Expected{"1023x1023x1023", "nn", 0, 3}}) {
        CAPTURE(shape);
        CAPTURE(ops);
        const GemmProblem problem = with_ops(shape, ops);
        const KernelConfig best = default_config(problem, device);
        CHECK(best.family == family::wgmma);
        CHECK(best.swap_ab == swap_ab);
        CHECK(best.pack_ab == pack_ab);
        const SearchSpace space = search_space(problem, device, Effort::normal);
        const std::vector<KernelConfig> found = wgmma_of(space);
        CHECK(found.size() >= 24);
        for (const KernelConfig& config : found) {
            CAPTURE(to_text(config));
            CHECK(why_invalid(problem, config, device).value_or("") == "");
            const KernelSignature signature = main_signature(problem, config);
            CHECK(wgmma::right_tile(config, signature).along_k);
            CHECK(config.block_k % 32 == 0);
        }
    }
    // FP32 is more accurate than TF32 asks, and at times faster.
    const SearchSpace thin = search_space(with_ops("1x4096x4096", "nn"), device, Effort::normal);
    CHECK(std::any_of(thin.candidates.begin(), thin.candidates.end(), [](const KernelConfig& c) { return c.family == family::gemv; }));
    // Tiles are shared, also where B is the left operand.
    const std::vector<KernelConfig> large = wgmma_of(search_space(with_ops("4096x4096x4096", "nn"), device, Effort::normal));
    CHECK(std::any_of(large.begin(), large.end(), [](const KernelConfig& c) { return c.swap_ab && c.multicast_a * c.multicast_b > 1; }));
}

TEST_CASE("other GPUs and the emulated one compute tf32 as FP32, by the same kernels") {
    for (const DeviceInfo& device : {assumed_device("80"), assumed_device("120"), host_device_info()}) {
        const GemmProblem rounded = with_ops("300x200x100", "nn");
        const GemmProblem plain = parse_shape("300x200x100").problem;
        CHECK(default_config(rounded, device) == default_config(plain, device));
        const SearchSpace space = search_space(rounded, device, Effort::normal);
        CHECK(space.candidates == search_space(plain, device, Effort::normal).candidates);
        for (const KernelConfig& config : space.candidates) {
            const LaunchPlan mine = make_launch_plan(rounded, config, device);
            const LaunchPlan theirs = make_launch_plan(plain, config, device);
            REQUIRE(mine.steps.size() == theirs.steps.size());
            for (std::size_t i = 0; i < mine.steps.size(); ++i)
                CHECK(make_kernel_source(mine.steps[i].signature, mine.steps[i].kernel).text ==
                      make_kernel_source(theirs.steps[i].signature, theirs.steps[i].kernel).text);
            CHECK(longest_rounding_chain(mine) == longest_rounding_chain(theirs));
        }
    }
}

TEST_CASE("TF32's bound allows each operand to be rounded by 2^-11 of itself") {
    const GemmProblem problem = with_ops("256x256x4096", "nt");
    const KernelConfig config = parse_config(kTile);
    const std::int64_t chain = longest_rounding_chain(schedule_of(problem, config, assumed_device("90")));
    const std::int64_t lost = 2 * (1 << 13);
    CHECK(chain > lost);
    CHECK(chain <= lost + 4 + 3 * 4096);
}

TEST_CASE("a turned operand lies along K in the workspace, and the product's step is told so") {
    const auto device = make_host_device("shuffled:3");
    const auto compiler = make_host_compiler();
    std::mt19937 random(7);
    struct Turned {
        const char* ops;
        int pack_ab;
        const char* changes;
    };
    for (const auto& [ops, pack_ab, changes] :
         {Turned{"nn", 2, ""}, Turned{"nn", 3, ""}, Turned{"tn", 2, ",split_k=2"}, Turned{"tn", 1, ",swap_ab=1"}, Turned{"tn", 3, ""},
          Turned{"tt", 1, ",swap_ab=1"}, Turned{"tt", 3, ""}, Turned{"nt", 3, ""}, Turned{"nn", 1, ",swap_ab=1"}}) {
        for (const i64 batch : {1, 3}) {
            CAPTURE(ops);
            CAPTURE(pack_ab);
            CAPTURE(batch);
            GemmProblem problem = with_ops("37x70x133", ops);
            problem.batch = batch;
            // A multiple of 16 bytes where TMA is to bring it as it lies.
            const auto distance = [](i64 columns, bool copied) { return (columns + 7) / 4 * 4 + (copied ? 1 : 0); };
            problem.lda = distance(stored_columns_a(problem), pack_ab & 1);
            problem.ldb = distance(stored_columns_b(problem), pack_ab & 2);
            problem.stride_a = batch > 1 ? stored_rows_a(problem) * problem.lda + 8 : 0;
            problem.stride_b = batch > 1 ? stored_rows_b(problem) * problem.ldb + 4 : 0;
            problem.stride_c = batch > 1 ? problem.m * problem.ldc : 0;
            const KernelConfig config = parse_config(kTile + changes + ",pack_ab=" + std::to_string(pack_ab));
            CHECK(why_invalid(problem, config, assumed_device("90")).value_or("") == "");
            const LaunchPlan plan = make_launch_plan(problem, config, assumed_device("90"));

            const auto filled = [&](i64 rows, i64 ld, i64 stride) {
                std::vector<std::uint32_t> values(static_cast<std::size_t>((batch - 1) * stride + rows * ld));
                for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(random());
                return values;
            };
            const std::vector<std::uint32_t> a = filled(stored_rows_a(problem), problem.lda, problem.stride_a);
            const std::vector<std::uint32_t> b = filled(stored_rows_b(problem), problem.ldb, problem.stride_b);
            std::vector<std::uint32_t> expected(static_cast<std::size_t>(plan.workspace_bytes) / 4 + 64);
            for (std::uint32_t& value : expected) value = static_cast<std::uint32_t>(random());
            const auto on_device = [&](const std::vector<std::uint32_t>& values) {
                DeviceBuffer buffer(device, values.size() * 4);
                device->copy_to_device(buffer.data(), values.data(), buffer.bytes());
                return buffer;
            };
            const DeviceBuffer device_a = on_device(a);
            const DeviceBuffer device_b = on_device(b);
            const DeviceBuffer workspace = on_device(expected);
            const GemmCall call{.a = device_a.data(), .b = device_b.data(), .workspace = workspace.data()};

            const LaunchStep& copy = plan.steps.front();
            REQUIRE(name_of(copy) == "pad");
            const KernelSource source = make_kernel_source(copy.signature, copy.kernel);
            const CompileResult compiled = compiler->compile(source);
            if (const auto* failure = std::get_if<CompileFailure>(&compiled)) FAIL(failure->log);
            const auto kernel = device->load(std::get<CompiledKernel>(compiled), source.name);
            alignas(64) std::byte arguments[kMaxArgumentBytes];
            std::size_t bytes = copy.bind(plan, copy, call, arguments);
            device->launch(*kernel, {.grid = copy.grid, .threads = copy.threads, .shared_bytes = copy.shared_bytes}, arguments, bytes,
                           nullptr);

            const LaunchStep& main = plan.steps[1];
            bytes = main.bind(plan, main, call, arguments);
            WgmmaArgs args;
            REQUIRE(bytes == sizeof args);
            std::memcpy(&args, arguments, sizeof args);
            std::vector<std::uint32_t> now(expected.size());
            device->copy_to_host(now.data(), workspace.data(), workspace.bytes());
            // A copy has rows of k, whichever way the matrix lies: (row, k) stands at row * ld + k. The padding of a row may hold anything.
            i64 end = 0;
            const auto place = [&](const std::vector<std::uint32_t>& values, i64 rows, bool along_k, i64 ld, i64 stride, const void* to,
                                   i64 to_ld, i64 to_stride) {
                const i64 first = (static_cast<const std::byte*>(to) - static_cast<const std::byte*>(workspace.data())) / 4;
                CHECK(first >= end);
                CHECK(first % 64 == 0);
                CHECK(to_ld % 4 == 0);
                for (i64 member = 0; member < batch; ++member)
                    for (i64 row = 0; row < rows; ++row)
                        for (i64 k = 0; k < to_ld; ++k) {
                            end = first + member * to_stride + row * to_ld + k;
                            const auto at = static_cast<std::size_t>(end);
                            expected.at(at) =
                                k < problem.k
                                    ? values.at(static_cast<std::size_t>(member * stride + (along_k ? row * ld + k : k * ld + row)))
                                    : now.at(at);
                        }
            };
            const KernelSignature seen = main.signature;
            if (pack_ab & 1) {
                place(a, problem.m, ops[0] == 'n', problem.lda, problem.stride_a, args.a, args.lda, args.stride_a);
                CHECK(seen.op_a == Operation::none);
            } else {
                CHECK(args.a == call.a);
                CHECK(seen.op_a == problem.op_a);
            }
            if (pack_ab & 2) {
                place(b, problem.n, ops[1] == 't', problem.ldb, problem.stride_b, args.b, args.ldb, args.stride_b);
                CHECK(seen.op_b == Operation::transpose);
            } else {
                CHECK(args.b == call.b);
                CHECK(seen.op_b == problem.op_b);
            }
            CHECK(end * 4 < plan.workspace_bytes);
            CHECK(now == expected);

            // TMA is told the copies, in boxes of 32 floats.
            for (const TensorMapRequest& map : main.tensor_maps(main, arguments)) {
                CHECK(map.type == ElementType::f32);
                CHECK(map.rounds_to_tf32);
                CHECK(map.box_columns == 32);
                CHECK(map.row_bytes % 16 == 0);
                CHECK(map.matrix_bytes % 16 == 0);
                const bool of_a = map.address == args.a;
                const bool along_k = of_a ? seen.op_a == Operation::none : seen.op_b == Operation::transpose;
                const i64 outer = of_a ? problem.m : problem.n;
                CHECK(map.rows == (along_k ? outer : problem.k));
                CHECK(map.columns == (along_k ? problem.k : outer));
                const bool left = of_a == (config.swap_ab == 0);
                CHECK(map.box_rows == (!along_k ? 32 : left ? 128 : 192));
            }
        }
    }
}
