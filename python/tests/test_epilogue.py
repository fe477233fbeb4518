"""Epilogues against NumPy's formulas in double precision, on the emulated device."""

import math

import numpy as np
import pytest
import tmm_gemm as tmm

RNG = np.random.default_rng(11)

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
}


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def product(a, b):
    return np.matmul(a.astype(np.float64), b.astype(np.float64))


def check(result, expected):
    assert result.shape == expected.shape
    tolerance = 1e-5 if result.dtype == np.float32 else 1e-2
    assert np.allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations(activation):
    a, b, bias, residual = normal(6, 7), normal(7, 5), normal(5), normal(6, 5)
    f = ACTIVATIONS[activation]
    check(tmm.matmul(a, b, epilogue=activation), f(product(a, b)))
    check(tmm.matmul(a, b, None, f"bias+{activation}", bias), f(product(a, b) + bias))
    check(tmm.matmul(a, b, None, f"{activation}+residual", None, residual), f(product(a, b)) + residual)
    check(tmm.matmul(a, b, epilogue=f"bias+{activation}+residual", bias=bias, residual=residual), f(product(a, b) + bias) + residual)


def gated(x, residual=0):
    half = x.shape[-1] // 2
    return ACTIVATIONS["silu"](x[..., :half]) * x[..., half:] + residual


def test_a_gate_takes_two_columns_for_one():
    a, b, bias, residual = normal(6, 7), normal(7, 10), normal(10), normal(6, 5)
    check(tmm.matmul(a, b, epilogue="swiglu"), gated(product(a, b)))
    check(tmm.matmul(a, b, None, "bias+swiglu", bias), gated(product(a, b) + bias))
    check(tmm.matmul(a, b, None, "bias+swiglu+residual", bias, residual), gated(product(a, b) + bias, residual))
    check(tmm.matmul(a, b.T.copy().T, None, "bias_rows+swiglu", normal(6) * 0), gated(product(a, b)))
    batch_a, batch_b = normal(2, 3, 6, 7), normal(3, 7, 10)
    check(tmm.matmul(batch_a, batch_b, epilogue="swiglu"), gated(product(batch_a, batch_b)))
    plan = tmm.Plan(6, 5, 7, device="host", epilogue="bias+swiglu", ops="nt")
    check(plan.run(a, b.T.copy(), np.empty((6, 5), np.float32), bias=bias), gated(product(a, b) + bias))
    # Columns of neighbouring elements are a column-major result.
    out = np.empty((5, 6), np.float32).T
    check(tmm.matmul(a, b, out, "bias+swiglu+residual", bias, residual), gated(product(a, b) + bias, residual))
    check(tmm.matmul(a, b, out, "bias_rows+swiglu", normal(6) * 0), gated(product(a, b)))


def test_a_gate_takes_two_rows_for_one():
    a, b, bias, residual = normal(12, 7), normal(7, 5), normal(12), normal(6, 5)
    expected = gated((product(a, b) + bias[:, None]).T, residual.T).T
    check(tmm.matmul(a, b, None, "bias_rows+swiglu_rows+residual", bias, residual), expected)
    check(tmm.matmul(a, b, np.empty((5, 6), np.float32).T, "bias_rows+swiglu_rows+residual", bias, residual), expected)
    check(tmm.matmul(a, normal(7) * 0, epilogue="swiglu_rows"), np.zeros(6))
    batch_a, batch_b = normal(3, 12, 7), normal(3, 7, 5)
    check(tmm.matmul(batch_a, batch_b, epilogue="swiglu_rows"), np.swapaxes(gated(np.swapaxes(product(batch_a, batch_b), -1, -2)), -1, -2))
    plan = tmm.Plan(6, 5, 7, device="host", epilogue="bias_rows+swiglu_rows", ops="tn")
    check(plan.run(a.T.copy(), b, np.empty((6, 5), np.float32), bias=bias), gated((product(a, b) + bias[:, None]).T).T)


def test_operands_alone_imply_their_words():
    a, b, bias, residual = normal(4, 7), normal(7, 4), normal(4), normal(4, 4)
    check(tmm.matmul(a, b, bias=bias), product(a, b) + bias)
    check(tmm.matmul(a, b, residual=residual), product(a, b) + residual)
    check(tmm.matmul(a, b, bias=bias, residual=residual), product(a, b) + bias + residual)
    check(tmm.matmul(a, b, epilogue="none"), product(a, b))


def test_a_bias_of_rows():
    # As many rows as columns, so that only the words tell the two apart.
    a, b, bias = normal(5, 7), normal(7, 5), normal(5)
    check(tmm.matmul(a, b, epilogue="bias_rows+relu", bias=bias), np.maximum(product(a, b) + bias[:, None], 0))


@pytest.mark.parametrize("bias_type", [np.float32, np.float16])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_types(dtype, bias_type):
    a, b, bias, residual = normal(5, 7, dtype=dtype), normal(7, 4, dtype=dtype), normal(4, dtype=bias_type), normal(5, 4, dtype=dtype)
    check(
        tmm.matmul(a, b, epilogue="bias+silu+residual", bias=bias, residual=residual), ACTIVATIONS["silu"](product(a, b) + bias) + residual
    )


def test_alpha_and_beta_come_before_the_epilogue():
    a, b, bias, out = normal(5, 7), normal(7, 3), normal(3), normal(5, 3)
    expected = np.maximum(2 * product(a, b) - 3 * out + bias, 0)
    check(tmm.matmul(a, b, out, "bias+relu", bias, alpha=2, beta=-3), expected)


RESIDUALS = {
    "packed": lambda: normal(5, 4),
    "rows with room": lambda: normal(7, 9)[1:6, 2:6],
    "columns": lambda: normal(4, 5).T,
    "columns with room": lambda: normal(6, 8)[1:5, 1:6].T,
    "steps": lambda: normal(10, 8)[::2, ::-2],
    "one row for all": lambda: np.broadcast_to(normal(4), (5, 4)),
    "one column for all": lambda: np.broadcast_to(normal(5, 1), (5, 4)),
}


@pytest.mark.parametrize("residual", RESIDUALS)
@pytest.mark.parametrize("columns", [False, True])
def test_a_residual_lies_as_it_may_whatever_out_does(residual, columns):
    a, b, bias, added = normal(5, 7), normal(7, 4), normal(5), RESIDUALS[residual]()
    out = np.empty((4, 5), "f").T if columns else np.full((8, 9), np.nan, "f")[2:7, 3:7]
    result = tmm.matmul(a, b, out, "bias_rows+tanh+residual", bias, added)
    assert result is out
    check(result, np.tanh(product(a, b) + bias[:, None]) + added)


@pytest.mark.parametrize("shape", [(2, 3, 5, 4), (3, 5, 4), (2, 1, 5, 4), (1, 1, 5, 4), (5, 4)])
@pytest.mark.parametrize("columns", [False, True])
def test_a_residual_of_a_batch(shape, columns):
    a, b, bias, residual = normal(2, 3, 5, 7), normal(3, 7, 4), normal(4), normal(*shape)
    out = np.empty((2, 3, 4, 5), "f").swapaxes(2, 3) if columns else np.empty((2, 3, 5, 4), "f")
    check(tmm.matmul(a, b, out, bias=bias, residual=residual), product(a, b) + bias + residual)


@pytest.mark.parametrize("a, b", [((7,), (7, 4)), ((5, 7), (7,)), ((7,), (7,)), ((3, 5, 7), (7,)), ((7,), (3, 7, 4))])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_vectors(a, b, step):
    a, b = normal(*a), normal(*b)
    expected = product(a, b)
    residual = normal(*(2 * length for length in expected.shape))[tuple(slice(0, None, 2) for _ in expected.shape)]
    if step == 2 and expected.ndim == 1:
        out = np.empty(2 * expected.size, "f")[::2]
    else:
        out = np.empty(expected.shape, "f")
    residual = np.asarray(residual[::step] if step == -1 and residual.ndim == 1 else residual)
    columns = expected.shape[-1] if b.ndim > 1 else 1
    bias = normal(2 * columns)[::2]
    check(tmm.matmul(a, b, out, bias=bias, residual=residual), expected + (bias if b.ndim > 1 else bias[0]) + residual)


@pytest.mark.parametrize("columns", [False, True])
def test_an_expression_sees_everything_as_the_caller_counts_it(columns):
    a, b, bias, residual = normal(3, 5, 7), normal(3, 7, 4), normal(4), normal(3, 5, 4)
    out = np.empty((3, 4, 5), "f").swapaxes(1, 2) if columns else None
    text = "fmaxf(x + bias, p0) * p1 + residual + 100 * row + 10 * column + 1000 * batch + p2 - p3"
    batch, row, column = np.indices((3, 5, 4))
    for p in ((0.25, 2, 0, 1), (-0.5, 3)):
        result = tmm.matmul(a, b, out, bias=bias, residual=residual, parameters=p, expression=text)
        p0, p1, p2, p3 = (*p, 0, 0)[:4]
        expected = np.maximum(product(a, b) + bias, p0) * p1 + residual + 100 * row + 10 * column + 1000 * batch + p2 - p3
        assert np.allclose(result, expected, atol=1e-3)


def test_an_expression_counts_all_matrices_of_a_batch():
    a, b = normal(2, 3, 5, 7), normal(2, 3, 7, 4)
    check(tmm.matmul(a, b, expression="x + 10 * batch"), product(a, b) + 10 * np.arange(6).reshape(2, 3, 1, 1))
    # A right operand that starts again for each of the first two takes a launch for each.
    check(tmm.matmul(a, b[0], expression="x + 1"), product(a, b[0]) + 1)
    with pytest.raises(ValueError, match="several launches"):
        tmm.matmul(a, b[0], expression="x + 10 * batch")


def test_an_expression_with_a_bias_of_rows():
    a, b, bias = normal(5, 7), normal(7, 5), normal(5)
    check(tmm.matmul(a, b, epilogue="bias_rows", bias=bias, expression="x * bias"), product(a, b) * bias[:, None])


@pytest.mark.parametrize(
    "text, words",
    [("x + nope(1)", "nope"), ("", "empty"), ("x +", "expression:1"), ("x; y", "';'"), ("x\n%:define y 1\n", "'%:'"), ("x\0y", "zero")],
)
def test_faulty_expressions_are_told_in_the_compilers_words(text, words):
    with pytest.raises(ValueError) as raised:
        tmm.matmul(normal(2, 3), normal(3, 5), expression=text)
    assert words in str(raised.value)
    with pytest.raises(ValueError):
        tmm.Plan(2, 5, 3, device="host", expression=text)


def test_the_refusal_of_an_expression_keeps_its_status():
    with pytest.raises(tmm.ExpressionError) as raised:
        tmm.matmul(normal(2, 3), normal(3, 5), expression="x + nope(1)")
    assert raised.value.status == 40 and isinstance(raised.value, tmm.TmmError)


def test_products_of_nothing_and_of_no_k():
    assert tmm.matmul(np.empty((0, 7), "f"), np.empty((7, 3), "f"), bias=normal(3)).shape == (0, 3)
    check(
        tmm.matmul(np.empty((4, 0), "f"), np.empty((0, 3), "f"), epilogue="bias+relu", bias=np.array([1, -2, 3], "f")),
        np.array([[1, 0, 3.0]] * 4),
    )
    with pytest.raises(ValueError, match="columns"):
        tmm.matmul(np.empty((0, 7), "f"), np.empty((7, 3), "f"), bias=normal(4))


def multiply(epilogue=None, **operands):
    return tmm.matmul(normal(2, 3), normal(3, 5), epilogue=epilogue, **operands)


OUT = normal(2, 5)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: multiply("rlu"), ValueError, "'rlu' is no word"),
        (lambda: multiply(""), ValueError, "'' is no word"),
        (lambda: multiply("swiglu"), ValueError, "by halves, but there are 5"),
        (lambda: multiply("swiglu+relu"), ValueError, "'relu' is one word of its kind too many"),
        (lambda: tmm.matmul(normal(2, 3), normal(3), epilogue="swiglu"), ValueError, "b is a vector"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 4), normal(2, 2), "swiglu", beta=1.0), ValueError, "leave beta 0"),
        (
            lambda: tmm.matmul(normal(3, 3), normal(3, 6), epilogue="swiglu_rows"),
            ValueError,
            "rows of the product by halves, but there are 3",
        ),
        (lambda: tmm.matmul(normal(3), normal(3, 6), epilogue="swiglu_rows"), ValueError, "a is a vector"),
        (lambda: tmm.matmul(normal(4, 3), normal(3, 6), None, "bias_rows+swiglu_rows", normal(2)), ValueError, "rows: (4,)"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 6), None, "bias+swiglu", normal(3)), ValueError, "columns: (6,)"),
        (lambda: multiply("relu+silu"), ValueError, "'silu' is one word of its kind too many"),
        (lambda: multiply("bias+bias_rows", bias=normal(5)), ValueError, "'bias_rows' is one word"),
        (lambda: multiply("bias+relu"), ValueError, "bias is None"),
        (lambda: multiply("relu", bias=normal(5)), ValueError, "add 'bias'"),
        (lambda: multiply("residual"), ValueError, "residual is None"),
        (lambda: multiply("relu", residual=normal(2, 5)), ValueError, "add 'residual'"),
        (lambda: multiply(bias=normal(2)), ValueError, "each of the product's columns: (5,)"),
        (lambda: multiply("bias_rows", bias=normal(5)), ValueError, "each of the product's rows: (2,)"),
        (lambda: multiply(bias=normal(1, 5)), ValueError, "(1, 5)"),
        (lambda: multiply(bias=normal(5).astype("d")), tmm.ArgumentError, "a bias of f64"),
        (lambda: multiply(bias=np.arange(5)), TypeError, "int64"),
        (lambda: multiply(residual=normal(5, 2)), ValueError, "residual has the shape (5, 2)"),
        (lambda: multiply(residual=normal(1, 5)), ValueError, "residual has the shape (1, 5)"),
        (lambda: multiply(residual=normal(1, 2, 5)), ValueError, "residual has the shape (1, 2, 5)"),
        (lambda: multiply(residual=normal(2, 5).astype(np.float16)), TypeError, "f16"),
        (lambda: multiply(residual=OUT, out=OUT), ValueError, "must not overlap"),
        (lambda: multiply(parameters=(1,)), ValueError, "no expression"),
        (lambda: multiply(expression="x", parameters=(1, 2, 3, 4, 5)), ValueError, "5 parameters"),
        (lambda: multiply("relu", expression="x"), ValueError, "leave 'relu' out"),
        (lambda: multiply(expression=3), TypeError, "int"),
    ],
    ids=range(30),
)
def test_what_does_not_go_together_is_refused(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def test_plans():
    plan = tmm.Plan(5, 4, 7, ops="nt", batch=2, epilogue="bias_rows+gelu+residual", bias_type="f16", device="host")
    a, b, bias, residual, out = normal(2, 5, 7), normal(2, 4, 7), normal(5, dtype=np.float16), normal(2, 5, 4), np.empty((2, 5, 4), "f")
    expected = ACTIVATIONS["gelu"](product(a, b.swapaxes(1, 2)) + bias[:, None].astype("d")) + residual
    check(plan.run(a, b, out, bias=bias, residual=residual), expected)


def test_a_plan_takes_an_expressions_parameters_at_each_run():
    plan = tmm.Plan(5, 4, 7, epilogue="bias", expression="x * p0 + bias * p3", device="host")
    a, b, bias, out = normal(5, 7), normal(7, 4), normal(4), np.empty((5, 4), "f")
    for p in ((1, 0, 0, 2), (0.5,)):
        check(plan.run(a, b, out, bias=bias, parameters=p), product(a, b) * p[0] + bias * (p[3] if len(p) > 3 else 0))


@pytest.mark.parametrize(
    "options, operands, error, words",
    [
        ({"epilogue": "bias"}, {}, ValueError, "bias is None"),
        ({}, {"bias": normal(4)}, ValueError, "add 'bias'"),
        ({"epilogue": "bias"}, {"bias": normal(5)}, ValueError, "(4,)"),
        ({"epilogue": "bias"}, {"bias": normal(4, dtype=np.float16)}, TypeError, "made for f32"),
        ({"epilogue": "residual"}, {"residual": normal(4, 5)}, ValueError, "residual has the shape (4, 5)"),
        ({"epilogue": "residual"}, {"residual": normal(4, 5).T}, ValueError, "residual has gaps"),
        ({"epilogue": "relu"}, {"parameters": (1,)}, ValueError, "no expression"),
        ({"epilogue": "bias", "bias_type": "f64"}, {}, ValueError, "a bias of f64"),
    ],
    ids=range(8),
)
def test_what_a_plan_was_not_made_for_is_refused(options, operands, error, words):
    with pytest.raises(error) as raised:
        tmm.Plan(5, 4, 7, device="host", **options).run(normal(5, 7), normal(7, 4), np.empty((5, 4), "f"), **operands)
    assert words in str(raised.value)


@pytest.mark.parametrize("seed", range(25))
def test_random_epilogues(seed):
    rng = np.random.default_rng(seed)
    m, n, k = (int(x) for x in rng.integers(1, 30, 3))
    batch = tuple(int(x) for x in rng.integers(1, 4, rng.integers(0, 3)))

    def draw(*shape):
        return rng.standard_normal(shape).astype("f")

    def laid_out(rows, columns, own):
        transposed, pad = rng.random() < 0.5, int(rng.integers(0, 3))
        stored = (columns, rows) if transposed else (rows, columns)
        array = draw(*own, stored[0], stored[1] + pad)[..., pad:]
        return array.swapaxes(-1, -2) if transposed else array

    a, b, out = laid_out(m, k, batch), laid_out(k, n, batch[1:]), laid_out(m, n, batch)
    axis = rng.choice(["", "bias", "bias_rows"])
    activation = str(rng.choice(["", *ACTIVATIONS]))
    bias = None if not axis else draw(m if axis == "bias_rows" else n)
    residual = laid_out(m, n, batch[int(rng.integers(0, len(batch) + 1)) :]) if rng.random() < 0.5 else None
    words = "+".join(word for word in (axis, activation, "residual" if residual is not None else "") if word) or "none"
    x = product(a, b) + (0 if bias is None else bias[:, None] if axis == "bias_rows" else bias)
    expected = ACTIVATIONS.get(activation, lambda x: x)(x) + (0 if residual is None else residual)
    result = tmm.matmul(a, b, out, words, bias, residual)
    assert result is out and np.allclose(result, expected, rtol=1e-4, atol=1e-4), words
