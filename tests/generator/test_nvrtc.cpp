// NVRTC: every family compiles without a warning for every architecture (a slice of these, all with TMM_TEST_FULL=1), numbers come out of
// the log, faults give a log.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "generator/compile/compiler.h"
#include "generator/families/family.h"
#include "generator/families/wgmma/wgmma.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/occupancy.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/slice.h"
#include "tuner/compiling/compile_processes.h"

using namespace tmm;
using tmm::testing::in_slice;

namespace {

bool nvrtc_is_missing() {
    if (nvrtc_version() != 0) return false;
    MESSAGE("skipped: libnvrtc was not found");
    return true;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string image_text(const CompiledKernel& kernel) {
    return {reinterpret_cast<const char*>(kernel.image.data()), kernel.image.size()};
}

struct Sample {
    const char* config;
    KernelSignature signature;
};

const KernelSignature kPlain{.align_a = 16, .align_b = 16, .align_c = 16};

std::vector<Sample> samples() {
    KernelSignature beta = kPlain;
    beta.reads_c = true;
    beta.batched = true;
    KernelSignature transposed = kPlain;
    transposed.op_a = transposed.op_b = Operation::transpose;
    KernelSignature nt;
    nt.op_b = Operation::transpose;
    KernelSignature aligned_nt = kPlain;
    aligned_nt.op_b = Operation::transpose;
    KernelSignature aligned_tn = kPlain;
    aligned_tn.op_a = Operation::transpose;
    const auto narrow = [](KernelSignature s, ElementType type, ElementType type_c) {
        s.type_a = s.type_b = type;
        s.type_c = type_c;
        return s;
    };
    KernelSignature f64 = narrow(beta, ElementType::f64, ElementType::f64);
    f64.compute = ComputeMode::f64;
    KernelSignature s8 = narrow(kPlain, ElementType::s8, ElementType::s32);
    s8.compute = ComputeMode::s32;
    KernelSignature s8_nt = s8;
    s8_nt.op_a = Operation::none, s8_nt.op_b = Operation::transpose;
    const KernelSignature bf16 = narrow(beta, ElementType::bf16, ElementType::bf16);
    const KernelSignature f16 = narrow(kPlain, ElementType::f16, ElementType::f16);
    KernelSignature bf16_nt = narrow(kPlain, ElementType::bf16, ElementType::f32);
    bf16_nt.op_b = Operation::transpose;
    KernelSignature unaligned = narrow(transposed, ElementType::bf16, ElementType::bf16);
    unaligned.align_a = unaligned.align_b = unaligned.align_c = 2;
    KernelSignature lower = beta;
    lower.result = Result::lower;
    lower.pointers = true;
    KernelSignature upper = narrow(aligned_nt, ElementType::bf16, ElementType::bf16);
    upper.result = Result::upper;
    upper.pointers = true;
    return {
        {"family=naive,block_m=16,block_n=16", lower},
        {"family=tiled,block_m=16,block_n=16,block_k=16", lower},
        {"family=simt,block_m=128,block_n=64,block_k=16,thread_m=8,thread_n=4,stages=3,async_copy=1,vector_width=4", lower},
        {"family=gemv,block_m=4,block_n=16,block_k=256,thread_n=4,stages=2,vector_width=8,boundary=peeled", upper},
        {"family=mma,block_m=128,block_n=64,block_k=32,warps_m=2,warps_n=2,stages=4,async_copy=1,vector_width=8,boundary=peeled", upper},
        {"family=naive,block_m=16,block_n=16", beta},
        {"family=tiled,block_m=16,block_n=16,block_k=16,boundary=exact", kPlain},
        {"family=tiled,block_m=32,block_n=32,block_k=32", beta},
        {"family=simt,block_m=64,block_n=64,block_k=16,thread_m=4,thread_n=4,vector_width=4,stages=2,boundary=exact", kPlain},
        {"family=simt,block_m=128,block_n=128,block_k=8,thread_m=8,thread_n=8,vector_width=4,boundary=peeled", transposed},
        {"family=simt,block_m=128,block_n=64,block_k=16,thread_m=8,thread_n=4,stages=3,async_copy=1,vector_width=4", beta},
        {"family=simt,block_m=32,block_n=32,block_k=16,thread_m=2,thread_n=2,vector_width=1,split_k=2", nt},
        {"family=gemv,block_m=1,block_n=64,block_k=16,thread_n=2,vector_width=4", kPlain},
        {"family=gemv,block_m=4,block_n=8,block_k=128,thread_n=1,vector_width=4,boundary=peeled", nt},
        {"family=skinny,block_m=16,block_n=28,block_k=128,thread_m=8,thread_n=7,stages=3,vector_width=4,boundary=hardware,slice_k=2",
         aligned_nt},
        {"family=simt,block_m=128,block_n=256,block_k=16,thread_m=8,thread_n=16,stages=5,async_copy=3,vector_width=4,boundary=peeled",
         aligned_tn},
        {"family=simt,block_m=128,block_n=128,block_k=32,thread_m=8,thread_n=16,stages=3,async_copy=3,vector_width=4,boundary=peeled,"
         "min_blocks=2,pack_ab=7",
         aligned_tn},
        {"family=naive,block_m=16,block_n=16", bf16},
        {"family=naive,block_m=16,block_n=16", f64},
        {"family=tiled,block_m=16,block_n=16,block_k=16", f64},
        {"family=simt,block_m=64,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=2,vector_width=4,boundary=peeled", f64},
        {"family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled", f64},
        {"family=gemv,block_m=4,block_n=16,block_k=128,thread_n=2,stages=2,vector_width=2,boundary=peeled", f64},
        {"family=naive,block_m=16,block_n=16", s8},
        {"family=tiled,block_m=16,block_n=16,block_k=16", s8},
        {"family=simt,block_m=64,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=2,vector_width=4,boundary=peeled", s8},
        {"family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=4,stages=3,async_copy=1,along_k=1,vector_width=4", s8_nt},
        {"family=gemv,block_m=4,block_n=64,block_k=256,thread_n=4,stages=2,vector_width=16,boundary=peeled", s8},
        {"family=mma,block_m=64,block_n=64,block_k=64,warps_m=2,warps_n=2,stages=3,async_copy=1,vector_width=16,boundary=peeled", s8},
        {"family=mma,block_m=64,block_n=64,block_k=64,warps_m=2,warps_n=2,stages=3,async_copy=1,vector_width=16,boundary=peeled", s8_nt},
        {"family=naive,block_m=16,block_n=16", f16},
        {"family=gemv,block_m=1,block_n=256,block_k=64,thread_n=8,stages=2,vector_width=8,boundary=peeled", f16},
        {"family=gemv,block_m=8,block_n=128,block_k=64,thread_n=4,stages=2,vector_width=8,boundary=peeled", bf16},
        {"family=gemv,block_m=1,block_n=16,block_k=256,thread_n=4,stages=4,vector_width=8,boundary=peeled", bf16_nt},
        {"family=gemv,block_m=8,block_n=16,block_k=256,thread_n=4,stages=2,vector_width=8,boundary=peeled", bf16_nt},
        {"family=mma,block_m=128,block_n=64,block_k=32,warps_m=2,warps_n=2,stages=4,async_copy=1,vector_width=8,boundary=exact", f16},
        {"family=mma,block_m=64,block_n=64,block_k=64,warps_m=2,warps_n=2,stages=3,async_copy=1,vector_width=8,boundary=peeled", bf16_nt},
        {"family=mma,block_m=64,block_n=64,block_k=32,warps_m=2,warps_n=2,stages=2,vector_width=8,boundary=peeled", unaligned},
        {"family=mma,block_m=64,block_n=32,block_k=16,warps_m=2,stages=1,vector_width=1,split_k=2", unaligned},
    };
}

struct StepSample {
    PlanKernel kernel;
    KernelSignature signature;
    int first_architecture;
};

std::vector<StepSample> step_samples() {
    KernelSignature beta = kPlain;
    beta.reads_c = beta.batched = true;
    KernelSignature bf16 = kPlain;
    bf16.type_a = bf16.type_b = bf16.type_c = ElementType::bf16;
    KernelSignature f16 = kPlain;
    f16.type_a = f16.type_b = f16.type_c = ElementType::f16;
    // A is turned, and B copied as it lies, of rows that start anywhere.
    KernelSignature s8{.type_a = ElementType::s8, .type_b = ElementType::s8, .type_c = ElementType::s32, .compute = ComputeMode::s32};
    s8.op_a = s8.op_b = Operation::transpose;
    s8.align_a = s8.align_b = 1;
    KernelSignature gate = bf16;
    gate.bias = BiasAxis::columns;
    gate.activation = Activation::swiglu;
    gate.residual = true;
    gate.align_residual = 16;
    gate.epilogue = epilogue_class(gate.bias, gate.activation, gate.residual);
    KernelSignature lower = bf16;
    lower.result = Result::lower;
    KernelSignature pointers = bf16;
    pointers.pointers = true;
    const KernelConfig tile = parse_config("simt 64x64x16 t8x4 s3 async v4 peeled o3");
    return {{Reduce{.sharers = 1, .columns = 256}, beta, 75},
            {Reduce{.sharers = 4, .columns = 256}, bf16, 75},
            {Reduce{.sharers = 1, .columns = 256}, f16, 75},
            {Finishing{.across = 32, .down = 8, .rows = 4}, beta, 75},
            {Finishing{.across = 32, .down = 8, .rows = 2}, gate, 75},
            {Reduce{.sharers = 4, .columns = 256}, lower, 75},
            {Finishing{.across = 32, .down = 8, .rows = 2}, lower, 75},
            {Mirror{.side = 64}, bf16, 75},
            {Mirror{.side = 32}, kPlain, 75},
            {Mirror{.side = 64}, pointers, 75},
            {Fixup{.block_m = 128, .block_n = 64, .block_k = 16}, beta, 75},
            {Pack{.a = true, .b = true, .blocks_per_sm = 3}, beta, 75},
            {Pack{.a = true, .b = true, .strips = true, .blocks_per_sm = 3}, beta, 90},
            {Pad{.a = true, .b = true}, bf16, 90},
            {Pad{.a = true, .b = true}, s8, 90},
            {Planes{.planes = 2, .cluster = 1, .slots = 3}, beta, 80},
            {Planes{.planes = 3, .cluster = 8, .slots = 2}, kPlain, 90},
            {Rescue{.tile = tile}, beta, 80}};
}

}  // namespace

TEST_CASE("every family and step compiles without a warning for every architecture") {
    if (nvrtc_is_missing()) return;
    struct Job {
        std::string name;
        PlanKernel kernel;
        KernelSignature signature;
        int architecture;
        CompileResult result;
    };
    std::vector<Job> jobs;
    std::size_t index = 0;
    const auto add = [&](const PlanKernel& kernel, const KernelSignature& signature, int first) {
        for (const int architecture : {75, 80, 86, 89, 90, 100, 120})
            if (architecture >= first && in_slice(index++, 3))
                jobs.push_back({make_kernel_source(signature, kernel).name, kernel, signature, architecture, {}});
    };
    for (const Sample& sample : samples()) {
        const KernelConfig config = parse_config(sample.config);
        const KernelSignature signature = kernel_signature(sample.signature, config);
        const char* violation = violation_of(config, signature);
        CAPTURE(sample.config);
        CHECK_MESSAGE(violation == nullptr, violation);
        if (violation) continue;
        const bool is_newer = config.async_copy != 0 || config.family == family::mma;
        add(config, signature, family_of(config).model.phase_loads(config).by_copy_engine ? 90 : is_newer ? 80 : 75);
    }
    for (const StepSample& sample : step_samples()) {
        const KernelSignature signature = kernel_signature(sample.signature, sample.kernel);
        const char* const violation = facts_of_step(sample.kernel, signature)->violation;
        CHECK_MESSAGE(violation == nullptr, violation);
        add(sample.kernel, signature, sample.first_architecture);
    }
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back([&] {
            for (std::size_t job; (job = next++) < jobs.size();) {
                Job& j = jobs[job];
                j.result = make_nvrtc_compiler(j.architecture)->compile(make_kernel_source(j.signature, j.kernel));
            }
        });
    for (std::thread& thread : threads) thread.join();

    for (const Job& job : jobs) {
        CAPTURE(job.name);
        CAPTURE(job.architecture);
        if (const auto* failure = std::get_if<CompileFailure>(&job.result)) {
            FAIL_CHECK(failure->log);
            continue;
        }
        const auto& kernel = std::get<CompiledKernel>(job.result);
        CHECK(kernel.log == "");
        CHECK(image_text(kernel).substr(1, 3) == "ELF");
        CHECK(kernel.registers > 0);
        CHECK(kernel.registers <= 255);
        CHECK(kernel.spill_bytes == 0);
    }
}

TEST_CASE("the kernels that verify and that measure ceilings compile without a warning") {
    if (nvrtc_is_missing()) return;
    for (const KernelSource& source : {make_verify_source(), make_ceilings_source()}) {
        for (const int architecture : {75, 90, 120}) {
            const CompileResult result = make_nvrtc_compiler(architecture)->compile(source);
            CAPTURE(source.name);
            CAPTURE(architecture);
            if (const auto* failure = std::get_if<CompileFailure>(&result)) FAIL(failure->log);
            const auto& kernel = std::get<CompiledKernel>(result);
            CHECK(kernel.log == "");
            CHECK(kernel.spill_bytes == 0);
            for (const KernelEntry& entry : source.entries) CHECK_MESSAGE(contains(image_text(kernel), entry.name), entry.name);
        }
    }
}

TEST_CASE("the ceilings' loads are 16 bytes wide and its multiplications are fused") {
    if (nvrtc_is_missing()) return;
    const std::string ptx = compile_to_ptx(make_ceilings_source(), 90);
    CHECK(contains(ptx, "ld.global.v4"));
    CHECK(contains(ptx, "fma.rn.f32"));
    // Nothing of the work is optimised away, and nothing is moved element by element.
    CHECK_FALSE(contains(ptx, "ld.global.u32"));
    CHECK_FALSE(contains(ptx, "mul.f32"));
}

TEST_CASE("registers and spills are read from the assembler's remarks") {
    if (nvrtc_is_missing()) return;
    const auto compiler = make_nvrtc_compiler(90);
    // 64 values that live across a barrier do not fit into the 32 registers that 1024 threads in two blocks leave each.
    const std::string body =
        "(float* p) {\n"
        "    float v[64];\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < 64; ++i) v[i] = p[threadIdx.x + 1024 * i];\n"
        "    __syncthreads();\n"
        "#pragma unroll\n"
        "    for (int i = 0; i < 64; ++i) p[threadIdx.x * 64 + i] = v[i] - 2 * v[63 - i];\n"
        "}\n";
    const auto compiled = [&](const std::string& bounds) {
        KernelSource source{.name = "k", .text = "extern \"C\" __global__ void " + bounds + " k" + body, .entries = {{"k", "float*"}}};
        CompileResult result = compiler->compile(source);
        REQUIRE(std::holds_alternative<CompiledKernel>(result));
        return std::get<CompiledKernel>(std::move(result));
    };
    const CompiledKernel roomy = compiled("__launch_bounds__(128)");
    CHECK(roomy.registers > 64);
    CHECK(roomy.spill_bytes == 0);
    CHECK(roomy.log == "");
    const CompiledKernel tight = compiled("__launch_bounds__(1024, 2)");
    CHECK(tight.registers <= 32);
    CHECK(tight.spill_bytes > 0);

    // Where there are several entries, the largest count is reported.
    const KernelSource both{.name = "both",
                            .text = "extern \"C\" __global__ void __launch_bounds__(1024, 2) small" + body +
                                    "extern \"C\" __global__ void __launch_bounds__(128) large" + body,
                            .entries = {{"small", "float*"}, {"large", "float*"}}};
    const CompileResult result = compiler->compile(both);
    REQUIRE(std::holds_alternative<CompiledKernel>(result));
    CHECK(std::get<CompiledKernel>(result).registers == roomy.registers);
    CHECK(std::get<CompiledKernel>(result).spill_bytes == tight.spill_bytes);
}

TEST_CASE("a faulty source gives the compiler's log, a warning stays in the log") {
    if (nvrtc_is_missing()) return;
    const auto compiler = make_nvrtc_compiler(90);
    const CompileResult failed =
        compiler->compile({.name = "broken", .text = "extern \"C\" __global__ void broken() { undeclared(); }\n", .entries = {}});
    REQUIRE(std::holds_alternative<CompileFailure>(failed));
    CHECK(contains(std::get<CompileFailure>(failed).log, "broken.cu(1)"));
    CHECK(contains(std::get<CompileFailure>(failed).log, "undeclared"));

    // A template that is missing is no fault of a kernel's.
    CHECK_THROWS_WITH_AS(static_cast<void>(compiler->compile({.name = "lost", .text = "#include \"tmm/lost.cuh\"\n", .entries = {}})),
                         doctest::Contains("tmm/lost.cuh"), Error);

    const CompileResult warned =
        compiler->compile({.name = "warned", .text = "extern \"C\" __global__ void warned() { int unused; }\n", .entries = {}});
    REQUIRE(std::holds_alternative<CompiledKernel>(warned));
    CHECK(contains(std::get<CompiledKernel>(warned).log, "unused"));

    // A config that breaks its family's rules is refused by the kernel itself.
    const KernelSource invalid =
        make_kernel_source(kPlain, KernelConfig{.family = family::tiled, .block_m = 16, .block_n = 8, .block_k = 16});
    CHECK(std::holds_alternative<CompileFailure>(compiler->compile(invalid)));
    CHECK_THROWS_AS(compile_to_ptx(invalid, 90), Error);
}

TEST_CASE("a kernel whose wgmma instructions wait for each other is a failure that says so") {
    if (nvrtc_is_missing()) return;
    KernelSignature bf16 = kPlain;
    bf16.type_a = bf16.type_b = bf16.type_c = ElementType::bf16;
    const KernelConfig config = parse_config("family=wgmma,block_m=64,block_n=64,block_k=64,stages=2,vector_width=8,boundary=hardware");
    const auto compiled = [&](const std::string& between) {
        const std::string multiply = "    tmm::ptx::wgmma_mma_async<tmm::ElementType::bf16, 64, false, true>(sums, left, right, true);\n";
        const KernelSource source{.name = "products",
                                  .text = "#include \"tmm/families/wgmma/kernel.cuh\"\n" + wgmma_instruction(bf16, config) +
                                          "extern \"C\" __global__ void __launch_bounds__(128) products(float* c) {\n"
                                          "    float sums[32] = {};\n"
                                          "    const unsigned long long left = 1ull << 62, right = 1ull << 62 | 64;\n"
                                          "    tmm::ptx::wgmma_fence();\n" +
                                          multiply + between + multiply +
                                          "    tmm::ptx::wgmma_commit_group();\n"
                                          "    tmm::ptx::wgmma_wait_group<0>();\n"
                                          "#pragma unroll\n"
                                          "    for (int i = 0; i < 32; ++i) c[threadIdx.x * 32 + i] = sums[i];\n"
                                          "}\n",
                                  .entries = {{"products", "float*"}}};
        return make_nvrtc_compiler(90)->compile(source);
    };
    const CompileResult smooth = compiled("");
    if (const auto* failure = std::get_if<CompileFailure>(&smooth)) FAIL(failure->log);
    CHECK(std::get<CompiledKernel>(smooth).log == "");

    const CompileResult touched = compiled("    sums[0] *= 2;\n");
    REQUIRE(std::holds_alternative<CompileFailure>(touched));
    const std::string& log = std::get<CompileFailure>(touched).log;
    INFO(log);
    CHECK(contains(log, "was serialized"));
    CHECK(contains(log, "(C75"));
    CHECK(contains(log, "'products'"));
}

TEST_CASE("each architecture gets what its GPU can load") {
    if (nvrtc_is_missing()) return;
    const KernelSource source = make_kernel_source(kPlain, KernelConfig{.family = family::naive, .block_m = 16, .block_n = 16});
    const auto identity = [](int architecture) { return make_nvrtc_compiler(architecture)->identity(); };
    CHECK(contains(identity(80), "=sm_80 "));
    CHECK(contains(identity(90), "=sm_90a "));
    // Binary code of an older minor version runs on the newer one.
    CHECK(contains(identity(85), "=sm_80 "));
    CHECK(identity(80) != identity(90));

    // A GPU newer than NVRTC gets PTX, which the driver compiles.
    const auto future = make_nvrtc_compiler(990);
    CHECK(contains(future->identity(), "=compute_"));
    const CompileResult result = future->compile(source);
    REQUIRE(std::holds_alternative<CompiledKernel>(result));
    const std::string ptx = image_text(std::get<CompiledKernel>(result));
    CHECK(contains(ptx, ".entry " + source.name));
    CHECK(ptx.back() == '\0');
    CHECK(std::get<CompiledKernel>(result).registers == -1);

    try {
        make_nvrtc_compiler(35);
        FAIL("Kepler was accepted");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::no_compiler);
        CHECK(contains(error.what(), "not for 3.5"));
    }
    const std::string text = compile_to_ptx(source, 90);
    CHECK(contains(text, ".target sm_90a"));
    CHECK(text.find('\0') == std::string::npos);
}

TEST_CASE("a step behind a product moves 16 bytes at once, and reads all of them before it stores") {
    if (nvrtc_is_missing()) return;
    struct Case {
        const char* shape;
        // Loads of 16 bytes: of sums, of the bias, and of C and the residual.
        int sums, bias, others;
        // The ends of rows, and a bias that is not aligned, take single elements.
        int most_singles;
    };
    for (const Case& c :
         {Case{"64x256x32 dtype=bf16 align=16 epilogue=bias+silu+residual", 4, 1, 2, 30},
          Case{"64x256x32 align=16 epilogue=bias", 4, 1, 0, 30}, Case{"64x256x32 align=16 epilogue=bias+residual beta=1", 4, 1, 8, 30},
          Case{"64x256x32 dtype=bf16 align=16 epilogue=bias+gelu+residual beta=1", 4, 1, 4, 30},
          Case{"64x256x32 dtype=f16 align=16 epilogue=bias+swiglu", 8, 2, 0, 60}}) {
        CAPTURE(std::string(c.shape));
        const KernelSignature signature = signature_of(parse_shape(c.shape).problem);
        const int rows = finishing::most_rows(signature);
        const std::string ptx = compile_to_ptx(make_kernel_source(signature, Finishing{.across = 32, .down = 8, .rows = rows}), 90);
        const auto count = [&](const std::string& what) {
            int found = 0;
            for (std::size_t at = ptx.find(what); at != std::string::npos; at = ptx.find(what, at + 1)) ++found;
            return found;
        };
        CHECK(count("st.global.v4") == rows);
        CHECK(count("ld.global.v4") == c.sums + c.bias + c.others);
        CHECK(ptx.rfind("ld.global.v4") < ptx.find("st.global.v4"));
        CHECK(count("ld.global.u16") + count("ld.global.f32") <= c.most_singles);
    }
}

TEST_CASE("many threads compile at once and get the same") {
    if (nvrtc_is_missing()) return;
    const auto compiler = make_nvrtc_compiler(90);
    const KernelSource source = make_kernel_source(kPlain, parse_config("family=tiled,block_m=16,block_n=16,block_k=16"));
    std::vector<CompileResult> results(4);
    std::vector<std::thread> threads;
    for (CompileResult& result : results) threads.emplace_back([&] { result = compiler->compile(source); });
    for (std::thread& thread : threads) thread.join();
    for (const CompileResult& result : results) {
        REQUIRE(std::holds_alternative<CompiledKernel>(result));
        CHECK(std::get<CompiledKernel>(result).image == std::get<CompiledKernel>(results[0]).image);
    }
}

TEST_CASE("processes of their own compile the same machine code, and give the same logs") {
    if (nvrtc_is_missing()) return;
    const auto here = make_nvrtc_compiler(90);
    const CompileProcesses processes({.compute_capability = 90, .most = 2, .program = std::string(TMM_BINARY_DIR) + "/tools/tmm-tune"});
    const KernelSource source = make_kernel_source(kPlain, parse_config("family=tiled,block_m=16,block_n=16,block_k=16,boundary=exact"));
    const auto compiled = std::get<CompiledKernel>(processes.compile(source));
    const auto expected = std::get<CompiledKernel>(here->compile(source));
    CHECK(compiled.image == expected.image);
    CHECK(compiled.registers == expected.registers);
    CHECK(compiled.spill_bytes == expected.spill_bytes);
    CHECK(compiled.log == expected.log);
    const KernelSource faulty{.name = "faulty", .text = "int f( { return \"\xff\"; }\n", .entries = {}};
    const std::string log = std::get<CompileFailure>(processes.compile(faulty)).log;
    CHECK(contains(log, "faulty.cu(1): error"));
    CHECK(contains(log, "expected a"));
}

TEST_CASE("blocks an SM, from the limits alone") {
    const DeviceInfo hopper = assumed_device("sm_90a");
    CHECK(hopper.name == "NVIDIA H200");
    CHECK(assumed_device("9.0").sm_count == hopper.sm_count);
    // NVIDIA's occupancy calculator gives these.
    CHECK(blocks_per_sm(hopper, 256, 32, 0).blocks == 8);
    CHECK(std::string(blocks_per_sm(hopper, 256, 32, 0).limit) == "threads");
    CHECK(blocks_per_sm(hopper, 256, 128, 0).blocks == 2);
    CHECK(std::string(blocks_per_sm(hopper, 256, 128, 0).limit) == "registers");
    CHECK(blocks_per_sm(hopper, 128, 168, 0).blocks == 3);
    CHECK(blocks_per_sm(hopper, 128, 32, 100 << 10).blocks == 2);
    CHECK(std::string(blocks_per_sm(hopper, 128, 32, 100 << 10).limit) == "shared memory");
    CHECK(blocks_per_sm(hopper, 32, 16, 0).blocks == 32);
    CHECK(blocks_per_sm(hopper, 256, 255, 0).blocks == 1);
    CHECK(blocks_per_sm(hopper, 256, 32, 300 << 10).blocks == 0);
    CHECK(blocks_per_sm(assumed_device("75"), 256, 32, 0).blocks == 4);
    CHECK(blocks_per_sm(assumed_device("86"), 32, 16, 0).blocks == 16);
    for (const char* architecture : {"75", "80", "86", "90", "120"}) {
        const DeviceInfo device = assumed_device(architecture);
        for (const int blocks : {1, 2, 3, 5, 16}) {
            CAPTURE(architecture);
            CAPTURE(blocks);
            const std::int64_t bytes = shared_bytes_for(device, blocks);
            CHECK(bytes <= device.shared_bytes_per_block);
            CHECK(blocks_per_sm(device, 32, 16, bytes).blocks == blocks);
        }
    }
    try {
        assumed_device("sm_42");
        FAIL("sm_42 was accepted");
    } catch (const Error& error) {
        CHECK(error.status() == ExitStatus::usage);
        CHECK(contains(error.what(), "75, 80"));
    }
}
