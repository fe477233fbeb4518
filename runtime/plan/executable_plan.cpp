#include "runtime/plan/executable_plan.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "generator/machine/occupancy.h"
#include "runtime/bundle/bundle.h"

namespace tmm {

namespace {

// Values that are made once a key, outside of the lock; whoever asks meanwhile waits for that value to be made. If making it throws, it is
// forgotten, so that the next one to ask tries again.
template <typename Key, typename Value>
class OnceEach {
public:
    template <typename Make>
    Value get(const Key& key, const Make& make) {
        std::promise<Value> promise;
        std::shared_future<Value> value;
        bool ours = false;
        {
            const std::lock_guard lock(mutex_);
            const auto [position, inserted] = values_.try_emplace(key);
            if (inserted) position->second = promise.get_future().share();
            value = position->second;
            ours = inserted;
        }
        if (ours) {
            try {
                promise.set_value(make());
            } catch (...) {
                promise.set_exception(std::current_exception());
                const std::lock_guard lock(mutex_);
                values_.erase(key);
            }
        }
        return value.get();
    }

    // The next one to ask has the value made again.
    void forget(const Key& key) {
        const std::lock_guard lock(mutex_);
        values_.erase(key);
    }

    // The values that are made, with their keys.
    std::vector<std::pair<Key, Value>> made() const {
        std::vector<std::pair<Key, Value>> found;
        const std::lock_guard lock(mutex_);
        for (const auto& [key, value] : values_)
            if (value.wait_for(std::chrono::seconds(0)) == std::future_status::ready) found.emplace_back(key, value.get());
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::map<Key, std::shared_future<Value>> values_;
};

using LoadResult = std::variant<KernelLoader::Loaded, CompileFailure>;
using KernelKey = std::pair<KernelIdentity, std::string>;

// Kernels of expressions: what somebody holds is not loaded again, nor are the last few, which a program may drop and ask for again.
class ExpressionKernels {
public:
    static constexpr std::size_t kRecent = 4;

    template <typename Make>
    LoadResult get(const KernelKey& key, const Make& make) {
        if (std::optional<LoadResult> known = find(key)) return *std::move(known);
        LoadResult result = being_made_.get(key, make);
        keep(key, result);
        being_made_.forget(key);
        return result;
    }

private:
    struct Held {
        std::weak_ptr<const LoadedKernel> kernel;
        int registers;
        int spill_bytes;
    };
    using Recent = std::list<std::pair<KernelKey, LoadResult>>;

    std::optional<LoadResult> find(const KernelKey& key) {
        const std::lock_guard lock(mutex_);
        const auto recent = std::find_if(recent_.begin(), recent_.end(), [&](const auto& entry) { return entry.first == key; });
        if (recent != recent_.end()) {
            recent_.splice(recent_.begin(), recent_, recent);
            return recent->second;
        }
        const auto held = held_.find(key);
        if (held == held_.end()) return std::nullopt;
        std::shared_ptr<const LoadedKernel> kernel = held->second.kernel.lock();
        if (!kernel) return std::nullopt;
        return KernelLoader::Loaded{std::move(kernel), held->second.registers, held->second.spill_bytes};
    }

    void keep(const KernelKey& key, const LoadResult& result) {
        // Kernels are unloaded behind the lock.
        Recent dropped;
        const std::lock_guard lock(mutex_);
        recent_.emplace_front(key, result);
        if (recent_.size() > kRecent) dropped.splice(dropped.begin(), recent_, std::prev(recent_.end()));
        std::erase_if(held_, [](const auto& entry) { return entry.second.kernel.expired(); });
        if (const auto* const loaded = std::get_if<KernelLoader::Loaded>(&result))
            held_.insert_or_assign(key, Held{loaded->kernel, loaded->registers, loaded->spill_bytes});
    }

    OnceEach<KernelKey, LoadResult> being_made_;
    std::mutex mutex_;
    // The most recently used kernels come first.
    Recent recent_;
    std::map<KernelKey, Held> held_;
};

}  // namespace

struct KernelLoader::State {
    State(std::shared_ptr<const Compiler> its_compiler, KernelCache its_cache)
        : compiler(std::move(its_compiler)), cache(std::move(its_cache)) {}

    std::shared_ptr<const Compiler> compiler;
    KernelCache cache;
    OnceEach<KernelIdentity, std::shared_ptr<const CompileResult>> compiled;
    OnceEach<KernelKey, LoadResult> loaded;
    ExpressionKernels expressions;
    mutable std::mutex mutex;
    // The newest first.
    std::vector<std::shared_ptr<const Bundle>> bundles;

    CompileResult found_or_compiled(const KernelSource& source, const KernelIdentity& identity) const {
        {
            const std::lock_guard lock(mutex);
            for (const auto& bundle : bundles)
                if (std::optional<CompiledKernel> kernel = bundle->find(identity)) return *std::move(kernel);
        }
        return cache.find_or_compile(source, *compiler);
    }
};

KernelLoader::KernelLoader(std::shared_ptr<Device> device, std::shared_ptr<const Compiler> compiler, KernelCache cache)
    : device_(std::move(device)), state_(std::make_unique<State>(std::move(compiler), std::move(cache))) {}

KernelLoader::~KernelLoader() = default;

void KernelLoader::add(std::shared_ptr<const Bundle> bundle) {
    const std::lock_guard lock(state_->mutex);
    state_->bundles.insert(state_->bundles.begin(), std::move(bundle));
}

std::vector<std::shared_ptr<const Bundle>> KernelLoader::bundles() const {
    const std::lock_guard lock(state_->mutex);
    return state_->bundles;
}

std::map<KernelIdentity, CompiledKernel> KernelLoader::kernels() const {
    std::map<KernelIdentity, CompiledKernel> kernels;
    for (const auto& [identity, result] : state_->compiled.made())
        if (const auto* const kernel = std::get_if<CompiledKernel>(result.get())) kernels.emplace(identity, *kernel);
    return kernels;
}

namespace {

LoadResult load_compiled(Device& device, const CompileResult& result, const std::string& entry) {
    if (const auto* failure = std::get_if<CompileFailure>(&result)) return *failure;
    const auto& kernel = std::get<CompiledKernel>(result);
    return KernelLoader::Loaded{.kernel = device.load(kernel, entry), .registers = kernel.registers, .spill_bytes = kernel.spill_bytes};
}

}  // namespace

std::variant<KernelLoader::Loaded, CompileFailure> KernelLoader::load(const KernelSource& source, const std::string& entry) {
    const KernelIdentity identity = identity_of(source);
    const auto load = [&](const CompileResult& result) -> LoadResult {
        try {
            return load_compiled(*device_, result, entry);
        } catch (const UnusableImage&) {
            // What the cache keeps may be damaged in a way that it does not see.
            return load_compiled(*device_, state_->cache.compile_and_store(source, *state_->compiler), entry);
        }
    };
    if (source.has_expression)
        return state_->expressions.get({identity, entry}, [&] { return load(state_->found_or_compiled(source, identity)); });
    return state_->loaded.get({identity, entry}, [&] {
        return load(*state_->compiled.get(
            identity, [&] { return std::make_shared<const CompileResult>(state_->found_or_compiled(source, identity)); }));
    });
}

namespace {

// Do all blocks find a place at once, as far as the device knows? A cluster's blocks stand within one group of SMs, which may have places
// left that no whole cluster fits.
bool clusters_fit(Device& device, const LoadedKernel& kernel, const LaunchShape& shape) {
    if (shape.cluster <= 1) return true;
    const int clusters = device.clusters_at_once(kernel, shape);
    return clusters == 0 || std::int64_t{clusters} * shape.cluster >= shape.grid;
}

// Shared memory with which no SM holds more of the step's blocks than its even share, or as few more as let all run at once. Blocks that
// come while the kernel before still runs would otherwise crowd where its blocks end first.
std::int64_t spread_evenly(Device& device, const LoadedKernel& kernel, const LaunchStep& step) {
    const DeviceInfo& info = device.info();
    const int most = device.blocks_per_sm(kernel, step.threads, step.shared_bytes);
    for (std::int64_t share = (step.grid + info.sm_count - 1) / std::max(1, info.sm_count); share < most; ++share) {
        LaunchShape shape = shape_of(step);
        shape.shared_bytes = std::max(step.shared_bytes, shared_bytes_for(info, static_cast<int>(share)));
        if (clusters_fit(device, kernel, shape)) return shape.shared_bytes;
    }
    return step.shared_bytes;
}

}  // namespace

LaunchShape shape_of(const LaunchStep& step) {
    return {.grid = step.grid,
            .threads = step.threads,
            .cluster = step.cluster,
            .shared_bytes = step.shared_bytes,
            .begins_early = step.begins_early,
            .waits_for_blocks_before = step.packers > 0};
}

std::variant<ExecutablePlan, CompileFailure> ExecutablePlan::make(LaunchPlan plan, KernelLoader& loader) {
    ExecutablePlan executable;
    executable.device_ = loader.device();
    for (LaunchStep& step : plan.steps) {
        const KernelSource source = make_kernel_source(step.signature, step.kernel, plan.expression);
        auto result = loader.load(source, source.entries.front().name);
        if (auto* failure = std::get_if<CompileFailure>(&result)) return std::move(*failure);
        auto& loaded = std::get<KernelLoader::Loaded>(result);
        if (executable.kernels_.size() == main_step(plan)) executable.registers_ = loaded.registers;
        executable.spill_bytes_ = std::max(executable.spill_bytes_, loaded.spill_bytes);
        // Clusters that do not fit beside the others would begin when the others have done all the work.
        if (step.walks && step.cluster > 1)
            if (const int clusters = executable.device_->clusters_at_once(*loaded.kernel, shape_of(step)); clusters > 0)
                step.grid = std::min<std::int64_t>(step.grid, std::int64_t{clusters} * step.cluster);
        // What comes after the product may crowd: the next product then finds the other SMs free.
        if (plan.config.overlap != 0 && executable.kernels_.size() <= main_step(plan))
            step.shared_bytes = spread_evenly(*executable.device_, *loaded.kernel, step);
        executable.kernels_.push_back(std::move(loaded.kernel));
    }
    for (const LaunchStep& step : plan.steps) executable.maps_.emplace_back(*executable.device_, plan, step);
    executable.plan_ = std::move(plan);
    return executable;
}

void ExecutablePlan::run(const GemmCall& call, Stream stream) const {
    alignas(64) std::byte arguments[kMaxArgumentBytes];
    bool first = true;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
        const LaunchStep& step = plan_.steps[i];
        const std::size_t bytes = bind_step(plan_, step, call, arguments);
        maps_[i].write(*device_, step, arguments);
        if (launch(i, arguments, bytes, first, stream)) first = false;
    }
}

void ExecutablePlan::prepare(const Preparation& preparation, Stream stream) const {
    alignas(64) std::byte arguments[kMaxArgumentBytes];
    bool first = true;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
        const LaunchStep& step = plan_.steps[i];
        if (!step.bind_preparation) continue;
        const std::size_t bytes = step.bind_preparation(plan_, step, preparation, arguments);
        if (launch(i, arguments, bytes, first, stream)) first = false;
    }
}

bool ExecutablePlan::launch(std::size_t step, const std::byte* arguments, std::size_t bytes, bool first, Stream stream) const {
    LaunchShape shape = shape_of(plan_.steps[step]);
    shape.grid = grid_for(plan_.steps[step], arguments);
    if (shape.grid == 0) return false;
    if (first && plan_.config.overlap == 0) shape.begins_early = false;
    device_->launch(*kernels_[step], shape, arguments, bytes, stream);
    return true;
}

int ExecutablePlan::blocks_per_sm() const {
    if (kernels_.empty()) return 0;
    const LaunchStep& step = plan_.steps.front();
    return device_->blocks_per_sm(*kernels_.front(), step.threads, step.shared_bytes);
}

}  // namespace tmm
