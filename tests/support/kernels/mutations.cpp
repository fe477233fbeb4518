// The faults, and how they are planted. Left out are changes that change nothing a user could notice: a condition that another
// one implies, such as `exists` where reduce stores (store_results() stores nothing of a vector that does not exist).
#include "tests/support/kernels/mutations.h"

namespace tmm::testing {
namespace {

constexpr const char* kNaive = "tmm/families/naive/kernel.cuh";
constexpr const char* kTiled = "tmm/families/tiled/kernel.cuh";
constexpr const char* kSimt = "tmm/families/simt/kernel.cuh";
constexpr const char* kSimtRules = "tmm/families/simt/rules.h";
constexpr const char* kPipeline = "tmm/copy/tile_pipeline.cuh";
constexpr const char* kChunks = "tmm/copy/chunks.cuh";
constexpr const char* kRealigning = "tmm/copy/realigning_copy.cuh";
constexpr const char* kWorkItem = "tmm/schedule/work_item.cuh";
constexpr const char* kMma = "tmm/families/mma/kernel.cuh";
constexpr const char* kStream = "tmm/schedule/stream.h";
constexpr const char* kFixup = "tmm/steps/fixup/kernel.cuh";
constexpr const char* kGemv = "tmm/families/gemv/kernel.cuh";
constexpr const char* kGemvProducts = "tmm/families/gemv/products.cuh";
constexpr const char* kGemvLines = "tmm/families/gemv/lines.cuh";
constexpr const char* kFewByMany = "tmm/output/few_by_many.cuh";
constexpr const char* kReduce = "tmm/steps/reduce/kernel.cuh";
constexpr const char* kPack = "tmm/steps/pack/kernel.cuh";
constexpr const char* kPad = "tmm/steps/pad/kernel.cuh";
constexpr const char* kTurnBytes = "tmm/steps/pad/turn_bytes.cuh";
constexpr const char* kOutput = "tmm/output/output.cuh";

// clang-format off
const std::vector<Mutation> kMutations = {
    // naive: conditions, loads, store.
    {kNaive, "no check of M", "row < args.m && column < args.n", "column < args.n", "naive nn"},
    {kNaive, "no check of N", "row < args.m && column < args.n", "row < args.m", "naive nn"},
    {kNaive, "A's first index", "Kernel::signature.op_a == Operation::none ? row * args.lda : row", "Kernel::signature.op_a == Operation::none ? row : row * args.lda", "naive nn"},
    {kNaive, "B's first index", "Kernel::signature.op_b == Operation::none ? column : column * args.ldb", "Kernel::signature.op_b == Operation::none ? column * args.ldb : column", "naive nn"},
    {kNaive, "A's step", "Kernel::signature.op_a == Operation::none ? 1 : args.lda", "Kernel::signature.op_a == Operation::none ? args.lda : 1", "naive nn"},
    {kNaive, "B's step", "Kernel::signature.op_b == Operation::none ? args.ldb : 1", "Kernel::signature.op_b == Operation::none ? 1 : args.ldb", "naive nn"},
    {kNaive, "A's and B's steps", "to_number<Sum>(a[k * step_a]), to_number<Sum>(b[k * step_b])", "to_number<Sum>(a[k * step_b]), to_number<Sum>(b[k * step_a])", "naive nn"},
    {kNaive, "C's index", "store_element(row, column, sum)", "store_element(column, row, sum)", "naive nn"},
    {kNaive, "A's stride", "batch * args.stride_a", "batch * args.stride_b", "naive nn"},
    {kNaive, "B's stride", "batch * args.stride_b", "batch * args.stride_a", "naive nn"},
    {kNaive, "C's member of the batch", "output_to_c<Kernel>(args, scalars, batch)", "output_to_c<Kernel>(args, scalars, 0)", "naive nn"},

    // tiled: barriers.
    {kTiled, "no barrier before multiplying", "before anyone multiplies with them.\n        __syncthreads();", "before anyone multiplies with them.\n", "tiled nn"},
    {kTiled, "no barrier after multiplying", "before the tiles are overwritten.\n        __syncthreads();", "before the tiles are overwritten.\n", "tiled nn"},
    // tiled: conditions.
    {kTiled, "A: no check of M", "(row < args.m && k_of_a < args.k)", "(k_of_a < args.k)", "tiled nn"},
    {kTiled, "A: no check of K", "(row < args.m && k_of_a < args.k)", "(row < args.m)", "tiled nn"},
    {kTiled, "B: no check of K", "(k_of_b < args.k && column < args.n)", "(column < args.n)", "tiled nn"},
    {kTiled, "B: no check of N", "(k_of_b < args.k && column < args.n)", "(k_of_b < args.k)", "tiled nn"},
    {kTiled, "C: no check of M", "(row < args.m && column < args.n)", "(column < args.n)", "tiled nn"},
    {kTiled, "C: no check of N", "(row < args.m && column < args.n)", "(row < args.m)", "tiled nn"},
    // tiled: indices.
    {kTiled, "A's index", "? row * args.lda + k_of_a", "? k_of_a * args.lda + row", "tiled nn"},
    {kTiled, "A's index, transposed", ": k_of_a * args.lda + row", ": row * args.lda + k_of_a", "tiled tt"},
    {kTiled, "B's index", "? k_of_b * args.ldb + column", "? column * args.ldb + k_of_b", "tiled nn"},
    {kTiled, "B's index, transposed", ": column * args.ldb + k_of_b", ": k_of_b * args.ldb + column", "tiled tt"},
    {kTiled, "index of the tile of A, stored", "tile_a[thread_row * width + thread_column]", "tile_a[thread_column * width + thread_row]", "tiled nn"},
    {kTiled, "index of the tile of B, stored", "tile_b[thread_row * width + thread_column]", "tile_b[thread_column * width + thread_row]", "tiled nn"},
    {kTiled, "index of the tile of A, read", "tile_a[thread_row * width + k]", "tile_a[k * width + thread_row]", "tiled nn"},
    {kTiled, "index of the tile of B, read", "tile_b[k * width + thread_column]", "tile_b[thread_column * width + k]", "tiled nn"},
    {kTiled, "C's index", "store_element(row, column, sum)", "store_element(column, row, sum)", "tiled nn"},
    {kTiled, "A's stride", "batch * args.stride_a", "batch * args.stride_b", "tiled nn"},
    {kTiled, "B's stride", "batch * args.stride_b", "batch * args.stride_a", "tiled nn"},
    {kTiled, "C's member of the batch", "output_to_c<Kernel>(args, batch)", "output_to_c<Kernel>(args, 0)", "tiled nn"},

    // simt: barriers and waits.
    {kPipeline, "no barrier before multiplying", "        __syncthreads();\n    }\n\nprivate:", "    }\n\nprivate:", "simt async"},
    {kPipeline, "no barrier after multiplying", "if constexpr (stages == 1) __syncthreads();", "", "simt registers"},
    {kPipeline, "no wait", "ptx::cp_async_wait_group<stages - 2>();", "", "simt async"},
    {kPipeline, "a wait for a group too few", "ptx::cp_async_wait_group<stages - 2>();", "ptx::cp_async_wait_group<stages - 1>();", "simt async"},
    {kPipeline, "no groups", "ptx::cp_async_commit_group();", ";", "simt async"},
    // simt: conditions.
    {kPipeline, "async: no check of the tile", "valid_elements<k_ends, outer_ends>(i)", "vector", "simt async", 2, 0},
    {kPipeline, "registers: no check of the tile", "valid_elements<k_ends, outer_ends>(i)", "vector", "simt registers", 2, 1},
    {kPipeline, "no check of the rows along K", "if (k_ends && row_ + i * rows_per_pass >= k_left_) return 0;", "", "simt async"},
    {kPipeline, "no check of the columns along K", "if (!k_ends || k_left_ - column_ >= vector) return vector;", "return vector;", "simt registers"},
    {kPipeline, "elements left of K", "return k_left_ > column_ ? k_left_ - column_ : 0;", "return 0;", "simt registers"},
    {kPipeline, "elements left of M or N", "outer_left_ - column < vector ? outer_left_ - column : vector", "outer_left_ - column < vector ? outer_left_ - column - 1 : vector", "simt registers"},
    {kPipeline, "the last vector of a row is another", "column_ >= outer_left_ ? 0 : column_", "column_ + vector >= outer_left_ ? 0 : column_", "simt registers"},
    {kPipeline, "the last row is another", "row_ + (i + 1) * rows_per_pass >= outer_left_", "row_ + (i + 2) * rows_per_pass >= outer_left_", "simt registers"},
    {kPipeline, "registers: edge vectors read whole", "access == vector && valid == vector", "access == vector", "simt registers"},
    {kPipeline, "registers: no check of the element", "j < valid ? source[j] : T{}", "source[j]", "simt registers"},
    {kPipeline, "peeled: K not asked", "if (k_left_ < Kernel::config.block_k)", "if (false)", "simt peeled"},
    {kPipeline, "no check of K", "static_cast<int>(k_end - k_begin)", "1 << 30", "simt registers"},
    {kWorkItem, "no end of K for the last split", "item.k_begin + args.k_per_split < args.k ? item.k_begin + args.k_per_split : args.k", "item.k_begin + args.k_per_split", "simt split"},
    {kPipeline, "copies past the last tile", "if (uncopied_ > 0) {", "{", "simt async exact"},
    {kPipeline, "a load past the last tile", "if (unloaded_ <= 0) return;", "", "simt exact"},
    {kPipeline, "no count of the tiles", "--uncopied_;", "", "simt async exact"},
    {kPipeline, "no count of the loads", "--unloaded_;", "", "simt exact"},
    {kOutput, "C, peeled: M not asked", "item.row0 + Kernel::config.block_m <= args.m && item.column0", "item.column0", "simt peeled"},
    {kOutput, "C, peeled: N not asked", " && item.column0 + Kernel::config.block_n <= args.n", "", "simt peeled"},
    {kWorkItem, "the last band as high as the others", "rows_left < most_rows ? rows_left : most_rows", "most_rows", "simt split"},
    // simt: indices.
    {kPipeline, "first element, turned", "matrix + (outer0 + row) * ld + k_begin + column_", "matrix + (k_begin + column_) * ld + outer0 + row", "simt registers"},
    {kPipeline, "first element", "matrix + (k_begin + row_) * ld + outer0 + column", "matrix + (outer0 + column) * ld + k_begin + row_", "simt registers"},
    {kPipeline, "first row and column, turned", "matrix + (outer0 + row) * ld + k_begin + column_", "matrix + (k_begin + row) * ld + outer0 + column_", "simt registers"},
    {kPipeline, "first row and column", "matrix + (k_begin + row_) * ld + outer0 + column", "matrix + (outer0 + row_) * ld + k_begin + column", "simt registers"},
    {kPipeline, "place of a vector", "return source + rows_per_pass * ld_;", "return source + rows_per_pass;", "simt registers"},
    {kPipeline, "step to the next tile", "layout.rows_along_k ? Kernel::config.block_k : Kernel::config.block_k * ld_", "layout.rows_along_k ? Kernel::config.block_k * ld_ : Kernel::config.block_k", "simt registers"},
    {kPipeline, "no count of what is left of K", "k_left_ -= Kernel::config.block_k;", "", "simt registers"},
    {kSimtRules, "place in the tile, turned", "column * l.line_distance + row", "row * l.line_distance + column", "simt registers"},
    {kSimtRules, "place in the tile", ": row * l.line_distance + column", ": column * l.line_distance + row", "simt registers"},
    {kSimt, "group of an element read", "values[0][i + j] = read.element[j]", "values[0][i + j] = read.element[0]", "simt registers"},
    {kSimt, "fragment's place", "line + element_of<layout, per_thread, threads_across>(0, i)", "line + element_of<layout, per_thread, threads_across>(i, 0)", "simt registers"},
    {kSimt, "fragment's line", "stage_tile_ + k * layout.line_distance;", "stage_tile_ + k / steps_at_once(layout) % 4 * layout.line_distance;", "simt registers"},
    {kSimt, "tiles of A for B", "b(tiles.b, place.n,", "b(tiles.a, place.n,", "simt registers"},
    {kSimt, "place of A", "a(tiles.a, place.m,", "a(tiles.a, place.n,", "simt registers"},
    {kSimt, "place of B", "b(tiles.b, place.n,", "b(tiles.b, place.m,", "simt registers"},
    {kSimt, "lanes in a line: rows of another length", "ThreadPlace{of_slice / threads_n(Kernel::config), of_slice % threads_n(Kernel::config)}", "ThreadPlace{of_slice / 8, of_slice % 8}", "simt lanes in a line"},
    {kPipeline, "threads beyond whole rows copy", "if (has_idle_threads && row_ >= rows_per_pass) return false;", "", "simt lanes in a line"},
    {kSimt, "the next fragments' line", "next = (k + 1) % loop", "next = k % loop", "simt registers"},
    {kSimt, "fragments that are on their way", "return values_[k / steps % 2]", "return values_[(k / steps + 1) % 2]", "simt registers"},
    {kSimt, "line along K, read", "stage_tile_ + line * layout.line_distance + k", "stage_tile_ + line * layout.line_distance", "simt along k"},
    {kSimt, "k of an element along K", "values[step][i] = read.element[step]", "values[i % steps][i] = read.element[step]", "simt along k"},
    {kSimt, "the thread's first line along K", "(layout.lines_along_k ? layout.line_distance : 1)", "1", "simt along k"},
    {kSimt, "k of the products", "multiply<Kernel>(a[k], b[k], sums)", "multiply<Kernel>(a[k], b[k / 4 * 4], sums)", "simt along k"},
    {kSimt, "slices: all of A's the first", "a(tiles.a, place.m, slice_of_thread<Kernel>() * depth)", "a(tiles.a, place.m, 0)", "simt sliced"},
    {kSimt, "slices: all of B's the first", "b(tiles.b, place.n, slice_of_thread<Kernel>() * depth)", "b(tiles.b, place.n, 0)", "simt sliced"},
    {kSimt, "slices: where one begins", "first_k * (layout.lines_along_k ? 1 : layout.line_distance)", "first_k", "simt sliced"},
    {kSimt, "slices: where one begins, along K", "first_k * (layout.lines_along_k ? 1 : layout.line_distance)", "first_k * layout.line_distance", "simt sliced along k"},
    {kSimt, "slices: a slice's place in C", "const int of_slice = static_cast<int>(threadIdx.x) % slice_threads(Kernel::config);", "const int of_slice = static_cast<int>(threadIdx.x);", "simt sliced"},
    {kSimt, "slices: every slice its own place", "const int thread = static_cast<int>(threadIdx.x) % slice_threads(Kernel::config);", "const int thread = static_cast<int>(threadIdx.x);", "simt sliced"},
    {kSimt, "slices: no barrier before they are added up", "// The second half's sums are there.\n        __syncthreads();", "", "simt sliced"},
    {kSimt, "slices: one part for all", "parts[from_slice % parts_of_slices(Kernel::config)]", "parts[0]", "simt sliced"},
    {kSimt, "slices: who has handed over does so again", "slice >= half && slice < 2 * half", "slice >= half", "simt sliced"},
    {kSimt, "slices: the first half alone", "int half = Kernel::config.slice_k / 2; half > 0; half /= 2", "int half = Kernel::config.slice_k / 2; half > 1; half /= 2", "simt sliced"},
    {kSimt, "slices: every slice stores", "else if (slice_of_thread<Kernel>() == 0)\n            store_tile", "else\n            store_tile", "simt sliced"},
    {kSimt, "slices: every slice shows its cluster a part", "if (slice_of_thread<Kernel>() == 0)\n        store_part", "store_part", "simt sliced along k"},
    {kSimt, "element of A and B", "multiply_add(to_number<Sum>(a[i]), to_number<Sum>(b[j]), sums[i][j])", "multiply_add(to_number<Sum>(a[j]), to_number<Sum>(b[i]), sums[i][j])", "simt registers"},
    {kSimt, "a product twice", "line = band * together + turning(step % together, together, along)", "line = band * together", "simt order"},
    {kSimt, "the way's length", "length = takes_rows(Kernel::config) ? Kernel::config.thread_n : Kernel::config.thread_m", "length = Kernel::config.thread_m", "simt order"},
    {kSimt, "rows for columns", "takes_rows(Kernel::config) ? ElementPlace{line, place}", "!takes_rows(Kernel::config) ? ElementPlace{line, place}", "simt order"},
    {kWorkItem, "tile of C", "{tile / tiles_n, tile % tiles_n}", "{tile % tiles_n, tile / tiles_n}", "simt registers"},
    {kSimt, "row of C", "(i / group * threads_across + thread) * group + i % group", "(i % group * threads_across + thread) * group + i / group", "simt registers"},
    {kSimt, "row's thread", "threads_m(Kernel::config)>(place.m, i)", "threads_m(Kernel::config)>(place.n, i)", "simt registers"},
    {kSimt, "column's thread", "threads_n(Kernel::config)>(place.n, j)", "threads_n(Kernel::config)>(place.m, j)", "simt registers"},
    {kSimt, "stored sum", "&sums[i][j]", "&sums[j][i]", "simt registers"},
    {kSimt, "A's stride", "item.batch * args.stride_a", "item.batch * args.stride_b", "simt split"},
    {kSimt, "B's stride", "item.batch * args.stride_b", "item.batch * args.stride_a", "simt split"},
    // simt: clusters.
    {kSimt, "no barrier before the parts are read", "// Every block's part is there.\n    ptx::cluster_sync();", "", "simt cluster"},
    {kSimt, "no barrier before the parts go away", "before the others have read it.\n    ptx::cluster_meet();", "before the others have read it.\n", "simt cluster"},
    {kWorkItem, "blocks of a cluster, of one tile", "tile_of_c<Kernel>(args, index / cluster)", "tile_of_c<Kernel>(args, index)", "simt cluster"},
    {kWorkItem, "part of K of a block in a cluster", "rest % clusters_k * cluster + rank", "rest % clusters_k + rank * clusters_k", "simt clusters"},
    {"tmm/output/partial_sums.cuh", "a part is left out", "for (int p = 1; p < parts; ++p)", "for (int p = 2; p < parts; ++p)", "simt cluster"},
    {kSimt, "the same part again", "ptx::mapa(part, r)", "ptx::mapa(part, 0)", "simt cluster"},
    {kSimt, "every block sums all", "vector += Kernel::config.cluster * threads(Kernel::config)", "vector += threads(Kernel::config)", "simt cluster"},
    {kSimt, "row of a sum", "const int row = vector / vectors_per_row;", "const int row = vector % vectors_per_row;", "simt cluster"},
    {kSimt, "place of a group's part", "part + row * Kernel::config.block_n + (width", "part + column * Kernel::config.block_n + (width", "simt cluster"},
    // simt: stream-K.
    {kStream, "no part of its own for the second end", "(begin_of(block) < tile * phases ? 1 : 0)", "0", "simt stream"},
    {kStream, "whole tiles after the shared ones", "tile = tiles + block - blocks", "tile = block", "simt stream and whole tiles"},
    {kStream, "phases of the first tile", "return left < stretch.end - stretch.begin ? left : stretch.end - stretch.begin;", "return stretch.end - stretch.begin;", "simt stream"},
    {kWorkItem, "the first phase", "item.k_begin = phase * Kernel::config.block_k", "item.k_begin = 0", "simt stream"},
    {kWorkItem, "no end of K for the last phase", "(phase + phases) * Kernel::config.block_k < args.k ? (phase + phases) * Kernel::config.block_k : args.k", "(phase + phases) * Kernel::config.block_k", "simt stream"},
    {kSimt, "no barrier between two items", "before the next item's come.\n        __syncthreads();", "before the next item's come.\n", "simt stream"},
    {kSimt, "whole tiles left as parts", "line.phases_of_first_tile(left) == line.phases", "false", "simt stream and whole tiles"},
    {kSimt, "sums begin where the last ended", "sums[i][j] = 0;", "if (item.k_begin == 0) sums[i][j] = 0;", "simt stream"},
    {kSimt, "progress read before it is known", "line.stretch_of(blockIdx.x).begin;\n    __syncthreads();", "line.stretch_of(blockIdx.x).begin;", "simt stream"},
    {kSimt, "progress known too late", "line.phases_of_first_tile(left);\n        __syncthreads();", "line.phases_of_first_tile(left);", "simt stream"},
    {kSimt, "columns of a part as they were", "values.element[place_in_part(i) % width]", "values.element[i]", "simt stream"},
    {kSimt, "a single column as it was", "(width == 1 ? place_in_part(column) : column)", "column", "simt stream along k"},
    {kFixup, "columns of a part as they are", "sums[place_in_part(i)].value()", "sums[i].value()", "simt stream"},
    {kFixup, "the last part is left out", "block <= last", "block < last", "simt stream"},
    {kFixup, "whole tiles added up", "first == last || ", "", "simt stream and whole tiles"},
    {kFixup, "no check of M", "|| row >= args.m ", "", "simt stream"},
    {kFixup, "no check of N", "left < kVector ? static_cast<int>(left) : kVector", "kVector", "simt stream"},
    {kFixup, "row of a sum", "place.row0 + vector / vectors_per_row", "place.row0 + vector % vectors_per_row", "simt stream"},
    {kFixup, "C's member of the batch", "output_to_c<Kernel>(args, place.batch)", "output_to_c<Kernel>(args, 0)", "simt stream"},
    {kSimt, "the stage read from, the next", "a.next_stage();", "", "simt async"},
    {kSimt, "the stage read from, the first again", "round ? 1 - stages : 1", "1", "simt async"},
    {kSimt, "the stage read from, counted", "if (stage_ == stages) stage_ = 0;", "", "simt async"},
    {kPipeline, "async: the stage copied to", "copy_stage_ = copy_stage_ + 1 == stages ? 0 : copy_stage_ + 1;", "", "simt async"},
    {kPipeline, "registers: the stage copied to", "store_stage_ = store_stage_ + 1 == stages ? 0 : store_stage_ + 1;", "", "simt turned batch"},

    // mma: the barriers and waits of the pipeline.
    {kPipeline, "mma: no barrier before multiplying", "        __syncthreads();\n    }\n\nprivate:", "    }\n\nprivate:", "mma async"},
    {kPipeline, "mma: no wait", "ptx::cp_async_wait_group<stages - 2>();", "", "mma async"},
    {kPipeline, "mma: a wait for a group too few", "ptx::cp_async_wait_group<stages - 2>();", "ptx::cp_async_wait_group<stages - 1>();", "mma async"},
    {kPipeline, "mma: no groups", "ptx::cp_async_commit_group();", ";", "mma async"},
    {kPipeline, "mma: no barrier after multiplying", "if constexpr (stages == 1) __syncthreads();", "", "mma registers"},
    {kPipeline, "copies past the last row of the tile", "matrix_rows(layout) % rows_per_pass == 0 || row_", "true || row_", "mma async"},
    // mma: what moves through the pipeline.
    {kPipeline, "async copies of A", "if constexpr (CopyA::async_copy) copy_a_.start(tiles_a_[copy_stage_]);", "", "mma async"},
    {kPipeline, "loads of B", "if constexpr (!CopyB::async_copy) copy_b_.load(registers_b_);", "", "mma registers"},
    // mma: indices.
    {kMma, "the second matrix of A", "matrix / 2 : matrix % 2) * 8", "matrix % 2 : matrix % 2) * 8", "mma async"},
    {kMma, "the second matrix of B", "matrix % 2 : matrix / 2) * (", "matrix / 2 : matrix / 2) * (", "mma async"},
    {kMma, "row of ldmatrix along K", "layout.rows_along_k ? outer : k) + lane % 8", "layout.rows_along_k ? k : outer) + lane % 8", "mma async"},
    {kMma, "row of ldmatrix", "layout.rows_along_k ? outer : k) + lane % 8", "layout.rows_along_k ? outer : k)", "mma async"},
    {kMma, "row of ldmatrix, bytes", "lane % 8 / 2 * 4", "lane % 8 / 2 * 2", "mma bytes"},
    {kMma, "bytes of even neighbours", "{{ptx::prmt(r[0], r[1], 0x6420)", "{{ptx::prmt(r[0], r[1], 0x6240)", "mma bytes"},
    {kMma, "parts of fragments of bytes", "second_along_k ? part / 2 : part % 2];", "second_along_k ? part % 2 : part % 2];", "mma bytes"},
    {kMma, "rows of C where bytes lie along M", "::a.reads_pairs_of_rows ? 1 : 8", "::a.reads_pairs_of_rows ? 8 : 8", "mma bytes turned"},
    {kMma, "columns of C where bytes lie along N", "has_neighbours ? lane % 4 * 4", "has_neighbours ? lane % 4 * 2", "mma bytes"},
    {kMma, "column of ldmatrix", "column_ = layout.rows_along_k ? k : outer", "column_ = layout.rows_along_k ? outer : k", "mma async"},
    {kMma, "place of a fragment along K", "row_ + i * kSquare, column_ + k", "row_, column_ + k", "mma registers"},
    {kMma, "k of a fragment along K", "row_ + i * kSquare, column_ + k", "row_ + i * kSquare, column_", "mma registers"},
    {kMma, "place of a fragment", "row_ + k, column_ + i * kSquare", "row_ + k, column_", "mma async turned"},
    {kMma, "k of a fragment", "row_ + k, column_ + i * kSquare", "row_, column_ + i * kSquare", "mma async turned"},
    {kMma, "matrices not transposed", "ptx::ldmatrix_x4_trans(", "ptx::ldmatrix_x4(", "mma async"},
    {kMma, "the stage read from, A", "        reader_a.next_stage();\n", "", "mma async"},
    {kMma, "the stage read from, B", "        reader_b.next_stage();\n", "", "mma async"},
    {kMma, "the stage read from, the first again", "stage_ == stages ? 1 - stages : 1", "1", "mma async", 2, 0},
    {kMma, "the stage read from, counted", "if (stage_ == stages) stage_ = 0;", "", "mma async", 2, 0},
    {kMma, "fragments of one k for another", "(step + 1) % steps * depth", "step % steps * depth", "mma async"},
    {kMma, "fragments that are on their way", "fragments[step % 2], sums", "fragments[(step + 1) % 2], sums", "mma async"},
    {kMma, "fragments after an odd number of steps", "if constexpr (ahead && steps % 2 != 0) fragments[0] = fragments[1];", "", "mma two stages"},
    {kMma, "fragment of B", "fragments.b[j / 2]", "fragments.b[j % 2]", "mma async"},
    {kMma, "half of a fragment of B", "fragments.a[i], b[j % 2 * 2], b[j % 2 * 2 + 1]", "fragments.a[i], b[0], b[1]", "mma async", 3, 1},
    {kMma, "half of a fragment of B, bf16", "fragments.a[i], b[j % 2 * 2], b[j % 2 * 2 + 1]", "fragments.a[i], b[0], b[1]", "mma async turned", 3, 2},
    {kMma, "a double's place", "place_[column / step % places]", "place_[0]", "mma doubles"},
    {kMma, "a double's distance along a row", " + column / (step * places) * (step * places)", "", "mma doubles"},
    {kMma, "row of A's double", "part / 4 : part % 2) * 8", "part / 4 : part % 1) * 8", "mma doubles"},
    {kMma, "k of A's double", "part % 4 : part / 2) * 4", "part % 4 : part / 4) * 4", "mma doubles turned"},
    {kMma, "half of B's doubles", "b[j % 2 * 4], b[j % 2 * 4 + 1]", "b[0], b[1]", "mma doubles"},
    {kMma, "type of the products", "if constexpr (Kernel::signature.type_a == ElementType::f16)", "if constexpr (Kernel::signature.type_a != ElementType::f16)", "mma async"},
    {kMma, "warp's rows", "warp / Kernel::config.warps_n * warp_rows(Kernel::config)", "warp % Kernel::config.warps_n * warp_rows(Kernel::config)", "mma async turned"},
    {kMma, "warp's columns", "warp % Kernel::config.warps_n * warp_columns(Kernel::config)", "warp / Kernel::config.warps_n * warp_columns(Kernel::config)", "mma async"},
    {kMma, "A's stride", "item.batch * args.stride_a", "item.batch * args.stride_b", "mma split"},
    {kMma, "B's stride", "item.batch * args.stride_b", "item.batch * args.stride_a", "mma split"},
    {kMma, "lane's pair, sent", "upper ? left : right, 1", "upper ? right : left, 1", "mma async"},
    {kMma, "lane's pair, received", "group[e] = upper ? received : left;", "group[e] = upper ? left : received;", "mma async"},
    {kMma, "lane's pair, kept", "group[2 + e] = upper ? right : received;", "group[2 + e] = upper ? received : right;", "mma async"},
    {kMma, "columns of a lane", "lane % 4 / 2 * 4 + (upper ? 8 : 0)", "lane % 4 / 2 * 4 + (upper ? 0 : 8)", "mma async"},
    {kMma, "row of a lane", "const int row = lane / 4 * from_row;", "const int row = lane % 8 * from_row;", "mma async"},
    {kMma, "row of the second half", "i * kSquare + half * from_half + row", "i * kSquare + row", "mma async"},

    // mma: rows that start anywhere.
    {kRealigning, "end of the matrix along K", "(outer_end - 1) * ld + k_end", "(outer_end - 1) * ld", "mma registers"},
    {kRealigning, "end of the matrix", "(k_end - 1) * ld + outer_end", "(k_end - 1) * ld", "mma realigned"},
    {kRealigning, "no first chunk", "valid > 0 ? read_chunk(source - shift, begin_, end_) : Chunk{}", "Chunk{}", "mma registers"},
    {kRealigning, "the second chunk left out", "shift + valid > kElements", "shift + valid > kElements + 1", "mma registers"},
    {kRealigning, "the first chunk again", "source - shift + kElements", "source - shift", "mma registers"},
    {kRealigning, "no shift", "shifted(registers[i], (shift_ + i * shift_step_) % kElements)", "shifted(registers[i], 0)", "mma registers"},
    {kRealigning, "every row's shift", "(shift_ + i * shift_step_) % kElements", "shift_", "mma realigned"},
    {kChunks, "shift by four", "shift & 8 / bytes", "shift & 16 / bytes", "mma registers"},
    {kChunks, "shift by two", "shift & 4 / bytes", "shift & 16 / bytes", "mma registers"},
    {kChunks, "shift by one", "shift % (4 / bytes) * (8 * bytes)", "0", "mma registers"},
    {kRealigning, "no end of K", "if (k_left < Kernel::config.block_k) clear_from(values, k_left - this->column_);", "", "mma registers"},
    {kRealigning, "tile loaded last", "this->k_left_ + Kernel::config.block_k", "this->k_left_", "mma registers"},
    {kRealigning, "half a word at K's end", "values.element[j] & 0xffffu", "values.element[j]", "mma registers"},
    {kChunks, "elements before the end", "static_cast<unsigned long long>(stored_bits(*low)) << (bits * j)", "static_cast<unsigned long long>(stored_bits(*low))", "mma realigned"},
    {kChunks, "the last elements before the end", "static_cast<unsigned long long>(stored_bits(*high)) << (bits * j)", "static_cast<unsigned long long>(stored_bits(*high))", "mma realigned"},

    // gemv: barrier.
    {kGemv, "no barrier before adding up", "__syncthreads();", "", "gemv rows"},
    // gemv: conditions.
    {kGemvLines, "edge vectors read whole", "if (!guarded || valid >= width) {", "if (true) {", "gemv rows"},
    {kGemvLines, "no check of the element", "values.set(i, i < valid ? source[i] : T{})", "values.set(i, source[i])", "gemv rows"},
    {kGemvProducts, "no check of K, many", "const int k_valid = clamp_to_int(operands.k_end - k);", "const int k_valid = O::steps;", "gemv rows"},
    {kGemvProducts, "no check of K, few", "guarded ? clamp_to_int(operands.k_end - k) : O::steps", "O::steps", "gemv rows"},
    {kGemvProducts, "no check of the columns", "const int columns_valid = clamp_to_int(operands.place.many_count - operands.column);", "const int columns_valid = O::columns;", "gemv rows"},
    {kGemvProducts, "along K: no check of the column", "column + line < place.many_count ? column + line : place.many_count - 1", "column + line", "gemv along k"},
    {kGemvProducts, "no check of k", "line < k_valid ? columns_valid : 0", "columns_valid", "gemv rows"},
    {kGemvProducts, "no check of the row", "place.row0 + i < place.few_count ? place.row0 + i : place.few_count - 1", "place.row0 + i", "gemv rows"},
    {kGemvProducts, "few rows: no check of k", "!guarded || step < k_valid ? *operands.few_at(k + step, i) : T{}", "*operands.few_at(k + step, i)", "gemv transposed"},
    {kGemv, "peeled: every column inside", "O::along_k || column + O::columns <= place.many_count", "true", "gemv peeled"},
    {kGemv, "peeled: the last phase unchecked", "i64 last = k_end - steps;", "i64 last = k_end - 1;", "gemv peeled"},
    {kGemv, "peeled: the last phase behind the groups unchecked", "for (; k < end; k += Kernel::config.block_k) {", "for (; k < k_end; k += Kernel::config.block_k) {", "gemv of 16 bits"},
    {kGemvProducts, "no end of K for the last split", "k_begin + args.k_per_split < args.k ? k_begin + args.k_per_split : args.k", "k_begin + args.k_per_split", "gemv swapped"},
    {kFewByMany, "C: no check of the row", "few_index < place.few_count && many_index < place.many_count", "many_index < place.many_count", "gemv rows"},
    {kFewByMany, "C: no check of the column", "few_index < place.few_count && many_index < place.many_count", "few_index < place.few_count", "gemv rows"},
    // gemv: indices.
    {kGemvLines, "vector read", "load_vector<access>(source + first)", "load_vector<access>(source)", "gemv peeled"},
    {kGemvLines, "pairs read", "reinterpret_cast<const unsigned*>(source + first)", "reinterpret_cast<const unsigned*>(source)", "gemv of 16 bits"},
    {kGemvLines, "place of pairs", "pair[first / 2 + i] = read.element[i]", "pair[i] = read.element[i]", "gemv of 16 bits"},
    {kGemvLines, "half of a pair, read", "i % 2 == 0 ? lower_to_float<T>", "i % 2 != 0 ? lower_to_float<T>", "gemv of 16 bits, along k"},
    {kGemvLines, "half of a pair, set", "pair[i / 2] = i % 2 == 0 ?", "pair[i / 2] = i % 2 != 0 ?", "gemv of 16 bits"},
    {kGemv, "phase of a group, read", "many[phase].load(operands, k + phase * Kernel::config.block_k)", "many[phase].load(operands, k)", "gemv of 16 bits, along k"},
    {kGemv, "phase of a group, multiplied", "add_step(operands, many[phase], k + phase * Kernel::config.block_k)", "add_step(operands, many[phase], k)", "gemv of 16 bits, along k"},
    {kGemv, "a group past the end of K", "k + (together - 1) * Kernel::config.block_k < end", "k < end", "gemv of 16 bits, along k"},
    {kGemvLines, "element read", "element[first + i] = read.element[i]", "element[i] = read.element[i]", "gemv peeled"},
    {kGemvLines, "chunks that are not shifted", "shifted(chunks, shift_of(source) * halves)", "chunks.first", "gemv in chunks, along k"},
    {kGemvLines, "shift of floats", "shift_of(source) * halves", "shift_of(source)", "gemv in chunks of floats"},
    {kGemvLines, "the second chunk", "ptx::ld<Chunk>(first + elements_of_chunk<T>)", "ptx::ld<Chunk>(first)", "gemv in chunks"},
    {kGemvLines, "chunks from their source on", "source - shift_of(source)", "source", "gemv in chunks"},
    {kGemvLines, "chunks behind the last line", "end < extent && lines_are_long()", "lines_are_long()", "gemv in chunks, along k"},
    {kGemvLines, "chunks behind the last row of few", "end < extent && lines_are_long() ? k : k - 2 * kChunk", "k", "gemv in chunks, along k"},
    {kGemv, "no k by itself", "sums.add_single(first);", "", "gemv peeled"},
    {kGemv, "a k by itself for each thread only", "number < singles; number", "number < 0; number", "gemv in chunks"},
    {kGemv, "place of a k by itself", "end + number - before", "k_begin + number", "gemv peeled"},
    {kGemvProducts, "row of a k by itself", "of_few[i] = *operands.few_at(k, i)", "of_few[i] = *operands.few_at(k, 0)", "gemv peeled"},
    {kGemvProducts, "column of a k by itself", "operands.many_at(k, 0)[j]", "operands.many_at(k, 0)[0]", "gemv peeled"},
    {kGemvProducts, "line of a k by itself", "*operands.many_at(k, j)", "*operands.many_at(k, 0)", "gemv in chunks, along k"},
    {kGemvProducts, "index along K", "column + line : place.many_count - 1) * ld_many + at_k", "column + line : place.many_count - 1) + at_k * ld_many", "gemv along k"},
    {kGemvProducts, "index along N", "many + (at_k + line) * ld_many + column", "many + column * ld_many + at_k + line", "gemv rows"},
    {kGemvProducts, "index of the few rows", "few_along_k(Kernel::config, Kernel::signature) ? row * ld_few + at_k", "few_along_k(Kernel::config, Kernel::signature) ? at_k * ld_few + row", "gemv rows"},
    {kGemvProducts, "index of the few rows, transposed", ": at_k * ld_few + row)", ": row * ld_few + at_k)", "gemv transposed"},
    {kGemvProducts, "element of many", "O::along_k ? lines[column].template number<Sum>(step) : lines[step].template number<Sum>(column)", "O::along_k ? lines[step].template number<Sum>(column) : lines[column].template number<Sum>(step)", "gemv rows"},
    {kGemvProducts, "lane's place", "along_k ? static_cast<int>(threadIdx.x) % threads_k(Kernel::config)\n                           : static_cast<int>(threadIdx.x) / threads_n(Kernel::config)", "along_k ? static_cast<int>(threadIdx.x) / threads_k(Kernel::config)\n                           : static_cast<int>(threadIdx.x) % threads_n(Kernel::config)", "gemv rows"},
    {kGemvProducts, "column's place", "along_k ? static_cast<int>(threadIdx.x) / threads_k(Kernel::config)\n                           : static_cast<int>(threadIdx.x) % threads_n(Kernel::config)", "along_k ? static_cast<int>(threadIdx.x) % threads_k(Kernel::config)\n                           : static_cast<int>(threadIdx.x) / threads_n(Kernel::config)", "gemv rows"},
    {kGemv, "place of a partial sum, stored", "partial_size + i * Kernel::config.block_n +\n                        operands.thread_n * O::columns + j]", "partial_size + (operands.thread_n * O::columns + j) * O::rows + i]", "gemv rows"},
    {kGemv, "share of a partial sum, stored", "(O::along_k ? thread_k / 32 : thread_k) * partial_size", "(O::along_k ? thread_k : thread_k / 32) * partial_size", "gemv rows"},
    {kFewByMany, "place of the first partial sum, read", "sum = part[i * Kernel::config.block_n + j];", "sum = part[j * Kernel::config.block_m + i];", "gemv rows"},
    {kFewByMany, "place of a partial sum, read", "sum += part[p * part_size + i * Kernel::config.block_n + j];", "sum += part[p * part_size + j * Kernel::config.block_m + i];", "gemv rows"},
    {kFewByMany, "row of an element", "swapped ? element % Kernel::config.block_m : element / Kernel::config.block_n", "swapped ? element / Kernel::config.block_m : element % Kernel::config.block_n", "gemv rows"},
    {kFewByMany, "column of an element", "swapped ? element / Kernel::config.block_m : element % Kernel::config.block_n", "swapped ? element % Kernel::config.block_m : element / Kernel::config.block_n", "gemv rows"},
    {kFewByMany, "C's index", "output.store_element(few_index, many_index, sum)", "output.store_element(many_index, few_index, sum)", "gemv rows"},
    {kFewByMany, "C's index, swapped", "output.store_element(many_index, few_index, sum)", "output.store_element(few_index, many_index, sum)", "gemv swapped"},
    {kFewByMany, "place of partial results", "place.batch, place.split, 1)", "place.split, place.batch, 1)", "gemv swapped"},

    // reduce: barriers.
    {kReduce, "no barrier before adding up", "before the first sharer adds them up.\n        __syncthreads();", "before the first sharer adds them up.\n", "reduce shared"},
    {kReduce, "no barrier after adding up", "before the next ones overwrite them.\n        __syncthreads();", "before the next ones overwrite them.\n", "reduce shared"},
    // reduce: conditions.
    {kReduce, "parts of columns that do not exist", "if (exists) {", "{", "reduce shared"},
    {kReduce, "every sharer stores", "if (exists && sharer == 0)", "if (exists)", "reduce shared"},
    // reduce: indices.
    {kReduce, "first part", "(place.batch * args.split_k * args.m + place.row) * ld + column", "(place.row * args.split_k * args.batch + place.batch) * ld + column", "reduce shared"},
    {kReduce, "next part", "part + split * args.m * ld", "part + split * ld", "reduce shared"},
    {kReduce, "share, stored", "shares_of_block + sharer * Kernel::step.columns + vector * kVector", "shares_of_block + vector * Kernel::step.columns + sharer * kVector", "reduce shared"},
    {kReduce, "share, read", "shares_of_block + other * Kernel::step.columns + vector * kVector", "shares_of_block + vector * Kernel::step.columns + other * kVector", "reduce shared"},
    {kReduce, "lane's vector", "static_cast<int>(threadIdx.x) % vectors", "static_cast<int>(threadIdx.x) / vectors", "reduce shared"},
    {kReduce, "lane's share", "static_cast<int>(threadIdx.x) / vectors", "static_cast<int>(threadIdx.x) % vectors", "reduce shared"},
    {kReduce, "row and batch", "block / blocks_n % rows", "block % rows", "reduce wide"},
    {kReduce, "C's index", "(place.row, column, sum.element", "(column, place.row, sum.element", "reduce shared"},
    {kReduce, "C's member of the batch", "output_to_c<Kernel>(args, scalars, place.batch)", "output_to_c<Kernel>(args, scalars, 0)", "reduce shared"},

    // pack: barriers.
    {kPack, "no barrier before writing the square", "before this one is written.\n        __syncthreads();", "before this one is written.\n", "pack both"},
    {kPack, "no barrier before reading the square", "if constexpr (turned || with_strip) __syncthreads();", "", "pack both"},
    // pad: where a piece comes from and goes to, the ends of its rows.
    {kPad, "matrix of a piece", "batch > 1 ? number / operand.pieces_of_matrix : 0", "0", "pad both"},
    {kPad, "piece of a matrix", "number - member * operand.pieces_of_matrix", "number", "pad both"},
    {kPad, "band of a piece", "operand.pieces_of_band > 1 ? in_matrix / operand.pieces_of_band : in_matrix", "in_matrix", "pad both"},
    {kPad, "part of a band", "in_matrix - band * operand.pieces_of_band", "0", "pad both"},
    {kPad, "rows side by side", "lane >> operand.lanes_log2", "0", "pad both"},
    {kPad, "chunk of a lane", "lane - (beside << operand.lanes_log2)", "lane", "pad both"},
    {kPad, "rows of a band", "band * operand.rows_of_band +", "band +", "pad both"},
    {kPad, "row of a short piece", "part << (5 - operand.lanes_log2)", "part", "pad both"},
    {kPad, "place of a piece", "part * operand.chunks_of_piece", "part * (operand.chunks_of_piece + 1)", "pad both"},
    {kPad, "no check of the chunks", "chunks_left > 0 && ", "", "pad both"},
    {kPad, "as many rows as chunks", "is_short ? rows_left : chunks_left", "chunks_left", "pad both"},
    {kPad, "as many chunks as rows", "is_short ? rows_left : chunks_left", "rows_left", "pad both"},
    {kPad, "rows beyond the matrix", "static_cast<int>(operand.rows) - static_cast<int>(row)", "static_cast<int>(operand.rows) - static_cast<int>(row) + 1", "pad both"},
    {kPad, "a row's steps are a long one's", "is_short ? operand.rows_between_steps : 32", "32", "pad both"},
    {kPad, "matrix of a row", "+ member * operand.stride", "+ 0", "pad both"},
    {kPad, "end of the matrix", "piece.begin + operand.extent", "piece.begin + operand.extent + kChunkElements", "pad both"},
    {kPad, "row's place", "row * operand.ld +", "row * operand.copy_ld +", "pad both"},
    {kPad, "chunk's place", "i64{chunk} * chunk_units", "i64{place} * chunk_units", "pad both"},
    {kPad, "matrix of a copy", "(member * operand.rows + row)", "row", "pad both"},
    {kPad, "distance of padded rows", "* operand.copy_ld + chunk", "* (operand.ld / kChunkElements) + chunk", "pad both"},
    {kPad, "both chunks within", "+ 2 * chunk_units > piece.end", "+ chunk_units > piece.end", "pad both"},
    {kPad, "the last step's end", "(piece.inside_end - 1) * operand.step", "0", "pad both"},
    {kPad, "no chunk at the begin", "for (int i = 0; i < piece.count; ++i) {\n        if (i >= piece.inside", "for (int i = 1; i < piece.count; ++i) {\n        if (i >= piece.inside", "pad both"},
    {kPad, "no chunks at the end", "for (int i = 0; i < piece.count; ++i) {\n        if (i >= piece.inside", "for (int i = 0; i < piece.inside; ++i) {\n        if (i >= piece.inside", "pad both"},
    {kPad, "the first chunk again", "chunks[i].second.element, first + chunk_units", "chunks[i].second.element, first", "pad both"},
    {kPad, "the first chunk again, at an end", "read_chunk(chunk + chunk_units, piece.begin, piece.end)", "read_chunk(chunk, piece.begin, piece.end)", "pad both"},
    {kPad, "no shift", "shifted<bytes>(chunks[i], shift)", "shifted<bytes>(chunks[i], 0)", "pad both"},
    {kPad, "no shift, at an end", "shifted<bytes>(two, shift)", "shifted<bytes>(two, 0)", "pad both"},
    {kPad, "step of the loads", "first = aligned + i * operand.step", "first = aligned", "pad both"},
    {kPad, "step of the loads, at an end", "const Unit* const chunk = aligned + i * operand.step", "const Unit* const chunk = aligned", "pad both"},
    {kPad, "step of the stores", "piece.to + i * operand.copy_step, shifted<bytes>(chunks", "piece.to + i, shifted<bytes>(chunks", "pad both"},
    {kPad, "step of the stores, at an end", "piece.to + i * operand.copy_step, shifted<bytes>(two", "piece.to + i, shifted<bytes>(two", "pad both"},
    {kPad, "blocks copy the same", "blockIdx.x * kWarps + threadIdx.x / 32", "blockIdx.x + threadIdx.x / 32", "pad both"},
    {kPad, "warps copy the same", "* kWarps + threadIdx.x / 32", "* kWarps", "pad both"},
    {kPad, "A's last piece is B's", "of_a = number < pieces_a", "of_a = number + 1 < pieces_a", "pad both"},
    {kPad, "B's first piece", "number - pieces_a)", "number - pieces_a + 1)", "pad both"},
    {kPad, "B not copied", "number < pieces_a + args.operands[1].pieces", "number < pieces_a", "pad both"},
    {kPad, "A for B", "args.operands[of_a ? 0 : 1]", "args.operands[0]", "pad both"},
    // pad: operands that are turned.
    {kPad, "squares of another matrix", "stride, rows, columns, columns,", "stride, columns, rows, columns,", "turn both"},
    {kPad, "squares that no block turns", "blockIdx.x < squares", "blockIdx.x + 1 < squares", "turn both"},
    {kPad, "squares of the first matrix only", "pack::tiles(rows, columns, batch)", "pack::tiles(rows, columns, 1)", "turn both"},
    {kPad, "A turned to B's place", "args.batch, args.operands[0].copy", "args.batch, args.operands[1].copy", "turn both"},
    {kPad, "B's rows", "turn(args.b, args.k, args.n", "turn(args.b, args.k, args.m", "turn both"},
    {kPad, "A's distances", "args.lda, args.stride_a", "args.ldb, args.stride_a", "turn both"},
    {kPad, "B's distances", "args.ldb, args.stride_b", "args.ldb, args.stride_a", "turn both"},
    // pad: operands of bytes.
    {kPad, "bytes shifted as pairs of them", "shifted<bytes>(chunks[i], shift)", "shifted<2>(chunks[i], shift)", "pad bytes"},
    {kPad, "bytes shifted as pairs of them, at an end", "shifted<bytes>(two, shift)", "shifted<2>(two, shift)", "pad bytes"},
    {kTurnBytes, "neighbours of four rows", "first[i / 2], second[i / 2]", "first[i / 2], first[i / 2]", "turn bytes"},
    {kTurnBytes, "the second two of a word", "? 0x5410 : 0x7632", "? 0x5410 : 0x5410", "turn bytes"},
    {kTurnBytes, "a square's chunks side by side", "(chunk + k / 16) % kChunksOfRow * 4", "0", "turn bytes"},
    {kTurnBytes, "square of another member", "row_of_squares / along_k", "0", "turn bytes"},
    {kTurnBytes, "square across", "i64{blockIdx.x - row_of_squares * across}", "i64{blockIdx.x}", "turn bytes"},
    {kTurnBytes, "matrix of a square", "static_cast<const Byte*>(source) + member * stride", "static_cast<const Byte*>(source)", "turn bytes"},
    {kTurnBytes, "end of the matrix", "(rows - 1) * ld + columns;", "rows * ld + 16;", "turn bytes"},
    {kTurnBytes, "the first chunk again", "ptx::ld<Chunk>(from + 16)", "ptx::ld<Chunk>(from)", "turn bytes"},
    {kTurnBytes, "the first chunk again, at an edge", "read_chunk(from + 16, begin, end)", "read_chunk(from, begin, end)", "turn bytes"},
    {kTurnBytes, "no shift", "shifted<1>(chunks, shift_of(place_of(turn)))", "shifted<1>(chunks, 0)", "turn bytes"},
    {kTurnBytes, "a square at an edge taken for one inside", "(aligned ? k0 + kByteSquare <= rows : k0 > 0 && k0 + kByteSquare < rows)", "true", "turn bytes"},
    {kTurnBytes, "no barrier between operands", "// The square of the other operand has been read before this one is written.\n    __syncthreads();", "", "turn bytes"},
    {kTurnBytes, "no barrier before the square is read", "    __syncthreads();\n\n    const int warp", "\n    const int warp", "turn bytes"},
    {kTurnBytes, "no check of K", "if (k0 + sixteen * 16 >= rows) return;", "", "turn bytes"},
    {kTurnBytes, "no check of M or N", "if (outer >= columns) return;", "", "turn bytes"},
    {kTurnBytes, "place in the copy", "(member * columns + outer) * copy_ld", "(member * columns + outer) * rows", "turn one operand of bytes"},
    // pack: conditions.
    {kPack, "no check of M or N, read", "row * kOfRow + i < rows && lane < columns", "lane < columns", "pack both"},
    {kPack, "no check of K, read", "row * kOfRow + i < rows && lane < columns", "row * kOfRow + i < rows", "pack both"},
    {kPack, "no check of the lines", "row * kOfRow + i < edges.lines && lane < edges.outer", "lane < edges.outer", "pack for tf32"},
    {kPack, "lines end with K", "row * kOfRow + i < edges.lines && lane < edges.outer", "row * kOfRow + i < edges.k && lane < edges.outer", "pack both"},
    {kPack, "no check of M or N, written", "row * kOfRow + i < edges.lines && lane < edges.outer", "row * kOfRow + i < edges.lines", "pack both"},
    {kPack, "no zeros past K", "? *from : 0", "? *from : 1", "pack both"},
    // pack: indices.
    {kPack, "the square, written", "shared.turning[(row * kOfRow + i) * (kTile + 1) + lane]", "shared.turning[lane * (kTile + 1) + row * kOfRow + i]", "pack both"},
    {kPack, "the square, read", "shared.turning[lane * (kTile + 1) + row * kOfRow + i]", "shared.turning[(row * kOfRow + i) * (kTile + 1) + lane]", "pack both"},
    {kPack, "place of an element", "square.from + row * kOfRow * ld + lane", "square.from + lane * ld + row * kOfRow", "pack straight"},
    {kPack, "the next element", "from += ld", "from += 1", "pack straight"},
    {kPack, "place of a square in a turned matrix", "turned ? outer0 * operand.ld + k0", "turned ? k0 * operand.ld + outer0", "pack both"},
    {kPack, "place of a square in a matrix", ": k0 * operand.ld + outer0", ": outer0 * operand.ld + k0", "pack straight"},
    {kPack, "place in the packed operand", "square.to + row * kOfRow * packed_ld + lane", "square.to + lane * packed_ld + row * kOfRow", "pack both"},
    {kPack, "the next line", "to += packed_ld", "to += 1", "pack both"},
    // pack: what is left beyond the last square.
    {kPack, "k beyond are not copied", "row + kTile < edges.k && lane < edges.outer", "false", "pack beyond squares"},
    {kPack, "no check of K beyond", "row + kTile < edges.k && lane < edges.outer", "lane < edges.outer", "pack beyond squares"},
    {kPack, "no check of M or N beyond, read", "row + kTile < edges.k && lane < edges.outer", "row + kTile < edges.k", "pack beyond squares"},
    {kPack, "place of an element beyond", "turned ? lane * ld + row + kTile", "turned ? (row + kTile) * ld + lane", "pack beyond squares"},
    {kPack, "place of an element beyond, straight", ": (row + kTile) * ld + lane", ": lane * ld + row + kTile", "pack beyond squares"},
    {kPack, "place beyond in the packed operand", "square.to + (row + kTile) * packed_ld + lane", "square.to + row * packed_ld + lane", "pack beyond squares"},
    {kPack, "every line beyond is the first of them", "i == kTile ? beyond : 0", "beyond", "pack beyond squares"},
    {kPack, "no check of M or N beyond, written", "row + i < edges.lines && lane < edges.outer; i", "row + i < edges.lines; i", "pack beyond squares"},
    {kPack, "member of the batch", "(batch * operand.lines + k0)", "(batch + k0)", "pack both"},
    {kPack, "line of a square", "(batch * operand.lines + k0)", "(batch * operand.lines)", "pack straight"},
    {kPack, "row of a square", "packed_ld(operand.outer) + outer0,", "packed_ld(operand.outer),", "pack both"},
    {kPack, "stride", "operand.matrix + batch * operand.stride", "operand.matrix", "pack both"},
    {kPack, "B behind A", "Kernel::step.a ? packed_elements(args.m, args.k, args.batch) : 0", "0", "pack both"},
    {kPack, "tile of B", "(b, number - squares_a)", "(b, number)", "pack both"},

    // What all of them share: where results go, and what becomes of them.
    {kOutput, "C: no check of M", "if (guarded && row >= rows) return;", "", "simt registers"},
    {kOutput, "C: no check of N", "!guarded || left >= width ? width : static_cast<int>(left)", "width", "simt registers"},
    {kOutput, "C's index", "first + row * ld + column", "first + column * ld + row", "simt registers"},
    {kOutput, "place of partial results", "(batch * args.split_k + split) / Kernel::config.cluster", "(split * args.batch + batch) / Kernel::config.cluster", "simt split"},
    {kOutput, "C's stride", "batch * args.stride_c", "batch * args.stride_a", "simt turned batch", 4, 2},
    {kOutput, "C: no check of N in a row", "left < width ? static_cast<int>(left) : width", "width", "reduce shared"},
    {kOutput, "beta = 0 reads C", "if (results.scalars.beta != 0) result", "result", "tiled nn"},
    {kOutput, "beta = 0 reads C's vector", "if (Target::signature.reads_c && results.scalars.beta != 0) {", "if (Target::signature.reads_c) {", "simt registers"},
    {kOutput, "vectors past the edge stored whole", "if (valid >= width) {", "if (true) {", "simt registers"},
    {kOutput, "no check of the element", "if (i < valid) store_result", "store_result", "simt registers"},
    {kOutput, "vector of C, read", "load_vector<access>(c + begin)", "load_vector<access>(c)", "simt peeled"},
    {kOutput, "vector of C, stored", "store_vector_global(c + begin, elements)", "store_vector_global(c, elements)", "simt peeled"},
    {kOutput, "sums with C", "finish<true>(elements, results, row, column + begin, sums + begin)", "finish<true>(elements, results, row, column + begin, sums)", "simt peeled"},
    {kOutput, "sums without C", "finish<false>(elements, results, row, column + begin, sums + begin)", "finish<false>(elements, results, row, column + begin, sums)", "simt peeled"},
    {kOutput, "element of C's vector", "sums[i], over ? elements.element[i]", "sums[i], over ? elements.element[0]", "simt peeled"},
    {kOutput, "sum of C's vector", "sums[i], over ? elements.element[i]", "sums[0], over ? elements.element[i]", "simt peeled"},
    {kOutput, "element of C", "store_result(c + i, results, row, column + i, sums[i])", "store_result(c, results, row, column + i, sums[i])", "simt registers"},
    {kOutput, "element's sum", "store_result(c + i, results, row, column + i, sums[i])", "store_result(c + i, results, row, column + i, sums[0])", "simt registers"},
};
// clang-format on

}  // namespace

const std::vector<Mutation>& mutations() {
    return kMutations;
}

int count_of(const std::string& text, const std::string& fragment) {
    int count = 0;
    for (auto at = text.find(fragment); at != std::string::npos; at = text.find(fragment, at + fragment.size())) ++count;
    return count;
}

TemplateFiles mutated(const TemplateFiles& files, const Mutation& mutation) {
    const auto file = files.find(mutation.file);
    const std::string anchor = mutation.anchor;
    if (file == files.end() || count_of(file->second, anchor) != mutation.occurrences) return {};
    TemplateFiles changed = files;
    std::string& text = changed[mutation.file];
    auto at = text.find(anchor);
    for (int i = 0; i < mutation.which; ++i) at = text.find(anchor, at + anchor.size());
    text.replace(at, anchor.size(), mutation.replacement);
    return changed;
}

}  // namespace tmm::testing
