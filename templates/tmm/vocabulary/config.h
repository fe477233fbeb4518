// A kernel is a template over one type, Kernel, whose static constants say all that is known when it is compiled: its signature, and its
// config or, of a step around a product, its step. The generated text defines that type. As values such template arguments would be
// variables in memory to NVRTC from 13.2 on.
//
// A config says how a multiplication is done: it is one point of the search space. Every field is an int with a neutral value that stands
// where a family does not use it, so that one kernel has one spelling and stored rows keep their meaning when a field is added.
#pragma once

namespace tmm {

// Values are stored in databases, so that new ones are only appended. The numbers in between belonged to kernels around products, which are
// families no more (templates/tmm/steps).
namespace family {
inline constexpr int naive = 0;    // one thread an element, straight from global memory
inline constexpr int tiled = 1;    // square tiles in shared memory, one element a thread
inline constexpr int simt = 2;     // block tile x register tile, multi-stage shared memory
inline constexpr int gemv = 3;     // few rows or few columns, bound by memory
inline constexpr int wgmma = 6;    // tensor cores by warpgroups: wgmma, tiles brought by TMA
inline constexpr int mma = 7;      // tensor cores by warps: mma.sync, ldmatrix, cp.async
inline constexpr int skinny = 13;  // few rows and many columns along K, brought by TMA, multiplied by FMAs
inline constexpr int count = 14;
}  // namespace family

namespace boundary {
inline constexpr int exact = 0;     // no check: sizes are multiples of the tile
inline constexpr int guarded = 1;   // out-of-range loads give 0, stores are checked; M, N and K each by its own condition
inline constexpr int peeled = 2;    // inner tiles unchecked, edge tiles guarded; where TMA brings tiles, edge tiles have boxes of their own
inline constexpr int hardware = 3;  // TMA fills what is outside with zeros; stores are checked
inline constexpr int count = 4;
}  // namespace boundary

// The order of the products of a thread's rows and columns for one k. The sums are the same; ptxas makes faster kernels out of one order
// than out of another.
namespace fma_order {
constexpr int two_rows = 0, one_row = 1, four_rows = 2, one_column = 3, two_columns = 4, four_columns = 5, count = 6;
}  // namespace fma_order

// The bit of pack_ab with which its operands are packed by blocks of the product, too.
inline constexpr int kPacksBeside = 4;
// The value of trim with which strips are multiplied while their long operand is packed.
inline constexpr int kTrimsByPack = 2;

struct KernelConfig {
    int family = family::naive;
    int block_m = 1;
    int block_n = 1;
    int block_k = 1;
    int thread_m = 1;
    int thread_n = 1;
    int stages = 1;
    int async_copy = 0;
    int vector_width = 1;
    int boundary = boundary::guarded;
    int split_k = 1;
    int raster = 0;
    int min_blocks = 1;
    int swap_ab = 0;
    int pack_ab = 0;
    int cluster = 1;
    int along_k = 0;
    int trim = 0;
    int warps_m = 1;
    int warps_n = 1;
    int multicast_a = 1;
    int multicast_b = 1;
    int planes = 1;
    int promote_k = 0;
    int ping_pong = 0;
    int overlap = 0;
    int fma_order = 0;
    int stream_k = 0;
    int slice_k = 1;

    friend constexpr bool operator==(const KernelConfig&, const KernelConfig&) = default;
};

// How a field is written in a config's short text, "wgmma 128x256x64 w2 s4 c2x1": a word and a number.
struct Token {
    // Null where the value's own name is the token.
    const char* word;
    // Fields of one place are one token, their numbers joined by 'x'; a text's tokens stand in the order of their places.
    int place;
    // The field's number among those of its token.
    int part = 0;
    // Whether a 1 at the end is left out: swap, w2 for w2x1.
    bool drops_one = false;
};
namespace token {
constexpr Token name(int place) {
    return {nullptr, place};
}
constexpr Token number(const char* word, int place, int part = 0) {
    return {word, place, part};
}
constexpr Token flag(const char* word, int place, int part = 0) {
    return {word, place, part, true};
}
}  // namespace token

// One row of the table that command line, JSON, database and generated text are made from.
struct Parameter {
    const char* name;
    int KernelConfig::*member;
    int neutral;
    // Names of the values 0, 1, … where the value is an enumerator; null where it is a number.
    const char* const* value_names;
    int value_count;
    // Launch parameters do not change the kernel's text beyond what kernel_config() keeps of them.
    bool launch_only;
    Token token;
    const char* help;
};

// A number that no family has has an empty name.
inline constexpr const char* kFamilyNames[] = {"naive", "tiled", "simt", "gemv", "", "", "wgmma", "mma", "", "", "", "", "", "skinny"};
inline constexpr const char* kBoundaryNames[] = {"exact", "guarded", "peeled", "hardware"};

inline constexpr Parameter kParameters[] = {
    {"family", &KernelConfig::family, 0, kFamilyNames, family::count, false, token::name(0), "kernel template"},
    {"block_m", &KernelConfig::block_m, 1, nullptr, 0, false, token::number("", 1), "rows of C that a block computes"},
    {"block_n", &KernelConfig::block_n, 1, nullptr, 0, false, token::number("", 1, 1), "columns of C that a block computes"},
    {"block_k", &KernelConfig::block_k, 1, nullptr, 0, false, token::number("", 1, 2), "depth of a tile along K"},
    {"thread_m", &KernelConfig::thread_m, 1, nullptr, 0, false, token::number("t", 2), "rows of C that a thread computes"},
    {"thread_n", &KernelConfig::thread_n, 1, nullptr, 0, false, token::number("t", 2, 1), "columns of C that a thread computes"},
    {"stages", &KernelConfig::stages, 1, nullptr, 0, false, token::number("s", 4), "tiles of A and B held in shared memory at once"},
    {"async_copy", &KernelConfig::async_copy, 0, nullptr, 0, false, token::flag("async", 5),
     "how tiles reach shared memory; 0: through registers, 1: by cp.async, 2: by cp.async, but through registers where the copy transposes "
     "them, 3: by the copy engine (TMA)"},
    {"vector_width", &KernelConfig::vector_width, 1, nullptr, 0, false, token::number("v", 6),
     "most elements that a thread reads or writes in one access to global memory"},
    {"boundary", &KernelConfig::boundary, boundary::guarded, kBoundaryNames, boundary::count, false, token::name(7),
     "what becomes of tiles that reach beyond the matrix"},
    {"split_k", &KernelConfig::split_k, 1, nullptr, 0, true, token::number("split", 10),
     "parts that K is divided into; their sums are added up in a fixed order, within a cluster or by a second kernel"},
    {"raster", &KernelConfig::raster, 0, nullptr, 0, true, token::number("raster", 22),
     "block tiles are taken in bands of so many rows of tiles, column by column, so that blocks that run together share operands in the L2 "
     "cache; 0: row by row"},
    {"min_blocks", &KernelConfig::min_blocks, 1, nullptr, 0, false, token::number("o", 18),
     "blocks that an SM should hold at once; it bounds a thread's registers"},
    {"swap_ab", &KernelConfig::swap_ab, 0, nullptr, 0, false, token::flag("swap", 19),
     "1: the kernel computes the transpose of C, with A and B in each other's place"},
    {"pack_ab", &KernelConfig::pack_ab, 0, nullptr, 0, true, token::number("pack", 20),
     "operands that are copied into aligned rows before the product; 1: A, 2: B, 3: both; 4 more (simt): only the first of their rows, the "
     "others by blocks of the product while it multiplies"},
    {"cluster", &KernelConfig::cluster, 1, nullptr, 0, false, token::number("cluster", 9),
     "blocks of a cluster, each of which multiplies a part of K; they add up their sums through each other's shared memory"},
    {"along_k", &KernelConfig::along_k, 0, nullptr, 0, false, token::flag("along", 17),
     "1: tiles of operands whose rows run along K are kept like that in shared memory; 0: the copy transposes them"},
    {"trim", &KernelConfig::trim, 0, nullptr, 0, true, token::flag("trim", 21),
     "1: the few rows or columns beyond whole block tiles are multiplied by kernels of their own, beside the product's (gemv: in the same "
     "kernel); 2 (simt): by the kernel that packs, whose sums the product's blocks add up"},
    {"warps_m", &KernelConfig::warps_m, 1, nullptr, 0, false, token::flag("w", 3),
     "warps (mma) or warpgroups (wgmma) that share the block's rows"},
    {"warps_n", &KernelConfig::warps_n, 1, nullptr, 0, false, token::flag("w", 3, 1),
     "warps (mma) or warpgroups (wgmma) that share the block's columns"},
    {"multicast_a", &KernelConfig::multicast_a, 1, nullptr, 0, false, token::number("c", 8, 1),
     "blocks side by side along N for which a tile of A is loaded once (with swap_ab: along M, a tile of B)"},
    {"multicast_b", &KernelConfig::multicast_b, 1, nullptr, 0, false, token::number("c", 8),
     "blocks side by side along M for which a tile of B is loaded once (with swap_ab: along N, a tile of A)"},
    {"planes", &KernelConfig::planes, 1, nullptr, 0, false, token::number("planes", 13),
     "16-bit planes that floats are split into for tensor cores: 2 of f16 or 3 of bf16; 1: operands as they are"},
    {"promote_k", &KernelConfig::promote_k, 0, nullptr, 0, false, token::number("promote", 14),
     "depth along K after which the tensor cores' sums of planes are added to sums in FP32 registers"},
    {"ping_pong", &KernelConfig::ping_pong, 0, nullptr, 0, false, token::flag("pingpong", 15),
     "1: two warpgroups take turns, so that one multiplies a tile of C while the other stores its own"},
    {"overlap", &KernelConfig::overlap, 0, nullptr, 0, true, token::flag("overlap", 23),
     "1: the kernel begins while the one before it in the stream still runs, and waits for its end itself (programmatic dependent launch)"},
    {"fma_order", &KernelConfig::fma_order, fma_order::two_rows, nullptr, 0, false, token::number("order", 16),
     "the order in which a thread of simt multiplies its rows and columns: 0: two rows at a time, 1: one row, 2: four rows, 3: one column, "
     "4: two columns, 5: four columns"},
    {"stream_k", &KernelConfig::stream_k, 0, nullptr, 0, false, token::flag("stream", 11),
     "1: tiles that do not fill a whole wave of blocks are divided along K between all blocks; a second kernel adds up their sums"},
    {"slice_k", &KernelConfig::slice_k, 1, nullptr, 0, false, token::number("slice", 12),
     "groups of threads in a block, each of which multiplies its slice of a tile's depth for all of the block's C; they add up their sums "
     "in shared memory"},
};
inline constexpr int kParameterCount = sizeof(kParameters) / sizeof(kParameters[0]);
static_assert(kParameterCount * sizeof(int) == sizeof(KernelConfig), "every field of KernelConfig needs its row in kParameters");

// Values that a family's kernels have unless something else is said: in its text they stand for themselves, as neutral values do.
struct ImpliedValue {
    int family;
    int KernelConfig::*member;
    int value;
};
inline constexpr ImpliedValue kImpliedValues[] = {
    {family::wgmma, &KernelConfig::vector_width, 8},
    {family::wgmma, &KernelConfig::boundary, boundary::hardware},
    {family::skinny, &KernelConfig::vector_width, 4},
    {family::skinny, &KernelConfig::boundary, boundary::hardware},
};

// The value of a field that a config's text does not name.
constexpr int unwritten_value(const Parameter& parameter, int family) {
    for (const ImpliedValue& implied : kImpliedValues)
        if (implied.family == family && implied.member == parameter.member) return implied.value;
    return parameter.neutral;
}

// Has an enumerator's value a name?
constexpr bool has_name(const Parameter& parameter, int value) {
    return parameter.value_names && value >= 0 && value < parameter.value_count && parameter.value_names[value][0] != '\0';
}

// The range of a field's values in any family: nothing is computed of values outside of it. Within it a product of three fields fits an
// int.
constexpr int least_value(const Parameter& parameter) {
    return parameter.value_names ? 0 : parameter.neutral;
}
constexpr int most_value(const Parameter& parameter) {
    if (parameter.value_names) return parameter.value_count - 1;
    const auto member = parameter.member;
    const bool of_tile = member == &KernelConfig::block_m || member == &KernelConfig::block_n || member == &KernelConfig::block_k;
    if (of_tile) return 4096;
    return member == &KernelConfig::split_k ? 1024 : 64;
}

// Partial sums of each element that are left for a second kernel; 1 where none are.
constexpr int partial_results(const KernelConfig& c) {
    return c.split_k / c.cluster;
}

// Does `pack` multiply the strips that tiles leave, and do blocks of the product add up their parts (strips.cuh)?
constexpr bool leaves_strips_to_pack(const KernelConfig& c) {
    return c.family == family::simt && c.trim == kTrimsByPack;
}

// The part of a config that the kernel's text depends on.
constexpr KernelConfig kernel_config(KernelConfig c) {
    c.raster = 0;
    if (c.family != family::gemv && !leaves_strips_to_pack(c)) c.trim = 0;
    c.overlap = 0;
    // The text depends on whether a sum goes to C or is partial, not on how many parts there are.
    c.split_k = c.split_k > c.cluster ? 2 * c.cluster : c.cluster;
    // simt checks no edges of packed operands, and packs while it multiplies.
    const bool checks_edges = c.family == family::simt && c.boundary != boundary::exact;
    if (!checks_edges && (c.pack_ab & kPacksBeside) == 0) c.pack_ab = 0;
    return c;
}

}  // namespace tmm
