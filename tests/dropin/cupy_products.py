"""Products of CuPy, each compared with NumPy's in FP64. The program knows nothing of tmm: it is run with libtmm_cublas.so and without it
(scripts/test_dropin). Prints a line a product, and ends with 1 where one is wrong. CUPY=numpy tries it where there is no GPU.
"""

import importlib
import os
import sys

import numpy

cupy = importlib.import_module(os.environ.get("CUPY", "cupy"))

_ROUNDING = {"float32": 2.0**-24, "float16": 2.0**-11}


def on_host(x):
    return cupy.asnumpy(x) if hasattr(cupy, "asnumpy") else numpy.asarray(x)


def products(make):
    """Names, functions of a library's module and operands, and those, and k."""
    for m, n, k in ((512, 512, 512), (1024, 256, 2048), (16, 4096, 1024), (100, 37, 99), (1, 300, 200)):
        yield f"matmul {m}x{n}x{k}", lambda np, a, b: np.matmul(a, b), [make(m, k), make(k, n)], k
        yield f"matmul of a transposed {m}x{n}x{k}", lambda np, a, b: np.matmul(a.T, b), [make(k, m), make(k, n)], k
        yield f"dot with a transposed {m}x{n}x{k}", lambda np, a, b: np.dot(a, b.T), [make(m, k), make(n, k)], k
        yield f"columns of wider matrices {m}x{n}x{k}", lambda np, a, b: np.matmul(a[:, 1:], b[:, :-1]), [make(m, k + 1), make(k, n + 1)], k
    for batch, m, n, k in ((8, 128, 128, 64), (5, 33, 17, 65)):
        yield f"matmul of batches {batch} {m}x{n}x{k}", lambda np, a, b: np.matmul(a, b), [make(batch, m, k), make(batch, k, n)], k
        yield f"matmul of a shared matrix {batch} {m}x{n}x{k}", lambda np, a, b: np.matmul(a, b), [make(batch, m, k), make(k, n)], k
    yield "tensordot", lambda np, a, b: np.tensordot(a, b, axes=((1, 2), (0, 1))), [make(64, 8, 16), make(8, 16, 96)], 128
    yield "einsum", lambda np, a, b: np.einsum("bij,bjk->bik", a, b), [make(4, 64, 96), make(4, 96, 32)], 96


def main() -> int:
    fine = True
    for dtype in ("float32", "float16"):
        random = numpy.random.default_rng(3)

        def make(*shape):
            return cupy.asarray(random.standard_normal(shape).astype(dtype))

        for name, call, operands, k in products(make):
            result = on_host(call(cupy, *operands)).astype("d")
            wide = [on_host(operand).astype("d") for operand in operands]
            expected, added_up = call(numpy, *wide), call(numpy, *map(abs, wide))
            # Some of CuPy's products of 16 bits are summed in parts that are rounded.
            bound = (k + 8) * 2.0**-24 * added_up + (2 if dtype == "float32" else 16) * _ROUNDING[dtype] * (abs(expected) + added_up / k**0.5)
            worst = float((abs(result - expected) / bound).max())
            right = result.shape == expected.shape and worst <= 1
            fine = fine and right
            print(f"{'right' if right else 'WRONG'} {dtype} {name}: {worst:.3g} of the bound", flush=True)
    print("all right" if fine else "SOME WRONG")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
