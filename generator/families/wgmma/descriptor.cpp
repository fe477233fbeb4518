// The family for tensor cores that warpgroups use: wgmma, with tiles that the copy engine brings.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "generator/families/candidate_choices.h"
#include "generator/families/family.h"
#include "generator/families/product_problem.h"
#include "generator/families/wgmma/wgmma.h"
#include "generator/steps/arguments.h"
#include "generator/steps/steps.h"
#include "tmm/families/wgmma/rules.h"
#include "tmm/number/arithmetic.h"
#include "tmm/steps/pad/rules.h"
#include "tmm/steps/planes/rules.h"

namespace tmm {
namespace {

using C = KernelConfig;

// The search doubts the second way to come to one tile of C, and each doubling of their number.
constexpr double kWayDoubt = 0.03;
// With so few rows or columns, gemv may be faster than tensor cores.
constexpr i64 kVeryFew = 4;

const char* arguments_type(const KernelConfig&) {
    return "tmm::WgmmaArgs";
}
std::string preamble(const KernelSignature& s, const KernelConfig& c) {
    return wgmma_instruction(s, c);
}

std::optional<std::string> rejection(const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    if (device.emulated || device.compute_capability() != 90) return "wgmma needs compute capability 9.0";
    if (c.planes > 1) {
        if (p.type_a != ElementType::f32) return "planes are what f32 operands are split into";
        if (p.compute != ComputeMode::f32) return "products of planes serve compute=f32 alone; f32_strict takes FP32 FMAs only";
        // It is said here, since the rule would change the text of every kernel of the family.
        if (c.pack_ab != 0) return "planes are copies whose rows TMA takes as they lie: pack_ab is 0";
    }
    return why_no_tma(p, device, true);
}
// Planes are multiplied apart.
SumOrder sum_order(const KernelSignature&, const KernelConfig& c) {
    return c.planes > 1 ? SumOrder::parts : SumOrder::wgmma;
}
i64 longest_chain(const KernelSignature& s, const KernelConfig& c, i64 k) {
    return c.planes > 1 ? wgmma::longest_chain_of_planes(c, k) : wgmma::longest_chain(s, k);
}

std::vector<Search::Candidate> candidates(const GemmProblem& p, const DeviceInfo& device) {
    const auto configs = wgmma_configs(p, device);
    return {configs.begin(), configs.end()};
}
// Only the best tile is looked at with each band.
std::vector<KernelConfig> defaults(const GemmProblem& p, const DeviceInfo& device) {
    std::vector<KernelConfig> configs = wgmma_configs(p, device);
    std::erase_if(configs, [](const KernelConfig& c) { return c.raster != 0; });
    return configs;
}
std::vector<KernelConfig> default_variants(const KernelConfig& best) {
    if (best.cluster != 1) return {};
    std::vector<KernelConfig> bands(2, best);
    bands[0].raster = kWgmmaRasters[1];
    bands[1].raster = kWgmmaRasters[2];
    return bands;
}
Rank rank(const GemmProblem& p, const DeviceInfo& device) {
    const bool suits = suits_wgmma(p, device);
    return {.uses_tensor_cores = suits,
            .is_at_its_best = suits && p.type_a != ElementType::f32 && std::min(p.m, p.n) > kVeryFew,
            // Planes are multiplied in several products.
            .is_hard_to_compare = p.type_a == ElementType::f32 && p.compute != ComputeMode::tf32,
            .doubt_of_ways = kWayDoubt};
}
// Nothing else multiplies as fast what tensor cores fed by TMA multiply as it is, except where rows are very few.
bool is_unrivalled(const GemmProblem& p, const KernelConfig& c) {
    return c.planes == 1 && c.pack_ab == 0 && std::min(p.m, p.n) > kVeryFew;
}
std::vector<KernelConfig> variants(const GemmProblem& p, const KernelConfig& c) {
    std::vector<KernelConfig> others;
    for (const int raster : kWgmmaRasters) {
        KernelConfig other = c;
        other.raster = raster;
        if (raster != c.raster && c.cluster == 1 && has_order_of_its_own(other, main_extent(p, c))) others.push_back(other);
    }
    if (with_wgmma_boundary(c, p).boundary == boundary::hardware) return others;
    others.push_back(c);
    others.back().boundary = c.boundary == boundary::peeled ? boundary::hardware : boundary::peeled;
    return others;
}
i64 missing_rows(const GemmProblem& p, const KernelConfig& c) {
    const Extent main = main_extent(p, c);
    return wgmma::missing_rows(c, main_signature(p, c), main.rows, main.columns);
}
// The mode that won stays where the sizes call for the same one, unless more rows are missing here: what brings them, too, was found to be
// no slower with few, and takes up to 1.5 times as long with many.
KernelConfig adapt(const GemmProblem& p, const GemmProblem& tuned, const KernelConfig& c) {
    const KernelConfig wanted = with_wgmma_boundary(c, p);
    const bool stays =
        wanted == with_wgmma_boundary(c, tuned) && (c.boundary != boundary::hardware || missing_rows(p, c) <= missing_rows(tuned, c));
    return stays ? c : wanted;
}

// Blocks that come early take the SMs that are free first. Where they are fewer than the SMs, they are then no longer spread over all parts
// of the chip, and reading memory takes longer.
Crowding crowding(const Schedule& schedule, const DeviceInfo& device) {
    const GemmProblem& p = schedule.product;
    const KernelConfig& c = schedule.config;
    constexpr double part_of_memory_time = 0.6;
    constexpr double share_of_memory = 4.0 / 4.6;
    // Parts of sums hold the next kernel up as long as memory takes for this share of them.
    constexpr double share_of_parts = 0.3;
    const double memory_bytes = device.profile.memory_bytes;
    // The first kernel splits the operands, by blocks that find less room.
    if (c.planes > 1) return {.microseconds = 0.5 * device.profile.kernel_gap};
    const auto [m, n, k, batch] =
        std::array{static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch)};
    const double memory = batch * (m + n) * k * size_of(p.type_a) / (share_of_memory * memory_bytes);
    const auto all = static_cast<double>(blocks_of(c, p.m, p.n, p.batch));
    const double sms = std::max(1, device.sm_count);
    // Where parts are summed by many blocks, the next product's blocks come to the SMs in the order in which those end.
    const double parts = partial_results(c) > 1 ? batch * partial_results(c) * m * n * sum_bytes(p) : 0;
    return {.microseconds =
                part_of_memory_time * memory * (1 - all / (std::ceil(all / sms) * sms)) + share_of_parts * parts / memory_bytes};
}

void add_copies(Schedule& s, const DeviceInfo&) {
    s.copies = s.config.planes > 1 ? planes_copies(s.product, s.config) : padded_copies(s.product, s.config);
}

PhaseLoads phase_loads(const KernelConfig& c) {
    return loads_by_copy_engine(c);
}

KernelSignature signature(const GemmProblem& p, const KernelConfig& c) {
    KernelSignature signature = signature_of(padded_problem(p, c));
    if (c.planes > 1) {
        signature.type_a = signature.type_b = planes::type_of(c.planes);
        signature.align_a = signature.align_b = 16;
    }
    if (pad::pads_a(c)) signature.align_a = 16;
    if (pad::pads_b(c)) signature.align_b = 16;
    return signature;
}
// Where rows of B run along N, or of A along M, the second half of its columns, or of its rows, is brought from where it begins, which for
// the copy engine must be a multiple of 16 bytes.
bool applies_gate(const GemmProblem& p, const KernelConfig& c) {
    const bool of_rows = gates_rows(p.activation);
    const bool runs_along = of_rows ? p.op_a == Operation::transpose : p.op_b == Operation::none;
    const i64 second_half = of_rows ? rows_of_c(p) * size_of(p.type_a) : columns_of_c(p) * size_of(p.type_b);
    if (runs_along && second_half % 16 != 0) return false;
    return wgmma::applies_gate(c, signature_of(p));
}
// Blocks of a cluster that sums parts of K end together.
bool walks(const KernelConfig& c) {
    return c.cluster == 1;
}

void add_steps(StepList& list) {
    const KernelConfig& c = list.schedule.config;
    if (c.pack_ab != 0) add_pad(list);
    if (c.planes > 1) add_planes(list);
    add_product(list, bind_wgmma, wgmma_tensor_maps);
    if (c.planes > 1) add_rescue(list);
}

}  // namespace

extern constexpr Family kWgmma{
    .number = family::wgmma,
    .traits = {.knows_tf32 = true, .walks_triangles = true, .stores_whole_tiles = true, .leaves_room = true},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::stages, &C::vector_width, &C::boundary, &C::split_k,
                               &C::raster, &C::min_blocks, &C::swap_ab, &C::pack_ab, &C::cluster, &C::trim, &C::warps_m, &C::warps_n,
                               &C::multicast_a, &C::multicast_b, &C::planes, &C::promote_k, &C::ping_pong, &C::overlap),
              .violation = wgmma::first_violation,
              .threads = wgmma::threads,
              .shared_bytes = wgmma::shared_bytes,
              .blocks = wgmma::blocks,
              .rejection = rejection,
              .sum_order = sum_order,
              .longest_chain = longest_chain},
    .search = {.candidates = candidates,
               .defaults = defaults,
               .default_variants = default_variants,
               .rank = rank,
               .is_unrivalled = is_unrivalled,
               .variants = variants,
               .adapt = adapt},
    .model = {.estimate = wgmma_estimate, .crowding = crowding, .phase_loads = phase_loads},
    .launch = {.arguments_type = arguments_type,
               .preamble = preamble,
               .signature = signature,
               .applies_gate = applies_gate,
               .walks = walks,
               .add_copies = add_copies,
               .add_steps = add_steps},
};

namespace {

WgmmaArgs with_grid(const GemmArgs& args, const KernelConfig& config, const KernelSignature& signature) {
    WgmmaArgs wgmma;
    static_cast<GemmArgs&>(wgmma) = args;
    const auto [left, right] = config.swap_ab ? std::pair(args.n, args.m) : std::pair(args.m, args.n);
    const TilesOfC clusters = tiles_of_result(wgmma::result_of_sides(config, signature), left, right, wgmma::rows_of_cluster(config),
                                              wgmma::columns_of_cluster(config));
    wgmma.grid = tile_grid(clusters.rows, clusters.columns, args.raster);
    return wgmma;
}

// The operands are their planes.
void add_planes(WgmmaArgs& args, const Schedule& schedule, const GemmCall& call) {
    const SplitOperands split = split_operands(schedule, call);
    const bool swap = schedule.config.swap_ab != 0;
    args.exponents_left = (swap ? split.b : split.a).exponents;
    args.exponents_right = (swap ? split.a : split.b).exponents;
    args.unfit_a = split.unfit_a;
    args.unfit_b = split.unfit_b;
}

}  // namespace

std::size_t bind_wgmma(const Schedule& schedule, const LaunchStep&, const GemmCall& call, std::byte* arguments) {
    WgmmaArgs args = with_grid(product_args(schedule, call), schedule.config, schedule.signature);
    if (schedule.config.planes > 1) add_planes(args, schedule, call);
    return write_arguments(args, arguments);
}

}  // namespace tmm
