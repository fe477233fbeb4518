// What the host knows of a family of kernels: each family has one descriptor. Whoever needs to know something of a family asks its
// descriptor, so that nothing outside this folder names a family. Every entry is mandatory: a descriptor that lacks one does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mandatory.h"
#include "generator/families/fields.h"
#include "generator/families/predicted_time.h"
#include "generator/machine/device_info.h"
#include "generator/plan/operand_copies.h"
#include "generator/plan/tensor_map_request.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

struct Extent;
struct GemmCall;
struct LaunchPlan;
struct LaunchStep;
class PlanBuilder;

// The kernel, as the generated text names it.
struct KernelFacts {
    // The C++ type of the kernel's only parameter.
    Mandatory<const char* (*)(const KernelConfig& config)> arguments_type;
    // The kernel moves single elements of A and B, or of C, so that no alignment beyond the element's matters to it.
    Mandatory<bool> moves_single_elements_of_ab;
    Mandatory<bool> moves_single_elements_of_c;
    // compute=tf32 is something else to it than f32.
    Mandatory<bool> knows_tf32;
    // Text before the kernel, such as the instruction that it is built on.
    Mandatory<std::string (*)(const KernelSignature& signature, const KernelConfig& config)> preamble;
};

// What a config means, before any problem.
struct Rules {
    // The fields that the kernels, or their launches, depend on. All others must be neutral.
    Mandatory<FieldSet> fields;
    // Why no kernel can be made of the config for the signature, whatever the sizes; null where one can.
    Mandatory<const char* (*)(const KernelConfig& config, const KernelSignature& signature)> violation;
    Mandatory<int (*)(const KernelConfig& config)> threads;
    // Bytes of dynamic shared memory of a block.
    Mandatory<i64 (*)(const KernelConfig& config, const KernelSignature& signature)> shared_bytes;
    // Blocks that run together and reach into each other's shared memory.
    Mandatory<int (*)(const KernelConfig& config)> cluster_size;
    // The blocks come to an SM while those of the kernel before still leave it room, whether the plan's config has overlap or not.
    Mandatory<bool> leaves_room;
};

// What overlap with the kernel before costs, beyond what it gains.
struct Crowding {
    // Part of the time that the config takes alone.
    double share = 0;
    double microseconds = 0;
};

// What one phase of block_k brings from global memory, as tmm-gen --explain tells it.
struct PhaseLoads {
    // Elements of A and B that a thread brings, or the whole block where the copy engine does.
    double elements = 0;
    bool by_copy_engine = false;
    // Floating-point operations for every element that a block brings. A block of M x N multiplies 2 M N K operations out of (M + N) K
    // elements; for a square tile that is TILE_WIDTH (Kirk and Hwu, ch. 5).
    double flop_per_load = 0;
};

// How the family multiplies.
struct Product {
    // FP32 products by FMAs alone, as compute=f32_strict promises.
    Mandatory<bool> multiplies_by_fma;

    // Sizes of 2^31 and more, and grids beyond the driver's limit, do not bound it: blocks walk over tiles.
    Mandatory<bool> serves_any_size;
    // Thread blocks over the whole batch.
    Mandatory<i64 (*)(const KernelConfig& config, i64 m, i64 n, i64 batch)> blocks;
    // Why the family can't serve the problem on the device, beyond what holds for all families.
    Mandatory<std::optional<std::string> (*)(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device)> why_not;
    // Registers of a thread that hold sums; 0 where their number bounds nothing.
    Mandatory<int (*)(const KernelConfig& config)> accumulators;
    // Does the copy engine bring its tiles, rather than its threads?
    Mandatory<bool (*)(const KernelConfig& config)> is_brought_by_tma;
    // Do threads share the products of one element of C, whatever the config?
    Mandatory<bool> shares_k;
    // The longest chain of roundings of a sum of k products.
    Mandatory<i64 (*)(const GemmProblem& problem, const KernelConfig& config, i64 k)> longest_chain;

    // Search.
    // Configs worth a prediction, the likely ones first; some may be invalid for the problem. doubt: how much slower than predicted each
    // config is taken to be.
    struct Candidate {
        KernelConfig config;
        double doubt = 0;

        Candidate(const KernelConfig& tile, double its_doubt = 0) : config(tile), doubt(its_doubt) {}
    };
    Mandatory<std::vector<Candidate> (*)(const GemmProblem& problem, const DeviceInfo& device)> candidates;
    // Those of the candidates, or other configs, that may serve an untuned problem and surely do not spill.
    Mandatory<std::vector<KernelConfig> (*)(const GemmProblem& problem, const DeviceInfo& device)> defaults;
    // The same tile in other launches, which are tried once it has proven the best of all for an untuned problem.
    Mandatory<std::vector<KernelConfig> (*)(const KernelConfig& best)> default_variants;
    // The problem is of a kind that the family multiplies on the device's tensor cores.
    Mandatory<bool (*)(const GemmProblem& problem, const DeviceInfo& device)> uses_tensor_cores;
    // The problem is of a kind that other families multiply faster only rarely.
    Mandatory<bool (*)(const GemmProblem& problem, const DeviceInfo& device)> is_at_its_best;
    // Nothing of another family comes near the config.
    Mandatory<bool (*)(const GemmProblem& problem, const KernelConfig& config)> is_unrivalled;
    // Predictions compare badly with those of other families, so that no more than a share of a search's places goes to this one.
    Mandatory<bool (*)(const GemmProblem& problem)> is_hard_to_compare;
    // How much less likely the second way to come to one tile of C counts, and each doubling of the number of ways.
    Mandatory<double> doubt_of_ways;
    // Other arrangements of the same kernel, worth trying once the config has proven fast.
    Mandatory<std::vector<KernelConfig> (*)(const GemmProblem& problem, const KernelConfig& config)> variants;
    // The winner of one problem as it serves another.
    Mandatory<KernelConfig (*)(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config)> adapt;

    // Model.
    // How long a valid config's whole plan takes on a GPU.
    Mandatory<PredictedTime (*)(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device)> estimate;
    // Microseconds of the product's threads on the emulated device, beside what all kernels take.
    Mandatory<double (*)(const GemmProblem& problem, const KernelConfig& config)> host_estimate;
    Mandatory<Crowding (*)(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device)> crowding;
    Mandatory<PhaseLoads (*)(const KernelConfig& config)> phase_loads;

    // Plan.
    // What the kernel sees: where a step before it brings the operands, they lie otherwise than the problem says.
    Mandatory<KernelSignature (*)(const GemmProblem& problem, const KernelConfig& config)> signature;
    // Does the kernel apply the problem's gate (Activation::swiglu) itself?
    Mandatory<bool (*)(const GemmProblem& problem, const KernelConfig& config)> applies_gate;
    // The blocks walk over the work: any number of whole clusters does it.
    Mandatory<bool (*)(const KernelConfig& config)> walks;
    // What the steps before the product make of its operands. main: the part of C that the product computes.
    Mandatory<OperandCopies (*)(const GemmProblem& problem, const KernelConfig& config, const Extent& main)> copies;
    // Steps that bring the operands to the product, and steps behind it.
    Mandatory<void (*)(PlanBuilder& plan)> add_steps_before;
    Mandatory<void (*)(PlanBuilder& plan)> add_steps_behind;
    // Writes the kernel's arguments for one call (LaunchStep::bind).
    Mandatory<std::size_t (*)(const LaunchPlan& plan, const LaunchStep& step, const GemmCall& call, std::byte* arguments)> bind;
    // The tensor maps that bound arguments still lack (LaunchStep::tensor_maps).
    Mandatory<TensorMapRequests (*)(const LaunchStep& step, const std::byte* arguments)> tensor_maps;
};

struct Family {
    // The family's number in KernelConfig::family.
    Mandatory<int> number;
    KernelFacts kernel;
    Rules rules;
    Mandatory<const Product*> product;
};

// Throws std::invalid_argument where the config's number is no family's.
const Family& family_of(const KernelConfig& config);
const Product& product_of(const KernelConfig& config);
// All families, in the order in which a search asks them: of equal predictions the first counts.
std::span<const Family* const> product_families();

// Are there kernels that multiply the problem's types on the device's tensor cores?
bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device);

// The family's rules, by the config's name for it.
const Parameter* misused_field(const KernelConfig& config);
const char* violation_of(const KernelConfig& config, const KernelSignature& signature);
int threads_of(const KernelConfig& config);
i64 shared_bytes_of(const KernelConfig& config, const KernelSignature& signature);
int cluster_size_of(const KernelConfig& config);
i64 blocks_of(const KernelConfig& config, i64 m, i64 n, i64 batch);

}  // namespace tmm
