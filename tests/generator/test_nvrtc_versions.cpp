// The kernels compile by every NVRTC from 12.0 on to code that is as good as that of the version they were made with: no config is read
// from memory, no division stands in a loop, nothing spills, wgmma is not serialized, and loops are as short. scripts/lib.sh puts the
// versions into .deps/nvrtc, a folder each; those that are there are tested.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/compile/compiler.h"
#include "generator/compile/nvrtc_library.h"
#include "generator/families/family.h"
#include "generator/kernel/kernel_source.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/machine_code.h"
#include "tests/support/slice.h"

using namespace tmm;
namespace fs = std::filesystem;
using tmm::testing::in_slice;
using tmm::testing::MathLoop;

namespace {

const fs::path kVersions = fs::path(TMM_SOURCE_DIR) / ".deps" / "nvrtc";

std::vector<NvrtcLibrary> other_versions() {
    std::vector<NvrtcLibrary> libraries;
    if (!fs::exists(kVersions)) return libraries;
    std::set<fs::path> folders;
    for (const auto& entry : fs::recursive_directory_iterator(kVersions))
        if (entry.path().filename().string().starts_with("libnvrtc.so.")) folders.insert(entry.path().parent_path());
    for (const fs::path& folder : folders) libraries.push_back(open_nvrtc_library(folder.string()));
    std::sort(libraries.begin(), libraries.end(),
              [](const NvrtcLibrary& a, const NvrtcLibrary& b) { return std::pair(a.major, a.minor) < std::pair(b.major, b.minor); });
    return libraries;
}

int number_of(const NvrtcLibrary& nvrtc) {
    return nvrtc.major * 100 + nvrtc.minor;
}

struct Sample {
    std::string what;
    int architecture;
    KernelSource source;
    bool is_product;
};

class Samples {
public:
    void add(const std::string& what, const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device) {
        for (const LaunchStep& step : make_launch_plan(problem, config, device).steps) {
            KernelSource source = make_kernel_source(step.signature, step.kernel);
            if (seen_.insert({device.compute_capability(), source.name}).second)
                all_.push_back({what + " with " + to_text(config), device.compute_capability(), std::move(source),
                                std::holds_alternative<KernelConfig>(step.kernel)});
        }
    }
    const std::vector<Sample>& all() const { return all_; }

private:
    std::set<std::pair<int, std::string>> seen_;
    std::vector<Sample> all_;
};

// Every family and step, by the configs of untuned shapes and by winners.
std::vector<Sample> samples() {
    const char* const shapes[] = {"4096x4096x4096",
                                  "64x64x64 batch=1024",
                                  "1024x1024x1024 compute=f32_strict",
                                  "16x4096x4096 ops=nt",
                                  "4096x4096x4096 dtype=bf16",
                                  "16x4096x4096 dtype=bf16 ops=nt",
                                  "1001x999x1000 dtype=bf16",
                                  "4096x4096x4096 compute=tf32",
                                  "1023x1023x1023 ops=tn",
                                  "64x64x65536 dtype=f16",
                                  "512x3072x768 dtype=bf16 epilogue=bias+gelu+residual",
                                  "512x3072x768 dtype=bf16 epilogue=bias+swiglu",
                                  "45x75x21 epilogue=bias+swiglu",
                                  "333x777x1000 dtype=f16 ctype=f32 beta=1",
                                  "4096x4096x4096 dtype=bf16 ops=nt result=symmetric",
                                  "1023x1023x1023 dtype=bf16 ops=nt result=upper",
                                  "3000x3000x500 result=lower beta=1",
                                  "64x64x64 batch=1024 pointers=1",
                                  "7x5x3"};
    Samples samples;
    for (const char* architecture : {"90", "80", "120", "75"}) {
        const DeviceInfo device = assumed_device(architecture);
        for (const char* shape : shapes) {
            const GemmProblem problem = parse_shape(shape).problem;
            samples.add(shape, problem, default_config(problem, device), device);
        }
    }
    const DeviceInfo hopper = assumed_device("90");
    for (const auto& [shape, config] :
         std::map<std::string, const char*>{{"512x512x512", "naive 16x16x1"},
                                            {"512x512x528", "tiled 16x16x16 exact"},
                                            {"16x11008x4096 ops=nt", "skinny 16x32x64 t4x4 s3"},
                                            {"4096x4096x4096 compute=f32_strict", "simt 128x128x16 t8x8 s2 v4 exact stream"},
                                            {"512x512x4096 dtype=bf16", "mma 64x64x32 w2x2 s3 async v8 exact split4"}})
        samples.add(shape, parse_shape(shape).problem, parse_config(config), hopper);
    std::size_t number = 0;
    for (const WinnerRow& winner : shipped_winners("NVIDIA H200"))
        if (number++ % 41 == 0) samples.add(to_text(winner.problem), winner.problem, winner.config, hopper);
    return samples.all();
}

// The library that a thread compiles by, and the PTX on the way to the cubin that it took last: one compilation gives both.
thread_local const NvrtcLibrary* compiling = nullptr;
thread_local std::string ptx_of_cubin;

nvrtcResult get_cubin_and_ptx(nvrtcProgram program, char* cubin) {
    std::size_t size = 0;
    nvrtcResult result = compiling->get_ptx_size(program, &size);
    if (result != NVRTC_SUCCESS) return result;
    ptx_of_cubin.resize(size);
    result = compiling->get_ptx(program, ptx_of_cubin.data());
    return result == NVRTC_SUCCESS ? compiling->get_cubin(program, cubin) : result;
}

// The PTX from a label to the last branch back to it, for each loop.
std::vector<std::string> loops_of(const std::string& ptx) {
    static const std::regex label(R"(\n(\$L__BB\w+):)");
    std::vector<std::string> loops;
    for (auto match = std::sregex_iterator(ptx.begin(), ptx.end(), label); match != std::sregex_iterator(); ++match) {
        const auto begin = static_cast<std::size_t>(match->position());
        const auto end = ptx.rfind("bra \t" + match->str(1) + ";");
        if (end != std::string::npos && end > begin) loops.push_back(ptx.substr(begin, end - begin));
    }
    return loops;
}

bool multiplies(const std::string& ptx) {
    return std::regex_search(ptx, std::regex(R"(\bfma\.rn\.f32|\bmma\.sync|wgmma\.mma_async)"));
}

// What a compiler leaves to run time that it should have worked out; empty where there is nothing of the kind. Steps around a product may
// divide: their loops find places.
std::string left_to_run_time(const std::string& ptx, bool is_product = true) {
    static const std::regex load(R"(ld\.(global|const)[^;]*\[_Z[^;]*;)");
    static const std::regex division(R"(\b(div|rem)\.[su](16|32|64)[^;]*;)");
    std::smatch match;
    if (std::regex_search(ptx, match, load)) return "a constant is read from memory: " + match.str();
    if (ptx.find(".local ") != std::string::npos) return "an array stands in local memory";
    if (!is_product) return "";
    for (const std::string& loop : loops_of(ptx)) {
        // A loop over items of work may divide; that over tiles of K, which holds no other that multiplies, may not.
        if (!multiplies(loop)) continue;
        const std::vector<std::string> inner = loops_of(loop.substr(1));
        if (std::any_of(inner.begin(), inner.end(), multiplies)) continue;
        if (std::regex_search(loop, match, division)) return "a loop that multiplies divides: " + match.str();
    }
    return "";
}

struct Seen {
    std::string failure;
    int registers = 0;
    int spill_bytes = 0;
    std::string left;
    std::vector<MathLoop> loops;
};

Seen look_at(const NvrtcLibrary& nvrtc, const Sample& sample, const std::optional<std::string>& nvdisasm) {
    Seen seen;
    NvrtcLibrary with_ptx = nvrtc;
    with_ptx.get_cubin = get_cubin_and_ptx;
    compiling = &nvrtc;
    ptx_of_cubin.clear();
    const CompileResult result = make_nvrtc_compiler(with_ptx, sample.architecture)->compile(sample.source);
    if (const auto* failure = std::get_if<CompileFailure>(&result)) {
        seen.failure = failure->log.empty() ? "no log" : failure->log;
        return seen;
    }
    const auto& kernel = std::get<CompiledKernel>(result);
    seen.registers = kernel.registers;
    seen.spill_bytes = kernel.spill_bytes;
    seen.left = ptx_of_cubin.empty() ? "no PTX was seen" : left_to_run_time(ptx_of_cubin, sample.is_product);
    if (nvdisasm && sample.is_product) seen.loops = tmm::testing::math_loops(tmm::testing::disassemble(*nvdisasm, kernel.image));
    return seen;
}

std::vector<Seen> look_at_all(const NvrtcLibrary& nvrtc, const std::vector<const Sample*>& samples,
                              const std::optional<std::string>& nvdisasm) {
    std::vector<Seen> seen(samples.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back([&] {
            for (std::size_t index; (index = next++) < samples.size();) seen[index] = look_at(nvrtc, *samples[index], nvdisasm);
        });
    threads.clear();
    return seen;
}

// How many instructions a loop may have for each of the reference's. On sm_90, for which loops were measured, versions from 12.4 on differ
// by little. Those before keep fewer addresses in uniform registers, so that loops around wgmma, which take no time of their own, are
// longer; and for other GPUs assemblers order, and so unroll and spare, by rules of their own.
double most_instructions(const NvrtcLibrary& nvrtc, const Sample& sample) {
    return sample.architecture == 90 && number_of(nvrtc) >= 1204 ? 1.03 : 1.3;
}

// NVRTC 12.4 holds wgmma's descriptors twice and copies one into the other, beside the tensor cores: these copies are not counted.
bool counts_copies(const NvrtcLibrary& nvrtc) {
    return number_of(nvrtc) != 1204;
}

int instructions_of(const MathLoop& loop, bool with_copies) {
    return loop.instructions - (with_copies ? 0 : loop.uniform_copies);
}

}  // namespace

TEST_CASE("kernels are as good by every NVRTC as by the one they were made with") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    static const std::vector<NvrtcLibrary> libraries = other_versions();
    if (libraries.empty()) {
        MESSAGE("skipped: ", kVersions.string(), " holds no other NVRTC; scripts/test puts some there");
        return;
    }
    const std::optional<std::string> nvdisasm = tmm::testing::find_nvdisasm(kVersions / "nvdisasm");
    if (!nvdisasm) MESSAGE("without machine code: nvdisasm was not found");
    const std::vector<Sample> all = samples();
    std::vector<const Sample*> chosen;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (in_slice(i, 16)) chosen.push_back(&all[i]);

    const std::vector<Seen> reference = look_at_all(nvrtc_library(), chosen, nvdisasm);
    int compared_loops = 0;
    for (const NvrtcLibrary& nvrtc : libraries) {
        std::vector<const Sample*> known;
        std::vector<const Seen*> expected;
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            // One that does not know the GPU makes PTX for the driver, which is not judged here.
            if (!std::binary_search(nvrtc.architectures.begin(), nvrtc.architectures.end(), chosen[i]->architecture)) continue;
            known.push_back(chosen[i]);
            expected.push_back(&reference[i]);
        }
        const std::vector<Seen> seen = look_at_all(nvrtc, known, nvdisasm);
        for (std::size_t i = 0; i < known.size(); ++i) {
            INFO("NVRTC ", nvrtc.major, ".", nvrtc.minor, ", sm_", known[i]->architecture, ", ", known[i]->what, ": ",
                 known[i]->source.name);
            CHECK(seen[i].failure == "");
            CHECK(seen[i].left == "");
            // What spills by the reference has no registers left, and each assembler makes its own of that.
            if (expected[i]->spill_bytes == 0) CHECK(seen[i].spill_bytes == 0);
            CHECK(seen[i].registers > 0);
            if (seen[i].loops.empty() || expected[i]->loops.empty()) continue;
            ++compared_loops;
            const MathLoop& loop = seen[i].loops.front();
            const MathLoop& before = expected[i]->loops.front();
            INFO(loop.multiplications, " of ", loop.instructions, " instructions multiply, ", loop.uniform_copies, " copy, ",
                 before.multiplications, " of ", before.instructions, " multiply and ", before.uniform_copies, " copy by NVRTC ",
                 nvrtc_library().major, ".", nvrtc_library().minor);
            // Compilers may unroll a loop differently.
            const bool with_copies = counts_copies(nvrtc);
            CHECK(instructions_of(loop, with_copies) * before.multiplications <=
                  instructions_of(before, with_copies) * loop.multiplications * most_instructions(nvrtc, *known[i]) +
                      2 * before.multiplications);
        }
        MESSAGE("NVRTC ", nvrtc.major, ".", nvrtc.minor, ": ", known.size(), " kernels");
    }
    if (nvdisasm) CHECK(compared_loops > 0);
}

TEST_CASE("what a compiler leaves to run time is seen") {
    CHECK(left_to_run_time("ld.global.u32 \t%r1, [_ZTAXtlN3tmm12KernelConfigELi6EEE+8];\n") != "");
    CHECK(left_to_run_time("ld.const.u32 \t%r1, [_ZN3tmm4leftE];\n") != "");
    CHECK(left_to_run_time("\n$L__BB0_1:\n\tdiv.s32 \t%r1, %r2, %r3;\n\tfma.rn.f32 \t%f1, %f2, %f3, %f1;\n\t@%p1 bra \t$L__BB0_1;\n") !=
          "");
    CHECK(left_to_run_time("\tdiv.s32 \t%r1, %r2, %r3;\n\n$L__BB0_1:\n\tfma.rn.f32 \t%f1, %f2, %f3, %f1;\n\t@%p1 bra \t$L__BB0_1;\n") ==
          "");
    CHECK(left_to_run_time(".local .align 4 .b8 \t__local_depot0[64];\n") != "");
}

TEST_CASE("loops of machine code are found, the innermost that multiply") {
    const std::string text = R"(
.L_x_1:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_2:
        /*0010*/                   FFMA R0, R1, R2, R0 ;
        /*0020*/                   FFMA R3, R1, R2, R3 ;
        /*0028*/                   UMOV UR4, UR5 ;
        /*0030*/              @P0  BRA `(.L_x_2) ;
        /*0040*/              @P1  BRA `(.L_x_1) ;
.L_x_3:
        /*0050*/                   IADD3 R0, R0, 0x1, RZ ;
        /*0060*/              @P1  BRA `(.L_x_3) ;
)";
    const auto loops = tmm::testing::math_loops(text);
    REQUIRE(loops.size() == 1);
    CHECK(loops[0].multiplications == 2);
    CHECK(loops[0].instructions == 4);
    CHECK(loops[0].uniform_copies == 1);
}
