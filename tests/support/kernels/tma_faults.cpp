#include "tests/support/kernels/tma_faults.h"

#include <stdexcept>
#include <string>

#include "generator/text/shapes_file.h"
#include "generator/text/text.h"

namespace tmm::testing {
namespace {

constexpr const char* kPlain = "block_m=128,block_n=64,block_k=64,stages=2,warps_m=2";
constexpr const char* kOneGroup = "block_m=64,block_n=64,block_k=64,stages=2";
constexpr const char* kShared = "block_m=64,block_n=64,block_k=64,stages=2,multicast_a=2";
constexpr const char* kSharedBoth = "block_m=64,block_n=64,block_k=64,stages=2,multicast_a=2,multicast_b=2";
constexpr const char* kTurns = "block_m=64,block_n=64,block_k=64,stages=2,ping_pong=1";
constexpr const char* kParts = "block_m=128,block_n=64,block_k=64,stages=2,warps_m=2,split_k=2,cluster=2";
constexpr const char* kPlanes = "block_m=64,block_n=64,block_k=64,stages=2,planes=2,promote_k=32";
constexpr const char* kOneTileOfPlanes = "block_m=64,block_n=64,block_k=64,stages=3,planes=2,promote_k=32";

constexpr const char* kPaddedRows = "70x130x333 dtype=bf16 align=16 lda=336 ldb=136";
// More tiles of C than the device has SMs, so that each consumer has several.
constexpr const char* kManyShortTiles = "1400x2100x40 dtype=bf16 ldb=2104 ldc=2101";
constexpr const char* kManyTiles = "1400x1400x168 dtype=bf16";
// Results that leave in boxes, four of each warp; C ends within a chunk of 16 bytes.
constexpr const char* kBoxes = "block_m=64,block_n=256,block_k=64,stages=2";
constexpr const char* kAlignedResults = "70x1501x90 dtype=bf16 align=16 lda=96 ldb=1504 ldc=1504";
constexpr const char* kAlignedColumns = "70x1501x90 dtype=bf16 align=16 ops=tn lda=72 ldb=1504 ldc=1504";
// C is read as well: in two boxes of each warp, for more tiles than the device has SMs; in eight, of which four come first.
constexpr const char* kTwoBoxes = "block_m=64,block_n=128,block_k=64,stages=2";
constexpr const char* kManyTilesOverC = "1400x1400x40 dtype=bf16 beta=1";
constexpr const char* kManyTilesOfBoxes = "1400x1400x40 dtype=bf16";
constexpr const char* kFloatResultsOverC = "70x1501x90 dtype=bf16 ctype=f32 align=16 lda=96 ldb=1504 ldc=1504 beta=1";
// Six boxes of a tile, of which a warp has room for four.
constexpr const char* kHalvesOfBoxes = "block_m=128,block_n=192,block_k=64,stages=4,ping_pong=1";
// There are 64 columns in one box and 24 in the next.
constexpr const char* kUnevenBoxes = "block_m=64,block_n=88,block_k=64,stages=2";
constexpr const char* kUnevenColumns = "70x264x90 dtype=bf16 ops=nt align=16 lda=96 ldb=96";
constexpr const char* kUnevenColumnsOverC = "70x264x90 dtype=bf16 ops=nt align=16 lda=96 ldb=96 beta=1";
// Rows of both operands run along K, and are few in the last tiles, 20 of 64 and 30 of 80; in pairs that share the latter a fourth tile
// lies outside of C.
constexpr const char* kPeeled = "family=wgmma,vector_width=8,boundary=peeled,block_m=64,block_n=80,block_k=64,stages=2";
constexpr const char* kPeeledPairs = "family=wgmma,vector_width=8,boundary=peeled,block_m=64,block_n=80,block_k=64,stages=2,multicast_b=2";
constexpr const char* kFewInLastTiles = "148x110x333 dtype=bf16 ops=nt align=16 lda=336 ldb=336";
// Rows of B run along N; of the last tile's three slabs one lies beyond them.
constexpr const char* kPeeledSlabs = "family=wgmma,vector_width=8,boundary=peeled,block_m=64,block_n=192,block_k=64,stages=2,pack_ab=3";
constexpr const char* kFewColumnsInLastTile = "70x257x133 dtype=bf16";
// Columns along N that are no whole slabs: 64 and 32 of each tile, of which the last has 62, 88 and 74.
constexpr const char* kPartOfSlab = "block_m=64,block_n=96,block_k=64,stages=2";
constexpr const char* kPeeledPartOfSlab = "family=wgmma,vector_width=8,boundary=peeled,block_m=64,block_n=96,block_k=64,stages=2";
constexpr const char* kColumnsOfParts = "70x254x133 dtype=bf16 align=16 lda=136 ldb=256 ldc=256";
constexpr const char* kColumnsBeyondSlab = "70x184x133 dtype=bf16 align=16 lda=136 ldb=184 ldc=184";
constexpr const char* kFewColumnsOfPart = "70x266x133 dtype=bf16 align=16 lda=136 ldb=272 ldc=267";
// B is the left operand, whose rows run along N.
constexpr const char* kFragments = "block_m=64,block_n=64,block_k=32,stages=2,swap_ab=1";
constexpr const char* kFloatsAlongN = "1400x1400x41 compute=tf32 align=16 lda=44";
constexpr const char* kFloats = "70x130x333";
constexpr const char* kFloatsOfOneTile = "70x130x61";
// Bytes, of which a row of shared memory has 128.
constexpr const char* kBytes = "family=wgmma,vector_width=16,boundary=peeled,block_m=64,block_n=80,block_k=128,stages=2";
constexpr const char* kBytesAlongK = "148x110x333 dtype=s8 ops=nt align=16 lda=336 ldb=336";
// Skinny configs: more tiles than stages, several warps of a slice, rows and columns beyond the matrices; and parts of K, of a batch.
constexpr const char* kSkinny =
    "family=skinny,vector_width=4,boundary=hardware,block_m=4,block_n=32,block_k=64,thread_m=4,thread_n=4,stages=3,slice_k=2";
constexpr const char* kSkinnyParts =
    "family=skinny,vector_width=4,boundary=hardware,block_m=8,block_n=16,block_k=64,thread_m=4,thread_n=4,stages=3,slice_k=2,split_k=2";
constexpr const char* kFewRows = "3x70x612 ops=nt align=16";
// Stages so large that one is brought anew when two tiles have been read since.
constexpr const char* kSkinnyFarBehind =
    "family=skinny,vector_width=4,boundary=hardware,block_m=4,block_n=32,block_k=256,thread_m=4,thread_n=4,stages=5,slice_k=4";
constexpr const char* kFewRowsOfLargeTiles = "3x40x3076 ops=nt align=16";
constexpr const char* kFewRowsOfBatch = "7x30x612 ops=nt batch=2 align=16";
// Configs of simt: more tiles than stages, several warps, rows and columns beyond the matrices; and parts of K, of a batch.
constexpr const char* kSimt =
    "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=8,thread_m=4,thread_n=8,stages=3,async_copy=3";
constexpr const char* kSimtFarBehind =
    "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=8,thread_m=4,thread_n=8,stages=5,async_copy=3";
constexpr const char* kSimtParts =
    "family=simt,vector_width=4,boundary=peeled,block_m=32,block_n=64,block_k=8,thread_m=4,thread_n=8,stages=3,async_copy=3,split_k=2";
// Thread tiles so large that the loop's body goes round four times a tile.
constexpr const char* kSimtShortLoops =
    "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=128,block_k=32,thread_m=8,thread_n=16,stages=2,async_copy=3";
constexpr const char* kSimtSlices =
    "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=64,thread_m=8,thread_n=8,stages=2,async_copy=3,slice_k=4";
// The product takes several waves, during which strips are multiplied.
constexpr const char* kSimtBusy =
    "family=simt,vector_width=4,boundary=peeled,block_m=256,block_n=64,block_k=16,thread_m=8,thread_n=8,stages=2,async_copy=3,split_k=2,"
    "min_blocks=2,pack_ab=3,cluster=2,trim=1,overlap=1,fma_order=3";
constexpr const char* kManyWaves = "2047x2049x2051";
// The loop over a tile as it is, and as it was when the arrival did not depend on what had been read.
constexpr const char* kToldOnceMultiplied =
    "                if (k == (brings_by_tma(Kernel::config) ? 1 % loop : 0) && k0 == 0) pipeline.start_copy();\n"
    "                const int next = (k + 1) % loop;\n"
    "                if (next == 0) go_on(k0 + loop >= depth);\n"
    "                a.read(next);\n"
    "                b.read(next);\n"
    "                multiply<Kernel>(a[k], b[k], sums);\n"
    "                if constexpr (brings_by_tma(Kernel::config)) {\n"
    "                    if (next == 0 && k0 + loop >= depth) pipeline.release_previous(zero_after<Kernel>(args.one, sums));\n"
    "                }\n";
constexpr const char* kToldOnceAskedFor =
    "                if (k == 0 && k0 == 0) pipeline.start_copy();\n"
    "                const int next = (k + 1) % loop;\n"
    "                if (next == 0) go_on(k0 + loop >= depth);\n"
    "                if (brings_by_tma(Kernel::config) && next == 0 && k0 + loop >= depth) pipeline.release_previous(0);\n"
    "                a.read(next);\n"
    "                b.read(next);\n"
    "                multiply<Kernel>(a[k], b[k], sums);\n";
// Blocks of the product pack: squares by elements and, of rows that are aligned, by vectors; enough of them that tiles have to wait.
constexpr const char* kPackers =
    "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,stages=3,async_copy=3,pack_ab=7";
constexpr const char* kUnaligned = "65x67x449";
constexpr const char* kAlignedRows = "130x200x1348 ops=nt align=16";
constexpr const char* kManySquares = "2000x2000x2000 ops=nt align=16";
// Strips by pack: of a batch, of both sides, with a corner; and more pieces of them than blocks that add up.
constexpr const char* kStrips =
    "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,stages=2,async_copy=3,pack_ab=3,"
    "trim="
    "2,overlap=1";
constexpr const char* kStripsOfBatch = "66x67x129 batch=2";
// 130 tiles leave two of 132 SMs a block less: two blocks of four warps for six pieces.
constexpr const char* kStripsOfSmallTiles =
    "family=simt,vector_width=4,boundary=peeled,block_m=32,block_n=16,block_k=32,thread_m=2,thread_n=2,stages=2,async_copy=3,pack_ab=3,"
    "trim="
    "2,overlap=1";
constexpr const char* kManyPieces = "321x209x385";
constexpr const char* kManyPiecesOfCorner = "836x644x65";
constexpr const char* kColumnsOfA = "70x132x93 ops=tn align=16 lda=72";
constexpr const char* kFewBeyondTiles = "70x132x69 ops=tn align=16 lda=72";
constexpr const char* kColumnsOfBatch = "36x68x93 ops=tn batch=2 align=16";

}  // namespace

const std::vector<TmaFault>& tma_faults() {
    static const std::vector<TmaFault> faults = {
        {"tiles are read before they have landed", "tmm/families/wgmma/kernel.cuh", "pipeline.wait_full();", "", kPlain, kPaddedRows},
        {"a tile's first product is added to what the sums held", "tmm/families/wgmma/kernel.cuh",
         "adds_to_sums(Kernel::config, Kernel::signature, tile, k)", "true", kTwoBoxes, kManyTilesOfBoxes},
        {"a tile's first product of fragments is added to what the sums held", "tmm/families/wgmma/fragments.cuh",
         "adds_to_sums(Kernel::config, Kernel::signature, tile, k)", "true", kFragments, kFloatsAlongN},
        {"instructions step along K as if bytes had 16 bits", "tmm/families/wgmma/pipeline.cuh", "x % elements * tile.element_bytes",
         "x % elements * 2", kBytes, kBytesAlongK},
        {"an instruction takes half of the k that it could", "tmm/families/wgmma/rules.h", "return 32 / size_of(s.type_a);",
         "return 32 / 2;", kBytes, kBytesAlongK},
        {"planes are read before they have landed", "tmm/families/wgmma/planes.cuh", "pipeline.wait_full();", "", kPlanes, kFloats},
        {"the wrong phase is waited for", "tmm/families/wgmma/pipeline.cuh", "wait_for_phase(full_ + place_.stage, place_.parity)",
         "wait_for_phase(full_ + place_.stage, place_.parity ^ 1)", kPlain, kPaddedRows},
        {"tiles land where others are still read", "tmm/families/wgmma/pipeline.cuh",
         "wait_for_phase(empty_ + place_.stage, place_.parity ^ 1);\n            ptx::mbarrier_arrive_expect_tx",
         "ptx::mbarrier_arrive_expect_tx", kPlain, kPaddedRows},
        {"a stage is free before it has been read", "tmm/families/wgmma/kernel.cuh",
         "ptx::wgmma_wait_group<1>();\n        if (tile > 0) pipeline.release_previous();",
         "if (tile > 0) pipeline.release_previous();\n        ptx::wgmma_wait_group<1>();", kOneGroup, kPaddedRows, false},
        {"fewer bytes are waited for than come", "tmm/families/wgmma/pipeline.cuh", " + of_right.bytes;", ";", kPlain, kPaddedRows},
        {"rows that do not exist are waited for", "tmm/families/wgmma/edge_tiles.cuh", "{existing * (tile_bytes(tile) / tile.outer)",
         "{tile_bytes(tile)", kPeeled, kFewInLastTiles},
        {"a tile's last columns, fewer than a slab has, are not brought", "tmm/families/wgmma/rules.h",
         "t.depth : t.outer) + row_elements(t) - 1)", "t.depth : t.outer))", kPartOfSlab, kColumnsOfParts},
        {"columns that no other tile has are taken from where the matrix ends", "tmm/families/wgmma/rules.h",
         "!tile.along_k && tile.outer % row_elements(tile) == 0", "!tile.along_k", kPartOfSlab, kColumnsBeyondSlab},
        {"a slab of which an edge tile needs few columns is left out", "tmm/families/wgmma/edge_tiles.cuh",
         "(existing + row_elements(tile) - 1)", "(existing)", kPeeledPartOfSlab, kFewColumnsOfPart},
        {"instructions step from slab to slab too far", "tmm/families/wgmma/pipeline.cuh", "tile.along_k ? 1 : slab_bytes(tile) / 16",
         "tile.along_k ? 1 : slab_bytes(tile) / 8", kPartOfSlab, kColumnsOfParts},
        {"slabs that do not exist are waited for", "tmm/families/wgmma/edge_tiles.cuh", "{reached * slab_bytes(tile) * tile.planes",
         "{tile_bytes(tile)", kPeeledSlabs, kFewColumnsInLastTile},
        {"slabs that do not exist are brought", "tmm/families/wgmma/pipeline.cuh", "if (slab % slabs(tile) >= brought.slabs) continue;", "",
         kPeeledSlabs, kFewColumnsInLastTile},
        {"of an edge tile's rows as many come as of any other's", "tmm/families/wgmma/edge_tiles.cuh", "? &edge : &whole",
         "? &whole : &whole", kPeeled, kFewInLastTiles},
        {"a tile that lies outside of C is brought", "tmm/families/wgmma/edge_tiles.cuh", "existing > 0 ? map : nullptr", "map",
         kPeeledPairs, kFewInLastTiles},
        {"a share that does not exist is not waited for", "tmm/families/wgmma/edge_tiles.cuh", "sharers > 1 || in_halves", "in_halves",
         kPeeledPairs, kFewInLastTiles},
        {"sums are read before they are there", "tmm/families/wgmma/kernel.cuh", "ptx::wgmma_wait_group<0>();\n#pragma unroll",
         "\n#pragma unroll", kPlain, kPaddedRows, false},
        {"short sums are read before they are there", "tmm/families/wgmma/planes.cuh", "ptx::wgmma_wait_group<1>();", "", kPlanes, kFloats,
         false},
        {"small products are read before they are there", "tmm/families/wgmma/planes.cuh", "ptx::wgmma_wait_group<0>();", "",
         kOneTileOfPlanes, kFloatsOfOneTile, false},
        {"only one block hears that a shared tile has been read", "tmm/families/wgmma/pipeline.cuh", "tells_ ? thread : 0);", "0);",
         kShared, kPaddedRows},
        {"a block ends while others reach into it", "tmm/families/wgmma/kernel.cuh",
         "if constexpr (multicast(Kernel::config) > 1) pipeline.drain();", "", kShared, kPaddedRows, false},
        {"a tile goes to another row of the cluster", "tmm/families/wgmma/pipeline.cuh", "sharers_of_left(Kernel::config, rank)",
         "sharers_of_left(Kernel::config, rank ^ 1)", kSharedBoth, kPaddedRows},
        {"a tile is free before all that have it have read it", "tmm/families/wgmma/pipeline.cuh",
         "readers(Kernel::config) * sharers(Kernel::config)", "readers(Kernel::config) * (sharers(Kernel::config) - 1)", kSharedBoth,
         kPaddedRows},
        {"both consumers take the same tiles of C", "tmm/families/wgmma/kernel.cuh", "for_each_in_turn<2>(consumer,",
         "for_each_in_turn<2>(0,", kTurns, kPaddedRows},
        {"a consumer takes the tiles before its own", "tmm/families/wgmma/kernel.cuh", "pipeline.skip(tiles);", "", kTurns, kManyTiles},
        {"a consumer does not wait for its turn", "tmm/families/wgmma/kernel.cuh", "pipeline.wait_turn(consumer, own_item++);", ";", kTurns,
         kManyTiles},
        {"a turn is passed on before all warps have had theirs", "tmm/families/wgmma/pipeline.cuh",
         "__syncwarp();\n            if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(turn_",
         "for (int i = threadIdx.x % kWarpgroup == 0 ? 0 : 4; i < 4; ++i) ptx::mbarrier_arrive(turn_", kTurns, kManyShortTiles, false},
        {"a turn is passed on before all tiles have landed", "tmm/families/wgmma/kernel.cuh",
         "    for (int tile = 0; tile < item.tiles; ++tile) {\n        pipeline.wait_full();",
         "    pipeline.pass_turn();\n    for (int tile = 0; tile < item.tiles; ++tile) {\n        pipeline.wait_full();", kTurns,
         kManyTiles},
        {"a box is filled while it is still read", "tmm/families/wgmma/boxes.cuh",
         "if (lane == 0) ptx::cp_async_bulk_wait_group_read<groups_under_way>();", "", kTwoBoxes, kManyTilesOfBoxes, false},
        {"a half of the boxes is filled while the other is still read", "tmm/families/wgmma/boxes.cuh", "kBoxes / kAtOnce - 1",
         "kBoxes / kAtOnce", kHalvesOfBoxes, kAlignedResults, false},
        {"a box leaves before the whole warp has filled it", "tmm/families/wgmma/boxes.cuh",
         "// The boxes are full.\n            __syncwarp();", "", kBoxes, kAlignedResults, false},
        {"the copy engine is not told what was written", "tmm/families/wgmma/boxes.cuh", "ptx::fence_proxy_async();", "", kBoxes,
         kAlignedResults, false},
        {"a thread ends before its boxes have been read", "tmm/families/wgmma/boxes.cuh",
         "void finish() const {\n        ptx::cp_async_bulk_wait_group_read<0>();", "void finish() const {", kBoxes, kAlignedResults,
         false},
        {"a box is filled before what C holds has landed in it", "tmm/families/wgmma/boxes.cuh",
         "wait_for_phase(landed_ + next_.stage, next_.parity);", "", kTwoBoxes, kManyTilesOverC},
        {"what C holds comes where a box of the tile before has yet to leave", "tmm/families/wgmma/boxes.cuh",
         "!= 0) return;\n        ptx::cp_async_bulk_wait_group_read<0>();", "!= 0) return;", kTwoBoxes, kManyTilesOverC, false},
        {"what C holds comes where a box of this tile has yet to leave", "tmm/families/wgmma/boxes.cuh",
         "ptx::cp_async_bulk_wait_group_read<1>();", "", kBoxes, kFloatResultsOverC, false},
        {"what C holds comes to the wrong box", "tmm/families/wgmma/boxes.cuh", "(next_.stage + kBoxes - 2) % kBoxes",
         "(next_.stage + kBoxes - 1) % kBoxes", kBoxes, kFloatResultsOverC},
        {"the end of a row is left out", "tmm/families/wgmma/boxes.cuh", "if (whole() != columns_)", "if (false)", kBoxes, kAlignedResults},
        {"the last box of a row leaves as wide as the others", "tmm/families/wgmma/boxes.cuh",
         "is_rest(box) ? &args_.result_rest : &args_.result", "&args_.result", kUnevenBoxes, kUnevenColumns},
        {"more is waited for than comes in the last box of a row", "tmm/families/wgmma/boxes.cuh",
         "is_rest(box) ? box_bytes(Kernel::signature, kRest) : kBytes", "kBytes", kUnevenBoxes, kUnevenColumnsOverC},
        {"a box goes to where its slab would be, did it not end with the rows of B", "tmm/families/wgmma/boxes.cuh",
         "P::right_slab(args_, right_slab) + in_right_slab", "right_slab + in_right_slab", kBoxes, kAlignedResults},
        {"a box goes to where its slab would be, did it not end with the columns of A", "tmm/families/wgmma/boxes.cuh",
         "P::left_slab(args_, left_slab) + first_row_", "left_slab + first_row_", kBoxes, kAlignedColumns},
        {"blocks tell each other by barriers that are not made yet", "tmm/families/wgmma/kernel.cuh",
         "    if constexpr (multicast(Kernel::config) > 1)\n        ptx::cluster_meet();",
         "    if constexpr (multicast(Kernel::config) > 1)\n        __syncthreads();", kShared, kPaddedRows, false},
        {"a row is staged as if it began at a multiple of 16 bytes", "tmm/output/unaligned_rows.cuh",
         "staged_ + row * distance + ahead(row) + column", "staged_ + row * distance + column", kOneGroup, kPaddedRows},
        {"what stands before a row's chunks is left out", "tmm/output/unaligned_rows.cuh", "if (exists && ahead_[turn] > 0)",
         "if (exists && slot < ahead_[turn])", kOneGroup, kPaddedRows},
        {"what stands behind a row's chunks is left out", "tmm/output/unaligned_rows.cuh", "if (exists && ahead_[turn] > 0)",
         "if (exists && ahead_[turn] > 0 && slot >= ahead_[turn])", kOneGroup, kPaddedRows},
        {"what stands behind C's last 8 columns is left out", "tmm/output/unaligned_rows.cuh", "if (columns == columns_here) return;",
         "return;", kOneGroup, kPaddedRows},
        {"parts overwrite tiles that are still read", "tmm/families/wgmma/kernel.cuh",
         "ptx::bar_sync(1, consumers(Kernel::config) * kWarpgroup);", "", kParts, kPaddedRows, false},
        {"parts are summed before they are there", "tmm/families/wgmma/kernel.cuh",
         "// Every block's part is there.\n                ptx::cluster_sync();", "", kParts, kPaddedRows},
        {"skinny: some do not know of the barriers yet", "tmm/families/skinny/kernel.cuh",
         "__syncthreads();\n    wait_for_previous_kernel();", "wait_for_previous_kernel();", kSkinny, kFewRows, false},
        {"skinny: the first stage is never brought anew", "tmm/families/skinny/kernel.cuh", "next >= Kernel::config.stages",
         "next > Kernel::config.stages", kSkinnyFarBehind, kFewRowsOfLargeTiles},
        {"skinny: tiles are read before they have landed", "tmm/families/skinny/kernel.cuh",
         "wait(full_ + stage, tile / Kernel::config.stages);", "", kSkinny, kFewRows},
        {"skinny: the wrong phase is waited for", "tmm/families/skinny/kernel.cuh", "wait(full_ + stage, tile / Kernel::config.stages);",
         "wait(full_ + stage, tile / Kernel::config.stages + 1);", kSkinny, kFewRows},
        {"skinny: tiles land where others are still read", "tmm/families/skinny/kernel.cuh",
         "if (tile >= Kernel::config.stages) wait(empty_ + stage, tile / Kernel::config.stages - 1);", "", kSkinny, kFewRows, false},
        {"skinny: a stage is free when one lane has read it", "tmm/families/skinny/kernel.cuh",
         "__syncwarp();\n        if (threadIdx.x % 32 == 0) ptx", "if (threadIdx.x % 32 == 0) ptx", kSkinny, kFewRows, false},
        {"skinny: fewer bytes are announced than land", "tmm/families/skinny/kernel.cuh", "full_ + stage, stage_bytes(Kernel::config)",
         "full_ + stage, stage_bytes(Kernel::config) / 2", kSkinny, kFewRows},
        {"skinny: sums take the place of tiles that are still read", "tmm/families/skinny/kernel.cuh",
         "__syncthreads();\n    const int slice", "const int slice", kSkinny, kFewRows, false},
        {"skinny: slices are added up before they are there", "tmm/families/skinny/kernel.cuh", "__syncthreads();\n    store_sums_of_parts",
         "store_sums_of_parts", kSkinny, kFewRows, false},
        {"skinny: every part of K begins at 0", "tmm/families/skinny/kernel.cuh", "static_cast<int>(place.split * args.k_per_split) + tile",
         "tile", kSkinnyParts, kFewRowsOfBatch},
        {"skinny: the batch's first matrix is everyone's", "tmm/families/skinny/kernel.cuh", "!= 0 ? static_cast<int>(place.batch) : 0;",
         "!= 0 ? 0 : 0;", kSkinnyParts, kFewRowsOfBatch},
        {"skinny: lanes give away the half that they keep", "tmm/families/skinny/kernel.cuh", "takes_second ? sums[i] : sums[half + i]",
         "takes_second ? sums[half + i] : sums[i]", kSkinny, kFewRows},
        {"simt: some do not know of the barriers yet", "tmm/families/simt/tma_pipeline.cuh",
         "// Everyone knows of the barriers.\n        __syncthreads();", "", kSimt, kColumnsOfA, false},
        {"simt: the first tile is read before it has landed", "tmm/families/simt/tma_pipeline.cuh",
         "if (tiles_ > 0) wait_for_phase(full_, 0);", "", kSimt, kColumnsOfA},
        {"simt: tiles are read before they have landed", "tmm/families/simt/tma_pipeline.cuh",
         "if (tile_ < tiles_) wait_for_phase(full_ + place_.stage, place_.parity);", "", kSimt, kColumnsOfA},
        {"simt: the wrong phase is waited for", "tmm/families/simt/tma_pipeline.cuh", "wait_for_phase(full_ + place_.stage, place_.parity)",
         "wait_for_phase(full_ + place_.stage, place_.parity ^ 1)", kSimt, kColumnsOfA},
        {"simt: tiles land where others are still read", "tmm/families/simt/tma_pipeline.cuh",
         "wait_for_phase(empty_ + read.stage, read.parity);", "", kSimt, kColumnsOfA, false},
        {"simt: a stage is free when one lane has read it", "tmm/families/simt/tma_pipeline.cuh",
         "__syncwarp();\n        if (ptx::elect_sync()) ptx", "if (threadIdx.x % 32 == 0) ptx", kSimt, kColumnsOfA, false},
        {"simt: a tile is brought to the stage behind its own", "tmm/families/simt/tma_pipeline.cuh", "place_.back(kRefillBehind)",
         "place_.back(kRefillBehind - 1)", kSimtFarBehind, kColumnsOfA},
        {"simt: fewer bytes are announced than land", "tmm/families/simt/tma_pipeline.cuh",
         "(layout_a.outer + layout_b.outer) * Kernel::config", "layout_a.outer * Kernel::config", kSimt, kColumnsOfA},
        {"simt: every part of K begins at 0", "tmm/families/simt/tma_pipeline.cuh", "k_begin_ + tile * Kernel::config.block_k",
         "tile * Kernel::config.block_k", kSimtParts, kColumnsOfBatch},
        {"simt: each time round the loop reads A's first lines", "tmm/families/simt/kernel.cuh", "a.next_lines(loop);", "", kSimtShortLoops,
         kColumnsOfA},
        {"simt: each time round the loop reads B's first lines", "tmm/families/simt/kernel.cuh", "b.next_lines(loop);", "", kSimtShortLoops,
         kColumnsOfA},
        {"simt: a tile is read from the last lines of the loop before on", "tmm/families/simt/kernel.cuh",
         "a.next_stage(round, loop - depth)", "a.next_stage(round, 0)", kSimtShortLoops, kColumnsOfA},
        {"simt: the last k are left out", "tmm/families/simt/kernel.cuh", "k < whole.k_left", "k < 0", kSimtShortLoops, kFewBeyondTiles},
        {"simt: each of the last k is the first of them", "tmm/families/simt/kernel.cuh", "a.next_lines(1);", "", kSimtShortLoops,
         kFewBeyondTiles},
        {"simt: the first slice alone has last k", "tmm/families/simt/kernel.cuh",
         "slice_of_thread<Kernel>() * slice_depth(Kernel::config);", "slice_of_thread<Kernel>() * Kernel::config.block_k;", kSimtSlices,
         kColumnsOfA},
        {"simt: the batch's first matrix is everyone's", "tmm/families/simt/kernel.cuh", "stride != 0 ? static_cast<int>(item.batch) : 0",
         "0 * stride", kSimtParts, kColumnsOfBatch},
        {"simt: a tile is told read while its last values are under way", "tmm/families/simt/kernel.cuh", kToldOnceMultiplied,
         kToldOnceAskedFor, kSimtBusy, kManyWaves, true, false},
        {"packers: squares are written before they have landed", "tmm/steps/pack/packers.cuh", "ptx::cp_async_wait_group<stages - 2>();",
         "", kPackers, kUnaligned, false},
        {"packers: some write a square before all of it has landed, or bring one where others still read", "tmm/steps/pack/packers.cuh",
         "stage is the next to be filled.\n            __syncthreads();", "stage is the next to be filled.\n", kPackers, kAlignedRows},
        {"packers: B's squares are counted from A's first", "tmm/steps/pack/packers.cuh", "cursor.place : cursor.place - across_a_",
         "cursor.place : cursor.place", kPackers, kUnaligned},
        {"packers: vectors stand elsewhere than they are read", "tmm/steps/pack/packers.cuh", "from + place_of_vector(element,",
         "from + place_of_vector(element ^ 1,", kPackers, kAlignedRows},
        {"packers: the last squares are not counted", "tmm/steps/pack/packers.cuh", "|| now.row >= rows_", "", kPackers, kUnaligned},
        {"packers: rows are waited for that nobody packs", "tmm/steps/pack/packers.cuh", "(done) / across_", "(done) / (across_ + 1)",
         kPackers, kAlignedRows},
        {"packers: squares are counted before all threads have written them", "tmm/steps/pack/packers.cuh",
         "ptx::fence_proxy_async_global();\n        __syncthreads();", "ptx::fence_proxy_async_global();", kPackers, kManySquares, false,
         false},
        {"strips: pack multiplies the few lines of the first k again and again", "tmm/steps/pack/kernel.cuh",
         "k0 * operand.strip.k_distance", "0", kStrips, kStripsOfBatch},
        {"strips: pack multiplies the few lines of the batch's first member", "tmm/steps/pack/kernel.cuh", "batch * operand.strip.stride",
         "0", kStrips, kStripsOfBatch},
        {"strips: lines are brought to each others' places", "tmm/steps/pack/kernel.cuh", "few[place.row * kFewOfLine + place.lane]",
         "few[(place.row ^ 1) * kFewOfLine + place.lane]", kStrips, kStripsOfBatch},
        {"strips: a row of threads multiplies other k than it holds", "tmm/steps/pack/kernel.cuh", "few + row * kOfRow + i", "few + i",
         kStrips, kStripsOfBatch},
        {"strips: k beyond the last square are not multiplied", "tmm/steps/pack/kernel.cuh", "beyond * few[kTile + row]", "0", kStrips,
         kStripsOfBatch},
        {"strips: few lines of k beyond the last square are not brought", "tmm/steps/pack/kernel.cuh",
         "few[place.row * kFewOfLine + kTile + place.lane] = beyond", "few[place.row * kFewOfLine + kTile + place.lane] = 0", kStrips,
         kStripsOfBatch},
        {"strips: squares meet where few lines are still read", "tmm/steps/pack/kernel.cuh",
         "before they are written anew.\n        __syncthreads();", "before they are written anew.\n", kStrips, "1025x1025x1025", false,
         false},
        {"strips: few lines are multiplied before all are there", "tmm/steps/pack/kernel.cuh",
         "if constexpr (turned || with_strip) __syncthreads();", "if constexpr (turned) __syncthreads();", kStrips, "66x67x129 ops=tn",
         false},
        {"strips: the squares before the last reach as far as K does", "tmm/steps/pack/kernel.cuh",
         "last ? static_cast<int>(operand.depth - k0) : kTile", "static_cast<int>(operand.depth - k0)", kStrips, kStripsOfBatch},
        {"strips: few lines are read past K", "tmm/steps/pack/kernel.cuh", "place.row < strip.lines && k < square.edges.k",
         "place.row < strip.lines", kStrips, kStripsOfBatch},
        {"strips: sums of squares along K meet", "tmm/steps/pack/kernel.cuh", "k0 / kTile * kRows) * operand", "0) * operand", kStrips,
         kStripsOfBatch},
        {"strips: sums are written past the operand's edge", "tmm/steps/pack/kernel.cuh", "if (lane < square.edges.outer) square.sums",
         "square.sums", kStrips, "66x100x129"},
        {"strips: some add up what all warps have yet to add up", "tmm/steps/pack/strips.cuh",
         "// All warps' sums are there.\n        __syncthreads();\n        for", "for", kStrips, kStripsOfBatch, false},
        {"strips: the next piece comes while others read the last", "tmm/steps/pack/strips.cuh",
         "// All of the piece has been read before the next one comes.\n            __syncthreads();", "", kStripsOfSmallTiles, kManyPieces,
         false},
        {"strips: the corner is added up before all warps have multiplied", "tmm/steps/pack/strips.cuh",
         "// All warps' sums are there.\n        __syncthreads();\n        if", "if", kStrips, kManyPiecesOfCorner, false},
        {"strips: the parts of the last row of threads are left out", "tmm/steps/pack/strips.cuh", "part < parts; part",
         "part < parts - 1; part", kStrips, "66x67x128"},
        {"strips: a member's sums are the first one's", "tmm/steps/pack/strips.cuh", "(batch * parts * strip.lines + line)", "line",
         kStrips, kStripsOfBatch},
        {"strips: the corner's rows and columns change places", "tmm/steps/pack/strips.cuh", "number / strips_.with_a.lines;",
         "number / strips_.with_b.lines;", kStrips, kStripsOfBatch},
        {"strips: blocks that add up do not wait for pack", "tmm/families/simt/kernel.cuh",
         "wait_for_previous_kernel();\n            strips::Strips", "strips::Strips", kStrips, "1025x1025x1025", false, false},
    };
    return faults;
}

GemmProblem problem_of(const TmaFault& fault) {
    return parse_shape(fault.shape).problem;
}

KernelConfig config_of(const TmaFault& fault) {
    const std::string text = fault.config;
    return parse_config(text.rfind("family=", 0) == 0 ? text : "family=wgmma,vector_width=8,boundary=hardware," + text);
}

TemplateFiles with_fault(const TmaFault& fault, TemplateFiles files) {
    std::string& text = files.at(fault.file);
    const std::size_t at = text.find(fault.text);
    if (at == std::string::npos) throw std::logic_error(std::string(fault.file) + " has no text to plant: " + fault.what);
    text = text.substr(0, at) + fault.instead + text.substr(at + std::string(fault.text).size());
    return files;
}

TemplateFiles templates_with_unset_sums() {
    return with_fault({.what = "sums that nothing has set are NaN",
                       .file = "tmm/families/wgmma/kernel.cuh",
                       .text = "Sums<Kernel> sums;",
                       .instead = "Sums<Kernel> sums;\n            __builtin_memset(&sums, 0xff, sizeof sums);",
                       .config = "",
                       .shape = ""});
}

}  // namespace tmm::testing
