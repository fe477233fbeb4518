"""What tmm sees of another library's array."""

from dataclasses import dataclass
from typing import Any, Optional

ELEMENT_SIZE = {"f32": 4, "f16": 2, "bf16": 2, "f64": 8, "s8": 1, "s32": 4}
# The type of a product where it is not that of the operands.
PRODUCT_TYPE = {"s8": "s32"}


@dataclass
class Array:
    """An array of any number of dimensions. Strides count elements; `keep` holds what the memory belongs to."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    # A CUDA ordinal, or HOST.
    device: int
    keep: Any
    # Where the array must not be written to, the reason.
    read_only: Optional[str] = None

    @property
    def ndim(self) -> int:
        return len(self.shape)


def packed_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= length
    return tuple(reversed(strides))


def unknown_dtype(name: str, dtype: Any) -> TypeError:
    return TypeError(f"{name} has elements of type {dtype}; tmm multiplies float32, float16, bfloat16, float64 and int8")
