#include "tests/support/writers.h"

namespace tmm::testing {

const std::vector<Writer>& writers() {
    static const std::string simt = "family=simt,vector_width=4,block_m=32,block_n=64,block_k=16,thread_m=4,thread_n=4,boundary=peeled,";
    static const std::string simt_by_tma =
        "family=simt,vector_width=4,block_m=64,block_n=64,block_k=32,thread_m=8,thread_n=8,boundary=peeled,async_copy=3,";
    static const std::string packed = simt_by_tma + "stages=2,";
    static const std::string wgmma = "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=64,block_k=64,stages=3,";
    static const std::string planes =
        "family=wgmma,vector_width=8,boundary=hardware,block_m=128,block_n=64,block_k=64,stages=2,warps_m=2,planes=2,promote_k=64";
    static const std::string wgmma128 = "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=128,block_k=64,stages=3";
    static const std::string swapped128 =
        "family=wgmma,vector_width=8,boundary=hardware,block_m=128,block_n=40,block_k=64,stages=3,swap_ab=1";
    static const std::string swapped256 =
        "family=wgmma,vector_width=8,boundary=peeled,block_m=256,block_n=40,block_k=64,stages=2,warps_m=2,swap_ab=1";
    static const std::string gated_rows = "family=wgmma,vector_width=8,block_k=64,";
    static const auto* const list = new std::vector<Writer>{
        {"19x23x7 batch=3 ldc=29 beta=1", "family=naive,block_m=4,block_n=8"},
        {"19x23x7 dtype=f16 batch=2", "family=naive,block_m=4,block_n=8"},
        {"19x23x7 batch=3 beta=1", "family=tiled,block_m=8,block_n=8,block_k=8"},
        {"45x75x21 batch=2 ldc=77", simt + "stages=1"},
        {"45x75x21 beta=1", simt + "stages=1"},
        {"64x128x32 align=16", "family=simt,vector_width=4,block_m=32,block_n=64,block_k=16,thread_m=4,thread_n=2,stages=1"},
        {"45x75x50 batch=2 beta=1", simt + "stages=1,split_k=3"},
        {"45x75x50 batch=2", simt + "stages=1,split_k=4,cluster=4"},
        {"45x75x50", simt + "stages=1,split_k=4,cluster=2"},
        {"45x75x50 batch=2 beta=1", simt + "stages=1,stream_k=1"},
        {"45x75x50 batch=2", simt + "stages=3,async_copy=1,slice_k=4"},
        {"70x132x333", packed + "pack_ab=3"},
        {"70x132x448 beta=1", simt_by_tma + "stages=3,pack_ab=7"},
        {"66x67x129 batch=3 beta=1", packed + "trim=2,pack_ab=3"},
        {"66x67x129 batch=3 beta=1", packed + "trim=2,pack_ab=3,split_k=2"},
        {"67x64x129 batch=2", packed + "trim=2,pack_ab=3,split_k=3"},
        // A strip of columns, one of rows and the corner are kernels of their own.
        {"66x72x70 batch=2 beta=1", packed + "trim=2,pack_ab=3"},
        {"72x66x70", packed + "trim=2,pack_ab=3"},
        {"69x73x70 batch=2", packed + "trim=1,pack_ab=3"},
        {"5x45x120 batch=2 beta=1", "family=gemv,block_m=4,block_n=32,block_k=16,thread_n=2,vector_width=4,boundary=guarded,stages=1"},
        {"45x5x120 batch=2", "family=gemv,block_m=4,block_n=32,block_k=128,thread_n=2,vector_width=4,boundary=guarded,stages=1,swap_ab=1"},
        {"5x45x120 batch=2", "family=gemv,block_m=4,block_n=32,block_k=16,thread_n=2,vector_width=4,boundary=guarded,stages=1,split_k=3"},
        {"13x70x64 ops=nt align=16 beta=1",
         "family=skinny,block_m=16,block_n=32,block_k=64,thread_m=8,thread_n=4,stages=3,vector_width=4,boundary=hardware,slice_k=2"},
        {"70x13x64 ops=nt align=16",
         "family=skinny,block_m=16,block_n=32,block_k=64,thread_m=8,thread_n=4,stages=3,vector_width=4,boundary=hardware,swap_ab=1"},
        {"70x77x64 dtype=bf16 batch=2",
         "family=mma,block_m=64,block_n=64,block_k=32,stages=2,async_copy=0,vector_width=8,boundary=peeled,warps_m=2,warps_n=2"},
        {"70x77x64 dtype=f16 ctype=f32 beta=1",
         "family=mma,block_m=64,block_n=64,block_k=32,stages=2,async_copy=0,vector_width=8,boundary=peeled,warps_m=2,warps_n=2"},
        // Boxes: of C's type, with what C holds, of columns beyond whole chunks, swapped, wider than one box.
        {"70x136x64 dtype=bf16 align=16 batch=2", wgmma},
        {"70x133x64 dtype=f16 align=16 ldb=136 ldc=136 beta=1", wgmma},
        {"136x72x64 dtype=bf16 align=16", wgmma + "swap_ab=1"},
        {"70x176x64 dtype=bf16 ops=nt align=16 beta=1",
         "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=88,block_k=64,stages=3"},
        {"70x136x64 dtype=bf16 ctype=f32 align=16 beta=1", wgmma},
        {"70x136x64 dtype=bf16 align=16", wgmma + "ping_pong=1"},
        {"136x136x64 dtype=bf16 align=16 ops=tn", wgmma},
        // Rows that start anywhere, and rows of sums that are turned into results as they leave.
        {"70x77x64 dtype=bf16 align=16 lda=64 ldb=80 ldc=77", wgmma},
        {"77x71x64 dtype=bf16 align=16 lda=64 ldb=72 ldc=71", wgmma + "swap_ab=1"},
        {"70x77x64 dtype=bf16 align=16 lda=64 ldb=80 ldc=77 beta=1", wgmma},
        {"70x77x64 dtype=bf16 ctype=f32 align=16 lda=64 ldb=80 ldc=77", wgmma + "swap_ab=1"},
        {"70x77x64 dtype=bf16 ctype=f32 align=16 lda=64 ldb=80 ldc=78 beta=1", wgmma + "swap_ab=1"},
        {"70x136x256 dtype=bf16 align=16 batch=2 beta=1", wgmma + "split_k=2"},
        {"70x136x256 dtype=bf16 align=16 batch=2 beta=1", wgmma + "split_k=2,cluster=2"},
        {"72x136x256 dtype=bf16 align=16", wgmma + "split_k=2,cluster=2,swap_ab=1"},
        {"70x77x64 compute=tf32 ops=nt align=16 ldc=77",
         "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=64,block_k=32,stages=3"},
        // Tiles whose halves a gate may take: of rows along K and along N, of two warpgroups, in turns, swapped.
        {"70x144x64 dtype=bf16 align=16 ldc=152", wgmma128},
        {"70x136x64 dtype=bf16 align=16 ldc=144", wgmma128},
        {"70x136x64 dtype=bf16 align=16 ops=nt batch=2", wgmma},
        {"70x133x64 dtype=f16 align=16 ops=nt ldc=141",
         "family=wgmma,vector_width=8,boundary=peeled,block_m=64,block_n=64,block_k=64,stages=3"},
        {"70x300x64 dtype=bf16 align=16 ops=nt ctype=f32",
         "family=wgmma,vector_width=8,boundary=hardware,block_m=64,block_n=160,block_k=64,stages=2,warps_n=2"},
        {"70x304x64 dtype=f16 align=16 ldc=312",
         "family=wgmma,vector_width=8,boundary=hardware,block_m=128,block_n=256,block_k=64,stages=2,warps_n=2"},
        {"136x136x64 dtype=bf16 align=16 ops=tt", wgmma128 + ",ping_pong=1"},
        {"40x208x64 dtype=bf16 align=16", swapped128},
        {"40x200x64 dtype=bf16 align=16 ops=nt", swapped128 + ",ping_pong=1"},
        {"40x301x64 dtype=f16 align=16 ops=nt ldc=301", swapped256},
        // The same of rows of A, which the left operand has, or the right one where it is swapped.
        {"144x72x64 dtype=bf16 align=16 ldc=80", gated_rows + "boundary=hardware,block_m=128,block_n=64,stages=3"},
        {"272x136x64 dtype=bf16 align=16 ops=tn", gated_rows + "boundary=hardware,block_m=256,block_n=64,stages=2,warps_m=2"},
        {"150x77x64 dtype=f16 ops=nt align=16 ldc=77", gated_rows + "boundary=peeled,block_m=128,block_n=40,stages=3"},
        {"301x70x64 dtype=f16 align=16 ops=nt ctype=f32 batch=2",
         gated_rows + "boundary=hardware,block_m=128,block_n=64,stages=3,ping_pong=1"},
        {"70x144x64 dtype=bf16 align=16", gated_rows + "boundary=peeled,block_m=64,block_n=80,stages=2,swap_ab=1"},
        {"272x70x64 dtype=bf16 align=16 ops=tt ldc=72", gated_rows + "boundary=hardware,block_m=64,block_n=128,stages=3,swap_ab=1"},
        // Two blocks bring what a gate takes in halves for each other, or the other operand.
        {"272x136x64 dtype=bf16 align=16 ops=nt", gated_rows + "boundary=hardware,block_m=128,block_n=64,stages=3,multicast_a=2"},
        {"272x136x64 dtype=bf16 align=16 ops=tt", gated_rows + "boundary=hardware,block_m=128,block_n=64,stages=3,multicast_b=2"},
        {"140x72x64 align=16 beta=1", planes},
        {"140x72x64 align=16 beta=1", planes, true},
        {"140x71x64", planes, true},
    };
    return *list;
}

}  // namespace tmm::testing
