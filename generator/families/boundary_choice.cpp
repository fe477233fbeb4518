#include "generator/families/boundary_choice.h"

#include "generator/plan/launch_plan.h"
#include "generator/search/search_choices.h"

namespace tmm {

KernelConfig with_edges_where_needed(const GemmProblem& problem, const GemmProblem&, const KernelConfig& config) {
    if (config.boundary != boundary::exact) return config;
    const TileOfC tile = tile_of_c(config);
    KernelConfig adapted = config;
    if (!divides(main_extent(problem, config), problem.k, tile.rows, tile.columns, config.block_k)) adapted.boundary = boundary::peeled;
    return adapted;
}

}  // namespace tmm
