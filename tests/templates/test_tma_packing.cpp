// Tests operands and strips that thread blocks of simt pack and multiply on their way, and the last k beyond whole tiles, on the emulated
// device.
#include <doctest/doctest.h>

#include "tests/support/kernels/tma_products.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("what blocks of the product pack is what it multiplies") {
    constexpr const char* kTile =
        "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,thread_m=8,thread_n=8,stages=3,async_copy=3,pack_ab=";
    // Rows that are aligned and turned, such as start anywhere, turned and straight; one operand, the other, both; whole squares, and parts
    // of them along each side.
    check_right(kTile,
                {
                    TmaCase{"5,block_k=32", "130x132x448 align=16"},
                    TmaCase{"5,block_k=32", "70x132x333 align=16 lda=336"},
                    TmaCase{"6,block_k=32", "72x130x333 ops=tt align=16 ldb=336"},
                    TmaCase{"7,block_k=32", "130x201x448 ops=nt align=16"},
                    TmaCase{"7,block_k=32", "65x67x449"},
                    TmaCase{"7,block_k=32", "129x67x321 ops=tn beta=1"},
                    TmaCase{"5,block_k=32", "130x131x390 ldb=132 ldc=132"},
                    TmaCase{"7,block_k=32,trim=1", "65x67x449"},
                    TmaCase{"7,slice_k=2,block_k=64,min_blocks=2", "100x90x513"},
                },
                4);
}

TEST_CASE("strips that are multiplied while their long operand is packed are whole, and so is the corner between them") {
    constexpr const char* kTile =
        "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,async_copy=3,trim=2,";
    check_right(kTile,
                {
                    // Every layout; one to four rows and columns; K of one square, and of parts of them.
                    TmaCase{"stages=2,pack_ab=3", "65x65x65"},
                    TmaCase{"stages=2,pack_ab=3", "68x66x200 ops=nt beta=1"},
                    TmaCase{"stages=2,pack_ab=3", "131x195x64 ops=tn"},
                    TmaCase{"stages=2,pack_ab=3", "65x132x3 ops=tt lda=67 ldb=7 ldc=140"},
                    TmaCase{"stages=2,pack_ab=3", "66x67x129 batch=3 beta=1"},
                    // One side alone; tiles that reach past the other's edge.
                    TmaCase{"stages=2,pack_ab=3", "66x64x70"},
                    TmaCase{"stages=2,pack_ab=3", "100x65x70 ops=nt"},
                    // The other side's strip by a kernel of its own, which has the corner: too wide, or its operand is not packed.
                    TmaCase{"stages=2,pack_ab=3", "66x72x70 beta=1"},
                    TmaCase{"stages=2,pack_ab=3", "72x66x70"},
                    TmaCase{"stages=2,pack_ab=1", "65x68x72 align=16"},
                    TmaCase{"stages=2,pack_ab=2", "68x65x72 ops=tt align=16"},
                    // Slices, clusters, parts of K.
                    TmaCase{"stages=2,pack_ab=3,slice_k=4", "65x66x200"},
                    TmaCase{"stages=2,pack_ab=3,split_k=2,cluster=2", "65x66x200"},
                    TmaCase{"stages=2,pack_ab=3,split_k=3", "65x66x200 beta=1"},
                },
                4);
    check_right("family=simt,vector_width=4,boundary=exact,block_m=32,block_n=16,block_k=16,thread_m=4,thread_n=4,stages=2,async_copy=3,",
                {TmaCase{"trim=2,pack_ab=3", "33x17x64"}, TmaCase{"trim=2,pack_ab=1", "64x17x64 align=16 ldb=20"}}, 1);
    // There are more pieces of work than thread blocks that add up.
    check_right("family=simt,vector_width=4,boundary=peeled,block_m=32,block_n=16,block_k=32,thread_m=2,thread_n=2,stages=2,async_copy=3,",
                {TmaCase{"trim=2,pack_ab=3", "321x209x385"}}, 1);
}

TEST_CASE("the last k are multiplied, however few of a tile, a slice, or a part of K they are") {
    constexpr const char* kTile =
        "family=simt,vector_width=4,boundary=peeled,block_m=64,block_n=64,thread_m=8,thread_n=8,stages=2,async_copy=3,";
    check_right(kTile,
                {
                    // K is less than a tile in all; then one k, half a tile, and one more lie beyond whole tiles.
                    TmaCase{"block_k=32", "60x68x1 ops=tn align=16"},
                    TmaCase{"block_k=32", "60x68x65 ops=tn align=16"},
                    TmaCase{"block_k=32", "60x68x80 ops=tn align=16"},
                    TmaCase{"block_k=32", "60x68x81 ops=tn align=16"},
                    // Beyond whole tiles there is work for the first slice alone, for half of the slices, and for a part of a slice.
                    TmaCase{"block_k=64,slice_k=4", "60x68x129 ops=tn align=16"},
                    TmaCase{"block_k=64,slice_k=4", "60x68x160 ops=tn align=16"},
                    TmaCase{"block_k=64,slice_k=4", "60x68x149 ops=tn align=16"},
                    TmaCase{"block_k=32,split_k=3", "60x68x197 ops=tn align=16"},
                    TmaCase{"block_k=32,split_k=2,cluster=2", "60x68x197 ops=tn align=16"},
                    TmaCase{"block_k=64,pack_ab=7", "60x68x451"},
                },
                4);
}
