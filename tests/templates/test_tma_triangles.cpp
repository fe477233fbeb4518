// wgmma where one triangle of C is wanted, on the emulated device: tiles higher and wider than long, swapped, shared by clusters, in bands,
// in parts of K, of planes; results that leave in boxes, by warps, or as sums for a step.
#include <doctest/doctest.h>

#include "tests/support/kernels/tma_products.h"

using namespace tmm::testing;

TEST_CASE("one triangle by wgmma is right, and the other is its mirror image or left alone") {
    check_right("family=wgmma,block_k=64,stages=2,vector_width=8,boundary=hardware,",
                {
                    {"block_m=64,block_n=64", "200x200x72 dtype=bf16 ops=nt result=symmetric"},
                    {"block_m=64,block_n=128,swap_ab=1", "200x200x72 dtype=f16 result=lower beta=1"},
                    {"block_m=128,block_n=64,warps_m=2", "257x257x64 dtype=bf16 ops=nt result=upper"},
                    {"block_m=64,block_n=96,swap_ab=1", "193x193x40 dtype=bf16 ops=tn result=symmetric beta=1 lda=200 ldb=200 ldc=200"},
                    {"block_m=64,block_n=64,multicast_b=2", "300x300x64 dtype=bf16 ops=nt result=symmetric"},
                    {"block_m=64,block_n=64,multicast_a=2,raster=2", "300x300x64 dtype=bf16 ops=nt result=symmetric batch=2"},
                    {"block_m=64,block_n=64,split_k=2", "150x150x256 dtype=bf16 ops=nt result=symmetric"},
                    {"block_m=64,block_n=64,split_k=2", "150x150x256 dtype=bf16 ops=nt result=lower beta=1"},
                    {"block_m=64,block_n=64,split_k=2,cluster=2", "150x150x256 dtype=bf16 ops=nt result=upper"},
                    {"block_m=64,block_n=64,ping_pong=1", "200x200x128 dtype=bf16 ops=nt result=symmetric epilogue=relu"},
                    {"block_m=64,block_n=64,pack_ab=3", "131x131x67 dtype=bf16 result=symmetric"},
                    {"block_m=64,block_n=64,planes=2,promote_k=32", "130x130x96 ops=nt result=symmetric"},
                    {"block_m=64,block_n=64,planes=2,promote_k=32", "130x130x96 ops=nt result=lower beta=1"},
                },
                4);
}
