"""NumPy's arrays."""

import functools
import sys
from typing import Any, Optional

from ._array import Array, unknown_dtype
from ._library import HOST

# A subclass that defines one of these gives its elements another meaning than their bits have, such as a mask or a unit.
_MEANING = (
    "__array_ufunc__",
    "__array_function__",
    "__array_wrap__",
    "__array_prepare__",
    "__matmul__",
    "__mul__",
    "__add__",
    "__getitem__",
)


def is_array(value: Any) -> bool:
    # A library that is not loaded made no array.
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


# NumPy makes a type's name anew each time that it is asked for.
@functools.lru_cache(maxsize=64)
def _type_of(dtype: Any) -> Optional[str]:
    names = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64", "int8": "s8", "int32": "s32"}
    return names.get(dtype.name) if dtype.isnative else None


@functools.lru_cache(maxsize=64)
def _is_its_memory(kind: type) -> bool:
    numpy = sys.modules["numpy"]
    plain = (numpy.ndarray, numpy.memmap, numpy.matrix, object)
    return not any(name in base.__dict__ for base in kind.__mro__ if base not in plain for name in _MEANING)


def _check_kind(value: Any, name: str) -> None:
    numpy = sys.modules["numpy"]
    kind = type(value)
    if kind is numpy.ndarray:
        return
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    if masked is not None and isinstance(value, masked):
        raise TypeError(f"{name} is a masked array, whose mask tmm does not know: pass {name}.filled(0), or {name}.data without the mask")
    if not _is_its_memory(kind):
        raise TypeError(
            f"{name} is a {kind.__name__}, to which its elements mean more than their values: "
            f"pass {name}.view(numpy.ndarray) where the values alone are meant"
        )


def view(value: Any, name: str) -> Array:
    _check_kind(value, name)
    dtype = _type_of(value.dtype)
    if dtype is None:
        raise unknown_dtype(name, value.dtype)
    size, address = value.itemsize, value.ctypes.data
    if address % size or any(stride % size for stride in value.strides):
        if name == "out":
            raise ValueError("out's elements do not lie at multiples of their size")
        value = packed_copy(value)
        address = value.ctypes.data
    strides = tuple(stride // size for stride in value.strides)
    return Array(address, dtype, value.shape, strides, HOST, value, None if value.flags.writeable else "NumPy says that it is read-only")


def packed_copy(value: Any) -> Any:
    return value.copy(order="C")


def empty_like(value: Any, shape: tuple[int, ...]) -> Any:
    numpy = sys.modules["numpy"]
    return numpy.empty(shape, numpy.int32 if value.dtype == numpy.int8 else value.dtype)
