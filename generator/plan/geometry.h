// How a plan divides its problem: which part of C each kernel computes, who adds up what, and where the workspace holds what steps leave to
// each other. It is worked out once, when the plan is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "generator/families/simt/packing_beside.h"
#include "generator/machine/device_info.h"
#include "generator/plan/operand_copies.h"
#include "generator/plan/packed_strips.h"
#include "tmm/schedule/stream.h"
#include "tmm/vocabulary/config.h"
#include "tmm/vocabulary/problem.h"

namespace tmm {

// The part of C that a step computes; it reads these rows of op(A) and these columns of op(B).
struct Extent {
    std::int64_t row0 = 0;
    std::int64_t column0 = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    friend bool operator==(const Extent&, const Extent&) = default;
};

// A block's tile of C. With swap_ab a config holds columns where the others hold rows.
struct TileOfC {
    int rows;
    int columns;
};
TileOfC tile_of_c(const KernelConfig& config);

// Which tiles the blocks of a config with stream_k share on the device; no tiles and no blocks where they make whole waves.
PhaseLine phase_line_on(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);
std::int64_t stream_workspace_bytes(const PhaseLine& line, const GemmProblem& problem, const KernelConfig& config);

// Why neither a few rows nor a few columns stand beyond whole tiles of the config's; nothing where trim may leave them to a strip.
std::optional<std::string> why_not_trimmed(const GemmProblem& problem, const KernelConfig& config);

// What the plan's main kernel computes: all of C, or, where the config trims, only whole block tiles, along M or N or both, wherever that
// leaves a strip.
Extent main_extent(const GemmProblem& problem, const KernelConfig& config);

// How C is divided among kernels, whatever the device.
struct Tiling {
    // What the plan's main kernel computes.
    Extent main;
    // What is left of C for kernels of their own, beside the main kernel's part and the packed strips: the bottom rows, and above them the
    // right columns. Both are empty without trim.
    Extent below;
    Extent right;
    // What is multiplied while operands are packed, and added up by blocks of the main kernel.
    PackedStrips packed;
};
Tiling tiling_of(const GemmProblem& problem, const KernelConfig& config);

// Where the parts of the workspace begin, in bytes from its start: the operands' copies come first, and partial results last.
struct WorkspaceParts {
    std::int64_t copy_of_b = 0;
    // The counters of the blocks that pack.
    std::int64_t counters = 0;
    StripSums strip_sums;
    std::int64_t partials = 0;
    std::int64_t bytes = 0;
};

// The sums that a step finishes (finishing_step.h): parts of K, as split-K leaves them, or whole ones.
struct FinishedSums {
    int parts = 0;
    // The product stores whole sums here, as it would store C; there are no bytes where the step adds up the parts of K itself, and where
    // C has room for the sums.
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    bool stand_in_c() const { return parts == 1 && bytes == 0; }
};

struct Geometry : Tiling {
    // All of C.
    Extent whole;
    // Partial results of each element of C; 1 where the main kernel stores C itself.
    int partial_results = 1;
    // The depth of the parts of K that are multiplied apart, but for the last.
    std::int64_t k_per_split = 0;
    // The operands as the main kernel finds them.
    OperandCopies copies;
    PackingBeside packing;
    // There are no blocks where none share tiles.
    PhaseLine line{};
    // The first blocks of the main kernel's grid add up strips.
    int blocks_for_strips = 0;
    // Blocks of the main kernel, with those that do other work for it.
    std::int64_t grid = 0;
    WorkspaceParts workspace;
    // There are no parts where no step does.
    FinishedSums finished;
};
// C must not be empty.
Geometry geometry_of(const GemmProblem& problem, const KernelConfig& config, const DeviceInfo& device);

// The depth of each of split_k parts of K, a multiple of block_k.
std::int64_t depth_of_split(std::int64_t k, int split_k, int block_k);

}  // namespace tmm
