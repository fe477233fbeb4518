import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tmm_gemm as tmm
from tmm_gemm import _tools


def test_tuned_shapes_become_winners(tmp_path):
    database = str(tmp_path / "tmm.db")
    shapes = [(16, 16, 16), "8 24 16 ops=nt", {"m": 16, "n": 8, "k": 8, "dtype": "f16", "epilogue": "bias+gelu"}]
    tuned = tmm.tune(shapes, gpu="host", db=database, effort="quick")
    assert [problem["problem"] for problem in tuned] == ["16x16x16", "8x24x16 ops=nt", "16x8x8 dtype=f16 epilogue=bias+gelu"]
    rows = tmm.winners(db=database)
    assert {(row["m"], row["n"], row["k"], row["type_a"]) for row in rows} == {(16, 16, 16, "f32"), (8, 24, 16, "f32"), (16, 8, 8, "f16")}
    assert {(row["m"], row["bias"], row["activation"]) for row in rows if row["type_a"] == "f16"} == {(16, "columns", "gelu")}
    assert all(row["device"] == "host" and row["median_us"] > 0 and row["family"] for row in rows)
    with pytest.raises(tmm.ToolError, match="nothing of a device named 'H100'"):
        tmm.winners(db=database, gpu="H100")


def test_a_shapes_file(tmp_path):
    (tmp_path / "s.txt").write_text("# one\n16 8 8\n")
    assert len(tmm.tune(tmp_path / "s.txt", gpu="host", db=str(tmp_path / "tmm.db"), effort="quick")) == 1


@pytest.mark.parametrize("shape, words", [({"m": 1, "n": 2}, "needs 'k'"), ("1 2 3\n4 5 6", "one line"), ("1 2 3 # no", "one line")])
def test_lines_that_are_no_shape(shape, words):
    with pytest.raises(ValueError) as raised:
        _tools.line_of(shape)
    assert words in str(raised.value)


def test_a_tool_that_fails_says_why(tmp_path):
    with pytest.raises(tmm.ToolError, match="no tuning database") as raised:
        tmm.winners(db=str(tmp_path / "none.db"))
    assert raised.value.status == 5
    with pytest.raises(tmm.ToolError, match="shapes.txt:1") as raised:
        tmm.tune(["16 16"], gpu="host", db=str(tmp_path / "tmm.db"))
    assert raised.value.status == 2


def test_commands_are_installed():
    command = Path(sys.executable).with_name("tmm-gen")
    if not command.exists():
        pytest.skip("the package is not installed")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert tmm.__version__ in said


def test_children_of_fork_multiply():
    import os

    a = np.ones((8, 8), "f")
    tmm.matmul(a, a)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(tmm.matmul(a, a), np.full((8, 8), 8)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_torch_is_not_imported_for_nothing():
    code = "import sys, tmm_gemm; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
