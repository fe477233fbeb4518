"""JAX's arrays. Programs rely on it that they never change, so that tmm writes a result to memory that no array of JAX's has yet."""

import sys
from dataclasses import replace
from typing import Any

from . import _dlpack
from ._array import Array


def is_array(value: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.Array)


def _is_traced(value: Any) -> bool:
    return isinstance(value, sys.modules["jax"].core.Tracer)


def view(value: Any, name: str, stream: int) -> Array:
    if _is_traced(value):
        raise TypeError(
            f"{name} is traced, as within jax.jit, jax.grad and jax.vmap, where it has no memory: call tmm.matmul outside of them"
        )
    return replace(_dlpack.view(value, name, stream), read_only="JAX's arrays never change: leave out away")


def packed_copy(value: Any) -> Any:
    return sys.modules["jax"].numpy.copy(value)


def empty_like(value: Any, shape: tuple[int, ...]) -> Any:
    """Memory to write to, which `delivered` makes an array of JAX's."""
    jax = sys.modules["jax"]
    (device,) = value.devices()
    dtype = jax.numpy.dtype("int32") if value.dtype == "int8" else value.dtype
    if device.platform == "cpu":
        return sys.modules["numpy"].empty(shape, dtype)
    # Nobody else has the array yet.
    return jax.numpy.empty(shape, dtype, device=device).block_until_ready()


def delivered(memory: Any, like: Any) -> Any:
    """The product is done."""
    jax = sys.modules["jax"]
    if isinstance(memory, jax.Array):
        return memory
    return jax.device_put(memory, next(iter(like.devices()))) if like.committed else jax.numpy.asarray(memory)
