"""Arguments of the wrong kind, told in one sentence that says what to write."""

import operator
import re
from collections.abc import Collection
from typing import Any

from ._library import HOST, TYPES

_MOST = 2**63 - 1
_TYPE_NAMES = {"float32": "f32", "float": "f32", "fp32": "f32", "float16": "f16", "half": "f16", "fp16": "f16", "bfloat16": "bf16"}
_TYPE_NAMES.update({"float64": "f64", "double": "f64", "fp64": "f64", "int8": "s8", "int32": "s32"})


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def whole(value: Any, name: str) -> int:
    """A size, or a count: whatever Python takes for an index. Nothing is rounded."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {_shown(value)}, no whole number") from None
    if abs(number) > _MOST:
        raise ValueError(f"{name} is {number}, which does not fit 64 bits")
    return number


def number(value: Any, name: str) -> float:
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            pass
    raise TypeError(f"{name} is {_shown(value)}, no number")


def numbers(values: Any, name: str) -> tuple[float, ...]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} is {_shown(values)}, no sequence of numbers: write {name}=[{_shown(values)}] for one of them")
    try:
        items = list(values)
    except TypeError:
        raise TypeError(f"{name} is {_shown(values)}, no sequence of numbers") from None
    return tuple(number(value, f"{name}[{i}]") for i, value in enumerate(items))


def flag(value: Any, name: str) -> bool:
    if isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, neither True nor False")
    return bool(value)


def word(value: Any, name: str, known: Collection[str]) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {_shown(value)}, no str: it is one of {', '.join(known)}")
    if value not in known:
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(known)}")
    return value


def element_type(value: Any, name: str) -> str:
    if isinstance(value, str) and value in TYPES:
        return value
    # "float32", numpy.float32, numpy.dtype("float32") and torch.float32 end alike.
    text = value.__name__ if isinstance(value, type) else str(value)
    meant = _TYPE_NAMES.get(text.rpartition(".")[2])
    advice = f'write "{meant}"' if meant else f"tmm knows {', '.join(TYPES)}"
    kind = ValueError if isinstance(value, str) else TypeError
    raise kind(f"{name} is {_shown(value)}; {advice}")


def device(value: Any, name: str = "device") -> int:
    """A CUDA ordinal, or HOST for "host"."""
    if isinstance(value, str) and value == "host":
        return HOST
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    try:
        ordinal = operator.index(value)
    except TypeError:
        ordinal = -1
    if 0 <= ordinal < 2**31 and not isinstance(value, bool):
        return ordinal
    of_torch = re.fullmatch(r"(?:cuda|gpu)(?::(\d+))?", str(value))
    advice = f"write {of_torch[1] or 0}" if of_torch else 'write "host"' if str(value) == "cpu" else "write one of these"
    kind = ValueError if isinstance(value, (str, int)) else TypeError
    raise kind(f'{name} is {_shown(value)}; {advice}: a GPU is named by its ordinal, a number such as 0, the emulated device by "host"')


def stream_address(value: Any) -> int:
    try:
        address = operator.index(value)
    except TypeError:
        raise TypeError(
            f"stream is {_shown(value)}, no whole number: pass the stream's address, which PyTorch has as .cuda_stream, CuPy as .ptr"
        ) from None
    if not 0 <= address < 2**64:
        raise ValueError(f"stream is {address}, no address")
    return address
