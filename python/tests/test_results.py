"""Results that are symmetric, and results of which one triangle is wanted."""

import numpy as np
import pytest
import tmm_gemm as tmm

RNG = np.random.default_rng(11)
UNITS = {"float32": 2.0**-24, "float16": 2.0**-11, "float64": 2.0**-52, "int32": 0}


def normal(*shape, dtype=np.float32):
    if dtype == np.int8:
        return RNG.integers(-128, 128, shape, dtype=dtype)
    return RNG.standard_normal(shape).astype(dtype)


def transposed(x):
    return np.swapaxes(x, -1, -2)


def bits(x):
    return x.view(f"u{x.itemsize}")


def check(result, a, b):
    """Each product's error is below two units in the last place of |a| |b|, for sums this short."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert np.all(np.abs(result - a @ b) <= (a.shape[-1] + 2) * UNITS[result.dtype.name] * (np.abs(a) @ np.abs(b)))


def is_symmetric(result):
    return np.array_equal(bits(result), transposed(bits(result)))


def marked(*shape):
    """NaNs of which each has bits of its own. A full product of a matrix and its transpose takes on those of one of the two, as the
    processor has it, so that it is no symmetric one; numbers do not tell."""
    return (0x7FC00001 + np.arange(np.prod(shape), dtype=np.uint32)).view(np.float32).reshape(shape)


MATRICES = {
    "rows": lambda make: make(37, 19),
    "columns": lambda make: make(19, 37).T,
    "a window": lambda make: make(40, 30)[3:, 5:24],
    "neither rows nor columns": lambda make: make(37, 38)[:, ::2],
    "backwards": lambda make: make(37, 19)[::-1],
    "one row": lambda make: make(1, 19),
    "one column": lambda make: make(37, 1),
    "a batch": lambda make: make(3, 37, 19),
    "batches": lambda make: make(2, 3, 17, 5).transpose(1, 0, 3, 2),
    "a batch of one matrix": lambda make: np.broadcast_to(make(17, 5), (3, 17, 5)),
}


@pytest.mark.parametrize("case", MATRICES)
def test_a_matrix_times_its_own_transpose_is_symmetric(case):
    x = MATRICES[case](marked)
    assert is_symmetric(tmm.matmul(x, transposed(x)))
    x = MATRICES[case](normal)
    result = tmm.matmul(x, transposed(x))
    check(result, x, transposed(x))
    assert is_symmetric(result)


@pytest.mark.parametrize(
    "options",
    [
        {"result": "full"},
        {"bias": normal(9)},
        {"epilogue": "bias_rows", "bias": normal(9)},
        {"residual": normal(9, 9)},
        {"expression": "x + row"},
        {"expression": "x + column"},
        {"out": normal(9, 9), "beta": 1},
    ],
    ids=str,
)
def test_what_can_make_it_another_result_leaves_it_full(options):
    x = marked(9, 7)
    assert not is_symmetric(tmm.matmul(x, x.T, **options))


@pytest.mark.parametrize("options", [{"alpha": 2}, {"epilogue": "relu"}, {"expression": "x * p0", "parameters": [3]}], ids=str)
def test_what_keeps_the_symmetry_does_not(options):
    x = marked(9, 7)
    assert is_symmetric(tmm.matmul(x, x.T, **options))


def test_a_vector_as_a_column_and_as_a_row_is_one_matrix():
    x = marked(9)
    assert is_symmetric(tmm.matmul(x.reshape(9, 1), x.reshape(1, 9)))


def test_other_matrices_are_no_transposes():
    x = marked(9, 9)
    for b in (x, x.T.copy(), x[::-1].T, x.T[::-1], np.broadcast_to(x.T, (2, 9, 9))):
        assert not is_symmetric(tmm.matmul(x, b))
    # The halves of a gate are of another product.
    x = normal(10, 7)
    assert tmm.matmul(x, x.T, epilogue="swiglu").shape == (10, 5)


class OnlyDlpack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.skipif(not hasattr(np.ndarray, "__dlpack__"), reason="this NumPy has no DLPack")
@pytest.mark.parametrize("shape", [(9, 7), (2, 9, 7), (1, 7), (9, 1)])
def test_arrays_that_come_by_dlpack_are_seen_through(shape):
    x = marked(*shape)
    out = np.empty((*shape[:-1], shape[-2]), "f")
    assert is_symmetric(tmm.matmul(OnlyDlpack(x), OnlyDlpack(transposed(x)), out))


def test_tensors_are_seen_through():
    torch = pytest.importorskip("torch", minversion="2.4")
    import tmm_gemm.torch  # noqa: F401

    for shape in ((9, 7), (2, 9, 7), (1, 7)):
        x = torch.from_numpy(marked(*shape))
        assert is_symmetric(tmm.matmul(x, x.mT).numpy())
        assert is_symmetric(torch.ops.tmm.matmul(x, x.mT).numpy())
    x = torch.from_numpy(marked(9, 7))
    assert not is_symmetric(tmm.matmul(x, x.mT.clone()).numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8])
def test_who_says_that_a_product_is_symmetric_gets_one_triangle_twice(dtype):
    a, b = normal(33, 21, dtype=dtype), normal(21, 33, dtype=dtype)
    result = tmm.matmul(a, b, result="symmetric")
    assert is_symmetric(result)
    full = tmm.matmul(a, b)
    assert not is_symmetric(full)
    tolerance = 0 if dtype == np.int8 else 1e-2
    assert any(np.allclose(one(result), one(full), tolerance, tolerance) for one in (np.tril, np.triu))


# Three kinds of layouts of a result: rows, columns, and rows with a gap behind each.
OUTS = {
    "rows": lambda batch, n, dtype: normal(*batch, n, n, dtype=dtype),
    "columns": lambda batch, n, dtype: transposed(normal(*batch, n, n, dtype=dtype)),
    "a window": lambda batch, n, dtype: normal(*batch, n + 3, n + 5, dtype=dtype)[..., 2:-1, 1:-4],
}


@pytest.mark.parametrize("layout", OUTS)
@pytest.mark.parametrize("result", ["lower", "upper", "symmetric"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_other_triangle_and_what_lies_around_are_left_alone(layout, result, dtype):
    a, b = normal(2, 37, 19, dtype=dtype), normal(19, 37, dtype=dtype)
    if result == "symmetric":
        b = transposed(a)
    out = OUTS[layout]((2,), 37, dtype)
    whole = out if out.base is None else out.base
    before, around = out.copy(), whole.copy()
    assert tmm.matmul(a, b, out, result=result) is out
    full = tmm.matmul(a, b, result="full")
    wanted = {"lower": np.tri(37, dtype=bool), "upper": np.tri(37, dtype=bool).T, "symmetric": np.ones((37, 37), bool)}[result]
    assert np.allclose(out[:, wanted], full[:, wanted], rtol=1e-4, atol=1e-4)
    assert np.array_equal(out[:, ~wanted], before[:, ~wanted])
    out[:] = before
    assert np.array_equal(whole, around)


@pytest.mark.parametrize("result", ["lower", "upper"])
def test_beta_reads_the_triangle_alone(result):
    x = normal(37, 19)
    wanted = np.tri(37, dtype=bool) if result == "lower" else np.tri(37, dtype=bool).T
    out = np.where(wanted, normal(37, 37), np.float32(np.nan))
    before = out.copy()
    tmm.matmul(x, x.T, out, result=result, alpha=2, beta=-3)
    assert np.allclose(out[wanted], (2 * (x @ x.T) - 3 * before)[wanted], atol=1e-4)
    assert np.isnan(out[~wanted]).all()


def test_plans_of_each_result():
    x = normal(2, 20, 9)
    full = tmm.matmul(x, transposed(x))
    for result, triangle in (("symmetric", np.asarray), ("lower", np.tril), ("upper", np.triu), ("full", np.asarray)):
        plan = tmm.Plan(20, 20, 9, batch=2, ops="nt", device="host", result=result)
        assert np.allclose(plan.run(x, x, np.zeros((2, 20, 20), "f")), triangle(full), atol=1e-5)


def multiply(*shapes, **options):
    return tmm.matmul(*(np.ones(shape, "f") for shape in shapes), **options)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: multiply((4, 5), (5, 6), result="symmetric"), "result is symmetric, but C has 4 rows and 6 columns"),
        (lambda: multiply((4, 5), (5, 6), (4, 6), result="lower"), "result is lower, but C has 4 rows and 6 columns"),
        (lambda: multiply((5,), (5, 6), result="symmetric"), "C has 1 rows and 6 columns"),
        (lambda: tmm.Plan(4, 6, 5, device="host", result="upper"), "result is upper, but C has 4 rows and 6 columns"),
        (lambda: multiply((4, 5), (5, 4), result="upper"), "no out that keeps its other triangle"),
        (lambda: multiply((4, 5), (5, 4), result="triangular"), "not one of full, symmetric, lower, upper"),
        (lambda: multiply((4, 5), (5, 4), result=True), "it is one of full, symmetric, lower, upper"),
        (lambda: tmm.Plan(4, 4, 5, device="host", result="L"), "not one of full, symmetric, lower, upper"),
        (lambda: multiply((4, 5), (5, 4), result="symmetric", bias=np.ones(4, "f")), "bias"),
        (lambda: multiply((4, 5), (5, 4), result="symmetric", expression="x + row"), "row or column"),
        (lambda: multiply((4, 5), (5, 4), (4, 2), result="lower", epilogue="swiglu"), "C has 4 rows and 2 columns"),
        (lambda: multiply((4, 5), (5, 8), (4, 4), result="lower", epilogue="swiglu"), "gate"),
    ],
    ids=range(12),
)
def test_no_such_result(call, words):
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert words in str(raised.value) and "\n" not in str(raised.value)
