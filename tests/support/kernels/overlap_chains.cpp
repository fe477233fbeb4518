#include "tests/support/kernels/overlap_chains.h"

#include "generator/text/text.h"

namespace tmm::testing {

const std::vector<OverlapChain>& overlap_chains() {
    static const std::vector<OverlapChain> chains = {
        {"200x200x200", "family=naive,block_m=8,block_n=32"},
        {"208x208x208", "family=tiled,block_m=16,block_n=16,block_k=16"},
        {"200x200x200",
         "family=simt,block_m=32,block_n=32,block_k=8,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled"},
        {"200x200x200",
         "family=simt,block_m=64,block_n=64,block_k=8,thread_m=8,thread_n=4,stages=2,vector_width=4,boundary=peeled,split_k=3,pack_ab=3"},
        {"1024x1024x1024",
         "family=simt,block_m=32,block_n=64,block_k=16,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled,split_k="
         "2,"
         "cluster=2"},
        {"200x200x200",
         "family=simt,block_m=64,block_n=64,block_k=8,thread_m=8,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled,stream_k="
         "1"},
        {"200x200x200",
         "family=simt,block_m=16,block_n=32,block_k=32,thread_m=4,thread_n=4,stages=3,async_copy=1,vector_width=4,boundary=peeled,along_k="
         "1,"
         "slice_k=4"},
        {"200x200x200",
         "family=simt,block_m=64,block_n=64,block_k=8,thread_m=8,thread_n=4,stages=3,async_copy=3,vector_width=4,boundary=peeled,pack_ab="
         "1"},
        {"200x200x200",
         "family=simt,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=4,stages=3,async_copy=3,vector_width=4,boundary=peeled,pack_ab="
         "5"},
        {"130x130x130",
         "family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=4,stages=2,vector_width=4,boundary=peeled,trim=1"},
        {"130x130x130",
         "family=simt,block_m=64,block_n=64,block_k=16,thread_m=8,thread_n=4,stages=3,async_copy=3,vector_width=4,boundary=peeled,pack_ab="
         "3,trim=2"},
        {"16x16x16", "family=gemv,block_m=16,block_n=32,block_k=64,thread_n=2,stages=2,vector_width=4,boundary=peeled"},
        {"64x64x64 ops=nt",
         "family=skinny,block_m=16,block_n=32,block_k=64,thread_m=8,thread_n=4,stages=3,vector_width=4,boundary=hardware,slice_k=2"},
        {"200x200x200 dtype=bf16",
         "family=mma,block_m=64,block_n=64,block_k=32,stages=3,async_copy=1,vector_width=8,boundary=peeled,warps_m=2,warps_n=2"},
        {"1000x1000x1000 dtype=bf16", "family=wgmma,block_m=64,block_n=128,block_k=64,stages=6,vector_width=8,boundary=hardware"},
        {"1000x1000x1000 dtype=f16",
         "family=wgmma,block_m=64,block_n=64,block_k=64,stages=3,vector_width=8,boundary=hardware,split_k=3,min_blocks=2"},
        {"1000x1000x1000 dtype=bf16",
         "family=wgmma,block_m=64,block_n=64,block_k=64,stages=3,vector_width=8,boundary=hardware,ping_pong=1,multicast_a=2"},
        {"999x999x999 dtype=bf16", "family=wgmma,block_m=64,block_n=64,block_k=64,stages=3,vector_width=8,boundary=hardware,pack_ab=3"},
        {"1000x1000x1000",
         "family=wgmma,block_m=128,block_n=64,block_k=64,stages=2,vector_width=8,boundary=hardware,warps_m=2,planes=2,promote_k=64"},
    };
    return chains;
}

KernelConfig config_of(const OverlapChain& chain) {
    KernelConfig config = parse_config(chain.config);
    config.overlap = 1;
    return config;
}

}  // namespace tmm::testing
