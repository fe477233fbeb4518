// Prints the plan of each winner that ships with tmm, one line a step: how it is launched, which arguments it is given, and a hash of its
// machine code, without any name. Where two versions print the same lines, they run the same kernels in the same way
// (scripts/compare_kernels).
#include <elf.h>
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text/environment.h"
#include "db/store/records.h"
#include "generator/choice/predicted_config.h"
#include "generator/compile/compiler.h"
#include "generator/compile/kernel_cache.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

using namespace tmm;

namespace {

struct Kernel {
    KernelSource source;
    std::string fingerprint;
};

// The instructions of a cubin, and what a kernel needs to run. Names stand in other sections.
std::string fingerprint_of(const CompiledKernel& kernel) {
    const std::byte* const image = kernel.image.data();
    Elf64_Ehdr header;
    if (kernel.image.size() < sizeof header) return "no cubin";
    std::memcpy(&header, image, sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "no cubin";
    const auto section = [&](std::size_t index) {
        Elf64_Shdr entry;
        std::memcpy(&entry, image + header.e_shoff + index * header.e_shentsize, sizeof entry);
        return entry;
    };
    const auto names = section(header.e_shstrndx).sh_offset;
    std::uint64_t hash = 0;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr code = section(i);
        if (!std::string_view(reinterpret_cast<const char*>(image) + names + code.sh_name).starts_with(".text.")) continue;
        hash = XXH3_64bits_withSeed(image + code.sh_offset, code.sh_size, hash);
        bytes += code.sh_size;
    }
    return fmt::format("{:016x} of {} bytes, {} registers, {} spilled", hash, bytes, kernel.registers, kernel.spill_bytes);
}

const void* address(std::uintptr_t value) {
    return reinterpret_cast<const void*>(value);
}

// Pointers that no step follows here: they only show which argument each becomes.
GemmCall call_of() {
    return {.a = address(0x1000000000),
            .b = address(0x2000000000),
            .c = const_cast<void*>(address(0x3000000000)),
            .workspace = const_cast<void*>(address(0x4000000000)),
            .alpha = 1.5,
            .beta = 0};
}

// Writes the byte all over the part of the stack that the next call takes.
[[gnu::noinline]] void fill_stack(int byte) {
    volatile char stack[4 * kMaxArgumentBytes];
    for (volatile char& place : stack) place = static_cast<char>(byte);
}

// Holes of the argument structs hold what stood on the stack: they are what differs where the stack was filled otherwise.
std::string arguments_of(const LaunchPlan& plan, const LaunchStep& step) {
    std::array<std::array<std::byte, kMaxArgumentBytes>, 2> arguments{};
    std::size_t size = 0;
    for (const int byte : {0, 1}) {
        fill_stack(byte);
        size = step.bind(plan, step, call_of(), arguments[byte].data());
    }
    const std::int64_t busy = grid_for(step, arguments[0].data());
    for (std::size_t i = 0; i < size; ++i)
        if (arguments[0][i] != arguments[1][i]) arguments[0][i] = std::byte{};
    return fmt::format("{:016x} of {} bytes, {} blocks", XXH3_64bits(arguments[0].data(), size), size, busy);
}

struct Line {
    std::string text;
    std::string kernel;
};

void add_plan(const LaunchPlan& plan, const std::string& head, std::map<std::string, Kernel>& kernels, std::vector<Line>& lines) {
    lines.push_back({fmt::format("{}: {} steps, {} bytes of workspace", head, plan.steps.size(), plan.workspace_bytes), {}});
    for (const LaunchStep& step : plan.steps) {
        KernelSource source = make_kernel_source(step.signature, step.kernel);
        lines.push_back({fmt::format("  grid {}, {} threads, cluster {}, {} shared bytes, {}, {}; arguments {}; code ", step.grid,
                                     step.threads, step.cluster, step.shared_bytes, step.walks ? "walks" : "stays",
                                     step.begins_early ? "begins early" : "waits", arguments_of(plan, step)),
                         source.name});
        kernels[lines.back().kernel].source = std::move(source);
    }
}

void compile_all(std::map<std::string, Kernel>& kernels, int compute_capability) {
    const auto compiler = make_nvrtc_compiler(compute_capability);
    const KernelCache cache(default_cache_directory());
    std::vector<Kernel*> work;
    for (auto& [name, kernel] : kernels) work.push_back(&kernel);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back([&] {
            for (std::size_t index; (index = next++) < work.size();) {
                const CompileResult result = cache.find_or_compile(work[index]->source, *compiler);
                const auto* compiled = std::get_if<CompiledKernel>(&result);
                work[index]->fingerprint = compiled ? fingerprint_of(*compiled) : "does not compile";
            }
        });
}

}  // namespace

int main(int argc, char** argv) try {
    // Only one in `step` winners is printed, where the first argument says so, and of these only those of the family that a second one
    // names.
    const std::size_t step = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
    const std::string_view family = argc > 2 ? argv[2] : "";
    std::map<std::string, Kernel> kernels;
    std::vector<Line> lines;
    const auto& winners = shipped_winners();
    for (std::size_t i = 0; i < winners.size(); i += step) {
        if (!family.empty() && family != kFamilyNames[winners[i].config.family]) continue;
        DeviceInfo device = assumed_device("90");
        device.name = winners[i].device;
        device.profile = profile_of(device);
        add_plan(make_launch_plan(winners[i].problem, winners[i].config, device),
                 fmt::format("{} | {} | {}", device.name, to_text(winners[i].problem), to_text(winners[i].config)), kernels, lines);
        if (winners[i].device == assumed_device("90").name)
            lines.push_back({fmt::format("  untuned: {}", to_text(default_config(winners[i].problem, device))), {}});
    }
    compile_all(kernels, 90);
    for (const Line& line : lines)
        fmt::print("{}{}\n", line.text, line.kernel.empty() ? std::string() : kernels.at(line.kernel).fingerprint);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
