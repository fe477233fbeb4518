// What the host knows of a family of kernels. Each has one descriptor, in a file of its room: whoever needs to know something of a family
// asks that, so that nothing outside this folder names a family. An entry without a default must be given; one that is left out says what
// its comment says of null.
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
#include "generator/schedule/schedule.h"
#include "generator/steps/launch_step.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// What is true of all of a family's kernels.
struct Traits {
    // FP32 products by FMAs alone, as compute=f32_strict promises.
    bool multiplies_by_fma = false;
    // Sizes of 2^31 and more, and grids beyond the driver's limit, do not bound it: blocks walk over tiles.
    bool serves_any_size = false;
    // Threads share the products of one element of C, whatever the config.
    bool shares_k = false;
    // The kernel moves single elements of A and B, or of C, so that no alignment beyond the element's matters to it.
    bool moves_single_elements_of_ab = false;
    bool moves_single_elements_of_c = false;
    // compute=tf32 is something else to it than f32.
    bool knows_tf32 = false;
    // Blocks take the tiles of one triangle of C where no more is wanted. Other families multiply all of C.
    bool walks_triangles = false;
    // Whole tiles leave at once, so that it takes a step to write one triangle of C alone.
    bool stores_whole_tiles = false;
    // The blocks come to an SM while those of the kernel before still leave it room, whether the plan's config has overlap or not.
    bool leaves_room = false;
};

// What a config means, and why it can't serve.
struct Rules {
    // The fields that the kernels, or their launches, depend on. All others must be neutral.
    Mandatory<FieldSet> fields;
    // Why no kernel can be made of the config for the signature, whatever the sizes; null where one can.
    Mandatory<const char* (*)(const KernelConfig& config, const KernelSignature& signature)> violation;
    Mandatory<int (*)(const KernelConfig& config)> threads;
    // Bytes of dynamic shared memory of a block.
    Mandatory<i64 (*)(const KernelConfig& config, const KernelSignature& signature)> shared_bytes;
    // Thread blocks over the whole batch.
    Mandatory<i64 (*)(const KernelConfig& config, i64 m, i64 n, i64 batch)> blocks;
    // Why the family can't serve the problem on the device, beyond what holds for all families. Null: it can.
    std::optional<std::string> (*rejection)(const Schedule& schedule, const DeviceInfo& device) = nullptr;
    // Sums that a thread holds in registers. Null: their number bounds nothing.
    int (*accumulators)(const KernelConfig& config) = nullptr;
    // The order of a sum whose K is not divided. Null: one FMA after the other.
    SumOrder (*sum_order)(const KernelSignature& signature, const KernelConfig& config) = nullptr;
    // The longest chain of roundings of a sum of k products. Null: k.
    i64 (*longest_chain)(const KernelSignature& signature, const KernelConfig& config, i64 k) = nullptr;
};

// How the family's predictions compare with those of others, on a problem and a device.
struct Rank {
    // It multiplies problems of this kind on the device's tensor cores.
    bool uses_tensor_cores = false;
    // Other families multiply problems of this kind faster only rarely.
    bool is_at_its_best = false;
    // Predictions compare badly with those of other families, so that no more than a share of a search's places goes to this one.
    bool is_hard_to_compare = false;
    // How much less likely the second way to come to one tile of C counts, and each doubling of the number of ways.
    double doubt_of_ways = 0;
};

struct Search {
    struct Candidate {
        KernelConfig config;
        // How much slower than predicted the config is taken to be.
        double doubt = 0;

        Candidate(const KernelConfig& of, double its_doubt = 0) : config(of), doubt(its_doubt) {}
    };

    // Configs worth a prediction, the likely ones first; some may be invalid for the problem.
    Mandatory<std::vector<Candidate> (*)(const GemmProblem& problem, const DeviceInfo& device)> candidates;
    // Those of the candidates, or other configs, that may serve an untuned problem and surely do not spill. Null: none.
    std::vector<KernelConfig> (*defaults)(const GemmProblem& problem, const DeviceInfo& device) = nullptr;
    // The same tile in other launches, which are tried once it has proven the best of all for an untuned problem. Null: none.
    std::vector<KernelConfig> (*default_variants)(const KernelConfig& best) = nullptr;
    // Null: nothing of that is so.
    Rank (*rank)(const GemmProblem& problem, const DeviceInfo& device) = nullptr;
    // No other family can beat this config here, so the search of an untuned problem stops asking. Null: another may.
    bool (*is_unrivalled)(const GemmProblem& problem, const KernelConfig& config) = nullptr;
    // Other arrangements of the same kernel, worth trying once the config has proven fast. Null: none.
    std::vector<KernelConfig> (*variants)(const GemmProblem& problem, const KernelConfig& config) = nullptr;
    // The winner of one problem as it serves another. Null: as it is.
    KernelConfig (*adapt)(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config) = nullptr;
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

struct Model {
    // How long a valid config's whole plan takes on a GPU.
    Mandatory<PredictedTime (*)(const Schedule& schedule, const DeviceInfo& device)> estimate;
    // Microseconds of the product's threads on the emulated device, beside what all kernels take. Null: it does not run there.
    double (*host_estimate)(const Schedule& schedule) = nullptr;
    // Null: overlap costs nothing.
    Crowding (*crowding)(const Schedule& schedule, const DeviceInfo& device) = nullptr;
    Mandatory<PhaseLoads (*)(const KernelConfig& config)> phase_loads;
};

struct Launch {
    // The C++ type of the kernel's only parameter. Null: tmm::GemmArgs.
    const char* (*arguments_type)(const KernelConfig& config) = nullptr;
    // Text before the kernel, such as the instruction that it is built on. Null: none.
    std::string (*preamble)(const KernelSignature& signature, const KernelConfig& config) = nullptr;
    // What the kernel sees where a step before it brings the operands, which lie otherwise than the problem says. Null: what it says.
    KernelSignature (*signature)(const GemmProblem& problem, const KernelConfig& config) = nullptr;
    // Does the kernel apply the problem's gate (Activation::swiglu) itself? Null: a step does.
    bool (*applies_gate)(const GemmProblem& problem, const KernelConfig& config) = nullptr;
    // The blocks walk over the work: any number of whole clusters does it. Null: each has its own.
    bool (*walks)(const KernelConfig& config) = nullptr;
    // Adds to a schedule, whose division of C and K is known, what the steps before the product make of its operands. Null: nothing.
    void (*add_copies)(Schedule& schedule, const DeviceInfo& device) = nullptr;
    // Adds the product (add_product) and the steps around it that bring operands. Null: the product alone, with the common arguments.
    void (*add_steps)(StepList& list) = nullptr;
};

struct Family {
    // The family's number in KernelConfig::family.
    Mandatory<int> number;
    Traits traits;
    Rules rules;
    Search search;
    Model model;
    Launch launch;
};

// Throws std::invalid_argument where the config's number is no family's.
const Family& family_of(const KernelConfig& config);
// All families, in the order in which a search asks them: of equal predictions the first counts.
std::span<const Family* const> families();

// Are there kernels that multiply the problem's types on the device's tensor cores?
bool has_tensor_core_kernels(const GemmProblem& problem, const DeviceInfo& device);

// What every door asks of a config before anything is computed from it: text, databases, imports and plans alike.
struct MisusedField {
    const Parameter* field;
    // The reason in words: "simt does not use planes: it is 1, not 2".
    std::string why;
};

// The first field whose value the config's family has no use for; nothing where there is none. Any numbers may stand in the config.
std::optional<MisusedField> find_misused_field(const KernelConfig& config);

// The config of last resort: it is always valid and always right, whatever the problem.
KernelConfig plainest_config();

// The family's entries, by the config's name for it.
const char* violation_of(const KernelConfig& config, const KernelSignature& signature);
int threads_of(const KernelConfig& config);
i64 shared_bytes_of(const KernelConfig& config, const KernelSignature& signature);
i64 blocks_of(const KernelConfig& config, i64 m, i64 n, i64 batch);
i64 longest_chain_of(const KernelSignature& signature, const KernelConfig& config, i64 k);
bool blocks_walk(const KernelConfig& config);
Rank rank_of(const Family& family, const GemmProblem& problem, const DeviceInfo& device);
std::vector<KernelConfig> other_arrangements(const GemmProblem& problem, const KernelConfig& config);
KernelConfig adapted(const GemmProblem& problem, const GemmProblem& tuned, const KernelConfig& config);
Crowding crowding_of(const Schedule& schedule, const DeviceInfo& device);

// Blocks that run together and reach into each other's shared memory.
constexpr int cluster_size_of(const KernelConfig& config) {
    return config.cluster * config.multicast_a * config.multicast_b;
}
LaunchNeeds launch_needs(const KernelConfig& config, const KernelSignature& signature);

// Adds the step that multiplies, and the strips that it leaves. tensor_maps: LaunchStep's.
using TensorMaps = TensorMapRequests (*)(const LaunchStep& step, const std::byte* arguments);
void add_product(StepList& list, StepList::Bind bind, TensorMaps tensor_maps = nullptr);

// PhaseLoads of families whose blocks compute block_m x block_n.
double flop_per_load_of_tile(const KernelConfig& config);
PhaseLoads loads_by_copy_engine(const KernelConfig& config);

}  // namespace tmm
