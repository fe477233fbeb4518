"""What can be copied and pickled, and what must not be: two plans would own the same kernels, and errors cross processes."""

import copy
import gc
import multiprocessing
import pickle

import numpy as np
import pytest
import tmm_gemm as tmm


def ones(*shape):
    return np.ones(shape, "f")


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda plan: copy.deepcopy({"plans": [plan]})],
    ids=range(4),
)
def test_a_plan_is_not_duplicated(duplicate):
    plan = tmm.Plan(8, 8, 8, device="host")
    with pytest.raises(TypeError, match="can't be copied or pickled"):
        duplicate(plan)
    assert plan.run(ones(8, 8), ones(8, 8), ones(8, 8))[0, 0] == 8


def test_objects_that_share_a_plan_destroy_it_once():
    plan = tmm.Plan(8, 8, 8, device="host")
    second = tmm.Plan.__new__(tmm.Plan)
    second.__dict__.update(plan.__dict__)
    del plan
    gc.collect()
    assert second.run(ones(8, 8), ones(8, 8), ones(8, 8))[0, 0] == 8
    # One that is made anew in its place gives up the first.
    second.__init__(4, 4, 4, device="host")
    assert second.run(ones(4, 4), ones(4, 4), ones(4, 4))[0, 0] == 4


ERRORS = [
    tmm.TmmError(9, "m is -1"),
    tmm.ArgumentError(50, "c shares memory with a"),
    tmm.ExpressionError(40, "the expression 'y' does not compile"),
    tmm.ToolError(6, "a shape has no verified winner"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, *(lambda error, p=p: pickle.loads(pickle.dumps(error, p)) for p in range(pickle.HIGHEST_PROTOCOL + 1))],
)
def test_errors_keep_their_kind_status_and_words(error, duplicate):
    if hasattr(error, "add_note"):
        error.__notes__ = ["while layer 3 was made"]
    again = duplicate(error)
    assert type(again) is type(error) and again.status == error.status and str(again) == str(error)
    assert getattr(again, "__notes__", None) == getattr(error, "__notes__", None)


# A worker imports what it runs: a function of the tests' own is found by none.
@pytest.mark.parametrize(
    "call, arguments, keywords, error, status",
    [
        (tmm.matmul, (ones(4, 4), ones(4, 4)), {"expression": "x + nope"}, tmm.ExpressionError, 40),
        (tmm.Plan, (-1, 5, 6), {"device": "host"}, tmm.TmmError, 9),
    ],
    ids=["expression", "size"],
)
def test_errors_of_workers_reach_the_caller(call, arguments, keywords, error, status):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        with pytest.raises(error) as raised:
            pool.apply_async(call, arguments, keywords).get(timeout=100)
    assert raised.value.status == status
