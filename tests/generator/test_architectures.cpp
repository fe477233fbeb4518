// Tests GPUs that are not here: the kernels that a search would try first compile for them, and fit what their SMs have. A slice of the
// candidates, all with TMM_TEST_FULL=1.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <elf.h>

#include "generator/choice/search_space.h"
#include "generator/compile/compiler.h"
#include "generator/compile/kernel_cache.h"
#include "generator/machine/assumed_device.h"
#include "generator/machine/occupancy.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"
#include "tests/support/slice.h"
#include "tuner/search/candidates.h"
#include "tuner/search/compile_queue.h"

using namespace tmm;

namespace {

// Compute capability 9.0 is missing, because its kernels are measured on cards.
const char* const kArchitectures[] = {"75", "80", "86", "89", "100", "120"};

// Whole tiles and odd sizes, few rows and few columns, deep and flat, batches, every type and mode, and epilogues.
const char* const kShapes[] = {"4096x4096x4096",
                               "1000x1000x1000 ops=nt",
                               "1023x1025x1027 ops=tn",
                               "512x512x512 compute=f32_strict",
                               "2047x2049x2051 compute=f32_strict ops=tt",
                               "64x64x64 batch=1024",
                               "33x33x33 batch=500 compute=f32_strict",
                               "1x4096x4096 ops=nt",
                               "16x4096x4096",
                               "5000x1x5000",
                               "64x64x65536",
                               "2048x2048x2048 compute=tf32",
                               "1024x1024x1024 beta=1",
                               "300x500x700 align=4 epilogue=bias+relu",
                               "197x768x3072 ops=nt epilogue=bias+gelu_tanh",
                               "4096x4096x4096 dtype=bf16",
                               "4096x4096x4096 dtype=bf16 ops=nt epilogue=bias+silu+residual",
                               "2048x2048x2048 dtype=f16 ctype=f32 ops=tn",
                               "1023x1023x1023 dtype=bf16 align=2",
                               "1001x1003x1007 dtype=f16 align=2 ops=tt epilogue=bias_rows+sigmoid",
                               "16x11008x4096 dtype=bf16 ops=nt epilogue=bias+gelu",
                               "1x4096x4096 dtype=f16",
                               "1x4096x4096 dtype=bf16 ops=nt",
                               "8x4096x14336 dtype=bf16 ops=nt",
                               "4096x8x4096 dtype=bf16",
                               "64x64x65536 dtype=bf16",
                               "512x512x64 dtype=bf16 batch=96 ops=nt beta=1",
                               "48x48x48 dtype=f16 batch=4096 epilogue=tanh",
                               "12345x67x89 dtype=bf16 epilogue=residual",
                               "128x4096x14336 dtype=f16 ops=nt beta=0.5"};
constexpr std::size_t kCandidates = 20;

// The first candidates whose kernels differ.
std::vector<KernelConfig> first_candidates(const GemmProblem& problem, const DeviceInfo& device) {
    std::vector<KernelConfig> first;
    for (KernelConfig config : search_space(problem, device, Effort::normal).candidates) {
        config.overlap = 0;
        if (std::find(first.begin(), first.end(), config) == first.end()) first.push_back(config);
        if (first.size() == kCandidates) break;
    }
    return first;
}

// Bytes of shared memory that a kernel has beside what a launch gives it.
std::int64_t static_shared_bytes(const std::vector<std::byte>& cubin, const std::string& entry, const DeviceInfo& device) {
    const auto read = [&](auto& value, std::size_t offset) {
        REQUIRE(offset + sizeof(value) <= cubin.size());
        std::memcpy(&value, cubin.data() + offset, sizeof(value));
    };
    Elf64_Ehdr header;
    read(header, 0);
    const auto section = [&](std::size_t index) {
        Elf64_Shdr found;
        read(found, header.e_shoff + index * header.e_shentsize);
        return found;
    };
    // From compute capability 10.0 on, the assembler counts what the system keeps of every block's shared memory.
    const std::int64_t systems_part = device.compute_capability_major >= 10 ? 1024 : 0;
    const Elf64_Shdr names = section(header.e_shstrndx);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr found = section(i);
        const char* const name = reinterpret_cast<const char*>(cubin.data()) + names.sh_offset + found.sh_name;
        if (".nv.shared." + entry == name) return static_cast<std::int64_t>(found.sh_size) - systems_part;
    }
    return 0;
}

struct Job {
    const PlannedKernel* kernel;
    int architecture;
    std::optional<CompileResult> result;
};

// The kernels that candidates need, each compiled once for an architecture.
class Kernels {
public:
    void need(const PlannedKernel* kernel, int architecture) {
        if (places_.emplace(std::pair(kernel, architecture), jobs_.size()).second) jobs_.push_back({kernel, architecture, {}});
    }
    void compile() {
        // Kernels that an earlier run compiled need not be compiled again.
        const KernelCache cache(std::filesystem::path(TMM_BINARY_DIR) / "test_cache" / "architectures");
        std::atomic<std::size_t> next = 0;
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
            threads.emplace_back([&] {
                for (std::size_t job; (job = next++) < jobs_.size();)
                    jobs_[job].result = cache.find_or_compile(jobs_[job].kernel->source, *make_nvrtc_compiler(jobs_[job].architecture));
            });
    }
    const CompileResult& compiled(const PlannedKernel* kernel, int architecture) const {
        return *jobs_[places_.at({kernel, architecture})].result;
    }
    std::size_t size() const { return jobs_.size(); }

private:
    std::vector<Job> jobs_;
    std::map<std::pair<const PlannedKernel*, int>, std::size_t> places_;
};

struct Case {
    std::string shape;
    DeviceInfo device;
    LaunchPlan plan;
    Candidate candidate;
};

// Checks all but spills; returns whether the search would leave the candidate out for these.
bool fits_but_spills(const Case& it, const Kernels& kernels) {
    const DeviceInfo& device = it.device;
    std::vector<CompileQueue::Result> reports;
    for (std::size_t i = 0; i < it.candidate.kernels.size(); ++i) {
        const PlannedKernel& kernel = *it.candidate.kernels[i];
        CAPTURE(kernel.source.name);
        const CompileResult& result = kernels.compiled(&kernel, device.compute_capability());
        if (const auto* failure = std::get_if<CompileFailure>(&result)) {
            FAIL_CHECK(failure->log);
            return false;
        }
        const auto& compiled = std::get<CompiledKernel>(result);
        REQUIRE(compiled.registers > 0);
        CHECK(compiled.registers <= 255);
        const std::int64_t shared =
            it.plan.steps[i].shared_bytes + static_shared_bytes(compiled.image, kernel.source.entries.front().name, device);
        CHECK(shared <= device.shared_bytes_per_block);
        const Occupancy occupancy = blocks_per_sm(device, it.candidate.threads[i], compiled.registers, shared);
        CAPTURE(std::string(occupancy.limit));
        CAPTURE(compiled.registers);
        CAPTURE(shared);
        CHECK(occupancy.blocks >= (i == it.candidate.main_kernel ? std::max(1, it.candidate.config.min_blocks) : 1));
        reports.push_back({.registers = compiled.registers, .spill_bytes = compiled.spill_bytes, .failure = {}});
    }
    const std::optional<Measurement> rejected = rejection(it.candidate, reports, device, false);
    if (!rejected) return false;
    CHECK_MESSAGE(rejected->outcome == Outcome::spills, rejected->detail);
    return rejected->outcome == Outcome::spills;
}

}  // namespace

TEST_CASE("what a search tries first compiles for every architecture, fits its SMs, and hardly ever spills") {
    if (nvrtc_version() == 0) {
        MESSAGE("skipped: libnvrtc was not found");
        return;
    }
    KernelBook book;
    Kernels kernels;
    std::vector<Case> cases;
    std::size_t number = 0;
    for (const char* const architecture : kArchitectures)
        for (const char* const shape : kShapes) {
            const DeviceInfo device = assumed_device(architecture);
            const GemmProblem problem = parse_shape(shape).problem;
            const std::vector<KernelConfig> first = first_candidates(problem, device);
            CAPTURE(std::string(architecture));
            CAPTURE(std::string(shape));
            // Before compute capability 8.0 only few rows or columns of 16-bit operands have more than the plainest kernel.
            const bool is_plain = device.compute_capability() < 80 && problem.type_a != ElementType::f32;
            CHECK(first.size() >= (is_plain ? 1 : 12));
            for (const KernelConfig& config : first) {
                if (!tmm::testing::in_slice(number++, 141)) continue;
                cases.push_back({shape, device, make_launch_plan(problem, config, device), make_candidate(problem, config, device, book)});
                for (const PlannedKernel* const kernel : cases.back().candidate.kernels) kernels.need(kernel, device.compute_capability());
            }
        }
    kernels.compile();
    std::map<int, std::vector<std::string>> spilled;
    for (const Case& it : cases) {
        CAPTURE(it.device.compute_capability());
        CAPTURE(it.shape);
        CAPTURE(to_text(it.candidate.config));
        if (fits_but_spills(it, kernels))
            spilled[it.device.compute_capability()].push_back(to_text(it.candidate.config) + " for " + it.shape);
    }
    // The assembler alone knows. What spills is left out of a search, which has lost the time to compile it.
    for (const auto& [architecture, candidates] : spilled) {
        for (const std::string& candidate : candidates) MESSAGE("on ", architecture, " it spills: ", candidate);
        CHECK(candidates.size() <= 1 + cases.size() / std::size(kArchitectures) / 100);
    }
    MESSAGE(cases.size(), " candidates of ", number, ", ", kernels.size(), " kernels");
}
