"""What a long program makes again and again does not add up: streams, plans, expressions."""

import subprocess
import sys

import numpy as np
import tmm_gemm as tmm
from tmm_gemm import _handles


def ones(*shape):
    return np.ones(shape, "f")


def mappings():
    with open("/proc/self/maps") as lines:
        return sum(1 for _ in lines)


def test_all_streams_share_a_handle():
    a = ones(64, 64)
    tmm.matmul(a, a)
    count = len(_handles.handles._handles)
    for stream in range(1, 300):
        assert tmm.matmul(a, a, stream=stream * 16)[0, 0] == 64
    assert len(_handles.handles._handles) == count


def test_what_the_log_says_of_a_missing_database_it_says_once(tmp_path):
    code = """
import numpy as np, tmm_gemm as tmm
a = np.ones((16, 16), "f")
for stream in range(20): tmm.matmul(a, a, stream=stream * 16)
tmm.Plan(8, 8, 8, device="host").run(a[:8, :8].copy(), a[:8, :8].copy(), np.empty((8, 8), "f"))
"""
    environment = {"TMM_DB": str(tmp_path / "none.db")}
    import os

    said = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stderr
    assert said.count("without a tuning database") == 1


def test_kernels_of_dropped_plans_are_unloaded():
    a, out = ones(8, 8), ones(8, 8)

    def one(number):
        tmm.Plan(8, 8, 8, device="host", expression=f"x * {number}.25f").run(a, a, out)
        assert out[0, 0] == 8 * (number + 0.25)

    for number in range(4):
        one(number)
    before = mappings()
    for number in range(4, 9):
        one(number)
    assert mappings() <= before + 5


def test_plans_that_are_kept_go_on_working_while_others_come_and_go():
    a, out = ones(8, 8), ones(8, 8)
    kept = tmm.Plan(8, 8, 8, device="host", expression="x * 1.25f")
    for number in range(2, 8):
        tmm.Plan(8, 8, 8, device="host", expression=f"x * {number}.25f").run(a, a, out)
        assert kept.run(a, a, out)[0, 0] == 10
