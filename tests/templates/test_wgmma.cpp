// The wgmma family without a GPU that has it: its rules, each by name, and kernels that ptxas neither spills nor serializes.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "generator/choice/predicted_config.h"
#include "generator/choice/validity.h"
#include "generator/compile/compiler.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/occupancy.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/slice.h"
#include "tmm/families/wgmma/rules.h"

using namespace tmm;

namespace {

const char* const kTile = "family=wgmma,block_m=128,block_n=128,block_k=64,stages=4,vector_width=8,boundary=hardware,warps_m=2";

// Floats are multiplied as TF32.
KernelSignature signature_for(const char* ops, ElementType type = ElementType::bf16) {
    return KernelSignature{.type_a = type,
                           .type_b = type,
                           .type_c = default_type_c(type),
                           .compute = type == ElementType::f32 ? ComputeMode::tf32 : default_compute(type),
                           .op_a = ops[0] == 't' ? Operation::transpose : Operation::none,
                           .op_b = ops[1] == 't' ? Operation::transpose : Operation::none,
                           .align_a = 16,
                           .align_b = 16,
                           .align_c = 16};
}

// The config with changes such as "block_m=64,stages=3".
KernelConfig changed(KernelConfig config, const std::string& changes) {
    const KernelConfig other = parse_config("family=wgmma," + changes);
    for (const Parameter& parameter : kParameters)
        if (("," + changes).find(std::string(",") + parameter.name + "=") != std::string::npos)
            config.*parameter.member = other.*parameter.member;
    return config;
}

struct Job {
    std::string text;
    KernelConfig config;
    KernelSignature signature;
    CompileResult result;
};

void compile_all(std::vector<Job>& jobs) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back([&] {
            for (std::size_t job; (job = next++) < jobs.size();) {
                Job& j = jobs[job];
                j.result = make_nvrtc_compiler(90)->compile(make_kernel_source(j.signature, j.config));
            }
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("each rule of the family is named by the config that breaks it") {
    const KernelConfig tile = parse_config(kTile);
    struct Broken {
        const char* changes;
        const char* reason;
        KernelSignature signature = signature_for("nt");
    };
    const auto with = [](auto change) {
        KernelSignature signature = signature_for("nn");
        change(signature);
        return signature;
    };
    const Broken rules[] = {
        {"", "f16 by f16, bf16 by bf16", with([](auto& s) { s.type_a = s.type_b = s.type_c = ElementType::f32; })},
        {"", "f16 by f16, bf16 by bf16", with([](auto& s) { s.type_b = ElementType::f16; })},
        {"", "C has the operands' type or f32", with([](auto& s) { s.type_c = ElementType::f16; })},
        {"", "C has the operands' type or f32", with([](auto& s) { s.type_c = ElementType::s32; })},
        {"block_k=128,vector_width=16", "of products of s8 it is s32",
         with([](auto& s) { s = signature_for("nt", ElementType::s8), s.type_c = ElementType::s8; })},
        {"block_k=128,vector_width=16", "with s8 in s32",
         with([](auto& s) { s = signature_for("nt", ElementType::s8), s.compute = ComputeMode::f32, s.type_c = ElementType::f32; })},
        {"block_k=128,vector_width=16", "no epilogue to sums of s8", with([](auto& s) {
             s = signature_for("nt", ElementType::s8), s.epilogue = Epilogue::activation, s.activation = Activation::relu;
         })},
        {"block_k=64", "block_k is a multiple of the elements", signature_for("nt", ElementType::s8)},
        {"block_k=128,vector_width=16", "the rows of both operands run along K", signature_for("nn", ElementType::s8)},
        {"block_k=128,vector_width=16,swap_ab=1", "the rows of both operands run along K", signature_for("nn", ElementType::s8)},
        {"block_k=128,vector_width=16", "the rows of both operands run along K", signature_for("tt", ElementType::s8)},
        {"block_k=128,vector_width=16", "the rows of both operands run along K", signature_for("tn", ElementType::s8)},
        {"block_k=128,vector_width=16,block_n=40", "or by more in steps of 16", signature_for("nt", ElementType::s8)},
        {"block_k=128,vector_width=16,block_n=144,warps_m=1,warps_n=2", "or by more in steps of 16", signature_for("nt", ElementType::s8)},
        {"", "with 16-bit operands in f32", with([](auto& s) { s.compute = ComputeMode::tf32; })},
        {"", "C has the operands' type or f32",
         with([](auto& s) { s.type_a = s.type_b = ElementType::f32, s.compute = ComputeMode::tf32, s.op_b = Operation::transpose; })},
        {"", "rows run along K", signature_for("nn", ElementType::f32)},
        {"", "rows run along K", signature_for("tn", ElementType::f32)},
        {"swap_ab=1", "rows run along K", signature_for("tn", ElementType::f32)},
        {"swap_ab=1", "rows run along K", signature_for("tt", ElementType::f32)},
        {"block_k=48", "block_k is a multiple of the elements", signature_for("nt", ElementType::f32)},
        {"block_n=160,warps_m=1", "beside fragments", signature_for("tt", ElementType::f32)},
        {"block_k=32,block_n=64,warps_m=1,stages=2,min_blocks=3", "do not fit the registers", signature_for("tt", ElementType::f32)},
        {"", "multiples of 16 bytes", with([](auto& s) { s.align_a = 8; })},
        {"", "multiples of 16 bytes", with([](auto& s) { s.align_b = 2; })},
        {"warps_m=2,warps_n=2", "1 to 3 warpgroups"},
        {"block_m=320,warps_m=1", "block_m is up to 256"},
        {"block_m=64", "block_m is up to 256"},
        {"block_m=192", "multiple of 64 for each of warps_m"},
        {"block_n=264", "block_n is up to 256"},
        {"block_n=20", "multiple of 8 for each of warps_n"},
        {"block_k=96", "block_k is a multiple of the elements"},
        {"block_k=320", "up to 256"},
        {"block_n=192,warps_m=1,warps_n=2", "the columns of each of several warps_n are a multiple of 64", signature_for("nn")},
        {"block_n=192,warps_m=1,warps_n=2,swap_ab=1", "the columns of each of several warps_n are a multiple of 64", signature_for("tn")},
        {"min_blocks=9", "min_blocks is 1 to 8"},
        {"block_m=256,block_n=256", "at most 192 accumulators"},
        {"block_n=256,min_blocks=2", "do not fit the registers of min_blocks blocks"},
        {"block_m=64,block_n=256,warps_m=1,min_blocks=2", "registers that a thread has at launch"},
        {"stages=1", "stages is 2 to 16"},
        {"stages=17", "stages is 2 to 16"},
        {"multicast_a=4,multicast_b=4", "at most 8 blocks"},
        {"multicast_a=3", "are 1, 2 or 4"},
        {"multicast_b=8", "are 1, 2 or 4"},
        {"block_n=8,multicast_b=2", "whole groups of 8"},
        {"ping_pong=2,warps_m=1", "ping_pong is 0 or 1"},
        {"ping_pong=1", "a warpgroup multiplies a whole tile"},
        {"ping_pong=1,warps_m=1,split_k=2,cluster=2", "no turns"},
        {"swap_ab=2", "swap_ab is 0 or 1"},
        {"pack_ab=4", "pack_ab is 0 to 3"},
        {"split_k=16,cluster=16", "cluster is 1 to 8"},
        {"split_k=2,cluster=2,multicast_a=2", "either sums parts of K or shares tiles"},
        {"split_k=6,cluster=4", "cluster must divide split_k"},
        {"boundary=guarded", "boundary mode is hardware or peeled"},
        {"boundary=exact", "boundary mode is hardware or peeled"},
        {"vector_width=4", "vector_width is 8"},
        {"block_k=128", "with bytes 16", signature_for("nt", ElementType::s8)},
        {"thread_m=2", "does not use thread_m"},
        {"thread_n=2", "does not use thread_n"},
        {"async_copy=1", "async_copy"},
        {"along_k=1", "along_k"},
        {"trim=2", "trim"},
    };
    for (const char* ops : {"nn", "nt", "tn", "tt"}) CHECK(violation_of(tile, signature_for(ops)) == nullptr);
    // tf32 takes the left operand as it lies.
    for (const char* ops : {"nt", "tt"}) CHECK(violation_of(tile, signature_for(ops, ElementType::f32)) == nullptr);
    for (const char* ops : {"nn", "nt"}) CHECK(violation_of(changed(tile, "swap_ab=1"), signature_for(ops, ElementType::f32)) == nullptr);
    CHECK(violation_of(changed(tile, "block_k=32"), signature_for("tt", ElementType::f32)) == nullptr);
    CHECK(violation_of(changed(tile, "block_n=152,warps_m=1"), signature_for("tt", ElementType::f32)) == nullptr);
    for (const char* columns : {"8", "16", "24", "32", "48", "144", "240", "256"})
        CHECK(violation_of(changed(tile, std::string("block_k=128,vector_width=16,block_n=") + columns),
                           signature_for("nt", ElementType::s8)) == nullptr);
    for (const Broken& broken : rules) {
        CAPTURE(broken.changes);
        CAPTURE(broken.reason);
        const KernelConfig config = *broken.changes ? changed(tile, broken.changes) : tile;
        const std::string violation = why_no_kernel(config, broken.signature).value_or("nothing");
        CHECK_MESSAGE(violation.find(broken.reason) != std::string::npos, violation);
    }
    // Values that the rules bound are allowed up to the bound.
    for (const char* changes : {"stages=16", "stages=2", "multicast_a=4", "multicast_b=4", "split_k=1024", "split_k=8,cluster=8",
                                "split_k=3,cluster=3", "raster=64", "block_n=256", "block_n=8", "block_m=256", "block_m=192,warps_m=3",
                                "block_k=256", "swap_ab=1", "swap_ab=1,multicast_a=2", "swap_ab=1,multicast_b=4", "min_blocks=2,block_n=64",
                                "block_m=64,block_n=192,warps_m=1,warps_n=3", "pack_ab=3"}) {
        CAPTURE(changes);
        const char* const violation = violation_of(changed(tile, changes), signature_for("nt"));
        CHECK_MESSAGE(violation == nullptr, (violation ? violation : ""));
    }
}

TEST_CASE("kernels of every kind compile without spills, warnings or serialized instructions") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    constexpr ElementType kF32 = ElementType::f32;
    constexpr ElementType kF16 = ElementType::f16;
    constexpr ElementType kBf16 = ElementType::bf16;
    constexpr ElementType kS8 = ElementType::s8;
    constexpr ElementType kS32 = ElementType::s32;
    struct Sample {
        const char* ops;
        ElementType type;
        ElementType type_c;
        bool reads_c;
        const char* changes;
        // The alignment of C.
        int alignment = 16;
    };
    const Sample samples[] = {
        {"nn", kBf16, kBf16, false, "stages=6"},
        {"nt", kF16, kF16, false, "stages=6,raster=8"},
        {"tn", kBf16, kF32, false, "stages=5"},
        {"tt", kF16, kF32, true, "stages=5"},
        {"nn", kBf16, kBf16, true, "block_n=256,multicast_a=2"},
        {"nt", kBf16, kBf16, false, "block_n=256,multicast_b=2"},
        {"tn", kF16, kF16, true, "block_n=256,multicast_b=2,raster=16"},
        {"tt", kBf16, kBf16, false, "block_n=256,multicast_a=4"},
        {"nn", kF16, kF32, true, "block_m=256,stages=4,multicast_b=4"},
        {"nt", kBf16, kF32, true, "block_m=256,block_n=192,stages=3"},
        {"nn", kBf16, kBf16, false, "block_m=192,block_n=192,warps_m=3,stages=3"},
        {"tn", kBf16, kBf16, false, "block_m=192,block_n=192,warps_m=3,stages=4"},
        {"nt", kF16, kF16, false, "block_n=176,warps_m=1,stages=5"},
        {"nt", kBf16, kBf16, true, "block_n=192,warps_m=1,stages=5"},
        {"nn", kBf16, kBf16, false, "block_m=64,block_n=128,warps_m=1,stages=4,min_blocks=2"},
        {"nt", kF16, kF16, true, "block_m=64,block_n=96,warps_m=1,stages=4,min_blocks=3"},
        {"tn", kBf16, kF32, false, "block_m=64,block_n=256,warps_m=1,warps_n=2,stages=4"},
        {"nn", kBf16, kBf16, false, "block_m=128,block_n=256,warps_m=1,warps_n=2,multicast_b=2"},
        {"nt", kBf16, kBf16, false, "block_m=64,block_n=8,warps_m=1,stages=12,swap_ab=1"},
        {"nt", kF16, kF32, true, "block_m=256,block_n=16,stages=6,swap_ab=1"},
        {"nt", kBf16, kBf16, false, "block_m=256,block_n=16,stages=6,swap_ab=1,split_k=8,cluster=8"},
        {"nn", kF16, kF16, true, "block_m=64,block_n=40,warps_m=1,stages=10,swap_ab=1,split_k=6"},
        {"tt", kBf16, kF32, false, "block_m=192,block_n=64,warps_m=3,stages=6,swap_ab=1,split_k=4,cluster=4"},
        {"tn", kF16, kF16, false, "block_n=64,block_k=128,swap_ab=1,stages=4"},
        // Columns of the right operand that are no whole slabs.
        {"tn", kBf16, kBf16, false, "block_n=224,stages=4"},
        {"nn", kBf16, kBf16, false, "block_n=208,stages=4,split_k=8,cluster=4"},
        {"tn", kF16, kF16, true, "block_m=256,block_n=96,stages=4"},
        {"nn", kBf16, kF32, false, "block_m=192,block_n=176,warps_m=3,stages=3,multicast_a=2"},
        {"tt", kF16, kF16, false, "block_n=176,warps_m=1,ping_pong=1,stages=5,swap_ab=1,multicast_b=2"},
        {"nn", kBf16, kBf16, false, "block_m=64,block_n=24,warps_m=1,stages=6,min_blocks=2"},
        {"nn", kBf16, kBf16, true, "split_k=8,cluster=8"},
        {"nt", kBf16, kF32, false, "block_n=256,split_k=4,cluster=2"},
        {"tn", kF16, kF16, true, "block_n=256,split_k=16"},
        {"tt", kBf16, kBf16, false, "block_k=128,stages=3,split_k=3"},
        {"nt", kF16, kF32, true, "block_m=64,block_n=24,warps_m=1,stages=8,split_k=2,cluster=2", 4},
        {"nn", kBf16, kBf16, false, "block_n=256,pack_ab=3", 2},
        {"nt", kBf16, kBf16, true, "block_n=176,block_m=192,warps_m=3,pack_ab=3,multicast_a=2", 2},
        {"tn", kF16, kF16, false, "block_n=128,pack_ab=1,swap_ab=1", 8},
        {"nn", kBf16, kBf16, false, "block_n=128,swap_ab=1,multicast_a=2"},
        {"nn", kBf16, kBf16, false, "warps_m=1,ping_pong=1,stages=6"},
        {"nt", kBf16, kBf16, false, "block_n=176,warps_m=1,ping_pong=1,stages=5,multicast_b=2"},
        {"nt", kF16, kF16, false, "block_n=192,warps_m=1,ping_pong=1,stages=4,raster=8"},
        {"tn", kBf16, kF32, true, "block_m=64,block_n=256,warps_m=1,ping_pong=1,stages=4"},
        {"tt", kBf16, kBf16, false, "block_n=128,warps_m=1,ping_pong=1,stages=6,multicast_a=2,multicast_b=2"},
        {"nt", kBf16, kBf16, false, "block_n=176,warps_m=1,ping_pong=1,stages=5,pack_ab=3", 2},
        {"nt", kF16, kF16, false, "block_n=96,stages=6,multicast_a=4,multicast_b=2"},
        // tf32: both operands from shared memory, and the left one from registers.
        {"nt", kF32, kF32, false, "block_k=32,stages=4,block_n=256,multicast_a=2"},
        {"nt", kF32, kF32, true, "block_k=64,stages=3,block_n=96,min_blocks=1,swap_ab=1"},
        {"nt", kF32, kF32, false, "block_k=32,stages=4,split_k=4,cluster=4"},
        {"tt", kF32, kF32, false, "block_k=32,stages=4,block_n=256"},
        {"tt", kF32, kF32, true, "block_k=32,stages=4,block_n=256,multicast_b=2"},
        {"tt", kF32, kF32, false, "block_k=32,stages=4,block_m=256,multicast_a=4"},
        {"tt", kF32, kF32, true, "block_k=64,stages=2,block_n=144,warps_m=1"},
        {"tt", kF32, kF32, false, "block_k=32,stages=3,block_m=192,block_n=176,warps_m=3"},
        {"nn", kF32, kF32, false, "block_k=32,stages=4,block_n=256,swap_ab=1,multicast_b=2"},
        {"nn", kF32, kF32, true, "block_k=32,stages=4,block_n=256,swap_ab=1,multicast_a=2"},
        {"nn", kF32, kF32, true, "block_k=32,stages=4,block_m=256,swap_ab=1,multicast_a=4"},
        {"nn", kF32, kF32, true, "block_k=32,stages=4,block_n=152,warps_m=1,swap_ab=1,multicast_a=4"},
        {"nn", kF32, kF32, false, "block_k=128,stages=2,block_n=16,swap_ab=1,split_k=8,cluster=8"},
        {"nn", kF32, kF32, false, "block_k=32,stages=8,block_m=64,block_n=8,warps_m=1,swap_ab=1,split_k=6", 4},
        {"nn", kF32, kF32, true, "block_k=32,stages=4,block_m=64,block_n=64,warps_m=1,min_blocks=3,swap_ab=1"},
        {"nn", kF32, kF32, false, "block_k=64,stages=3,block_m=64,block_n=192,warps_m=1,warps_n=2,swap_ab=1,min_blocks=1"},
        // Bytes, whose sums are whole numbers.
        {"nt", kS8, kS32, false, "block_k=128,vector_width=16,stages=4,block_n=256,multicast_a=2"},
        {"nt", kS8, kS32, true, "block_k=128,vector_width=16,stages=3,block_m=256,multicast_b=2,raster=8"},
        {"nt", kS8, kS32, false, "block_k=128,vector_width=16,stages=4,block_n=192,warps_m=1,ping_pong=1"},
        {"nt", kS8, kS32, true, "block_k=256,vector_width=16,stages=2,block_n=176,warps_m=1,ping_pong=1,swap_ab=1"},
        {"nt", kS8, kS32, false, "block_k=128,vector_width=16,stages=3,block_m=192,block_n=192,warps_m=3,swap_ab=1"},
        {"nt", kS8, kS32, true, "block_k=128,vector_width=16,stages=6,block_m=64,block_n=24,warps_m=1,min_blocks=2,split_k=6", 4},
        {"nt", kS8, kS32, true, "block_k=128,vector_width=16,stages=4,block_n=256,split_k=8,cluster=8"},
        {"nt", kS8, kS32, true,
         "block_k=256,vector_width=16,stages=4,block_m=64,block_n=16,warps_m=1,min_blocks=2,swap_ab=1,split_k=4,cluster=2", 8},
        {"nt", kS8, kS32, false, "block_k=128,vector_width=16,stages=4,block_m=64,block_n=128,warps_m=1,min_blocks=2,boundary=peeled", 4},
    };
    std::vector<Job> jobs;
    std::set<std::string> names;
    for (const Sample& sample : samples) {
        KernelSignature signature = signature_for(sample.ops, sample.type);
        signature.type_c = sample.type_c;
        signature.reads_c = sample.reads_c;
        signature.align_c = sample.alignment;
        const KernelConfig config = changed(parse_config(kTile), sample.changes);
        CAPTURE(sample.changes);
        const char* const violation = violation_of(config, signature);
        CHECK_MESSAGE(!violation, std::string(violation ? violation : ""));
        CHECK(names.insert(make_kernel_source(signature, config).name).second);
        if (!violation) jobs.push_back({fmt::format("{} {}", sample.ops, sample.changes), config, signature, {}});
    }
    // The configs that problems without a tuned winner get.
    const DeviceInfo device = assumed_device("90");
    for (const char* text : {"4096x4096x4096 dtype=bf16", "2047x2049x2051 dtype=f16 ops=nt", "16x4096x4096 dtype=bf16 ops=nt",
                             "64x64x65536 dtype=bf16", "512x512x64 batch=96 dtype=bf16 ops=nt", "1024x1024x1024 compute=tf32",
                             "8192x8192x8192 compute=tf32", "4096x4096x4096 compute=tf32 ops=tn", "2047x2049x2051 compute=tf32 ops=tt",
                             "16x4096x4096 compute=tf32", "64x64x65536 compute=tf32 ops=nt beta=1", "4096x4096x4096 dtype=s8 ops=nt",
                             "1023x1023x1023 dtype=s8", "64x64x65536 dtype=s8 ops=nt beta=1"}) {
        const GemmProblem problem = parse_shape(text).problem;
        const KernelConfig config = default_config(problem, device);
        const KernelSignature signature = main_signature(problem, config);
        if (names.insert(make_kernel_source(signature, config).name).second) jobs.push_back({text, config, signature, {}});
    }
    std::size_t index = 0;
    std::erase_if(jobs, [&](const Job&) { return !tmm::testing::in_slice(index++, 3); });
    compile_all(jobs);
    for (const Job& job : jobs) {
        CAPTURE(job.text);
        const std::string what = to_text(job.config);
        CAPTURE(what);
        if (const auto* failure = std::get_if<CompileFailure>(&job.result)) {
            FAIL_CHECK(failure->log);
            continue;
        }
        const auto& kernel = std::get<CompiledKernel>(job.result);
        CHECK(kernel.log == "");
        CHECK(kernel.spill_bytes == 0);
        CHECK(kernel.registers > 0);
        const int threads = wgmma::threads(job.config);
        CHECK(blocks_per_sm(device, threads, kernel.registers, 0).blocks >= job.config.min_blocks);
        // Consumers would wait for ever for registers that the block does not have.
        if (wgmma::trades_registers(job.config))
            CHECK(wgmma::kProducerRegisters + wgmma::consumers(job.config) * wgmma::consumer_registers(job.config) <=
                  threads / wgmma::kWarpgroup * kernel.registers);
        if (std::getenv("TMM_TEST_VERBOSE")) fmt::print("{}: {} registers: {}\n", job.text, kernel.registers, what);
    }
}
