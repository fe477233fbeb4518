"""Large products of NumPy in host memory, of float32 and float64, called often enough for libtmm_blas.so to decide who multiplies them.

The program knows nothing of tmm: it is run with the library and without it (scripts/test_dropin). Some rows of each result are compared
with sums in long double, which no BLAS multiplies. Prints a line a product with the time of the first and of the last call, and ends with 1
where one is wrong. An argument divides the sizes, for machines without a GPU.
"""

import functools
import sys
import time

import numpy

# The first goes to the BLAS, the second compiles, the third is timed.
_CALLS = 5
# Errors beside what was added up. Sums of so many products are off by less in each type.
_MOST = {"f": 1e-5, "d": 2e-14}
_ROWS = 12


def multi_dot(*factors):
    return numpy.linalg.multi_dot(factors)


def products(make, size):
    yield "a @ b", numpy.matmul, [make(size, size), make(size, size)]
    yield "a.T @ b", numpy.matmul, [make(size, size).T, make(size, size)]
    yield "a @ b.T", numpy.matmul, [make(size, size // 2), make(size, size // 2).T]
    yield "rows of a wider matrix", numpy.matmul, [make(size, size + 8)[:, 8:], make(size, size // 2)]
    a = make(size, size // 2)
    yield "a matrix and its transpose", numpy.matmul, [a, a.T]
    yield "a stack", numpy.matmul, [make(2, size // 2, size), make(2, size, size // 2)]
    yield "multi_dot", multi_dot, [make(size, size // 2), make(size // 2, size), make(size, size // 4)]
    yield "every other row backwards", numpy.matmul, [make(size, size // 2)[::-2], make(size // 2, size // 2)]


def error_of(result, factors) -> float:
    rows = numpy.linspace(0, result.shape[-2] - 1, _ROWS).astype(int)
    wide = [factors[0][..., rows, :].astype("g"), *(factor.astype("g") for factor in factors[1:])]
    exact, added_up = functools.reduce(numpy.matmul, wide), functools.reduce(numpy.matmul, map(abs, wide))
    return float((abs(result[..., rows, :] - exact) / added_up).max())


def main() -> int:
    size = 4096 // int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    random, fine = numpy.random.default_rng(5), True
    for dtype, most in _MOST.items():
        for name, multiply, factors in products(lambda *shape: random.standard_normal(shape, dtype=dtype), size):
            times = []
            for _ in range(_CALLS):
                begin = time.perf_counter()
                result = multiply(*factors)
                times.append(time.perf_counter() - begin)
            error = error_of(result, factors)
            right = result.dtype == dtype and error < most
            fine = fine and right
            shown = f"{'right' if right else 'WRONG'} {result.dtype} {name}: error {error:.2g}"
            print(f"{shown}, {times[0] * 1e3:.2f} ms, at last {times[-1] * 1e3:.2f} ms", flush=True)
    print("all right" if fine else "SOME WRONG")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
