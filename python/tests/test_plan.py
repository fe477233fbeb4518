import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
import tmm_gemm as tmm
from tmm_gemm import _epilogue, _handles, _library


def ones(*shape, dtype="f"):
    return np.ones(shape, dtype)


def test_a_plan_multiplies_and_tells_what_it_chose():
    plan = tmm.Plan(8, 9, 10, device="host")
    out = np.empty((8, 9), "f")
    assert plan.run(ones(8, 10), ones(10, 9), out) is out
    assert np.array_equal(out, np.full((8, 9), 10))
    assert {"config", "match", "why"} <= set(plan.describe())
    assert plan.workspace_size >= 0


def test_operations_batches_and_types():
    plan = tmm.Plan(4, 5, 6, ops="tn", batch=3, dtype="f16", ctype="f32", reads_c=True, device="host")
    out = np.full((3, 4, 5), 2, "f")
    plan.run(ones(3, 6, 4, dtype=np.float16), ones(3, 6, 5, dtype=np.float16), out, alpha=2, beta=0.5)
    assert np.array_equal(out, np.full((3, 4, 5), 13))


@pytest.mark.parametrize(
    "run, error, words",
    [
        (lambda plan: plan.run(ones(4, 6), ones(6, 4), ones(4, 5)), ValueError, "(6, 5)"),
        (lambda plan: plan.run(ones(4, 6, dtype="d"), ones(6, 5), ones(4, 5)), TypeError, "f64"),
        (lambda plan: plan.run(ones(6, 4).T, ones(6, 5), ones(4, 5)), ValueError, "gaps"),
        (lambda plan: plan.run(ones(4, 6), ones(6, 5), np.broadcast_to(ones(1), (4, 5))), ValueError, "gaps"),
        (lambda plan: plan.run(ones(4, 6), ones(6, 5), ones(4, 5), beta=1), tmm.TmmError, "reads_c"),
    ],
    ids=range(5),
)
def test_what_the_plan_was_not_made_for_is_refused(run, error, words):
    with pytest.raises(error) as raised:
        run(tmm.Plan(4, 5, 6, device="host"))
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: tmm.Plan(4, 5, 6, ops="xx", device="host"), "nn, nt"),
        (lambda: tmm.Plan(4, 5, 6, dtype="i4", device="host"), "bf16"),
        (lambda: tmm.Plan(4, 5, 6, compute="f8", device="host"), "f32_strict"),
    ],
)
def test_no_plan_of_what_does_not_exist(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_library_says_what_is_wrong_with_a_size():
    with pytest.raises(tmm.TmmError, match="m is -1"):
        tmm.Plan(-1, 5, 6, device="host")


def test_structs_and_numbers_are_those_of_the_library():
    problem = _library.Problem()
    assert _library.library.tmmGemmProblemInit(ctypes.byref(problem)) == 0
    assert problem.struct_size == ctypes.sizeof(_library.Problem)
    ours = _library.new_problem()
    assert all(getattr(problem, name) == getattr(ours, name) for name, _ in _library.Problem._fields_)

    header = Path(__file__).parents[2] / "runtime/include/tmm/tmm.h"
    if not header.exists():
        pytest.skip("the sources are not here")
    text = header.read_text()
    for struct, name in ((_library.Problem, "tmmGemmProblem"), (_library.Args, "tmmGemmArgs")):
        body = re.sub(r"/\*.*?\*/", "", text.partition(f"typedef struct {name} {{")[2].partition("}")[0], flags=re.DOTALL)
        assert [field.rstrip("]0123456789[").split()[-1].lstrip("*") for field in body.split(";")[:-1]] == [
            field for field, _ in struct._fields_
        ]
    numbers = {name.lower(): int(value) for name, value in re.findall(r"TMM_ACTIVATION_(\w+) = (\d+)", text)}
    del numbers["none"]
    assert numbers == {**_epilogue.ACTIVATIONS, **_epilogue.GATES}


@pytest.fixture
def tuning():
    tmm.set_tuning(True)
    yield
    tmm.set_tuning(False)


def measured(**epilogue):
    # Sizes with no winner of their own on the emulated device, where the step has the winner of the nearest product, too.
    return "measured with the plan" in tmm.Plan(37, 45, 21, device="host", **epilogue).describe()["why"]


def test_an_epilogue_that_was_not_tuned_is_measured_where_that_is_allowed(tuning):
    assert measured(expression="x * 2 + row")
    assert measured(epilogue="bias+silu")
    assert not measured()
    tmm.set_tuning(False)
    assert not measured(expression="x * 3 + row")


def test_handles_that_are_made_later_may_measure_too(tuning):
    _handles.handles._clear()
    assert measured(expression="x * 4 + row")


def test_what_was_measured_gives_the_same_result(tuning):
    a, b, bias = ones(37, 21), ones(21, 45), np.arange(45, dtype="f")
    plan = tmm.Plan(37, 45, 21, device="host", epilogue="bias", expression="fmaxf(x - bias, p0)")
    expected = np.broadcast_to(np.maximum(21 - bias, 2), (37, 45))
    assert np.array_equal(plan.run(a, b, np.empty((37, 45), "f"), bias=bias, parameters=(2,)), expected)
    assert np.array_equal(tmm.matmul(a, b, bias=bias, expression="fmaxf(x - bias, p0)", parameters=(2,)), expected)
