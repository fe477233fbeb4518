"""The command-line tools that the package carries, and what of them Python code wants: tune() and winners()."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from . import _arguments
from ._library import StatusError

Shape = Union[str, Sequence[int], Mapping[str, Any]]


class ToolError(StatusError):
    """A tool's exit status other than 0, with what it said. The README lists the statuses."""


def _tool(name: str) -> str:
    # TMM_TOOLS names a directory of tools to use in place of those that the package carries.
    return str(Path(os.environ.get("TMM_TOOLS") or Path(__file__).with_name("bin")) / name)


def _output_of(arguments: list[str], quiet: bool) -> str:
    finished = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None, text=True, check=False)
    if finished.returncode != 0:
        said = (finished.stderr or "").strip()
        raise ToolError(finished.returncode, said or f"{Path(arguments[0]).name} ended with status {finished.returncode}")
    return finished.stdout


def _size(value: Any, name: str) -> int:
    # Lists that were read from a text have digits.
    return int(value) if isinstance(value, str) and value.isdecimal() else _arguments.whole(value, name)


def line_of(shape: Shape) -> str:
    """A line of a shapes file: "512x512x512 dtype=bf16", (512, 512, 512), or {"m": 512, "n": 512, "k": 512, "dtype": "bf16"}."""
    if isinstance(shape, str):
        line = shape
    elif isinstance(shape, Mapping):
        rest = dict(shape)
        try:
            sizes = [_size(rest.pop(name), name) for name in ("m", "n", "k")]
        except KeyError as missing:
            raise ValueError(f"a shape needs {missing}: {shape!r}") from None
        for key in {"dtype", "ctype", "bias_type"} & rest.keys():
            if not isinstance(rest[key], str):
                rest[key] = _arguments.element_type(rest[key], key)
        line = " ".join([*map(str, sizes), *(f"{key}={value}" for key, value in rest.items())])
    elif not isinstance(shape, Iterable):
        raise ValueError(f"{shape!r} is no shape: tune takes a list of shapes, such as [(512, 512, 512)]")
    else:
        given = list(shape)
        if len(given) != 3:
            raise ValueError(f"a shape has three sizes, m, n and k: {shape!r}")
        line = " ".join(str(_size(size, name)) for size, name in zip(given, "mnk"))
    if "\n" in line or "#" in line:
        raise ValueError(f"a shape is one line: {shape!r}")
    return line


def tune(
    shapes: Union[str, "os.PathLike[str]", Iterable[Shape]],
    gpu: Union[int, str] = 0,
    *,
    db: Optional[str] = None,
    budget: Optional[float] = None,
    effort: Optional[str] = None,
    progress: Optional[bool] = None,
) -> list[dict[str, Any]]:
    """Searches the fastest config of each shape and keeps it in the tuning database; returns what tmm-tune --json says of each.

    shapes: the name of a shapes file, or shapes as line_of() takes them. gpu: an ordinal, "0,1", "all", or "host". budget: seconds.
    effort: "quick", "normal" or "full". progress: let what tmm-tune says through to stderr, a bar with an ETA; by default where stderr
    is a terminal. On the emulated device a shape takes minutes. Handles read winners when they are made:
    a process that has multiplied on the device already goes on with what it knew. Raises ToolError, whose status 6 says that some shape
    has no verified winner.
    """
    if progress is None:
        progress = sys.stderr.isatty()
    arguments = [_tool("tmm-tune"), "--gpu", _gpus(gpu), "--json"]
    if budget is not None:
        _arguments.number(budget, "budget")
    if effort is not None:
        _arguments.word(effort, "effort", ("quick", "normal", "full"))
    for option, value in (("--db", db), ("--budget", budget), ("--effort", effort)):
        if value is not None:
            arguments += [option, str(value)]
    if isinstance(shapes, (str, os.PathLike)):
        _check_file(os.fspath(shapes))
        return _tuned(arguments + ["--shapes", os.fspath(shapes)], progress)
    if isinstance(shapes, Mapping):
        raise ValueError(f"tune takes a list of shapes: write [{shapes!r}] for one of them")
    if not isinstance(shapes, Iterable):
        raise TypeError(f"shapes is a {type(shapes).__name__}; tune takes a list of shapes, such as [(512, 512, 512)]")
    shapes = list(shapes)
    if len(shapes) == 3 and not any(isinstance(size, Iterable) for size in shapes):
        raise ValueError(f"tune takes a list of shapes: write [{tuple(shapes)!r}] for one of them")
    with tempfile.TemporaryDirectory(prefix="tmm-shapes-") as directory:
        file = Path(directory) / "shapes.txt"
        file.write_text("".join(line_of(shape) + "\n" for shape in shapes))
        return _tuned(arguments + ["--shapes", str(file)], progress)


def _gpus(gpu: Union[int, str]) -> str:
    """What tmm-tune takes for --gpu."""
    if isinstance(gpu, str):
        if gpu in ("host", "auto", "all") or re.fullmatch(r"\d+(,\d+)*", gpu):
            return gpu
    elif isinstance(gpu, Sequence):
        return ",".join(str(_arguments.whole(ordinal, "gpu")) for ordinal in gpu)
    return str(_arguments.device(gpu, "gpu"))


def _check_file(name: str) -> None:
    if not os.path.exists(name) and re.match(r"\s*\d+\s*[x ]\s*\d+", name):
        raise ValueError(f"there is no shapes file {name!r}; a shape stands in a list: [{name!r}]")


def _tuned(arguments: list[str], progress: bool) -> list[dict[str, Any]]:
    devices = json.loads(_output_of(arguments, quiet=not progress))["devices"]
    return [{"device": device["device"], **problem} for device in devices for problem in device["problems"]]


def winners(db: Optional[str] = None, gpu: Optional[str] = None) -> list[dict[str, Any]]:
    """The newest decision of each problem and device, one flat dict each: pandas.DataFrame(tmm.winners()) is a table.

    db: a file, else the user's own database. gpu: only devices whose name has these whole words; ToolError where
    none has them. Times are microseconds.
    """
    if gpu is not None and not isinstance(gpu, str):
        raise TypeError(f"gpu is {gpu!r}; winners takes a GPU's name, such as 'H100', not its number")
    arguments = [_tool("tmm-db"), "export", "--winners", "--json"]
    for option, value in (("--db", db), ("--gpu", gpu)):
        if value is not None:
            arguments += [option, os.fspath(value)]
    records = json.loads(_output_of(arguments, quiet=True))["records"]
    return [{name: value for name, value in record.items() if name != "record"} for record in records]


def _replace_process(name: str) -> None:
    tool = _tool(name)
    os.execv(tool, [tool, *sys.argv[1:]])


def main_tune() -> None:
    _replace_process("tmm-tune")


def main_db() -> None:
    _replace_process("tmm-db")


def main_gen() -> None:
    _replace_process("tmm-gen")
