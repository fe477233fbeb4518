"""Matrices in other libraries' arrays: where they lie, how, and on which device."""

import ctypes
import functools
import sys
from dataclasses import dataclass
from typing import Any, Optional

from ._library import HOST

ELEMENT_SIZE = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8}


@dataclass
class Array:
    """An array of any number of dimensions. Strides count elements; `keep` holds what the memory belongs to."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    # A CUDA ordinal, or HOST.
    device: int
    writable: bool
    keep: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)


def _is_instance(value: Any, module: str, name: str) -> bool:
    # A library that is not loaded made no array.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(value, getattr(loaded, name))


def is_numpy(value: Any) -> bool:
    return _is_instance(value, "numpy", "ndarray")


def is_torch(value: Any) -> bool:
    return _is_instance(value, "torch", "Tensor")


def is_cupy(value: Any) -> bool:
    return _is_instance(value, "cupy", "ndarray")


def view(value: Any, name: str) -> Array:
    """What tmm sees of an array. Raises TypeError where it can't multiply it."""
    if is_numpy(value):
        return _view_numpy(value, name)
    if is_torch(value):
        return _view_torch(value, name)
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        return _view_dlpack(value, name)
    raise TypeError(f"{name} is a {type(value).__name__}; tmm takes NumPy arrays and whatever has __dlpack__")


def _unknown_dtype(name: str, dtype: Any) -> TypeError:
    return TypeError(f"{name} has elements of type {dtype}; tmm multiplies float32, float16 and bfloat16")


# NumPy makes a type's name anew each time that it is asked for.
@functools.lru_cache(maxsize=64)
def _type_of_numpy(dtype: Any) -> Optional[str]:
    return {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64"}.get(dtype.name) if dtype.isnative else None


def _view_numpy(value: Any, name: str) -> Array:
    dtype = _type_of_numpy(value.dtype)
    if dtype is None:
        raise _unknown_dtype(name, value.dtype)
    size, address = value.itemsize, value.ctypes.data
    if address % size or any(stride % size for stride in value.strides):
        value = _copy_of_numpy(value, name)
        address = value.ctypes.data
    strides = tuple(stride // size for stride in value.strides)
    return Array(address, dtype, value.shape, strides, HOST, value.flags.writeable, value)


def _copy_of_numpy(value: Any, name: str) -> Any:
    if name == "out":
        raise ValueError("out's elements do not lie at multiples of their size")
    return value.copy(order="C")


def _view_torch(value: Any, name: str) -> Array:
    torch = sys.modules["torch"]
    dtype = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64"}.get(value.dtype)
    if dtype is None or value.layout is not torch.strided:
        raise _unknown_dtype(name, value.dtype)
    if value.device.type not in ("cuda", "cpu"):
        raise TypeError(f"{name} lies on {value.device}; tmm multiplies on CUDA devices and, for tests, on the CPU")
    device = value.device.index if value.device.type == "cuda" else HOST
    return Array(value.data_ptr(), dtype, tuple(value.shape), value.stride(), device, True, value)


# DLPack's structs, as its header lays them out.
class _DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13
_DL_TYPES = {(2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (2, 64): "f64"}


def _view_dlpack(value: Any, name: str) -> Array:
    kind, ordinal = value.__dlpack_device__()
    if kind in (_CPU, _CUDA_HOST):
        capsule, device = value.__dlpack__(), HOST
    elif kind in (_CUDA, _CUDA_MANAGED):
        # The producer makes the stream that the product runs on wait for what it has queued elsewhere. DLPack calls the default stream 1.
        capsule, device = value.__dlpack__(stream=stream_of(value) or 1), ordinal
    else:
        raise TypeError(f"{name} lies on a device of DLPack's type {int(kind)}; tmm multiplies on CUDA devices and on the CPU")
    # The capsule keeps the memory as long as it lives, and frees its own record then.
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    dtype = _DL_TYPES.get((tensor.dtype.code, tensor.dtype.bits)) if tensor.dtype.lanes == 1 else None
    if dtype is None:
        raise _unknown_dtype(name, getattr(value, "dtype", "unknown"))
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else packed_strides(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    return Array(address, dtype, shape, strides, device, True, (value, capsule))


def packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def stream_of(value: Any) -> int:
    """The stream that the array's library queues its work on now; 0, the default stream, where tmm does not know the library."""
    if is_torch(value) and value.is_cuda:
        return int(sys.modules["torch"].cuda.current_stream(value.device).cuda_stream)
    if is_cupy(value):
        return int(sys.modules["cupy"].cuda.get_current_stream().ptr)
    return 0


def packed_copy(value: Any, name: str) -> Any:
    """A copy whose rows lie one behind the other; for operands whose strides no kernel takes."""
    if is_numpy(value):
        return value.copy(order="C")
    if is_torch(value):
        return value.contiguous()
    if is_cupy(value):
        return value.copy(order="C")
    raise ValueError(f"{name} has neither rows nor columns of neighbouring elements, and tmm can't copy a {type(value).__name__}")


def new_array_like(value: Any, shape: tuple[int, ...]) -> Any:
    """An uninitialised array of the library, type and device of value."""
    if is_numpy(value):
        return sys.modules["numpy"].empty(shape, value.dtype)
    if is_torch(value):
        return value.new_empty(shape)
    if is_cupy(value):
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(value.device.id):
            return cupy.empty(shape, value.dtype)
    raise TypeError(f"tmm can't make a {type(value).__name__}: pass out")
