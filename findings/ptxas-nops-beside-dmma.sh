#!/bin/bash
# FP64 mma.sync for sm_90 in NVRTC. Up to 13.0 the compiler puts NOPs beside each independent product of one warp: two for m16n8k8 and four for
# m16n8k16, so that most instructions of a loop of DMMAs are NOPs, and a count of instructions says little about it. From 13.1 on the same text
# has none. The products themselves are the same instructions: DMMA.16x8x8 and DMMA.16x8x16.
# Versions: nvidia-cuda-nvrtc-cu12 12.8.93, nvidia-cuda-nvrtc 13.0.88, 13.1.115, 13.2.86, 13.5.37, nvidia-cuda-nvdisasm 13.5.37 (Linux x86-64).
# No GPU is needed. Exit 0 while it is so.
set -euo pipefail
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
pip="python3 -m pip install -q --no-deps --root-user-action=ignore"
$pip --target "$tmp/12.8.93" nvidia-cuda-nvrtc-cu12==12.8.93
for v in 13.0.88 13.1.115 13.2.86 13.5.37; do $pip --target "$tmp/$v" nvidia-cuda-nvrtc==$v; done
$pip --target "$tmp/disasm" nvidia-cuda-nvdisasm==13.5.37
cat >"$tmp/count.py" <<'P'
import ctypes, glob, re, subprocess, sys
root, version, depth, expected = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
PRODUCTS = 32
def names(kind, count): return ", ".join(f'"{kind}"({name})' for name in count)
a, b = depth // 2, depth // 4
places = lambda first, count: "{" + ",".join(f"%{first + i}" for i in range(count)) + "}"
text = f"""
extern "C" __global__ void products(double* p) {{
    double a[{a}], b[{b}], c[8][4];
    for (int i = 0; i < {a}; ++i) a[i] = p[threadIdx.x + 32 * i];
    for (int i = 0; i < {b}; ++i) b[i] = p[threadIdx.x + 500 + 32 * i];
    for (int j = 0; j < 8; ++j) for (int i = 0; i < 4; ++i) c[j][i] = p[j * 4 + i];
    #pragma unroll
    for (int r = 0; r < {PRODUCTS}; ++r)
        asm("mma.sync.aligned.m16n8k{depth}.row.col.f64.f64.f64.f64 {places(0, 4)}, {places(4, a)}, {places(4 + a, b)}, {places(0, 4)};"
            : {names("+d", (f"c[r % 8][{i}]" for i in range(4)))}
            : {names("d", [f"a[{i}]" for i in range(a)] + [f"b[{i}]" for i in range(b)])});
    for (int j = 0; j < 8; ++j) for (int i = 0; i < 4; ++i) p[threadIdx.x + 32 * (j * 4 + i)] = c[j][i];
}}
"""
n = ctypes.CDLL(glob.glob(f"{root}/{version}/nvidia/*/lib/libnvrtc.so.1[23]")[0])
program, size = ctypes.c_void_p(), ctypes.c_size_t()
n.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"k.cu", 0, None, None)
assert n.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"--gpu-architecture=sm_90")) == 0
n.nvrtcGetCUBINSize(program, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
n.nvrtcGetCUBIN(program, cubin)
open(f"{root}/k.cubin", "wb").write(cubin.raw)
code = subprocess.run(glob.glob(f"{root}/disasm/nvidia/*/bin/nvdisasm") + [f"{root}/k.cubin"], capture_output=True, text=True, check=True).stdout
operations = re.findall(r"/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)", code)
products = [i for i, name in enumerate(operations) if name == "DMMA"]
nops = operations[products[0]:products[-1]].count("NOP")
print(f"{version}, m16n8k{depth}: {len(products)} DMMAs, {nops} NOPs among them")
holds = nops >= 0.8 * expected * PRODUCTS if expected else nops == 0
sys.exit(len(products) != PRODUCTS or not holds)
P
for v in 12.8.93 13.0.88; do
    python3 "$tmp/count.py" "$tmp" $v 8 2
    python3 "$tmp/count.py" "$tmp" $v 16 4
done
for v in 13.1.115 13.2.86 13.5.37; do
    python3 "$tmp/count.py" "$tmp" $v 8 0
    python3 "$tmp/count.py" "$tmp" $v 16 0
done
echo "as described"
