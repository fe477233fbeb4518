"""A product that overwrites what it reads is refused: no wrong matrix without a word."""

import itertools

import numpy as np
import pytest
import tmm_gemm as tmm
from tmm_gemm import _numpy, _overlap

RNG = np.random.default_rng(5)


def whole(*shape):
    return RNG.integers(-3, 4, shape).astype("f")


def in_one(count=3, size=200):
    return whole(count * size, size)


OVERLAPS = {
    "a": lambda m: {"a": m[:200], "out": m[:200]},
    "a transposed": lambda m: {"a": m[:200].T, "out": m[:200]},
    "a row of b": lambda m: {"b": m[100:300], "out": m[299:499]},
    "a and b": lambda m: {"a": m[:200], "b": m[:200], "out": m[:200]},
    "the residual, one row on": lambda m: {"residual": m[1:201], "out": m[:200]},
    "the residual itself": lambda m: {"residual": m[:200], "out": m[:200]},
    "the residual of all": lambda m: {"residual": np.broadcast_to(m[50], (200, 200)), "out": m[:200]},
    "the bias": lambda m: {"bias": m[7], "out": m[:200]},
    "another type's memory": lambda m: {"bias": m.view(np.float16)[7, :200], "out": m[:200]},
    "rows backwards": lambda m: {"a": m[200::-1][:200], "out": m[:200]},
    "every other row": lambda m: {"a": m[:399:2], "out": m[398:598]},
    "windows that share a column": lambda m: {"a": m[:200, :150], "b": whole(150, 51), "out": m[:200, 149:]},
}


@pytest.mark.parametrize("case", OVERLAPS)
def test_what_overlaps_is_refused_and_left_alone(case):
    matrix = in_one()
    before = matrix.copy()
    operands = {"a": whole(200, 200), "b": whole(200, 200), **OVERLAPS[case](matrix)}
    with pytest.raises(ValueError, match="must not overlap"):
        tmm.matmul(**operands)
    assert np.array_equal(matrix, before)


APART = {
    "one behind the other": lambda m: {"a": m[:200], "b": m[200:400], "out": m[400:]},
    "windows side by side": lambda m: {"a": m[:200, :120], "b": m[200:320, 120:], "out": m[:200, 120:]},
    "interleaved rows": lambda m: {"a": m[:400:2], "out": m[1:400:2]},
    "a window below": lambda m: {"a": m[:200, :120], "b": whole(120, 200), "out": m[200:400]},
}


@pytest.mark.parametrize("case", APART)
def test_what_lies_in_one_memory_but_apart_is_multiplied(case):
    operands = {"a": whole(200, 200), "b": whole(200, 200), **APART[case](in_one())}
    expected = operands["a"] @ operands["b"]
    assert np.array_equal(tmm.matmul(**operands), expected)


def test_members_of_a_batch_must_not_meet_those_of_others():
    memory = whole(6, 20, 20)
    with pytest.raises(ValueError, match="shares memory with a"):
        tmm.matmul(memory[:3], whole(20, 20), memory[2:5])
    expected = memory[:3] @ memory[0]
    assert np.array_equal(tmm.matmul(memory[:3], memory[0], memory[3:]), expected)


def test_an_out_that_overlaps_itself_is_refused():
    row = np.zeros(40, "f")
    for strides in ((0, 0, 4), (4, 20, 4), (0, 20, 4)):
        out = np.lib.stride_tricks.as_strided(row, (2, 5, 5), strides)
        with pytest.raises(ValueError, match="share memory"):
            tmm.matmul(whole(2, 5, 7), whole(7, 5), out)
    # The members' rows side by side lie apart.
    out = np.zeros((5, 2, 5), "f").transpose(1, 0, 2)
    a, b = whole(2, 5, 7), whole(7, 5)
    assert np.array_equal(tmm.matmul(a, b, out), a @ b)


@pytest.mark.parametrize("case", ["a", "a row of b", "the residual, one row on", "the residual itself", "the bias"])
def test_plans_refuse_the_same(case):
    operands = {"a": whole(200, 200), "b": whole(200, 200), **OVERLAPS[case](in_one())}
    added = [word for word in ("bias", "residual") if word in operands]
    plan = tmm.Plan(200, 200, 200, device="host", epilogue="+".join(added) or None)
    with pytest.raises(ValueError, match="must not overlap"):
        plan.run(**operands)
    memory = in_one()
    operands = {"a": memory[:200], "b": memory[200:400], "out": memory[400:], **{word: operands[word] for word in added}}
    plan.run(**operands)


def test_the_library_itself_refuses_with_an_error_of_the_same_kind():
    assert issubclass(tmm.ArgumentError, ValueError) and issubclass(tmm.ArgumentError, tmm.TmmError)


def test_the_answer_is_exact():
    memory = np.zeros(2000, "f")
    rng = np.random.default_rng(1)

    def array():
        shape = rng.integers(1, 6, rng.integers(0, 4))
        strides = rng.choice([0, 1, 2, 3, 5, 7, -1, -2, 8, 16, -16, 40], len(shape))
        first = rng.integers(0, 60) - sum(min(0, (count - 1) * stride) for count, stride in zip(shape, strides))
        return np.lib.stride_tricks.as_strided(memory[first:], shape, strides * 4)

    def window():
        (top, bottom), (left, right) = (sorted(rng.integers(0, 41, 2)) for _ in range(2))
        square = memory[:1600].reshape(40, 40)[top : bottom + 1 : rng.integers(1, 3), left : right + 1]
        return square.T if rng.random() < 0.3 else square

    found = [0, 0]
    for make, _ in itertools.product((array, window), range(3000)):
        x, y = make(), make()
        expected = np.shares_memory(x, y)
        assert _overlap.overlap(_numpy.view(x, "x"), _numpy.view(y, "y")) == expected
        found[expected] += 1
    assert min(found) > 500
