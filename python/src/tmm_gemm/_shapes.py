"""Arrays of any dimensions as batches of matrices, by NumPy's rules."""

from dataclasses import dataclass, replace
from typing import Any, Optional

from . import _arrays
from ._array import Array, packed_strides


@dataclass
class Matrices:
    """An operand as the last two dimensions of an array, with the strides of the dimensions before them."""

    array: Array
    transposed: bool
    ld: int
    batch_strides: tuple[int, ...]


def matrices(array: Array, batch: tuple[int, ...], only: Optional[bool] = None) -> Optional[Matrices]:
    """None where neither rows nor columns have neighbouring elements, or where they overlap. only: take no other `transposed`."""
    rows, columns = array.shape[-2:]
    if 0 in array.shape:
        return Matrices(array, bool(only), max(1, rows if only else columns), (0,) * len(batch))
    row_stride, column_stride = array.strides[-2:]
    own = array.shape[:-2]
    missing = len(batch) - len(own)
    batch_strides = (0,) * missing + tuple(0 if length == 1 else stride for length, stride in zip(own, array.strides[:-2]))
    if any(stride < 0 for stride in batch_strides):
        return None
    ways = ((False, rows, columns, column_stride, row_stride), (True, columns, rows, row_stride, column_stride))
    for transposed, lines, length, step, ld in ways:
        if only is not None and transposed != only:
            continue
        # A leading dimension is of no meaning for a single line, nor a step for a single element.
        if (step == 1 or length <= 1) and (ld >= max(1, length) or lines <= 1):
            return Matrices(array, transposed, ld if lines > 1 else max(1, length), batch_strides)
    return None


def _packed(array: Array, batch: tuple[int, ...], only: Optional[bool] = None) -> Matrices:
    """The same of an array without gaps, which always has rows of neighbouring elements."""
    found = matrices(array, batch, only)
    assert found is not None
    return found


def _packed_rows(value: Any, array: Array, name: str) -> Array:
    """A copy of value that has array's shape."""
    copy = _arrays.view(_arrays.packed_copy(value, name), name)
    return replace(copy, shape=array.shape, strides=packed_strides(array.shape))


def operand(value: Any, array: Array, name: str, batch: tuple[int, ...]) -> Matrices:
    return matrices(array, batch) or _packed(_packed_rows(value, array, name), batch)


def laid_out_as(value: Any, array: Array, name: str, like: Matrices, batch: tuple[int, ...]) -> Matrices:
    """A matrix whose rows, or whose columns, have neighbouring elements as those of `like` do: value itself, or a copy."""
    found = matrices(array, batch, like.transposed)
    if found is not None:
        return found
    # What was a vector is a single row or column, which is both.
    was_matrix = len(value.shape) == array.ndim
    if not like.transposed or not was_matrix:
        return _packed(_packed_rows(value, array, name), batch, like.transposed)
    columns = _arrays.view(_arrays.packed_copy(value.swapaxes(-1, -2), name), name)
    return _packed(replace(columns, shape=array.shape, strides=(*columns.strides[:-2], *columns.strides[:-3:-1])), batch, True)


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    batch = []
    for i in range(1, max(len(a), len(b)) + 1):
        x, y = (shape[-i] if i <= len(shape) else 1 for shape in (a, b))
        if x != y and 1 not in (x, y):
            raise ValueError(f"the batches {a} and {b} do not go together")
        batch.append(y if x == 1 else x)
    return tuple(reversed(batch))


@dataclass
class Batch:
    """Dimensions that one launch takes, as its batch, and those that are looped over: (length, strides of a, b, c and a residual)."""

    length: int
    strides: tuple[int, ...]
    outer: list[tuple[int, tuple[int, ...]]]


def folded(batch: tuple[int, ...], strides: list[tuple[int, ...]]) -> Batch:
    """Folds neighbouring dimensions into one while every operand goes on in equal steps."""
    dimensions = [(length, steps) for length, *steps in zip(batch, *strides) if length != 1]
    if not dimensions:
        return Batch(1, (0,) * len(strides), [])
    length, steps = dimensions.pop()
    while dimensions and all(outer == inner * length for outer, inner in zip(dimensions[-1][1], steps)):
        length *= dimensions.pop()[0]
    # C's matrices must lie apart; side by side in common rows is for the library to judge.
    return Batch(length, tuple(steps), [(outer, tuple(outer_steps)) for outer, outer_steps in dimensions])


def shapes(a: Array, b: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The batch and the result's shape, by NumPy's rules."""
    if not a.ndim or not b.ndim:
        raise ValueError("a scalar has no rows and columns: multiply it by *")
    rows = a.shape[-2:-1] if a.ndim > 1 else ()
    columns = b.shape[-1:] if b.ndim > 1 else ()
    k, k_of_b = a.shape[-1], b.shape[-2] if b.ndim > 1 else b.shape[-1]
    if k != k_of_b:
        raise ValueError(f"a has {k} columns and b {k_of_b} rows: shapes {a.shape} and {b.shape} do not go together")
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    return batch, batch + rows + columns


def _axes_swapped(of_axes: tuple[int, ...]) -> tuple[int, ...]:
    return (*of_axes[:-2], of_axes[-1], of_axes[-2])


def is_transpose(a: Array, b: Array) -> bool:
    """Is each matrix of b the transpose of a's, in the same memory?"""
    if a.address != b.address or a.dtype != b.dtype or not a.ndim == b.ndim > 1 or a.shape != _axes_swapped(b.shape):
        return False
    # The stride of an axis of length 1 says nothing.
    return all(length == 1 or x == y for length, x, y in zip(a.shape, a.strides, _axes_swapped(b.strides)))


def as_matrix(array: Array, is_row: bool) -> Array:
    """A vector as one row, or as one column."""
    if array.ndim > 1:
        return array
    at = 0 if is_row else 1
    shape, strides = list(array.shape), list(array.strides)
    shape.insert(at, 1)
    strides.insert(at, 0)
    return replace(array, shape=tuple(shape), strides=tuple(strides))


def result_as_matrices(out: Array, a: Array, b: Array) -> Array:
    shape, strides = list(out.shape), list(out.strides)
    if b.ndim == 1:
        shape.append(1)
        strides.append(0)
    if a.ndim == 1:
        shape.insert(len(shape) - 1, 1)
        strides.insert(len(strides) - 1, 0)
    return replace(out, shape=tuple(shape), strides=tuple(strides))
