"""Arrays of libraries of which tmm knows no more than DLPack tells (https://dmlc.github.io/dlpack)."""

import ctypes
from typing import Any

from ._array import Array, packed_strides, unknown_dtype
from ._library import HOST


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _VersionedTensor(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_VERSION = (1, 0)
_READ_ONLY = 1
_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_TYPES = {(2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (2, 64): "f64", (0, 8): "s8", (0, 32): "s32"}

# A library object of our own: the types that are set on its functions are not those of ctypes.pythonapi, which all packages share.
_python = ctypes.PyDLL(None)
_python.PyCapsule_IsValid.restype, _python.PyCapsule_IsValid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def has_protocol(value: Any) -> bool:
    return hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__")


def _exported(value: Any, name: str, stream: int) -> tuple[Any, int]:
    """The capsule, and the device that it says."""
    kind, ordinal = value.__dlpack_device__()
    if kind in (_CPU, _CUDA_HOST):
        on_stream, device = {}, HOST
    elif kind in (_CUDA, _CUDA_MANAGED):
        # DLPack calls the default stream 1.
        on_stream, device = {"stream": stream or 1}, ordinal
    else:
        raise TypeError(f"{name} lies on a device of DLPack's type {int(kind)}; tmm multiplies on CUDA devices and on the CPU")
    try:
        return value.__dlpack__(max_version=_VERSION, **on_stream), device
    except TypeError:
        # The producer is older than versions of the protocol.
        return value.__dlpack__(**on_stream), device


def _opened(capsule: Any, name: str) -> tuple[_Tensor, bool, bool]:
    """The tensor of a capsule, which keeps the memory as long as it lives; whether it says what may be written to, and that this may not."""
    if _python.PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        versioned = _VersionedTensor.from_address(_python.PyCapsule_GetPointer(capsule, b"dltensor_versioned"))
        if versioned.major != _VERSION[0]:
            raise ValueError(f"{name} comes by version {versioned.major}.{versioned.minor} of DLPack; tmm reads version 1 and older")
        return versioned.tensor, True, bool(versioned.flags & _READ_ONLY)
    return _Tensor.from_address(_python.PyCapsule_GetPointer(capsule, b"dltensor")), False, False


def view(value: Any, name: str, stream: int) -> Array:
    """stream: where the product runs. The producer makes it wait for what it has queued elsewhere."""
    try:
        capsule, device = _exported(value, name, stream)
    except BufferError as error:
        raise ValueError(f"{name} can't be had by DLPack: {error}") from error
    tensor, is_versioned, is_read_only = _opened(capsule, name)
    dtype = _TYPES.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if dtype is None:
        raise unknown_dtype(name, getattr(value, "dtype", "unknown"))
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else packed_strides(shape)
    reason = None
    if is_read_only:
        reason = "its library says that it is read-only"
    elif not is_versioned:
        reason = f"it comes by a version of DLPack before 1.0, which can't say whether a {type(value).__name__} may be written to"
    return Array((tensor.data or 0) + tensor.byte_offset, dtype, shape, strides, device, (value, capsule), reason)
