"""Matrices in other libraries' arrays: where they lie, how, on which device, and how results come to be arrays again."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Optional

from . import _cupy, _dlpack, _jax, _numpy, _torch_tensors
from ._array import Array
from ._library import HOST


def view(value: Any, name: str, stream: int = 0) -> Array:
    """What tmm sees of an array. Raises TypeError where it can't multiply it. stream: where the product runs."""
    if _numpy.is_array(value):
        return _numpy.view(value, name)
    if _torch_tensors.is_tensor(value):
        return _torch_tensors.view(value, name)
    if _cupy.is_array(value):
        return _cupy.view(value, name, stream)
    if _jax.is_array(value):
        return _jax.view(value, name, stream)
    if _dlpack.has_protocol(value):
        return _dlpack.view(value, name, stream)
    kind = type(value).__name__
    if hasattr(value, "todense"):
        raise TypeError(f"{name} is sparse (a {kind}), and tmm multiplies dense arrays only: {name}.todense() makes one")
    raise TypeError(f"{name} is a {kind}; tmm takes NumPy arrays and whatever has __dlpack__")


def stream_of(value: Any) -> int:
    """The stream that the array's library queues its work on now; 0, the default stream, where tmm does not know the library."""
    if _torch_tensors.is_tensor(value):
        return _torch_tensors.stream_of(value)
    return _cupy.stream_of(value) if _cupy.is_array(value) else 0


def on_stream(value: Any, stream: int) -> contextlib.AbstractContextManager[None]:
    """Copies and new arrays of the array's library are ordered with a product on the stream."""
    if _torch_tensors.is_tensor(value):
        return _torch_tensors.on_stream(value, stream)
    return _cupy.on_stream(value, stream) if _cupy.is_array(value) else contextlib.nullcontext()


def packed_copy(value: Any, name: str) -> Any:
    """A copy whose rows lie one behind the other; for operands whose strides no kernel takes."""
    for library, is_its in _LIBRARIES:
        if is_its(value):
            return library.packed_copy(value)
    raise ValueError(f"{name} has neither rows nor columns of neighbouring elements, and tmm can't copy a {type(value).__name__}")


@dataclass
class Destination:
    """Where a product is written. begin() comes before the first launch, finish() behind the last and gives what the caller gets."""

    array: Array
    begin: Callable[[], None]
    finish: Callable[[], Any]

    def check_writable(self) -> None:
        if self.array.read_only:
            raise ValueError(f"out can't be written to: {self.array.read_only}")


def destination(out: Any, stream: int) -> Destination:
    """The array that the caller gave."""
    array = view(out, "out", stream)
    if not _torch_tensors.is_tensor(out):
        return Destination(array, lambda: None, lambda: out)
    array.read_only = _torch_tensors.why_read_only(out)
    if out.is_neg():
        # The view has copied what the values are.
        return Destination(array, lambda: None, lambda: out.copy_(array.keep))
    return Destination(array, lambda: _torch_tensors.mark_written(out), lambda: out)


def new_destination(like: Any, shape: tuple[int, ...], stream: int) -> Destination:
    """An uninitialised array of the library, type and device of `like`."""
    for library, is_its in _LIBRARIES:
        if not is_its(like):
            continue
        memory = library.empty_like(like, shape)
        array = replace(view(memory, "out", stream), read_only=None)
        return Destination(array, lambda: None, lambda: _jax.delivered(memory, like) if library is _jax else memory)
    raise TypeError(f"tmm can't make a {type(like).__name__}: pass out, an array of a library that it knows, such as NumPy or PyTorch")


def must_be_done(out: Array, *values: Any) -> bool:
    """JAX's streams do not wait for the product's, and JAX reuses an operand's memory once nobody holds the array."""
    return out.device != HOST and any(_jax.is_array(value) for value in values)


_LIBRARIES = ((_numpy, _numpy.is_array), (_torch_tensors, _torch_tensors.is_tensor), (_cupy, _cupy.is_array), (_jax, _jax.is_array))
