// The steps around a product. Each step is a family to the generator, which makes its text; none of them serves a problem by itself.
#include "generator/families/descriptors.h"
#include "generator/families/neutral.h"
#include "tmm/steps/fixup/rules.h"
#include "tmm/steps/pack/rules.h"
#include "tmm/steps/pad/rules.h"
#include "tmm/steps/planes/rules.h"
#include "tmm/steps/reduce/rules.h"
#include "tmm/steps/rescue/rules.h"

namespace tmm {
namespace {

using C = KernelConfig;

const char* pack_arguments(const KernelConfig&) {
    return "tmm::PackArgs";
}
const char* pad_arguments(const KernelConfig&) {
    return "tmm::PadArgs";
}
const char* planes_arguments(const KernelConfig&) {
    return "tmm::PlanesArgs";
}
const char* rescue_arguments(const KernelConfig&) {
    return "tmm::RescueArgs";
}

// Old databases may name scan, which no longer has a kernel.
const char* no_kernel(const KernelConfig&, const KernelSignature&) {
    return "no such family";
}
i64 no_shared_bytes(const KernelConfig&, const KernelSignature&) {
    return 0;
}

}  // namespace

constexpr Family kReduce{
    .number = family::reduce,
    .kernel = {.arguments_type = neutral::plain_arguments,
               .moves_single_elements_of_ab = true,
               .moves_single_elements_of_c = false,
               .knows_tf32 = false,
               .vector_of_partial_sums = reduce::kVector,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::split_k, &C::overlap),
              .violation = reduce::first_violation,
              .threads = reduce::threads,
              .shared_bytes = reduce::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = true},
    .product = nullptr,
};

constexpr Family kPack{
    .number = family::pack,
    .kernel = {.arguments_type = pack_arguments,
               .moves_single_elements_of_ab = true,
               .moves_single_elements_of_c = true,
               .knows_tf32 = false,
               .vector_of_partial_sums = 0,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::pack_ab, &C::min_blocks, &C::trim, &C::overlap),
              .violation = pack::first_violation,
              .threads = pack::threads,
              .shared_bytes = pack::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = nullptr,
};

constexpr Family kPad{
    .number = family::pad,
    .kernel = {.arguments_type = pad_arguments,
               .moves_single_elements_of_ab = true,
               .moves_single_elements_of_c = true,
               .knows_tf32 = true,
               .vector_of_partial_sums = 0,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::pack_ab, &C::boundary, &C::min_blocks, &C::overlap),
              .violation = pad::first_violation,
              .threads = pad::threads,
              .shared_bytes = pad::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = nullptr,
};

constexpr Family kScan{
    .number = family::scan,
    .kernel = {.arguments_type = planes_arguments,
               .moves_single_elements_of_ab = false,
               .moves_single_elements_of_c = true,
               .knows_tf32 = false,
               .vector_of_partial_sums = 0,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::overlap),
              .violation = no_kernel,
              .threads = neutral::unbounded,
              .shared_bytes = no_shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = nullptr,
};

constexpr Family kPlanes{
    .number = family::planes,
    .kernel = {.arguments_type = planes_arguments,
               .moves_single_elements_of_ab = false,
               .moves_single_elements_of_c = true,
               .knows_tf32 = false,
               .vector_of_partial_sums = 0,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::planes, &C::vector_width, &C::boundary, &C::stages, &C::split_k, &C::cluster, &C::min_blocks,
                               &C::overlap),
              .violation = planes::first_violation,
              .threads = planes::threads,
              .shared_bytes = planes::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = false},
    .product = nullptr,
};

constexpr Family kRescue{
    .number = family::rescue,
    .kernel = {.arguments_type = rescue_arguments,
               .moves_single_elements_of_ab = false,
               .moves_single_elements_of_c = false,
               .knows_tf32 = false,
               .vector_of_partial_sums = 0,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::thread_m, &C::thread_n, &C::stages, &C::async_copy,
                               &C::vector_width, &C::boundary, &C::split_k, &C::min_blocks, &C::overlap),
              .violation = rescue::first_violation,
              .threads = rescue::threads,
              .shared_bytes = rescue::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = true},
    .product = nullptr,
};

constexpr Family kFixup{
    .number = family::fixup,
    .kernel = {.arguments_type = neutral::plain_arguments,
               .moves_single_elements_of_ab = true,
               .moves_single_elements_of_c = false,
               .knows_tf32 = false,
               .vector_of_partial_sums = fixup::kVector,
               .preamble = neutral::no_preamble},
    .rules = {.fields = fields(&C::family, &C::block_m, &C::block_n, &C::block_k, &C::raster, &C::stream_k, &C::overlap),
              .violation = fixup::first_violation,
              .threads = fixup::threads,
              .shared_bytes = fixup::shared_bytes,
              .cluster_size = neutral::field_cluster,
              .leaves_room = true},
    .product = nullptr,
};

}  // namespace tmm
