// Results of wgmma that leave by TMA in boxes, or by whole chunks where rows are not aligned, on the emulated device.
#include <doctest/doctest.h>

#include "tests/support/kernels/tma_products.h"

using namespace tmm;
using namespace tmm::testing;

TEST_CASE("results leave in boxes of every width, and by whole chunks where rows are unaligned") {
    constexpr const char* kSmall = "block_m=64,block_n=64,block_k=64,stages=2";
    check_right(
        "",
        {
            // Rows of 128 bytes; of these and of 64, of 32, and of 48; of 80; of 128 and of 16; of 64 where stages leave no room for more,
            // and of 32; of 32 alone.
            TmaCase{"block_m=64,block_n=128,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            TmaCase{"block_m=64,block_n=96,block_k=64,stages=2", "130x200x70 dtype=f16 ops=nt align=16 lda=72 ldb=72"},
            TmaCase{"block_m=64,block_n=80,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            TmaCase{"block_m=64,block_n=40,block_k=64,stages=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            TmaCase{"block_m=64,block_n=72,block_k=64,stages=4,min_blocks=2", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            TmaCase{"block_m=128,block_n=112,block_k=64,stages=7,warps_m=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208"},
            TmaCase{"block_m=64,block_n=112,block_k=64,stages=10", "130x200x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72"},
            // Seven of a tile, of which three leave at once, three, and one; five by twos.
            TmaCase{"block_m=64,block_n=224,block_k=64,stages=2", "200x701x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=704"},
            TmaCase{"block_m=64,block_n=136,block_k=64,stages=2,min_blocks=2",
                    "200x701x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=704"},
            // Boxes of floats; boxes of a transposed product; both.
            TmaCase{kSmall, "130x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=204"},
            TmaCase{"block_m=64,block_n=24,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=208"},
            TmaCase{"block_m=64,block_n=40,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=f16 ctype=f32 align=16 lda=72 ldb=208 ldc=204"},
            TmaCase{"block_m=64,block_n=40,block_k=64,stages=2", "130x203x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=204"},
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2,swap_ab=1", "190x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=208"},
            // Fewer columns than a chunk has, members of a batch, tiles of a cluster that lie outside of C.
            TmaCase{kSmall, "70x3x70 dtype=bf16 align=16 lda=72 ldb=8 ldc=8"},
            TmaCase{kSmall, "70x72x70 dtype=bf16 batch=3 align=16 lda=72"},
            TmaCase{"block_m=64,block_n=64,block_k=64,stages=2,multicast_a=2,multicast_b=2", "130x136x70 dtype=bf16 align=16 lda=72"},
            // Slabs that end with the matrix, beside such as lie beyond it: of the left operand, of both, of both of a transposed product.
            TmaCase{"block_m=256,block_n=64,block_k=64,stages=2,warps_m=2", "140x72x70 dtype=bf16 ops=tt align=16 lda=144 ldb=72"},
            TmaCase{"block_m=128,block_n=128,block_k=64,stages=2,warps_n=2",
                    "203x301x70 dtype=bf16 ops=tn align=16 lda=208 ldb=304 ldc=304"},
            TmaCase{"block_m=128,block_n=128,block_k=64,stages=2,swap_ab=1",
                    "203x301x70 dtype=f16 ctype=f32 ops=tn align=16 lda=208 ldb=304 ldc=304"},
            // C is read as well: rows of 128 bytes, of 80, of 128 and of 48 or 16, of 32 for want of room, of floats, more of them than
            // boxes, of transposed products, of several tiles of
            // a block, of slabs that could end with the matrix; and rows that start anywhere.
            TmaCase{"block_m=64,block_n=128,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            TmaCase{"block_m=64,block_n=40,block_k=64,stages=2", "130x200x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 beta=1"},
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2", "130x203x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            TmaCase{"block_m=64,block_n=72,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            TmaCase{"block_m=64,block_n=112,block_k=64,stages=10", "70x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=208 beta=1"},
            TmaCase{"block_m=64,block_n=104,block_k=64,stages=2", "70x200x70 dtype=bf16 ctype=f32 ops=nt align=16 lda=72 ldb=72 beta=1"},
            TmaCase{"block_m=128,block_n=256,block_k=64,stages=2,warps_n=2",
                    "140x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=204 beta=1"},
            TmaCase{"block_m=64,block_n=40,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=208 beta=1"},
            TmaCase{"block_m=64,block_n=72,block_k=64,stages=2,swap_ab=1",
                    "150x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=204 beta=1"},
            TmaCase{"block_m=64,block_n=128,block_k=64,stages=2,swap_ab=1",
                    "203x70x70 dtype=f16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=72 beta=1"},
            TmaCase{"block_m=128,block_n=128,block_k=64,stages=2,ping_pong=1",
                    "600x3000x40 dtype=bf16 ops=nt batch=2 align=16 lda=40 ldb=40 beta=1"},
            TmaCase{"block_m=128,block_n=128,block_k=64,stages=2,warps_n=2",
                    "203x301x70 dtype=bf16 ops=tn align=16 lda=208 ldb=304 ldc=304 beta=1"},
            TmaCase{kSmall, "70x133x70 dtype=f16 align=16 lda=72 ldb=136 ldc=135 beta=1"},
            // Rows that start anywhere.
            TmaCase{kSmall, "70x133x70 dtype=bf16 align=16 lda=72 ldb=136 ldc=135"},
            TmaCase{kSmall, "70x5x70 dtype=f16 align=16 lda=72 ldb=8 ldc=5"},
            TmaCase{"block_m=64,block_n=24,block_k=64,stages=2,swap_ab=1", "50x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=205"},
            TmaCase{kSmall, "70x132x70 dtype=bf16 align=16 lda=72 ldb=136 ldc=132"},
            // The same, staged by 64 columns and the rest: 24, 48, 56 alone, and 32 and 8 where stages leave no room for more.
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=203"},
            TmaCase{"block_m=192,block_n=176,block_k=64,stages=4,warps_m=3", "203x355x70 dtype=f16 ops=nt align=16 lda=72 ldb=72 ldc=357"},
            TmaCase{"block_m=64,block_n=56,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=205"},
            TmaCase{"block_m=128,block_n=104,block_k=64,stages=7,warps_m=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=206"},
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2,swap_ab=1", "190x203x70 dtype=bf16 align=16 lda=72 ldb=208 ldc=209"},
            // The same in floats, over C that starts anywhere, and with parts of K.
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2", "130x203x70 dtype=bf16 ops=nt align=16 lda=72 ldb=72 ldc=203 beta=1"},
            TmaCase{"block_m=64,block_n=56,block_k=64,stages=2", "130x203x70 dtype=f16 ctype=f32 ops=nt align=16 lda=72 ldb=72 ldc=203"},
            TmaCase{"block_m=64,block_n=72,block_k=64,stages=2,swap_ab=1",
                    "150x203x70 dtype=bf16 ctype=f32 align=16 lda=72 ldb=208 ldc=205 beta=1"},
            TmaCase{"block_m=64,block_n=88,block_k=64,stages=2,split_k=2",
                    "130x203x270 dtype=bf16 ops=nt align=16 lda=272 ldb=272 ldc=208"},
            TmaCase{"block_m=128,block_n=40,block_k=64,stages=2,warps_m=2,split_k=3",
                    "130x203x270 dtype=f16 ops=nt align=16 lda=272 ldb=272 ldc=203"},
        },
        9);
}
