// Prints what must be the same on every machine that tmm runs on: predictions, the order of candidates, kernels' hashes, launches, results
// of the emulated device, bundles and databases as text. scripts/test_arm compares what it prints here and on 64-bit Arm.
#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "db/store/record_text.h"
#include "generator/choice/cost_model.h"
#include "generator/choice/predicted_config.h"
#include "generator/choice/search_space.h"
#include "generator/compile/compiler.h"
#include "generator/machine/assumed_device.h"
#include "generator/plan/launch_plan.h"
#include "generator/text/text.h"
#include "runtime/bundle/bundle.h"
#include "runtime/emulation/host_device.h"
#include "tests/support/database_fixture.h"
#include "tuner/measure/verification.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

std::string hash_of(std::string_view bytes) {
    return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}
std::string bits_of(double value) {
    return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value));
}

DeviceInfo device_of(const std::string& name) {
    return name == "host" ? host_device_info() : assumed_device(name);
}

// One line a problem and device: the predicted config, the bits of its time, the candidates of a search in their order, their times' bits
// and, of some of them, their kernels' hashes and launches.
void print_predictions() {
    constexpr std::size_t every = 24;
    for (const char* shape : {"33 29 47", "1024 1024 1024", "16 11008 4096 ops=nt", "1000 6144 4096 dtype=bf16",
                              "16 4096 4096 dtype=bf16 ops=nt", "2048 2048 2048 compute=tf32", "64 64 64 batch=1024",
                              "256 256 8192 compute=f32_strict", "512 4096 1024 dtype=f16 epilogue=bias+gelu"}) {
        for (const char* name : {"90", "80", "host"}) {
            const GemmProblem problem = problem_of(shape);
            const DeviceInfo device = device_of(name);
            const KernelConfig predicted = default_config(problem, device);
            const CostModel model(problem, device);
            const std::vector<KernelConfig> candidates = search_space(problem, device, Effort::quick).candidates;
            std::string order, times, kernels;
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                order += to_text(candidates[i]) + "\n";
                times += bits_of(model.estimate(candidates[i])) + "\n";
                if (i % every != 0) continue;
                for (const LaunchStep& step : make_launch_plan(problem, candidates[i], device).steps)
                    kernels += fmt::format("{} {} {} {}\n", source_hash(make_kernel_source(step.signature, step.kernel)), step.grid,
                                           step.threads, step.shared_bytes);
            }
            fmt::print("{} on {}: {} {} | {} candidates {} | times {} | kernels {}\n", shape, name, to_text(predicted),
                       bits_of(model.estimate(predicted)), candidates.size(), hash_of(order), hash_of(times), hash_of(kernels));
        }
    }
}

// The plans of the winners that ship.
void print_winners() {
    constexpr std::size_t every = 16;
    std::string plans;
    const auto& winners = shipped_winners();
    for (std::size_t i = 0; i < winners.size(); i += every) {
        DeviceInfo device = assumed_device("90");
        device.name = winners[i].device;
        device.profile = profile_of(device);
        const LaunchPlan plan = make_launch_plan(winners[i].problem, winners[i].config, device);
        plans += fmt::format("{} {} {}\n", to_text(winners[i].problem), to_text(winners[i].config), plan.workspace_bytes);
        for (const LaunchStep& step : plan.steps)
            plans += fmt::format(" {} {} {} {} {}\n", source_hash(make_kernel_source(step.signature, step.kernel)), step.grid, step.threads,
                                 step.cluster, step.shared_bytes);
    }
    fmt::print("{} winners: plans {}\n", winners.size(), hash_of(plans));
}

bool fits_emulated_device(const LaunchPlan& plan) {
    const auto most = host_device_info().shared_bytes_per_block;
    return std::all_of(plan.steps.begin(), plan.steps.end(), [&](const LaunchStep& step) { return step.shared_bytes <= most; });
}

// What the emulated device makes of a problem by the first candidate of a family, and how the verification judges it.
void print_product(KernelLoader& loader, const std::string& shape, const std::string& name, std::string_view family) {
    const GemmProblem problem = problem_of(shape);
    const DeviceInfo device = device_of(name);
    for (const KernelConfig& config : search_space(problem, device, Effort::quick).candidates) {
        const LaunchPlan launches = make_launch_plan(problem, config, device);
        if (kFamilyNames[config.family] != family || !fits_emulated_device(launches)) continue;
        auto made = ExecutablePlan::make(launches, loader);
        if (const auto* failure = std::get_if<CompileFailure>(&made)) throw std::runtime_error(failure->log);
        const auto& plan = std::get<ExecutablePlan>(made);
        Verifier verifier(loader, problem, {.alpha = 1.5, .beta = 0.75});
        const Verdict verdict = verifier.verify(plan);
        const GemmCall call = verifier.timing_call(0, plan.plan().workspace_bytes);
        plan.run(call, nullptr);
        loader.device()->synchronize(nullptr);
        std::string c(static_cast<std::size_t>((problem.m - 1) * problem.ldc + problem.n) * size_of(problem.type_c), '\0');
        loader.device()->copy_to_host(c.data(), call.c, c.size());
        fmt::print("{} by {}: {} {} {} | C {}\n", shape, to_text(config), name_of(verdict.outcome), bits_of(verdict.error_ratio),
                   verdict.detail, hash_of(c));
        return;
    }
    fmt::print("{} by {}: no candidate\n", shape, family);
}

void print_products() {
    const TemporaryDirectory directory;
    KernelLoader loader(make_host_device("ascending"), make_host_compiler(), KernelCache(directory / "kernels"));
    print_product(loader, "33 29 47", "host", "naive");
    print_product(loader, "40 48 64 epilogue=bias+gelu", "host", "simt");
    print_product(loader, "40 48 64 epilogue=tanh", "host", "tiled");
    print_product(loader, "4 96 256 epilogue=gelu_tanh+residual", "host", "gemv");
    print_product(loader, "48 64 64 dtype=bf16 epilogue=silu", "host", "mma");
    print_product(loader, "64 64 64 dtype=f16 epilogue=swiglu", "90", "wgmma");
    print_product(loader, "64 64 64 compute=tf32", "90", "wgmma");
}

// Numbers as text and back, a bundle for a GPU, and a database's records.
void print_files() {
    std::mt19937_64 random(3);
    std::string numbers;
    for (int i = 0; i < 20'000; ++i) {
        const double wide = std::bit_cast<double>(random());
        const auto narrow = static_cast<float>(wide);
        numbers +=
            fmt::format("{} {} {:.4g} {:.3f}\n", wide == wide ? wide : 0, narrow == narrow ? narrow : 0, narrow, 1 / (1 + narrow * narrow));
    }
    fmt::print("numbers {}\n", hash_of(numbers));

    const BundleEntry entry{
        .problem = problem_of("1000 900 80 ops=nt"), .config = tiled_config(16), .match = Match::near, .measured_us = 0.1};
    std::vector<std::byte> image(5000);
    for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::byte>(i * i >> 5);
    const std::string bundle = encoded_bundle({.name = "NVIDIA Test", .compute_capability = 90, .sm_count = 132}, {entry},
                                              {{{.high = 7, .low = 1}, {.image = image, .registers = 40, .spill_bytes = 0, .log = {}}}});
    fmt::print("bundle {}\n", hash_of(bundle));

    const TemporaryDirectory directory;
    TuningDatabase database(directory / "t.db", TuningDatabase::Mode::read_write_create);
    database.set_environment(environment_of("NVIDIA H200"));
    for (int k = 1; k < 8; ++k) {
        const GemmProblem problem = problem_of(fmt::format("64 64 {} dtype=f16 epilogue=bias", k * 100));
        database.record(problem, tiled_config(16), {}, measured(1.0 / k));
        database.decide(problem, {}, {.config = tiled_config(16), .median_us = 1.0 / k, .reason = "µs"});
    }
    std::vector<TuningRecord> records = database.records();
    for (TuningRecord& record : records) record.time = 1;
    fmt::print("database {} {}\n", hash_of(to_csv(records)), hash_of(to_json(records)));
}

}  // namespace

int main() try {
    print_predictions();
    print_winners();
    print_files();
    print_products();
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
