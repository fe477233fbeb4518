// Block tiles of register tiles, multiplied by FMAs: tiles come through registers, by cp.async or by the copy engine.
#include <cmath>
#include <cstring>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/host_cost.h"
#include "generator/families/product_problem.h"
#include "generator/families/simt/simt.h"
#include "generator/schedule/packing.h"
#include "generator/steps/arguments.h"
#include "generator/steps/steps.h"
#include "generator/steps/tensor_maps.h"
#include "tmm/families/simt/rules.h"
#include "tmm/steps/pack/rules.h"

namespace tmm {

namespace {

using C = KernelConfig;

// The part of the registers that its threads can have which a kernel may want and surely does not spill. What a search tries may want more.
constexpr double kSurelyFits = 1.0;

const char* arguments_type(const KernelConfig& c) {
    return simt::brings_by_tma(c) ? "tmm::SimtTmaArgs" : "tmm::GemmArgs";
}

std::optional<std::string> rejection(const Schedule& s, const DeviceInfo& device) {
    if (simt::brings_by_tma(s.config))
        if (auto reason = why_no_tma(s.product, device, false)) return reason;
    if (pack::packs_beside(s.config)) return why_not_packed_beside(s);
    return std::nullopt;
}
int accumulators(const KernelConfig& c) {
    return c.thread_m * c.thread_n;
}

std::vector<Search::Candidate> candidates(const GemmProblem& p, const DeviceInfo& device) {
    if (one_type_or_bytes_violation(signature_of(p))) return {};
    const auto configs = simt_configs(p, device);
    return {configs.begin(), configs.end()};
}
std::vector<KernelConfig> defaults(const GemmProblem& p, const DeviceInfo& device) {
    if (one_type_or_bytes_violation(signature_of(p))) return {};
    std::vector<KernelConfig> configs = simt_configs(p, device);
    std::erase_if(configs, [&](const KernelConfig& c) { return simt_most_registers(c, main_signature(p, c), device) > kSurelyFits; });
    return configs;
}
std::vector<KernelConfig> variants(const GemmProblem&, const KernelConfig& c) {
    return with_other_orders(c);
}

double host_estimate(const Schedule& schedule) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    const KernelSignature& s = schedule.signature;
    const auto copies = [&](const simt::TileLayout& layout) {
        const double vectors = static_cast<double>(layout.outer) * layout.depth / layout.vector / simt::threads(c);
        return vectors * (layout.async_copy ? host_cost::kAsyncCopy : host_cost::kCopy);
    };
    const double phase = host_cost::kSwitch + copies(simt::layout_a(c, s)) + copies(simt::layout_b(c, s));
    const auto packed = [&](bool is, i64 lines) {
        return is ? host_cost::kLaunch + static_cast<double>(lines * p.k * p.batch) * host_cost::kCopy : 0;
    };
    return host_time_of_tiles(schedule, phase, host_cost::kFmaFromRegisters) + packed(pack::packs_a(c), p.m) +
           packed(pack::packs_b(c), p.n);
}

// SMs that are free first take as many blocks as they have room for, and others none. Where blocks leave room they then stand unevenly, and
// so do clusters where the last wave is partial. Among 6,700 pairs of simt's configs, alike but for overlap, the configs that overlap took
// 1.05 times as long with such clusters. With such blocks, in plans of several kernels, they took 1.01 times as long, but up to 1.4 times;
// all others took 0.98 times as long.
Crowding crowding(const Schedule& schedule, const DeviceInfo& device) {
    const KernelConfig& c = schedule.config;
    constexpr double of_clusters = 0.05;
    constexpr double of_blocks = 0.02;
    constexpr double nearly_empty = 0.15;
    constexpr double nearly_full = 0.85;
    const double waves =
        static_cast<double>(schedule.blocks) / (static_cast<double>(std::max(1, device.sm_count)) * std::max(1, c.min_blocks));
    const double last = waves - std::floor(waves);
    if (c.cluster > 1) return {.share = waves > 1 && last > nearly_empty && last < nearly_full ? of_clusters : 0};
    const bool several_kernels = c.pack_ab != 0 || c.trim != 0;
    return {.share = several_kernels && std::ceil(waves * c.min_blocks) < c.min_blocks ? of_blocks : 0};
}

PhaseLoads phase_loads(const KernelConfig& c) {
    if (simt::brings_by_tma(c)) return loads_by_copy_engine(c);
    return {.elements = static_cast<double>(c.block_k) * (c.block_m + c.block_n) / simt::threads(c),
            .by_copy_engine = false,
            .flop_per_load = flop_per_load_of_tile(c)};
}

// Packed operands lie along M and N.
KernelSignature signature(const GemmProblem& p, const KernelConfig& c) {
    KernelSignature signature = signature_of(p);
    if (pack::packs_a(c)) {
        signature.op_a = Operation::transpose;
        signature.align_a = 16;
    }
    if (pack::packs_b(c)) {
        signature.op_b = Operation::none;
        signature.align_b = 16;
    }
    return signature;
}

void add_copies(Schedule& schedule, const DeviceInfo& device) {
    schedule.copies = packed_copies(schedule.product, schedule.config, schedule.main);
    schedule.copies.by_copy_engine = simt::brings_by_tma(schedule.config);
    schedule.packing = packing_beside(schedule, device);
    schedule.blocks_for_strips = blocks_for_strips(schedule, schedule.config.cluster, device);
}

void add_steps(StepList& list) {
    if (list.schedule.config.pack_ab != 0) add_pack(list);
    add_product(list, bind_simt, simt::brings_by_tma(list.schedule.config) ? simt_tensor_maps : nullptr);
}

}  // namespace

extern constexpr Family kSimt{
    .number = family::simt,
    .traits = {.multiplies_by_fma = true, .walks_triangles = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::async_copy,
                               &C::vector_width, &C::boundary, &C::split_k, &C::raster, &C::min_blocks, &C::pack_ab, &C::cluster,
                               &C::along_k, &C::trim, &C::fma_order, &C::stream_k, &C::slice_k, &C::overlap),
              .violation = simt::first_violation,
              .threads = simt::threads,
              .shared_bytes = simt::shared_bytes,
              .blocks = simt::blocks,
              .rejection = rejection,
              .accumulators = accumulators},
    .search = {.candidates = candidates, .defaults = defaults, .variants = variants, .adapt = with_edges_where_needed},
    .model = {.estimate = simt_estimate, .host_estimate = host_estimate, .crowding = crowding, .phase_loads = phase_loads},
    .launch = {.arguments_type = arguments_type, .signature = signature, .add_copies = add_copies, .add_steps = add_steps},
};

std::size_t bind_simt(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    const GemmArgs product = product_args(schedule, call);
    if (!simt::brings_by_tma(schedule.config)) return write_arguments(product, arguments);
    SimtTmaArgs args;
    static_cast<GemmArgs&>(args) = product;
    args.packers = packers_args(schedule, call);
    args.strips = strips_args(schedule, call);
    return write_arguments(args, arguments);
}

TensorMapRequests simt_tensor_maps(const LaunchStep& step, const std::byte* arguments) {
    const KernelConfig& config = *config_of(step);
    if (!simt::brings_by_tma(config)) return {};
    SimtTmaArgs args;
    std::memcpy(&args, arguments, sizeof args);
    return maps_of_floats(args,
                          {.map = offset_within(args, args.tiles_a),
                           .address = args.a,
                           .matrices = {.rows = args.k, .columns = args.m, .ld = args.lda, .stride = args.stride_a},
                           .box = {.rows = config.block_k, .columns = config.block_m},
                           .times = (args.n + config.block_n - 1) / config.block_n},
                          {.map = offset_within(args, args.tiles_b),
                           .address = args.b,
                           .matrices = {.rows = args.k, .columns = args.n, .ld = args.ldb, .stride = args.stride_b},
                           .box = {.rows = config.block_k, .columns = config.block_n},
                           .times = (args.m + config.block_m - 1) / config.block_m});
}

}  // namespace tmm
