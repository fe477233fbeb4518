"""Products of NumPy arrays against NumPy's own in double precision."""

import threading

import numpy as np
import pytest
import tmm_gemm as tmm

RNG = np.random.default_rng(7)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def check(a, b, **options):
    expected = np.matmul(a.astype(np.float64), b.astype(np.float64))
    result = tmm.matmul(a, b, **options)
    assert result.shape == expected.shape
    # Each product's error is below two units in the last place of |a| |b|, for sums this short.
    unit = {np.float32: 2.0**-24, np.float64: 2.0**-52}.get(result.dtype.type, 2.0**-11)
    bound = (a.shape[-1] + 2) * unit * np.matmul(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
    assert np.all(np.abs(result - expected) <= bound)
    return result


@pytest.mark.parametrize(
    "shapes",
    [
        ((5, 7), (7, 3)),
        ((1, 1), (1, 1)),
        ((17, 33), (33, 65)),
        ((7,), (7, 3)),
        ((5, 7), (7,)),
        ((7,), (7,)),
        ((4, 5, 7), (4, 7, 3)),
        ((4, 5, 7), (7, 3)),
        ((2, 3, 5, 7), (7, 4)),
        ((2, 1, 5, 7), (3, 7, 4)),
        ((2, 5, 7), (7,)),
    ],
)
def test_shapes_go_together_as_in_numpy(shapes):
    check(*(normal(*shape) for shape in shapes))


@pytest.mark.parametrize("shapes", [((17, 33), (33, 65)), ((7,), (7, 3)), ((2, 5, 7), (7, 4)), ((300, 70), (70, 40))])
def test_doubles_are_multiplied_as_doubles(shapes):
    a, b = (normal(*shape, dtype=np.float64) for shape in shapes)
    assert check(a, b).dtype == np.float64
    out = normal(*np.matmul(a, b).shape, dtype=np.float64)
    before = out.copy()
    tmm.matmul(a, b, out=out, alpha=1.5, beta=0.3)
    # A float's rounding of alpha or beta would show.
    assert np.allclose(out, 1.5 * np.matmul(a, b) + 0.3 * before, rtol=1e-13, atol=1e-13)


def test_a_bias_of_doubles_is_added_to_doubles():
    a, b, bias = normal(9, 33, dtype=np.float64), normal(33, 20, dtype=np.float64), normal(20, dtype=np.float64)
    result = tmm.matmul(a, b, epilogue="bias+tanh", bias=bias)
    assert np.allclose(result, np.tanh(a @ b + bias), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    "make",
    [
        lambda: (normal(7, 5).T, normal(3, 7).T),
        lambda: (normal(10, 7)[::2], normal(7, 4)),
        lambda: (normal(10, 14)[::-1, ::2], normal(7, 4)[:, ::-1]),
        lambda: (normal(5, 9)[:, 1:8], normal(8, 6)[1:, 2:5]),
        lambda: (normal(4, 5, 6).transpose(1, 0, 2), normal(5, 6, 3)),
        lambda: (normal(4, 5, 6).transpose(2, 1, 0), normal(6, 4, 3)),
        lambda: (np.broadcast_to(normal(5, 1), (5, 7)), normal(7, 3)),
        lambda: (np.broadcast_to(normal(7), (3, 5, 7)), normal(3, 7, 2)),
        lambda: (normal(2, 3, 5, 7)[:, ::2], normal(2, 4, 7, 3)[:, 1:3]),
    ],
    ids=range(9),
)
def test_views_are_multiplied_as_they_lie_or_from_a_copy(make):
    check(*make())


@pytest.mark.parametrize("a, b", [((0, 7), (7, 3)), ((4, 7), (7, 0)), ((0, 5, 7), (0, 7, 3)), ((2, 0, 7), (7, 3))])
def test_nothing_gives_nothing(a, b):
    assert tmm.matmul(np.empty(a, "f"), np.empty(b, "f")).size == 0


def test_no_k_gives_zeros():
    assert np.array_equal(tmm.matmul(np.empty((4, 0), "f"), np.empty((0, 3), "f")), np.zeros((4, 3)))
    assert np.array_equal(tmm.matmul(np.empty((2, 4, 0), "f"), np.empty((2, 0, 3), "f")), np.zeros((2, 4, 3)))


def test_out_takes_the_result_whatever_its_layout():
    a, b = normal(5, 7), normal(7, 3)
    for out in (np.empty((5, 3), "f"), np.empty((3, 5), "f").T, np.full((9, 8), np.nan, "f")[2:7, 1:4]):
        around = out.base.copy() if out.base is not None and out.base.size > out.size else None
        assert check(a, b, out=out) is out
        if around is not None:
            around[2:7, 1:4] = out
            assert np.array_equal(around, out.base, equal_nan=True)


def test_alpha_and_beta():
    a, b, out = normal(5, 7), normal(7, 3), normal(5, 3)
    expected = 2 * (a @ b) - 3 * out
    assert np.allclose(tmm.matmul(a, b, out, alpha=2, beta=-3), expected, atol=1e-5)
    out[:] = np.nan
    assert not np.isnan(tmm.matmul(a, b, out)).any()


def test_16_bits():
    a, b = normal(5, 7, dtype=np.float16), normal(7, 3, dtype=np.float16)
    assert check(a, b).dtype == np.float16
    assert check(a, b, out=np.empty((5, 3), np.float32)).dtype == np.float32


@pytest.mark.parametrize("compute", ["f32", "f32_strict", "tf32"])
def test_compute_modes(compute):
    check(normal(20, 30), normal(30, 10), compute=compute)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: tmm.matmul(normal(2, 3), normal(4, 5)), ValueError, "3 columns and b 4 rows"),
        (lambda: tmm.matmul(normal(2, 2, 3), normal(3, 3, 5)), ValueError, "do not go together"),
        (lambda: tmm.matmul(np.float32(1), normal(3, 5)), TypeError, "float32"),
        (lambda: tmm.matmul(np.array(1, "f"), normal(3, 5)), ValueError, "scalar"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 5).astype("d")), TypeError, "f32 and b of type f64"),
        (lambda: tmm.matmul(normal(2, 3).astype(int), normal(3, 5)), TypeError, "int64"),
        (lambda: tmm.matmul(normal(2, 3).astype(">f4"), normal(3, 5)), TypeError, "float32"),
        (lambda: tmm.matmul([[1.0]], normal(1, 5)), TypeError, "list"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 5), np.empty((5, 2), "f")), ValueError, "(5, 2)"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 5), np.empty((4, 10), "f")[::2, ::2]), ValueError, "strides"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 5), np.broadcast_to(np.empty(5, "f"), (2, 5))), ValueError, "written"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 5), beta=1), ValueError, "no out"),
        (lambda: tmm.matmul(normal(2, 3), normal(3, 5), compute="f8"), ValueError, "f32_strict"),
    ],
    ids=range(13),
)
def test_what_does_not_go_together_is_refused(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)


def test_what_the_library_refuses_has_its_status():
    with pytest.raises(tmm.TmmError) as raised:
        tmm.Plan(2, 5, 3, dtype="f64", ctype="f32", device="host")
    assert raised.value.status == 29 and "TMM_F32" in str(raised.value)


def test_threads_multiply_at_once():
    a, b = normal(16, 16), normal(16, 16)
    expected = tmm.matmul(a, b)
    wrong = []

    def multiply():
        for _ in range(20):
            if not np.array_equal(tmm.matmul(a, b), expected):
                wrong.append(1)

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class OnlyDlpack:
    """An array of which tmm knows no more than DLPack tells."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.skipif(not hasattr(np.ndarray, "__dlpack__"), reason="this NumPy has no DLPack")
def test_dlpack():
    a, b, out = normal(2, 5, 7), normal(7, 3), np.empty((2, 5, 3), "f")
    tmm.matmul(OnlyDlpack(a), OnlyDlpack(b.T.copy().T), out)
    assert np.array_equal(out, tmm.matmul(a, b))
    with pytest.raises(TypeError, match="pass out"):
        tmm.matmul(OnlyDlpack(a), b)
    with pytest.raises(ValueError, match="can't copy"):
        tmm.matmul(OnlyDlpack(normal(5, 14)[:, ::2]), b, np.empty((5, 3), "f"))


@pytest.mark.parametrize("seed", range(40))
def test_random_problems(seed):
    rng = np.random.default_rng(seed)
    m, n, k = (int(x) for x in rng.integers(1, 40, 3))
    batch = tuple(int(x) for x in rng.integers(1, 4, rng.integers(0, 3)))
    dtype = rng.choice([np.float32, np.float16])

    def operand(rows, columns):
        own = tuple(1 if rng.random() < 0.3 else length for length in batch)[int(rng.integers(0, len(batch) + 1)) :]
        transposed, pad = rng.random() < 0.5, int(rng.integers(0, 3))
        stored = (columns, rows) if transposed else (rows, columns)
        array = rng.standard_normal((*own, stored[0], stored[1] + pad)).astype(dtype)[..., pad:]
        return array.swapaxes(-1, -2) if transposed else array

    check(operand(m, k), operand(k, n))


@pytest.mark.parametrize("shapes", [((17, 33), (33, 65)), ((7,), (7, 3)), ((2, 5, 7), (7, 4)), ((300, 70), (70, 40))])
def test_bytes_make_sums_of_32_bits(shapes):
    random = np.random.default_rng(5)
    a, b = (random.integers(-128, 128, shape, dtype=np.int8) for shape in shapes)
    expected = np.matmul(a.astype(np.int32), b.astype(np.int32))
    result = tmm.matmul(a, b)
    assert result.dtype == np.int32
    assert np.array_equal(result, expected)
    out = random.integers(-(2**31), 2**31, expected.shape, dtype=np.int32)
    before = out.copy()
    tmm.matmul(a, b, out=out, alpha=-3, beta=2**31 - 1)
    # NumPy wraps around as well.
    assert np.array_equal(out, np.int32(-3) * expected + np.int32(2**31 - 1) * before)


def test_what_bytes_are_not_multiplied_with_is_said():
    a = np.ones((3, 3), np.int8)
    with pytest.raises(ValueError, match="whole numbers"):
        tmm.matmul(a, a, alpha=0.5)
    with pytest.raises(tmm.ArgumentError, match="computed in floats"):
        tmm.matmul(a, a, epilogue="relu")
    with pytest.raises(TypeError, match="s8 and b of type f32"):
        tmm.matmul(a, a.astype(np.float32))
    with pytest.raises(tmm.ArgumentError, match="TMM_S8"):
        tmm.matmul(a, a, out=np.empty((3, 3), np.int8))
