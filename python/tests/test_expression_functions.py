"""Functions of CUDA's math library on the emulated device, against Python's own and against identities."""

import math

import numpy as np
import pytest
import tmm_gemm as tmm

POINTS = np.array([-7.5, -2.0, -0.75, -0.3, 0.0, 0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 2.0, 3.7, 20.0], "f")


def evaluated(*texts, points=POINTS):
    """Each text at each point, by one kernel."""
    chosen = " : ".join(f"row == {i} ? float({text})" for i, text in enumerate(texts)) + " : 0.0f"
    with np.errstate(all="ignore"):
        return tmm.matmul(np.ones((len(texts), 1), "f"), points[None, :], expression=chosen)


def normcdf(x):
    return math.erfc(-x / math.sqrt(2)) / 2


ONE = {
    "acos": math.acos,
    "acosh": math.acosh,
    "asin": math.asin,
    "asinh": math.asinh,
    "atan": math.atan,
    "atanh": math.atanh,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "ceil": math.ceil,
    "cos": math.cos,
    "cosh": math.cosh,
    "cospi": lambda x: math.cos(math.pi * x),
    "erf": math.erf,
    "erfc": math.erfc,
    "erfcx": lambda x: math.exp(x * x) * math.erfc(x) if x < 10 else 1 / (x * math.sqrt(math.pi)) * (1 - 1 / (2 * x * x)),
    "exp": math.exp,
    "exp10": lambda x: 10**x,
    "exp2": lambda x: 2**x,
    "expm1": math.expm1,
    "fabs": abs,
    "floor": math.floor,
    "lgamma": math.lgamma,
    "log": math.log,
    "log10": math.log10,
    "log1p": math.log1p,
    "log2": math.log2,
    "normcdf": normcdf,
    "rcbrt": lambda x: math.copysign(abs(x) ** (-1 / 3), x),
    "rint": round,
    "round": lambda x: math.copysign(math.floor(abs(x) + 0.5), x),
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin,
    "sinh": math.sinh,
    "sinpi": lambda x: math.sin(math.pi * x),
    "sqrt": math.sqrt,
    "tan": math.tan,
    "tanh": math.tanh,
    "tgamma": math.gamma,
    "trunc": math.trunc,
}


def value_of(function, x):
    try:
        return function(float(x))
    except (ValueError, OverflowError, ZeroDivisionError):
        # At a pole, or outside of what the function is defined for, which of inf and NaN comes out is the library's.
        return None


@pytest.mark.parametrize("suffix", ["f", ""])
def test_functions_of_one_number(suffix):
    names = list(ONE)
    for name, results in zip(names, evaluated(*(f"{name}{suffix}(x)" for name in names))):
        for x, found in zip(POINTS, results):
            expected = value_of(ONE[name], x)
            if expected is not None:
                assert found == pytest.approx(expected, rel=3e-6, abs=3e-7), f"{name}({x})"


def test_functions_of_two_and_three():
    found = evaluated(
        "atan2f(x, 2.0f)",
        "copysign(2.0f, x)",
        "fdimf(x, 1.0f)",
        "fmaxf(x, 0.5f)",
        "max(x, 0.0f)",
        "fmin(x, 0.5f)",
        "min(x, 6.0f)",
        "fmodf(x, 0.7f)",
        "hypot(x, 2.0f)",
        "pow(x, 2.0f)",
        "rhypotf(x, 1.0f)",
        "norm3df(x, 1.0f, 2.0f)",
        "fma(x, 2.0f, 1.0f)",
        "__fdividef(x, 4.0f)",
        "ldexpf(x, 3)",
        "remainderf(x, 2.0f)",
    )
    x = POINTS.astype("d")
    expected = [
        np.arctan2(x, 2),
        np.copysign(2, x),
        np.maximum(x - 1, 0),
        np.maximum(x, 0.5),
        np.maximum(x, 0),
        np.minimum(x, 0.5),
        np.minimum(x, 6),
        [math.fmod(p, float(np.float32(0.7))) for p in x],
        np.hypot(x, 2),
        x * x,
        1 / np.hypot(x, 1),
        np.sqrt(x * x + 5),
        2 * x + 1,
        x / 4,
        x * 8,
        [math.remainder(p, 2) for p in x],
    ]
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_inverses():
    points = np.array([-0.999, -0.7, -0.2, 1e-6, 0.3, 0.6, 0.99, 0.999999], "f")
    texts = ("erff(erfinvf(x))", "erfc(erfcinv(1.0 + x)) - 1.0", "normcdff(normcdfinvf(0.5f + 0.5f * x)) * 2.0f - 1.0f")
    for results in evaluated(*texts, points=points):
        assert np.allclose(results, points, rtol=1e-5, atol=1e-6)
    edges = evaluated("erfinvf(x)", "normcdfinvf(x)", "erfcinvf(x)", points=np.array([0.0, 1.0, 2.0], "f"))
    assert edges[0, 0] == 0 and edges[0, 1] == math.inf and np.isnan(edges[0, 2])
    assert edges[1, 0] == -math.inf and edges[1, 1] == math.inf and edges[2, 2] == -math.inf


def test_bessel_functions():
    # Both sides of I0(x)^2 = sum over k of (2k choose k) (x/2)^(2k) / (k!)^2, and I0' = I1.
    x = np.array([0.0, 0.5, 1.0, 3.0, 10.0], "f")
    i0, i1, above, below = evaluated(
        "cyl_bessel_i0f(x)", "cyl_bessel_i1f(x)", "cyl_bessel_i0(x + 1e-4)", "cyl_bessel_i0(x - 1e-4)", points=x
    ).astype("d")
    assert i0[:3] == pytest.approx([1, 1.0634833707, 1.2660658778], rel=1e-6)
    assert i1[:3] == pytest.approx([0, 0.2578943054, 0.5651591040], rel=1e-6, abs=1e-7)
    assert np.allclose((above - below) / 2e-4, i1, rtol=2e-2, atol=2e-3)
    assert evaluated("j0f(x)", "j1f(x)", "jnf(0, x)", points=x)[:, 2] == pytest.approx([0.7651976866, 0.4400505857, 0.7651976866], rel=1e-5)


def test_what_is_asked_of_numbers():
    points = np.array([-1.5, 0.0, np.inf, 3.5], "f")
    found = evaluated(
        "isnan(x - x)",
        "isinf(x)",
        "isfinite(x)",
        "signbit(x)",
        "abs(x)",
        "lroundf(x)",
        "__float2int_rz(x)",
        "__saturatef(x)",
        points=points,
    )
    assert found[:6].tolist()[:5] == [[0, 0, 1, 0], [0, 0, 1, 0], [1, 1, 0, 1], [1, 0, 0, 0], [1.5, 0, np.inf, 3.5]]
    assert found[5, [0, 1, 3]].tolist() == [-2, 0, 4]
    assert found[6].tolist() == [-1, 0, float(2**31), 3] and found[7].tolist() == [0, 0, 1, 1]


def test_infinity_and_nan():
    ones = np.ones((2, 2), "f")
    assert tmm.matmul(ones, ones, expression="row == column ? x : -INFINITY").tolist() == [[2, -np.inf], [-np.inf, 2]]
    assert np.isnan(tmm.matmul(ones, ones, expression="NAN")).all()


@pytest.mark.parametrize(
    "text, words",
    [
        ("&x", "it gives an address"),
        ("nullptr", "it gives an address"),
        ("blockIdx", "it gives a struct"),
        ("__syncthreads()", "it gives nothing"),
        ("__fadd_rd(x, 1.0f)", "only a GPU has"),
        ("__vaddss2(1u, 2u)", "a GPU has"),
        ("x > 0 ? x : throw 1", "'throw'"),
    ],
)
def test_what_gives_no_number_is_told_by_its_cause(text, words):
    ones = np.ones((4, 4), "f")
    with pytest.raises(tmm.ExpressionError) as raised:
        tmm.matmul(ones, ones, expression=text)
    assert words in str(raised.value) and raised.value.status == 40 and len(str(raised.value)) < 300
