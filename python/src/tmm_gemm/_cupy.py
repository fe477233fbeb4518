"""CuPy's arrays: what DLPack does not tell of them."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from . import _dlpack
from ._array import Array


def is_array(value: Any) -> bool:
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def view(value: Any, name: str, stream: int) -> Array:
    # All of CuPy's arrays may be written to.
    return replace(_dlpack.view(value, name, stream), read_only=None)


def stream_of(value: Any) -> int:
    return int(sys.modules["cupy"].cuda.get_current_stream().ptr)


@contextlib.contextmanager
def on_stream(value: Any, stream: int) -> Iterator[None]:
    """Makes the stream CuPy's current one, so that copies, and the memory of the result, are ordered with the product."""
    if stream == stream_of(value):
        yield
        return
    with sys.modules["cupy"].cuda.ExternalStream(stream, value.device.id):
        yield


def packed_copy(value: Any) -> Any:
    return value.copy(order="C")


def empty_like(value: Any, shape: tuple[int, ...]) -> Any:
    cupy = sys.modules["cupy"]
    with cupy.cuda.Device(value.device.id):
        return cupy.empty(shape, cupy.int32 if value.dtype == cupy.int8 else value.dtype)
