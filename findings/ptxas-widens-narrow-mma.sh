#!/bin/bash
# mma.sync of narrow types in NVRTC, compiled without a remark for GPUs whose tensor cores lack the type: ptxas widens the operands in the kernel.
# - FP8 (m16n8k32, e4m3): one QMMA for sm_89 and sm_120, but two HMMA.16816 on operands converted to FP16 for sm_90, sm_100 and sm_103. So the FP8
#   rate of a data-centre GPU is there only for wgmma and tcgen05, and for mma.sync FP8 is no faster than FP16.
# - s4 (m16n8k64): one IMMA.16864 up to sm_89; from sm_90 on a call to a routine of two IMMA.16832 of s8 and some 180 instructions that unpack.
# - b1 (m16n8k256, and.popc): one BMMA up to sm_90; for sm_100, sm_103 and sm_120 such a call, with eight IMMA.16832 of u8.
# - s8 (m16n8k32): one IMMA.16832 everywhere, beside which these counts stand.
# The order of sums within a product differs with the instruction, so that an FP8 product's last bits are another GPU's only by chance.
# Versions: nvidia-cuda-nvrtc-cu12 12.8.93 (which has no sm_103), nvidia-cuda-nvrtc 13.0.88, 13.5.37, nvidia-cuda-nvdisasm 13.5.37 (Linux x86-64).
# No GPU is needed. Exit 0 while it is so.
set -euo pipefail
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
pip="python3 -m pip install -q --no-deps --root-user-action=ignore"
$pip --target "$tmp/12.8.93" nvidia-cuda-nvrtc-cu12==12.8.93
for v in 13.0.88 13.5.37; do $pip --target "$tmp/$v" nvidia-cuda-nvrtc==$v; done
$pip --target "$tmp/disasm" nvidia-cuda-nvdisasm==13.5.37
cat >"$tmp/look.py" <<'P'
import ctypes, glob, re, subprocess, sys
root, version = sys.argv[1:]
library = ctypes.CDLL(glob.glob(f"{root}/{version}/nvidia/*/lib/libnvrtc.so.1[23]")[0])

def kernel(shape, kind, register, constraint):
    sums = ",".join(f'"+{constraint}"(sum[{i}])' for i in range(4))
    words = ",".join(f'"r"(words[threadIdx.x + {32 * i}])' for i in range(6))
    return f"""extern "C" __global__ void k({register}* c, const unsigned* words) {{
        {register} sum[4] = {{c[0], c[1], c[2], c[3]}};
        asm("mma.sync.aligned.{shape}.row.col.{kind} {{%0,%1,%2,%3}}, {{%4,%5,%6,%7}}, {{%8,%9}}, {{%0,%1,%2,%3}};" : {sums} : {words});
        for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = sum[i];
    }}"""

def operations(text, arch):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"k.cu", 0, None, None)
    assert library.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(f"--gpu-architecture={arch}".encode())) == 0
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    assert size.value <= 1, "the compiler has a remark"
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    open(f"{root}/k.cubin", "wb").write(cubin.raw)
    code = subprocess.run(glob.glob(f"{root}/disasm/nvidia/*/bin/nvdisasm") + [f"{root}/k.cubin"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"/\*[0-9a-f]{4}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", code)

NEW = ["sm_90", "sm_100", "sm_120"] + (["sm_103"] if version[:2] == "13" else [])
# Name, text, and for each architecture the products that come out of one mma.sync.
TABLE = [
    ("e4m3", kernel("m16n8k32", "f32.e4m3.e4m3.f32", "float", "f"),
     {arch: ("QMMA.16832.F32.E4M3.E4M3", 1) if arch in ("sm_89", "sm_120") else ("HMMA.16816.F32", 2) for arch in ["sm_89"] + NEW}),
    ("s4", kernel("m16n8k64", "s32.s4.s4.s32", "int", "r"),
     {arch: ("IMMA.16864.S4.S4", 1) if arch in ("sm_80", "sm_89") else ("IMMA.16832.S8.S8", 2) for arch in ["sm_80", "sm_89"] + NEW}),
    ("b1", kernel("m16n8k256", "s32.b1.b1.s32.and.popc", "int", "r"),
     {arch: ("BMMA.168256.AND.POPC", 1) if arch in ("sm_80", "sm_89", "sm_90") else ("IMMA.16832.U8.U8", 8) for arch in ["sm_80", "sm_89"] + NEW}),
    ("s8", kernel("m16n8k32", "s32.s8.s8.s32", "int", "r"), {arch: ("IMMA.16832.S8.S8", 1) for arch in ["sm_80", "sm_89"] + NEW}),
]
failed = False
for name, text, expected in TABLE:
    for arch, (product, count) in expected.items():
        found = operations(text, arch)
        products = [one for one in found if "MMA" in one]
        holds = products == [product] * count and any(one.startswith("CALL") for one in found) == (count > 1 and product.startswith("IMMA"))
        print(f"{version} {name:4} {arch:6}: {len(products)} {products[0]}, {len(found)} instructions{'' if holds else '  UNEXPECTED'}")
        failed |= not holds
sys.exit(failed)
P
for v in 12.8.93 13.0.88 13.5.37; do python3 "$tmp/look.py" "$tmp" $v; done
echo "as described"
