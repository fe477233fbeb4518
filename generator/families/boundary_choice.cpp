#include "generator/families/boundary_choice.h"

namespace tmm {

bool divides(const Extent& part, std::int64_t k, int block_m, int block_n, int block_k) {
    return part.rows % block_m == 0 && part.columns % block_n == 0 && k % block_k == 0;
}

KernelConfig with_edges_where_needed(const GemmProblem& problem, const GemmProblem&, const KernelConfig& config) {
    if (config.boundary != boundary::exact) return config;
    const TileOfC tile = tile_of_c(config);
    KernelConfig adapted = config;
    if (!divides(main_extent(problem, config), problem.k, tile.rows, tile.columns, config.block_k)) adapted.boundary = boundary::peeled;
    return adapted;
}

}  // namespace tmm
