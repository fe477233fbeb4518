#include "tools/tmm_db/bundle_maker.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "generator/choice/predicted_config.h"
#include "generator/problem/with_alignment.h"
#include "runtime/device/device.h"
#include "runtime/plan/plan.h"

namespace tmm {
namespace {

// Stands in for a GPU that is not there: kernels are loaded, and never launched.
class AbsentDevice : public Device {
public:
    explicit AbsentDevice(DeviceInfo info) : info_(std::move(info)) {}

    const DeviceInfo& info() const override { return info_; }
    std::shared_ptr<const LoadedKernel> load(const CompiledKernel&, const std::string&) override {
        return std::make_shared<const LoadedKernel>();
    }
    int blocks_per_sm(const LoadedKernel&, int, std::int64_t) override { return 0; }
    DeviceState state() override { return {}; }
    void release(void*) noexcept override {}

    void* allocate(std::size_t) override { refuse(); }
    void copy_to_device(void*, const void*, std::size_t) override { refuse(); }
    void copy_to_host(void*, const void*, std::size_t) override { refuse(); }
    void fill_bytes(void*, unsigned char, std::size_t) override { refuse(); }
    void launch(const LoadedKernel&, const LaunchShape&, const void*, std::size_t, Stream) override { refuse(); }
    // A plan's maps are encoded when it is made, though nothing launches it here.
    void encode_tensor_map(const TensorMapRequest&, void*) const override {}
    void set_address(void*, const void*) const override { refuse(); }
    void synchronize(Stream) override { refuse(); }
    std::unique_ptr<Replay> record(const std::function<void(Stream)>&) override { refuse(); }

private:
    [[noreturn]] static void refuse() { throw std::logic_error("a device that is not there runs nothing"); }

    DeviceInfo info_;
};

// Calls body(i) for each i below count, on all cores; what one throws ends the others.
template <typename Body>
void for_each_at_once(std::size_t count, const Body& body) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
        for (std::size_t i; (i = next++) < count;) {
            try {
                body(i);
            } catch (...) {
                next = count;
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> threads;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    try {
        for (std::size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
        // Where no more threads can be had, those that there are do it.
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// How the config was found that runs for any pointers.
Match match_of(const GemmProblem& problem, const KernelConfig& config, const Winners& winners) {
    if (const Selection selection = winners.select(problem); selection.config == config) return selection.match;
    return config == fallback_config() ? Match::fallback : Match::predicted;
}

void compile_fallbacks(const GemmProblem& problem, KernelLoader& loader) {
    // One that reads C serves where C isn't read, too.
    for (const bool reads_c : {problem.reads_c, true}) {
        PlanRequest request{.problem = problem};
        request.problem.reads_c = reads_c;
        (void)RuntimePlan::make_fallback(request, loader, RuntimePlan::Pointers::aligned_as_promised, "it is bundled");
    }
}

struct BundledPair {
    BundleEntry aligned;
    std::optional<BundleEntry> any;
};

BundledPair chosen_for(const GemmProblem& asked, const Winners& winners, KernelLoader& loader) {
    const GemmProblem problem = with_alignment(asked, asked.alignment);
    const RuntimePlan plan =
        RuntimePlan::make({.problem = problem}, winners, loader, RuntimePlan::Pointers::any, nullptr, RuntimePlan::Epilogues::in_kernel);
    compile_fallbacks(problem, loader);
    const Selection& selection = plan.selection();
    BundledPair pair{
        .aligned = {.problem = problem, .config = selection.config, .match = selection.match, .measured_us = selection.measured_us},
        .any = {}};
    const GemmProblem any = with_alignment(problem, 1);
    if (const KernelConfig* const config = plan.config_of_any_pointers())
        pair.any = BundleEntry{.problem = any, .config = *config, .match = match_of(any, *config, winners)};
    return pair;
}

void add_if_new(std::vector<BundleEntry>& entries, const BundleEntry& entry) {
    if (std::none_of(entries.begin(), entries.end(), [&](const BundleEntry& other) { return other.problem == entry.problem; }))
        entries.push_back(entry);
}

}  // namespace

BundleContent make_bundle(const std::vector<GemmProblem>& problems, const Winners& winners, std::shared_ptr<const Compiler> compiler,
                          const KernelCache& cache) {
    KernelLoader loader(std::make_shared<AbsentDevice>(winners.device()), std::move(compiler), cache);
    std::vector<BundledPair> pairs(problems.size());
    for_each_at_once(problems.size(), [&](std::size_t i) { pairs[i] = chosen_for(problems[i], winners, loader); });

    BundleContent content;
    for (const BundledPair& pair : pairs) add_if_new(content.entries, pair.aligned);
    content.problems = content.entries.size();
    for (const BundledPair& pair : pairs)
        if (pair.any) add_if_new(content.entries, *pair.any);
    content.kernels = loader.kernels();
    return content;
}

}  // namespace tmm
