#!/bin/bash
# A GEMM on Hopper may leave its accumulators unset, when the first wgmma of a tile gets scale-d = 0 and so overwrites them: 128 moves less per
# tile. ptxas up to 12.8 then serializes every wgmma of the kernel (remark C7515, "non wgmma instructions defining accumulator registers", though
# no instruction in the PTX defines them): the loop is skipped where there is no tile, so that the undefined registers meet the defined ones at
# its end. The kernel is correct, its tensor cores idle most of the time, and the compilation succeeds. Setting the registers to zero before the
# loop silences the remark, and so does ptxas 12.9 or newer with unset registers.
# Versions: nvidia-cuda-nvrtc-cu12 12.4.127, 12.8.93, 12.9.86, nvidia-cuda-nvrtc 13.0.88 (Linux x86-64). No GPU. Exit 0 while it is so.
set -euo pipefail
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
pip="python3 -m pip install -q --no-deps --root-user-action=ignore"
for v in 12.4.127 12.8.93 12.9.86; do $pip --target "$tmp/$v" nvidia-cuda-nvrtc-cu12==$v; done
$pip --target "$tmp/13.0.88" nvidia-cuda-nvrtc==13.0.88
cat >"$tmp/try.py" <<'P'
import ctypes, glob, sys
registers = ", ".join(f"%{i}" for i in range(32))
outputs = ", ".join(f'"+f"(d[{i}])' for i in range(32))
TEXT = """
extern "C" __global__ void __launch_bounds__(128, 1) k(float* out, int items, int tiles, unsigned long long a, unsigned long long b) {
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        float d[32];
        %s
        for (int tile = 0; tile < tiles; ++tile) {
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
            for (int k = 0; k < 2; ++k)
                asm volatile("{ .reg .pred adds; setp.ne.u32 adds, %%34, 0;"
                    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {REGISTERS}, %%32, %%33, adds, 1, 1, 0, 0; }"
                    : OUTPUTS : "l"(a + 2 * (tile * 2 + k)), "l"(b + 2 * (tile * 2 + k)), "r"(tile + k > 0 ? 1 : 0));
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        for (int i = 0; i < 32; ++i) asm volatile("" : "+f"(d[i]) :: "memory");
        if (tiles > 0) for (int i = 0; i < 32; ++i) out[(item * 32 + i) * 128 + threadIdx.x] = d[i];
    }
}
""".replace("REGISTERS", registers.replace("%", "%%")).replace("OUTPUTS", outputs)
n = ctypes.CDLL(glob.glob(sys.argv[1] + "/nvidia/*/lib/libnvrtc.so.1[23]")[0])
def serialized(start):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    n.nvrtcCreateProgram(ctypes.byref(program), (TEXT % start).encode(), b"k.cu", 0, None, None)
    options = [b"--gpu-architecture=sm_90a", b"--ptxas-options=-v"]
    result = n.nvrtcCompileProgram(program, 2, (ctypes.c_char_p * 2)(*options))
    n.nvrtcGetProgramLogSize(program, ctypes.byref(size)); log = ctypes.create_string_buffer(size.value); n.nvrtcGetProgramLog(program, log)
    assert result == 0, log.value.decode()
    return "wgmma.mma_async instructions are serialized" in log.value.decode()
unset, zero = serialized(""), serialized("for (int i = 0; i < 32; ++i) d[i] = 0;")
print(sys.argv[1].rsplit("/", 1)[1], "serializes: unset accumulators", unset, "- zeros", zero)
sys.exit([unset, zero] != [sys.argv[2] == "yes", False])
P
for v in 12.4.127 12.8.93; do python3 "$tmp/try.py" "$tmp/$v" yes; done
for v in 12.9.86 13.0.88; do python3 "$tmp/try.py" "$tmp/$v" no; done
echo "as described"
