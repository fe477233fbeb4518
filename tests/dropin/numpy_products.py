"""Large products of NumPy in host memory, each compared with FP64 and called often enough for libtmm_blas.so to decide who multiplies it.
The program knows nothing of tmm: it is run with the library and without it (scripts/test_dropin). Prints a line a product with the time of
the first and of the last call, and ends with 1 where one is wrong. An argument divides the sizes, for machines without a GPU.
"""

import sys
import time

import numpy

# The first goes to the BLAS, the second compiles, the third is timed.
_CALLS = 5


def products(make, size):
    yield "a @ b", lambda a, b: a @ b, [make(size, size), make(size, size)]
    yield "a.T @ b", lambda a, b: a.T @ b, [make(size, size), make(size, size)]
    yield "a @ b.T", lambda a, b: a @ b.T, [make(size, size // 2), make(size, size // 2)]
    yield "rows of a wider matrix", lambda a, b: a[:, 8:] @ b, [make(size, size + 8), make(size, size // 2)]
    yield "a matrix and its transpose", lambda a: a @ a.T, [make(size, size // 2)]
    yield "a stack", numpy.matmul, [make(2, size // 2, size), make(2, size, size // 2)]
    yield "multi_dot", lambda *x: numpy.linalg.multi_dot(x), [make(size, size // 2), make(size // 2, size), make(size, size // 4)]
    yield "every other row backwards", lambda a, b: a[::-2] @ b, [make(size, size // 2), make(size // 2, size // 2)]


def main() -> int:
    size = 4096 // int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    random, fine = numpy.random.default_rng(5), True
    for name, call, operands in products(lambda *shape: random.standard_normal(shape, dtype="f"), size):
        times = []
        for _ in range(_CALLS):
            begin = time.perf_counter()
            result = call(*operands)
            times.append(time.perf_counter() - begin)
        wide = [operand.astype("d") for operand in operands]
        error = abs(result - call(*wide)).max() / call(*map(abs, wide)).max()
        right = error < 2e-6
        fine = fine and right
        print(f"{'right' if right else 'WRONG'} {name}: error {error:.2g}, {times[0] * 1e3:.2f} ms, at last {times[-1] * 1e3:.2f} ms", flush=True)
    print("all right" if fine else "SOME WRONG")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
