// Which work the kernels of a plan do: what a config means for a problem on a device. It is worked out once (generator/plan/resolve.h), and
// the rules, the models of time, the workspace and the kernels' arguments read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tmm/schedule/stream.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"
#include "tmm/vocabulary/signature.h"

namespace tmm {

// Where a plan applies its problem's epilogue.
enum class EpiloguePlace {
    // In the kernel that makes the sums.
    kernel,
    // In a step behind a plain product, which leaves its sums in the workspace.
    step,
};

// In which order, and by which operation, the products of one element of C are added up. Where that is the same, so are the sum's bits.
enum class SumOrder {
    // Parts of K, which are added up apart.
    parts,
    // One FMA after the other in ascending order of k, as the tensor cores of FP64 do, too.
    fmas,
    // One instruction of mma.sync, or of wgmma, after the other in ascending order of k.
    mma,
    wgmma,
    // Sums of whole numbers are exact, whatever their order.
    exact,
};

// The part of C that a step computes; it reads these rows of op(A) and these columns of op(B).
struct Extent {
    std::int64_t row0 = 0;
    std::int64_t column0 = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    bool is_empty() const { return rows == 0 || columns == 0; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

// The size of a block's tile of C. With swap_ab a config holds columns where the others hold rows.
struct TileSize {
    int rows;
    int columns;
};
TileSize tile_of_c(const KernelConfig& config);

// What the main kernel of the config's plan computes: all of C, or, where the config trims, only whole block tiles, along M or N or both,
// wherever that leaves a strip.
Extent main_extent(const GemmProblem& problem, const KernelConfig& config);

// Why neither a few rows nor a few columns stand beyond whole tiles of the config's; nothing where trim may leave them to a strip.
std::optional<std::string> why_not_trimmed(const GemmProblem& problem, const KernelConfig& config);

// The depth of each of split_k parts of K, a multiple of block_k.
std::int64_t depth_of_split(std::int64_t k, int split_k, int block_k);

// An operand as the steps before a product leave it. Where no step copies it, the product finds it as the caller has it.
struct OperandCopy {
    bool is_made = false;
    std::int64_t bytes = 0;
    // Elements of the copy from one row, and from one matrix of the batch, to the next.
    std::int64_t ld = 0;
    std::int64_t stride = 0;
};

// In the workspace A's copy stands first, then B's, then the counters of blocks that pack.
struct OperandCopies {
    OperandCopy a;
    OperandCopy b;
    // Bytes between the copies and what stands behind them, which tiles may reach into.
    std::int64_t past_the_last = 0;
    // The copy engine brings them, and fills what lies beyond their edges with zeros; for threads the copies have these zeros.
    bool by_copy_engine = false;
    std::int64_t counter_bytes = 0;
};

// Strips of C that are multiplied while operands are packed (schedule/packing.h).
struct PackedStrips {
    // Columns of C, whose long operand is A, and rows, whose long operand is B; 0: `pack` multiplies none.
    int columns = 0;
    int rows = 0;

    bool any() const { return columns > 0 || rows > 0; }
};

// Who packs operands while they are multiplied (schedule/packing.h), and how much of them is packed before.
struct PackingBeside {
    // The first blocks of the product's grid pack; 0: all is packed before.
    int packers = 0;
    // The first of the operands' rows of squares, 64 k each, that packers pack.
    int first_row = 0;
};

// The kernel of a part of C that the main kernel leaves.
struct EdgeProduct {
    KernelSignature signature;
    KernelConfig config;
    Extent extent;
};

// Where the parts of the workspace begin, in bytes from its start: the operands' copies come first, and partial results last.
struct WorkspaceParts {
    std::int64_t copy_of_b = 0;
    // The counters of the blocks that pack.
    std::int64_t counters = 0;
    // Sums of the packed strips of columns and of rows.
    std::int64_t sums_of_columns = 0;
    std::int64_t sums_of_rows = 0;
    std::int64_t partials = 0;
};

// The sums that a step finishes: parts of K, as split-K leaves them, or whole ones. There are no parts where no step does.
struct FinishedSums {
    int parts = 0;
    // The product stores whole sums here, as it would store C; there are no bytes where the step adds up the parts of K itself, and where
    // C has room for the sums.
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    bool stand_in_c() const { return parts == 1 && bytes == 0; }
};

struct Schedule {
    GemmProblem problem;
    // What the kernels multiply: the problem, but for an epilogue that a step applies.
    GemmProblem product;
    KernelConfig config;
    // What the main kernel sees: where a step before it brings the operands, they lie otherwise than the problem says.
    KernelSignature signature;

    // How C is divided: all of it, what the main kernel computes, and what that leaves, but for the packed strips.
    Extent whole;
    Extent main;
    std::vector<EdgeProduct> edges;
    PackedStrips packed;

    // How K is divided: partial results of each element of C (1 where the main kernel stores C itself), and the depth of the parts that are
    // multiplied apart, but for the last.
    int partial_results = 1;
    std::int64_t k_per_split = 0;
    // Stream-K: the tiles that blocks share. There are no blocks where none do.
    PhaseLine line{};

    // How the operands come to the main kernel.
    OperandCopies copies;
    PackingBeside packing;

    // Blocks that multiply, were all of them launched at once; the first blocks of the main kernel's grid that add up strips; and the grid.
    std::int64_t blocks = 0;
    int blocks_for_strips = 0;
    std::int64_t grid = 0;

    WorkspaceParts workspace;
    FinishedSums finished;
    // Workspace pointers must be multiples of 256 bytes.
    std::int64_t workspace_bytes = 0;
};

// Does the main kernel leave partial results?
bool leaves_partials(const Schedule& schedule);

// How much of K the longest of the parts has that are multiplied apart.
std::int64_t depth_of_parts(const Schedule& schedule);

// Where the parts of the workspace begin that the schedule, complete but for them, needs; they are all its bytes before a step's sums.
void divide_workspace(Schedule& schedule);

}  // namespace tmm
