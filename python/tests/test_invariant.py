"""Invariant products: a row's bits do not hang on the rows that it is computed with."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tmm_gemm as tmm


def operands(dtype, m, n, k):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    random = np.random.default_rng(3)
    return random.standard_normal((m, k)).astype(dtype), random.standard_normal((k, n)).astype(dtype)


def product(a, b):
    """In float32, where no bit of a sum is rounded away."""
    return tmm.matmul(a, b, np.empty((*a.shape[:-1], b.shape[-1]), "f"), invariant=True)


# The free choice adds up some rows of the first and the third in another order.
@pytest.mark.parametrize(
    "dtype, m, n, k", [("float32", 33, 65, 700), ("float32", 40, 96, 129), ("bfloat16", 128, 128, 500), ("bfloat16", 19, 40, 77)]
)
def test_each_row_has_the_bits_that_it_has_alone(dtype, m, n, k):
    a, b = operands(dtype, m, n, k)
    whole = product(a, b)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert np.allclose(whole, expected, rtol=1e-4, atol=1e-3)
    for i in range(m):
        assert np.array_equal(product(a[i : i + 1], b)[0], whole[i])
    for first, last in ((0, 2), (1, 8), (m - 7, m), (2, 18)):
        assert np.array_equal(product(a[first:last], b), whole[first:last])
    assert np.array_equal(product(a[::-1], b), whole[::-1])
    together = m // 4 * 4
    assert np.array_equal(product(a[:together].reshape(4, -1, k), b), whole[:together].reshape(4, -1, n))
    assert np.array_equal(product(a[5], b), whole[5])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_plans_and_results_of_one_triangle_keep_them_too(dtype):
    a, b = operands(dtype, 65, 65, 300)
    whole = product(a, b)
    short = {"float32": "f32", "bfloat16": "bf16"}[dtype]
    plan = tmm.Plan(3, 65, 300, dtype=short, ctype="f32", device="host", invariant=True)
    assert np.array_equal(plan.run(a[7:10], b, np.empty((3, 65), "f")), whole[7:10])
    lower = tmm.matmul(a, b, np.zeros((65, 65), "f"), result="lower", invariant=True)
    assert np.array_equal(lower, np.tril(whole))


def is_invariant(**options):
    return "order of sums" in tmm.Plan(4, 5, 6, device="host", **options).describe()


@pytest.fixture
def default():
    yield
    tmm.set_invariant(False)


def test_what_holds_for_all_products_each_may_say_otherwise(default):
    assert not is_invariant() and is_invariant(invariant=True)
    tmm.set_invariant(True)
    assert is_invariant() and not is_invariant(invariant=False)
    a, b = operands("float32", 33, 65, 700)
    assert np.array_equal(tmm.matmul(a, b), product(a, b)) and np.array_equal(tmm.matmul(a[3:4], b)[0], product(a, b)[3])
    tmm.set_invariant(False)
    assert not is_invariant()


@pytest.mark.parametrize("value, expected", [("1", "True False"), ("0", "False False"), ("", "False False"), (None, "False False")])
def test_the_environment_says_what_holds_at_first(value, expected):
    code = """
import tmm_gemm as tmm
def is_invariant(): return "order of sums" in tmm.Plan(4, 5, 6, device="host").describe()
first = is_invariant()
tmm.set_invariant(False)
print(first, is_invariant())
"""
    environment = {name: text for name, text in os.environ.items() if name != "TMM_INVARIANT"}
    if value is not None:
        environment["TMM_INVARIANT"] = value
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    assert said.strip() == expected
