// Kernels that begin while the one before them ends (overlap = 1), on a GPU: each reads what the one before it wrote, and writes where
// that one read.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "generator/choice/validity.h"
#include "generator/text/shapes_file.h"
#include "runtime/plan/executable_plan.h"
#include "tests/support/kernels/overlap_chains.h"
#include "tests/support/temporary_directory.h"

using namespace tmm;
using namespace tmm::testing;

namespace {

constexpr int kProducts = 101;

bool has_hopper() {
    if (gpu_count() > 0 && open_device(0)->info().compute_capability() == 90) return true;
    MESSAGE("skipped: these kernels run on compute capability 9.0 only");
    return false;
}

// Small integers, which every type holds.
constexpr std::uint16_t kBf16Integers[] = {0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0};
constexpr std::uint16_t kF16Integers[] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};

// A permutation's matrix times a matrix, or its transpose, times that matrix again, …: how many elements of the last product are not the
// permuted ones.
template <class T, class Make>
int wrong_elements(const OverlapChain& chain, const TemplateFiles& templates, bool replayed, Make&& make) {
    const GemmProblem p = parse_shape(chain.shape).problem;
    REQUIRE((p.m == p.n && p.k == p.n));
    const auto n = static_cast<std::size_t>(p.n);
    const KernelConfig config = config_of(chain);
    const auto device = open_device(0);
    REQUIRE(why_invalid(p, config, device->info()).value_or("") == "");
    std::mt19937 random(7);
    std::vector<std::size_t> source(n);
    std::iota(source.begin(), source.end(), std::size_t{0});
    std::shuffle(source.begin(), source.end(), random);
    std::vector<int> values(n * n);
    for (int& value : values) value = static_cast<int>(random() % 8);
    std::vector<T> permutation(n * n, make(0));
    for (std::size_t row = 0; row < n; ++row) permutation[row * n + source[row]] = make(1);
    const auto on_device = [&](const std::vector<T>& host) {
        DeviceBuffer buffer(device, host.size() * sizeof(T));
        device->copy_to_device(buffer.data(), host.data(), buffer.bytes());
        return buffer;
    };
    std::vector<T> host(n * n);
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = make(values[i]);
    const DeviceBuffer a = on_device(permutation);
    const DeviceBuffer matrices[] = {on_device(host), on_device(std::vector<T>(n * n, make(0)))};

    const TemporaryDirectory directory;
    KernelLoader loader(device, make_nvrtc_compiler(90, templates), KernelCache(directory.path() / "kernels"));
    auto made = ExecutablePlan::make(make_launch_plan(p, config, device->info()), loader);
    if (const auto* failure = std::get_if<CompileFailure>(&made)) FAIL(failure->log);
    const auto& plan = std::get<ExecutablePlan>(made);
    const DeviceBuffer workspace(device, static_cast<std::size_t>(plan.plan().workspace_bytes));
    const auto launch_all = [&](Stream stream) {
        for (int i = 0; i < kProducts; ++i)
            plan.run({.a = a.data(), .b = matrices[i % 2].data(), .c = matrices[(i + 1) % 2].data(), .workspace = workspace.data()},
                     stream);
    };
    if (replayed)
        device->record(launch_all)->run_timed();
    else
        launch_all(nullptr);
    device->synchronize();
    device->copy_to_host(host.data(), matrices[kProducts % 2].data(), host.size() * sizeof(T));

    const bool transposes = p.op_b == Operation::transpose;
    std::vector<int> product(n * n);
    for (int i = 0; i < kProducts; ++i) {
        for (std::size_t row = 0; row < n; ++row)
            for (std::size_t column = 0; column < n; ++column)
                product[row * n + column] = transposes ? values[column * n + source[row]] : values[source[row] * n + column];
        values.swap(product);
    }
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += host[i] != make(values[i]) ? 1 : 0;
    return wrong;
}

int wrong_elements(const OverlapChain& chain, const TemplateFiles& templates, bool replayed) {
    const std::string shape = chain.shape;
    if (shape.find("bf16") != std::string::npos)
        return wrong_elements<std::uint16_t>(chain, templates, replayed, [](int value) { return kBf16Integers[value]; });
    if (shape.find("f16") != std::string::npos)
        return wrong_elements<std::uint16_t>(chain, templates, replayed, [](int value) { return kF16Integers[value]; });
    return wrong_elements<float>(chain, templates, replayed, [](int value) { return static_cast<float>(value); });
}

}  // namespace

TEST_CASE("a chain of products, each an operand of the next, is right") {
    if (!has_hopper()) return;
    for (const OverlapChain& chain : overlap_chains()) {
        for (const bool replayed : {false, true}) {
            CAPTURE(chain.shape);
            CAPTURE(chain.config);
            CAPTURE(replayed);
            CHECK(wrong_elements(chain, active_templates(), replayed) == 0);
        }
    }
}

TEST_CASE("a chain of kernels that do not wait is wrong") {
    if (!has_hopper()) return;
    TemplateFiles planted = active_templates();
    const std::string wait = "ptx::griddepcontrol_wait();";
    std::string& text = planted.at("tmm/copy/previous_kernel.cuh");
    REQUIRE(text.find(wait) != std::string::npos);
    text.erase(text.find(wait), wait.size());
    int seen = 0;
    int chains = 0;
    for (const OverlapChain& chain : overlap_chains()) {
        // With planes, no product begins before the previous one has ended: its last kernel lets none start early.
        if (config_of(chain).planes > 1) continue;
        const int wrong = wrong_elements(chain, planted, true);
        fmt::print("{} {}: {} wrong\n", chain.shape, chain.config, wrong);
        seen += wrong > 0 ? 1 : 0;
        ++chains;
    }
    CHECK(2 * seen > chains);
}
