#include "tests/support/kernels/config_sampler.h"

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <tuple>

#include "generator/choice/validity.h"
#include "generator/families/family.h"
#include "generator/problem/problem_forms.h"
#include "tmm/schedule/triangle.h"
#include "tmm/vocabulary/problem_fields.h"

namespace tmm::testing {
namespace {

class Draw {
public:
    explicit Draw(std::uint64_t seed) : engine_(seed) {}
    int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
    template <std::size_t count>
    int of(const std::array<int, count>& values) {
        return values[static_cast<std::size_t>(below(static_cast<int>(count)))];
    }

private:
    std::mt19937_64 engine_;
};

// The levels of each factor; what they mean is in make_problem.
enum Factor { m_kind, n_kind, k_kind, pad_a, pad_b, pad_c, alignment, batched, scalars, factor_count };
const std::vector<int> kLevels = {6, 6, 6, 3, 3, 3, 3, 4, 3};

std::int64_t size_of_kind(int kind, int tile, bool multiples_only) {
    if (multiples_only) return static_cast<std::int64_t>(tile) * (1 + kind % 3);
    switch (kind) {
        case 0: return 1;
        case 1: return tile > 13 ? 13 : 7;
        case 2: return std::max(1, tile - 1);
        case 3: return tile;
        case 4: return tile + 1;
        default: return 2LL * tile + 5;
    }
}

// Whole tiles and what trim may leave: up to 16, and nothing.
std::int64_t trimmed_size(int kind, int tile) {
    constexpr std::array kLeft = {0, 1, 2, 5, 13, 16};
    return static_cast<std::int64_t>(tile) * (1 + kind % 2) + std::min(kLeft[static_cast<std::size_t>(kind)], tile - 1);
}

std::int64_t leading_dimension(std::int64_t columns, int kind, int align_elements) {
    const std::int64_t aligned = (columns + align_elements - 1) / align_elements * align_elements;
    // The leading dimension is tight, padded by one vector, or padded by one element, which breaks the rows' alignment.
    return kind == 0 ? aligned : kind == 1 ? aligned + align_elements : aligned + 1;
}

// types: of A and B, and of C; narrow stands for f16 and bf16 in turn, tf32 for floats that may be rounded to it, bytes for
// s8, whose C is s32.
enum class Types { floats, narrow, narrow_to_float, tf32, doubles, bytes };
struct Family {
    int family;
    int boundary;
    Types types = Types::floats;
    // Whether it is a simt config whose tiles TMA copies.
    bool by_tma = false;
};
constexpr std::array kFamilies = {
    Family{family::naive, boundary::guarded},
    Family{family::naive, boundary::guarded, Types::doubles},
    Family{family::tiled, boundary::guarded, Types::doubles},
    Family{family::simt, boundary::peeled, Types::doubles},
    Family{family::simt, boundary::exact, Types::doubles},
    Family{family::gemv, boundary::peeled, Types::doubles},
    Family{family::naive, boundary::guarded, Types::bytes},
    Family{family::tiled, boundary::guarded, Types::bytes},
    Family{family::simt, boundary::exact, Types::bytes},
    Family{family::simt, boundary::guarded, Types::bytes},
    Family{family::simt, boundary::peeled, Types::bytes},
    Family{family::gemv, boundary::guarded, Types::bytes},
    Family{family::gemv, boundary::peeled, Types::bytes},
    Family{family::tiled, boundary::exact},
    Family{family::tiled, boundary::guarded},
    Family{family::simt, boundary::exact},
    Family{family::simt, boundary::guarded},
    Family{family::simt, boundary::peeled},
    Family{family::gemv, boundary::exact},
    Family{family::gemv, boundary::guarded},
    Family{family::gemv, boundary::peeled},
    Family{family::naive, boundary::guarded, Types::narrow},
    Family{family::gemv, boundary::exact, Types::narrow},
    Family{family::gemv, boundary::guarded, Types::narrow},
    Family{family::gemv, boundary::peeled, Types::narrow},
    Family{family::gemv, boundary::peeled, Types::narrow_to_float},
    Family{family::mma, boundary::exact, Types::narrow},
    Family{family::mma, boundary::guarded, Types::narrow},
    Family{family::mma, boundary::peeled, Types::narrow},
    Family{family::mma, boundary::peeled, Types::narrow_to_float},
    Family{family::mma, boundary::exact, Types::doubles},
    Family{family::mma, boundary::guarded, Types::doubles},
    Family{family::mma, boundary::peeled, Types::doubles},
    Family{family::mma, boundary::exact, Types::bytes},
    Family{family::mma, boundary::guarded, Types::bytes},
    Family{family::mma, boundary::peeled, Types::bytes},
    Family{family::wgmma, boundary::hardware, Types::narrow},
    Family{family::wgmma, boundary::peeled, Types::narrow},
    Family{family::wgmma, boundary::peeled, Types::narrow_to_float},
    Family{family::wgmma, boundary::hardware, Types::floats},
    Family{family::wgmma, boundary::peeled, Types::floats},
    Family{family::simt, boundary::peeled, Types::tf32},
    Family{family::wgmma, boundary::hardware, Types::tf32},
    Family{family::wgmma, boundary::peeled, Types::tf32},
    Family{family::wgmma, boundary::hardware, Types::bytes},
    Family{family::wgmma, boundary::peeled, Types::bytes},
    Family{family::skinny, boundary::hardware},
    Family{family::skinny, boundary::hardware, Types::tf32},
    Family{family::simt, boundary::exact, Types::floats, true},
    Family{family::simt, boundary::peeled, Types::floats, true},
};

std::vector<Family> families_of(const DeviceInfo& device) {
    std::vector<Family> families;
    for (const Family& family : kFamilies) {
        if (family.family == family::wgmma && (device.compute_capability() != 90 || device.emulated)) continue;
        if ((family.family == family::skinny || family.by_tma) && !device.has_tma()) continue;
        families.push_back(family);
    }
    return families;
}

KernelConfig draw_config(Family family, Draw& draw, int largest_block) {
    KernelConfig c{.family = family.family, .boundary = family.boundary};
    switch (family.family) {
        case family::naive:
            c.block_m = draw.of(std::array{1, 4, 8});
            c.block_n = draw.of(std::array{8, 32, 7});
            break;
        case family::tiled: c.block_m = c.block_n = c.block_k = 2 + draw.below(31); break;
        case family::simt:
            c.thread_m = draw.of(std::array{1, 2, 4, 8, 12, 16});
            c.thread_n = draw.of(std::array{1, 2, 4, 8, 12, 16});
            c.block_m = c.thread_m * draw.of(std::array{1, 2, 4, 8, 16, 20, 32});
            c.block_n = c.thread_n * draw.of(std::array{4, 6, 8, 10, 16, 18, 32});
            c.block_k = draw.of(std::array{4, 8, 16, 20, 24, 32, 64});
            c.async_copy = draw.below(3);
            c.stages = c.async_copy ? 2 + draw.below(4) : 1 + draw.below(2);
            c.vector_width = draw.of(std::array{1, 2, 4});
            c.split_k = draw.of(std::array{1, 1, 2, 3, 16, 70});
            c.along_k = draw.below(2);
            c.fma_order = draw.below(fma_order::count);
            c.cluster = draw.of(std::array{1, 1, 2, 3, 4, 5, 7, 8});
            if (c.split_k % c.cluster != 0) c.cluster = 1;
            c.slice_k = draw.of(std::array{1, 1, 2, 4, 8});
            if (c.split_k == 1 && c.slice_k == 1) c.stream_k = draw.below(2);
            c.raster = draw.of(std::array{0, 0, 1, 2, 8});
            c.min_blocks = 1;
            c.pack_ab = family.types == Types::bytes ? 0 : draw.of(std::array{0, 0, 1, 2, 3});
            c.trim = draw.of(std::array{0, 0, 1});
            if (family.by_tma) {
                c.async_copy = 3;
                c.stages = draw.of(std::array{2, 3, 4, 6});
                c.vector_width = 4;
                c.along_k = c.stream_k = 0;
                c.pack_ab = draw.of(std::array{0, 1, 2, 3, 3, 5, 6, 7, 7});
                if (c.trim != 0 && c.pack_ab >= 1 && c.pack_ab <= 3) c.trim = draw.of(std::array{1, kTrimsByPack, kTrimsByPack});
            }
            if (c.block_m > largest_block || c.block_n > largest_block) c.thread_m = 99;  // not valid: drawn anew
            break;
        case family::mma:
            c.warps_m = draw.of(std::array{1, 1, 2, 3, 4});
            c.warps_n = draw.of(std::array{1, 1, 2, 3, 4});
            c.block_m = c.warps_m * draw.of(std::array{16, 32, 48, 64});
            c.block_n = c.warps_n * draw.of(std::array{16, 32, 48, 64});
            c.block_k = draw.of(std::array{16, 32, 48, 64, 128});
            c.async_copy = draw.below(2);
            c.stages = c.async_copy ? 2 + draw.below(4) : 1 + draw.below(2);
            c.vector_width = draw.of(std::array{1, 2, 4, 8, 8});
            c.split_k = draw.of(std::array{1, 1, 2, 3, 16});
            c.raster = draw.of(std::array{0, 0, 1, 2, 8});
            if (family.types == Types::doubles) {
                c.block_k = draw.of(std::array{16, 16, 32});
                c.vector_width = draw.of(std::array{1, 2, 2});
            }
            if (family.types == Types::bytes) {
                c.block_k = draw.of(std::array{32, 64, 96, 128, 256});
                c.vector_width = draw.of(std::array{1, 4, 8, 16, 16});
            }
            if (c.block_m > largest_block || c.block_n > largest_block) c.thread_m = 99;  // not valid: drawn anew
            break;
        case family::wgmma:
            c.warps_m = draw.of(std::array{1, 1, 2, 3});
            c.warps_n = draw.of(std::array{1, 1, 1, 2});
            c.block_m = c.warps_m * draw.of(std::array{64, 64, 128});
            c.block_n = c.warps_n * draw.of(std::array{8, 24, 40, 64, 64, 96, 128, 184, 192});
            c.block_k = draw.of(std::array{64, 64, 128});
            if (family.types == Types::tf32) c.block_k /= 2;
            if (family.types == Types::bytes) c.block_k *= 2;
            c.stages = draw.of(std::array{2, 3, 4, 6});
            c.vector_width = family.types == Types::bytes ? 16 : 8;
            c.split_k = draw.of(std::array{1, 1, 2, 3, 4, 8});
            c.cluster = c.split_k % 2 == 0 ? draw.of(std::array{1, 2, 2, 4, 8}) : 1;
            c.raster = draw.of(std::array{0, 0, 1, 2, 8});
            c.swap_ab = draw.of(std::array{0, 0, 1});
            c.pack_ab = draw.of(std::array{0, 0, 1, 2, 3});
            c.trim = draw.below(4) == 0;
            if (draw.below(4) == 0) (draw.below(2) ? c.multicast_a : c.multicast_b) = draw.of(std::array{2, 4});
            if (draw.below(8) == 0) c.multicast_a = c.multicast_b = 2;
            c.ping_pong = draw.below(4) == 0;
            if (c.ping_pong) {
                c.block_m /= c.warps_m;
                c.block_n /= c.warps_n;
                c.warps_m = c.warps_n = 1;
            }
            c.min_blocks = draw.of(std::array{1, 1, 2});
            if (family.types == Types::floats) {
                c.planes = draw.of(std::array{2, 2, 3});
                c.promote_k = draw.of(std::array{16, 32, 64});
                c.block_m = c.warps_m * 64;
                c.block_n = std::min(c.block_n, 128 * c.warps_n);
                c.stages = 2;
                c.pack_ab = c.trim = 0;
            }
            break;
        case family::skinny: {
            const int lanes_m = draw.of(std::array{1, 2, 4});
            c.thread_m = draw.of(std::array{1, 2, 4, 8, 16});
            c.thread_n = draw.of(std::array{1, 2, 3, 4, 7, 8});
            c.block_m = c.thread_m * lanes_m;
            c.block_n = c.thread_n * 4 / lanes_m * draw.of(std::array{1, 1, 2, 3});
            c.block_k = draw.of(std::array{64, 96, 128, 256});
            c.slice_k = draw.of(std::array{1, 2, 4, 8});
            c.stages = draw.of(std::array{3, 4, 5, 8});
            c.vector_width = 4;
            c.split_k = draw.of(std::array{1, 1, 2, 5});
            c.swap_ab = draw.below(2);
            break;
        }
        default:
            c.block_m = draw.of(std::array{1, 2, 3, 4, 8, 16});
            c.thread_n = family.types == Types::floats || family.types == Types::doubles ? draw.of(std::array{1, 2, 4})
                                                                                         : draw.of(std::array{1, 2, 4, 8});
            c.block_n = c.thread_n * draw.of(std::array{1, 2, 4, 8, 16, 32});
            c.block_k = draw.of(std::array{16, 32, 64, 128, 256});
            c.vector_width = family.types == Types::doubles  ? draw.of(std::array{1, 2})
                             : family.types == Types::floats ? draw.of(std::array{1, 2, 4})
                             : family.types == Types::bytes  ? draw.of(std::array{1, 2, 4, 8, 16, 16})
                                                             : draw.of(std::array{1, 2, 4, 8, 8});
            c.stages = 1 + draw.below(3);
            c.split_k = draw.of(std::array{1, 1, 2, 5, 16});
            c.swap_ab = draw.below(2);
    }
    return c;
}

// What of C is wanted, and whether the batch stands anywhere.
struct Walk {
    Result result = Result::full;
    bool pointers = false;
};
// Two of five configs have a walk of their own, of which the neighbours have others. The copy engine takes no pointers.
Walk walk_of(int config, bool by_copy_engine) {
    constexpr std::array kResults = {Result::symmetric, Result::lower, Result::upper};
    Walk walk;
    if (config % 5 == 1) walk.result = kResults[static_cast<std::size_t>(config / 5 % 3)];
    walk.pointers = !by_copy_engine && (config % 5 == 3 || config % 10 == 1);
    return walk;
}

GemmProblem make_problem(const KernelConfig& c, Walk walk, ElementType type, ElementType type_c, ComputeMode compute, int ops,
                         const std::vector<int>& shape, const std::vector<int>& layout) {
    const bool multiples = c.boundary == boundary::exact;
    GemmProblem p{.type_a = type, .type_b = type, .type_c = type_c, .compute = compute};
    // Swapped, a config holds columns where the others hold rows.
    p.m = size_of_kind(shape[m_kind], c.swap_ab ? c.block_n : c.block_m, multiples);
    p.n = size_of_kind(shape[n_kind], c.swap_ab ? c.block_m : c.block_n, multiples);
    if (c.trim) {
        // The product is trimmed both ways, or one way: tiles then reach past the edge the other way.
        const int trimmed = (shape[m_kind] + shape[n_kind]) % 4;
        if (trimmed != 1) p.m = trimmed_size(shape[m_kind], c.swap_ab ? c.block_n : c.block_m);
        if (trimmed != 2) p.n = trimmed_size(shape[n_kind], c.swap_ab ? c.block_m : c.block_n);
    }
    if (walk.result != Result::full) {
        const bool swap = c.swap_ab != 0;
        if (multiples)
            p.m = square_side(c.block_m, c.block_n) * (1 + shape[m_kind] % 3);
        else if (shape[n_kind] % 2 == 0)
            p.m = size_of_kind(shape[m_kind], swap ? c.block_m : c.block_n, false) + (swap ? c.block_n : c.block_m);
        p.n = p.m;
    }
    p.k = size_of_kind(shape[k_kind], c.block_k * (c.split_k > 1 && c.split_k < 8 ? c.split_k : 1), multiples);
    if (c.family == family::naive) p.k = size_of_kind(shape[k_kind], 32, false);
    // In half of them a part has more tiles than there are stages.
    if (family_of(c).model.phase_loads(c).by_copy_engine && c.family != family::wgmma && shape[k_kind] >= 3)
        p.k += static_cast<std::int64_t>(c.stages + shape[k_kind] - 3) * c.block_k * c.split_k;
    if (c.split_k > p.k) p.k = c.split_k;
    if (multiples) p.k = (p.k + c.block_k - 1) / c.block_k * c.block_k;
    p.op_a = ops & 2 ? Operation::transpose : Operation::none;
    p.op_b = ops & 1 ? Operation::transpose : Operation::none;
    constexpr std::array kAlignmentsOf16Bit = {2, 8, 16};
    constexpr std::array kAlignmentsOfBytes = {1, 4, 16};
    const auto kind = static_cast<std::size_t>(layout[alignment]);
    p.alignment = size_of(type) == 1 ? kAlignmentsOfBytes[kind]
                  : is_16_bit(type)  ? kAlignmentsOf16Bit[kind]
                                     : std::max(4 << layout[alignment], size_of(type));
    const auto elements = [&](ElementType of) { return std::max(1, p.alignment / size_of(of)); };
    p.lda = leading_dimension(stored_columns_a(p), layout[pad_a], elements(type));
    p.ldb = leading_dimension(stored_columns_b(p), layout[pad_b], elements(type));
    p.ldc = leading_dimension(p.n, layout[pad_c], elements(type_c));
    if (layout[batched]) {
        p.batch = 3;
        // All of the batch may share a matrix.
        p.stride_a = layout[batched] == 2 ? 0 : stored_rows_a(p) * p.lda;
        p.stride_b = layout[batched] == 3 ? 0 : stored_rows_b(p) * p.ldb;
        p.stride_c = p.m * p.ldc;
    }
    p.result = walk.result;
    p.pointers = walk.pointers;
    if (p.pointers) p.stride_a = p.stride_b = p.stride_c = 0;
    p.reads_c = layout[scalars] != 0;
    return p;
}

// Every second config has an epilogue, of which the neighbours have others.
void add_epilogue(GemmProblem& p, int config, int pad) {
    if (config % 2 == 0) return;
    const int number = config / 2;
    p.bias = std::array{BiasAxis::columns, BiasAxis::none, BiasAxis::rows}[static_cast<std::size_t>(number % 3)];
    p.activation = static_cast<Activation>(number % kActivations.count);
    // A gate takes an even number of columns, or rows, and does not read C.
    const i64 halved = gates_rows(p.activation) ? p.m : p.n;
    if (is_gate(p.activation) && (halved % 2 != 0 || p.reads_c || walk_violation(p))) p.activation = Activation::silu;
    if (walk_violation(p)) p.bias = BiasAxis::none;
    p.residual = number % 5 % 2 == 0;
    p.epilogue = epilogue_class(p.bias, p.activation, p.residual);
    if (p.bias != BiasAxis::none)
        p.type_bias = std::array{p.type_a == ElementType::f64 ? p.type_a : ElementType::f32, ElementType::f16,
                                 ElementType::bf16}[static_cast<std::size_t>(number / 2 % 3)];
    if (!p.residual) return;
    p.ldr = leading_dimension(columns_of_c(p), pad, std::max(1, p.alignment / size_of(p.type_c)));
    if (p.batch > 1) p.stride_r = number % 4 == 0 ? 0 : p.m * p.ldr;
}

}  // namespace

std::vector<std::vector<int>> pairwise_cover(const std::vector<int>& levels, std::uint64_t seed) {
    Draw draw(seed);
    using Pair = std::tuple<std::size_t, int, std::size_t, int>;
    std::set<Pair> open;
    for (std::size_t f = 0; f < levels.size(); ++f)
        for (std::size_t g = f + 1; g < levels.size(); ++g)
            for (int a = 0; a < levels[f]; ++a)
                for (int b = 0; b < levels[g]; ++b) open.emplace(f, a, g, b);
    const auto pairs_of = [&](const std::vector<int>& row) {
        std::vector<Pair> pairs;
        for (std::size_t f = 0; f < row.size(); ++f)
            for (std::size_t g = f + 1; g < row.size(); ++g) pairs.emplace_back(f, row[f], g, row[g]);
        return pairs;
    };
    std::vector<std::vector<int>> rows;
    while (!open.empty()) {
        std::vector<int> best;
        std::ptrdiff_t best_gain = -1;
        for (int attempt = 0; attempt < 40; ++attempt) {
            std::vector<int> row;
            for (const int count : levels) row.push_back(draw.below(count));
            // Each row settles one open pair at least.
            const auto& [f, a, g, b] = *std::next(open.begin(), draw.below(static_cast<int>(open.size())));
            row[f] = a;
            row[g] = b;
            const auto pairs = pairs_of(row);
            const auto gain = std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return open.count(pair) > 0; });
            if (gain > best_gain) {
                best_gain = gain;
                best = row;
            }
        }
        for (const Pair& pair : pairs_of(best)) open.erase(pair);
        rows.push_back(best);
    }
    return rows;
}

std::vector<Sample> sample_configs(const SamplerOptions& options, const DeviceInfo& device) {
    Draw draw(options.seed);
    const auto rows = pairwise_cover(kLevels, options.seed);
    const std::vector<Family> families = families_of(device);
    std::size_t next_row = 0;
    std::vector<Sample> samples;
    for (int i = 0; i < options.count; ++i) {
        const Family family = families[static_cast<std::size_t>(i) % families.size()];
        const int round = i / static_cast<int>(families.size());
        // skinny takes operands whose rows run along K (nt) and start at multiples of 16 bytes, and nothing else.
        const bool skinny = family.family == family::skinny;
        const int ops = skinny ? 1 : round % 4;
        // Neighbours in the list and in time have different types.
        const ElementType narrow = (i + round) % 2 == 0 ? ElementType::f16 : ElementType::bf16;
        const bool doubles = family.types == Types::doubles;
        const bool bytes = family.types == Types::bytes;
        const ElementType type = doubles                                                        ? ElementType::f64
                                 : bytes                                                        ? ElementType::s8
                                 : family.types == Types::floats || family.types == Types::tf32 ? ElementType::f32
                                                                                                : narrow;
        const ComputeMode compute = family.types == Types::tf32 ? ComputeMode::tf32 : default_compute(type);
        const ElementType type_c = family.types == Types::narrow_to_float ? ElementType::f32 : default_type_c(type);
        std::vector<int> layout = rows[next_row++ % rows.size()];
        if (skinny) {
            layout[alignment] = kLevels[alignment] - 1;
            for (const Factor pad : {pad_a, pad_b}) layout[pad] %= 2;
        }
        for (;;) {
            Sample sample{.config = draw_config(family, draw, options.largest_block), .problems = {}};
            const Walk walk = walk_of(i + round, family_of(sample.config).model.phase_loads(sample.config).by_copy_engine);
            if (walk.result != Result::full || walk.pointers) sample.config.trim = 0;
            if (walk.pointers) sample.config.pack_ab = 0;
            if (device.overlaps_kernels()) sample.config.overlap = draw.below(2);
            sample.alpha = layout[scalars] == 2 ? -2 : 1;
            sample.beta = layout[scalars] == 0 ? 0 : layout[scalars] == 1 ? 1 : 3;
            std::vector<int> shape = layout;
            for (int j = 0; j < options.problems_per_config; ++j) {
                GemmProblem problem = make_problem(sample.config, walk, type, type_c, compute, ops, shape, layout);
                if (!bytes) add_epilogue(problem, i, layout[pad_a]);
                if (!why_invalid(problem, sample.config, device)) sample.problems.push_back(problem);
                shape = {draw.below(6), draw.below(6), draw.below(6)};
            }
            if (sample.problems.empty()) continue;
            samples.push_back(std::move(sample));
            break;
        }
    }
    return samples;
}

}  // namespace tmm::testing
