// A launch plan with its kernels loaded: making it may compile, load and allocate; running it only launches.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "generator/compile/kernel_cache.h"
#include "generator/plan/launch_plan.h"
#include "runtime/device/device.h"
#include "runtime/plan/step_maps.h"

namespace tmm {

class Bundle;

// Compiled kernels that are loaded on one device, each of them once. They stay with the loader, but those of expressions, of which a
// program may make any number, only as long as somebody holds them, or a moment longer. Thread-safe.
class KernelLoader {
public:
    KernelLoader(std::shared_ptr<Device> device, std::shared_ptr<const Compiler> compiler, KernelCache cache);
    ~KernelLoader();

    struct Loaded {
        std::shared_ptr<const LoadedKernel> kernel;
        int registers = -1;
        int spill_bytes = -1;
    };
    std::variant<Loaded, CompileFailure> load(const KernelSource& source, const std::string& entry);

    const std::shared_ptr<Device>& device() const { return device_; }

    // From now on its kernels are loaded rather than looked for or compiled. The bundle must be of the device's model.
    void add(std::shared_ptr<const Bundle> bundle);
    // The bundles, the newest first.
    std::vector<std::shared_ptr<const Bundle>> bundles() const;
    // All that was loaded so far, without expressions' kernels.
    std::map<KernelIdentity, CompiledKernel> kernels() const;

private:
    struct State;
    std::shared_ptr<Device> device_;
    std::unique_ptr<State> state_;
};

// How a step is launched, with all of its blocks.
LaunchShape shape_of(const LaunchStep& step);

class ExecutablePlan {
public:
    // The result is the log where a kernel of the plan does not compile.
    static std::variant<ExecutablePlan, CompileFailure> make(LaunchPlan plan, KernelLoader& loader);

    // Launches the steps in order. call.workspace must hold plan().workspace_bytes. With alpha = 0 or k = 0 neither A nor B is read.
    void run(const GemmCall& call, Stream stream) const;
    // Launches the steps that split, for one operand. Its place must hold prepared_bytes(plan(), operand), which are not 0.
    void prepare(const Preparation& preparation, Stream stream) const;

    const LaunchPlan& plan() const { return plan_; }
    // Registers of the kernel that multiplies.
    int registers() const { return registers_; }
    // Spilled bytes of the kernel that spills most.
    int spill_bytes() const { return spill_bytes_; }
    int blocks_per_sm() const;

private:
    ExecutablePlan() = default;
    // The result is false where the step has nothing to do. first: nothing of this call was launched before.
    bool launch(std::size_t step, const std::byte* arguments, std::size_t bytes, bool first, Stream stream) const;

    LaunchPlan plan_;
    std::shared_ptr<Device> device_;
    std::vector<std::shared_ptr<const LoadedKernel>> kernels_;
    std::vector<StepMaps> maps_;
    int registers_ = -1;
    int spill_bytes_ = -1;
};

}  // namespace tmm
