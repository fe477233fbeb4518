#!/bin/bash
# __builtin_bit_cast in NVRTC. 12.0 to 12.2 do not have it. From 12.3 to 12.8 it refuses a class template that nothing has instantiated yet,
# with an error about sizes ("the type of the second operand ... must have the same size"), since it looks at the type before completing it; a
# static_assert on sizeof in front of the same cast makes it compile. From 12.9 on it completes the type itself. __has_builtin answers rightly
# in all of them, so that code for every NVRTC 12 can ask, but asking is not enough from 12.3 to 12.8.
# Versions: nvidia-cuda-nvrtc-cu12 12.0.140, 12.2.140, 12.3.107, 12.8.93, 12.9.86 (Linux x86-64). No GPU is needed. Exit 0 while it is so.
set -euo pipefail
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
for v in 12.0.140 12.2.140 12.3.107 12.8.93 12.9.86; do
    python3 -m pip install -q --no-deps --root-user-action=ignore --target "$tmp/$v" nvidia-cuda-nvrtc-cu12==$v
done
cat >"$tmp/try.py" <<'P'
import ctypes, glob, sys
HEAD = """
struct Word { unsigned bits; };
template <class T, int n> struct alignas(4) Pack { T part[n]; };
#if !__has_builtin(__builtin_bit_cast)
#error absent
#endif
"""
BODIES = {
    "has_builtin": 'extern "C" __global__ void k(unsigned* p) { *p = 1; }',
    "plain": 'extern "C" __global__ void k(unsigned* p) { Word w{*p}; *p = __builtin_bit_cast(Pack<unsigned short COMMA 2>, w).part[1]; }',
    "after sizeof": 'extern "C" __global__ void k(unsigned* p) { static_assert(sizeof(Pack<unsigned short COMMA 2>) == 4); Word w{*p};'
                    ' *p = __builtin_bit_cast(Pack<unsigned short COMMA 2>, w).part[1]; }',
}
n = ctypes.CDLL(glob.glob(sys.argv[1] + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")[0])
def compiles(body):
    program = ctypes.c_void_p()
    text = (HEAD + body.replace(" COMMA", ",")).encode()
    n.nvrtcCreateProgram(ctypes.byref(program), text, b"k.cu", 0, None, None)
    options = [b"--std=c++20", b"--gpu-architecture=compute_80"]
    return n.nvrtcCompileProgram(program, 2, (ctypes.c_char_p * 2)(*options)) == 0
seen = [name for name, body in BODIES.items() if compiles(body)]
print(sys.argv[1].rsplit("/", 1)[1], "compiles:", ", ".join(seen) or "none")
sys.exit(seen != [name for name in sys.argv[2].split(",") if name])
P
for v in 12.0.140 12.2.140; do python3 "$tmp/try.py" "$tmp/$v" ""; done
for v in 12.3.107 12.8.93; do python3 "$tmp/try.py" "$tmp/$v" "has_builtin,after sizeof"; done
python3 "$tmp/try.py" "$tmp/12.9.86" "has_builtin,plain,after sizeof"
echo "as described"
