// Tests edge tiles that copy only the rows that exist, and trimmed products of wgmma, on the emulated device.
#include <doctest/doctest.h>

#include "tests/support/kernels/tma_products.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("edge tiles bring the rows that exist, whichever operand has them, and whole what blocks share") {
    check_right("family=wgmma,vector_width=8,boundary=peeled,stages=2,",
                {
                    TmaCase{"block_k=64,block_m=64,block_n=80", "84x110x150 dtype=bf16 ops=nt align=16 lda=152 ldb=152"},
                    // Blocks that share one operand or both; tiles of a cluster that lie outside of C; fewer rows than a tile.
                    TmaCase{"block_k=64,block_m=128,block_n=96,multicast_a=2,multicast_b=2",
                            "164x110x150 dtype=bf16 ops=nt align=16 lda=152 ldb=152"},
                    TmaCase{"block_k=64,block_m=64,block_n=16,warps_n=2,swap_ab=1,multicast_a=2,multicast_b=2,split_k=3,pack_ab=3",
                            "1x1x191 dtype=f16 ops=nt batch=3 lda=192 ldb=192 stride_a=0 beta=1"},
                    TmaCase{"block_k=64,block_m=64,block_n=80,multicast_b=2", "148x110x333 dtype=bf16 ops=nt align=16 lda=336 ldb=336"},
                    TmaCase{"block_k=64,block_m=64,block_n=64,multicast_a=4", "70x203x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 ldc=208"},
                    TmaCase{"block_k=64,block_m=64,block_n=32,multicast_b=2", "13x50x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
                    TmaCase{"block_k=64,block_m=128,block_n=64,ping_pong=1", "1500x2100x40 dtype=bf16 ops=nt batch=2"},
                    // One operand alone, C read, rows of C that start anywhere, a transposed product, padded operands, a trimmed product.
                    TmaCase{"block_k=64,block_m=128,block_n=64,warps_m=2", "150x70x70 dtype=bf16 align=16 lda=72 ldb=72"},
                    TmaCase{"block_k=64,block_m=64,block_n=128", "70x150x70 dtype=f16 ops=tt align=16 lda=72 ldb=72 beta=1"},
                    TmaCase{"block_k=64,block_m=64,block_n=88", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=203"},
                    TmaCase{"block_k=64,block_m=128,block_n=40,swap_ab=1", "70x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208"},
                    TmaCase{"block_k=64,block_m=64,block_n=64,pack_ab=3", "83x91x71 dtype=bf16 ops=nt batch=2"},
                    TmaCase{"block_k=64,block_m=64,block_n=64,trim=1", "65x100x72 dtype=bf16 ops=nt align=16"},
                    // K is split, with partial sums in memory and in a cluster; floats.
                    TmaCase{"block_k=64,block_m=64,block_n=64,split_k=3", "83x91x280 dtype=bf16 ops=nt align=16"},
                    TmaCase{"block_k=64,block_m=64,block_n=64,split_k=4,cluster=2", "83x91x280 dtype=f16 ops=nt align=16"},
                    TmaCase{"block_k=32,block_m=64,block_n=64", "83x91x44 compute=tf32 ops=nt align=16"},
                    TmaCase{"block_k=64,block_m=64,block_n=64,planes=3,promote_k=32", "83x91x70 ops=nt"},
                    // Slabs that lie beyond rows along N, along M, both, shared, of a transposed product, of C that is read, of parts of K;
                    // of floats from registers, of planes.
                    TmaCase{"block_k=64,block_m=64,block_n=192,pack_ab=3", "70x257x133 dtype=bf16"},
                    TmaCase{"block_k=64,block_m=192,block_n=64,warps_m=3,pack_ab=3", "257x70x133 dtype=bf16 ops=tt batch=2"},
                    TmaCase{"block_k=64,block_m=192,block_n=128,warps_m=3,multicast_a=2,multicast_b=2,pack_ab=3",
                            "201x130x70 dtype=f16 ops=tn ldc=131"},
                    TmaCase{"block_k=64,block_m=128,block_n=64,swap_ab=1", "70x130x70 dtype=bf16 align=16 lda=72 ldb=136 ldc=131"},
                    TmaCase{"block_k=64,block_m=64,block_n=192", "70x257x70 dtype=bf16 align=16 lda=72 ldb=264 ldc=264 beta=1"},
                    TmaCase{"block_k=64,block_m=64,block_n=128,split_k=4", "64x130x560 dtype=bf16 align=16 ldb=136 ldc=136"},
                    TmaCase{"block_k=32,block_m=128,block_n=64,swap_ab=1", "70x161x44 compute=tf32 align=16 ldb=164 ldc=162"},
                    TmaCase{"block_k=64,block_m=64,block_n=192,warps_n=3,planes=2,promote_k=64", "70x257x70"},
                    // Slabs of which the tile takes the first columns: beyond the matrix, shared, of C that is read, of parts of K, of a
                    // transposed product, of padded operands, of turns, of a batch, of planes, within a tile narrower than a slab.
                    TmaCase{"block_k=64,block_m=64,block_n=96", "70x254x133 dtype=bf16 align=16 lda=136 ldb=256 ldc=256"},
                    TmaCase{"block_k=64,block_m=64,block_n=224", "70x231x70 dtype=bf16 ops=tn align=16 lda=72 ldb=232 ldc=235"},
                    TmaCase{"block_k=64,block_m=128,block_n=96,warps_m=2,multicast_a=2,multicast_b=2",
                            "201x300x70 dtype=f16 ops=tn align=16 lda=208 ldb=304 ldc=301"},
                    TmaCase{"block_k=64,block_m=64,block_n=136", "70x257x70 dtype=bf16 align=16 lda=72 ldb=264 ldc=264 beta=1"},
                    TmaCase{"block_k=64,block_m=64,block_n=104,split_k=4,cluster=2", "64x130x560 dtype=bf16 align=16 ldb=136 ldc=136"},
                    TmaCase{"block_k=64,block_m=64,block_n=104,split_k=3", "64x130x560 dtype=bf16 align=16 ldb=136 ldc=136"},
                    TmaCase{"block_k=64,block_m=64,block_n=88,swap_ab=1", "190x130x70 dtype=bf16 ops=tn align=16 lda=192 ldb=136 ldc=131"},
                    TmaCase{"block_k=64,block_m=64,block_n=72,swap_ab=1,pack_ab=3", "83x91x71 dtype=bf16 ops=tt batch=2"},
                    TmaCase{"block_k=64,block_m=128,block_n=72,ping_pong=1", "700x1504x40 dtype=bf16 batch=2"},
                    TmaCase{"block_k=64,block_m=64,block_n=88,planes=2,promote_k=64", "70x257x70"},
                    TmaCase{"block_k=64,block_m=64,block_n=24", "70x53x70 dtype=f16 align=16 lda=72 ldb=56 ldc=56"},
                    // An A that all of a batch share.
                    TmaCase{"block_k=64,block_m=64,block_n=80", "84x110x150 dtype=bf16 ops=nt batch=3 align=16 lda=152 ldb=152 stride_a=0"},
                },
                8);
}

TEST_CASE("a trimmed product is whole, whether its tiles take the operands as they are, padded, turned, in parts or swapped") {
    constexpr const char* kPadded = "block_m=64,block_n=64,block_k=64,stages=2,pack_ab=3,trim=1";
    check_right("",
                {
                    TmaCase{kPadded, "65x66x70 dtype=bf16"},
                    TmaCase{kPadded, "129x79x71 dtype=f16 ops=tt beta=1"},
                    TmaCase{kPadded, "65x67x71 dtype=bf16 ctype=f32 ops=tn batch=3"},
                    TmaCase{kPadded, "65x67x71 dtype=bf16 ops=nt batch=2"},
                    // One of the operands lies as TMA wants it; tiles reach past the edge one way.
                    TmaCase{"block_m=64,block_n=64,block_k=64,stages=2,pack_ab=2,trim=1", "65x100x72 dtype=bf16 align=16 ldb=101"},
                    TmaCase{"block_m=64,block_n=64,block_k=64,stages=2,trim=1", "100x65x72 dtype=bf16 ops=nt align=16 ldc=72 beta=1"},
                    // A transposed product has as many rows as the tile has columns.
                    TmaCase{"block_m=64,block_n=24,block_k=64,stages=2,swap_ab=1,trim=1", "50x66x72 dtype=bf16 ops=nt align=16"},
                    TmaCase{"block_m=64,block_n=40,block_k=64,stages=2,swap_ab=1,pack_ab=3,trim=1", "43x203x71 dtype=f16 ops=nt"},
                    TmaCase{"block_m=64,block_n=64,block_k=64,stages=2,split_k=2,cluster=2,pack_ab=3,trim=1", "65x66x270 dtype=bf16"},
                    TmaCase{"block_m=64,block_n=64,block_k=64,stages=2,split_k=4,pack_ab=3,trim=1", "65x66x270 dtype=bf16 beta=1"},
                    TmaCase{"block_m=64,block_n=64,block_k=32,stages=2,pack_ab=3,trim=1", "65x66x41 compute=tf32 ops=tn"},
                    TmaCase{"block_m=64,block_n=64,block_k=32,stages=2,swap_ab=1,pack_ab=3,trim=1", "66x65x41 compute=tf32 ops=tn"},
                },
                5);
}
