"""Do two arrays share memory? A product that overwrites an operand while it reads it would be wrong without a word."""

from dataclasses import dataclass
from typing import Optional

from ._array import ELEMENT_SIZE, Array

# Pieces that are looked at before arrays count as overlapping unseen.
_MOST_PIECES = 5000


@dataclass
class _Block:
    """Runs of `bytes` neighbouring bytes at address + i * step + …, for each (count, step) of the axes; the largest step comes first."""

    address: int
    bytes: int
    axes: tuple[tuple[int, int], ...]

    @property
    def extent(self) -> int:
        return self.bytes + sum((count - 1) * step for count, step in self.axes)

    def row(self, index: int) -> "_Block":
        return _Block(self.address + index * self.axes[0][1], self.bytes, self.axes[1:])


def _block(array: Array) -> _Block:
    size, address = ELEMENT_SIZE[array.dtype], array.address
    axes = []
    for count, stride in zip(array.shape, array.strides):
        if count > 1 and stride:
            address += min(0, (count - 1) * stride) * size
            axes.append((count, abs(stride) * size))
    axes.sort(key=lambda axis: axis[1])
    run = size
    while axes and axes[0][1] == run:
        run *= axes.pop(0)[0]
    return _Block(address, run, tuple(reversed(axes)))


def _are_apart(x: _Block, y: _Block) -> bool:
    return x.address + x.extent <= y.address or y.address + y.extent <= x.address


def _rows_that_meet(x: _Block, y: _Block) -> range:
    """The rows of x, along its first axis, whose extents meet that of y."""
    count, step = x.axes[0]
    # Row i begins at x.address + i * step and extends over `inner` bytes.
    inner = x.row(0).extent
    first = (y.address - x.address - inner) // step + 1
    last = (y.address + y.extent - 1 - x.address) // step
    return range(max(0, first), min(count - 1, last) + 1)


def _meet_in_lattice(x: _Block, y: _Block, budget: list[int]) -> Optional[bool]:
    """The answer where both have rows at the same distance, none longer than it: then a pair of neighbouring rows stands for all."""
    if not x.axes or not y.axes or x.axes[0][1] != y.axes[0][1]:
        return None
    step = x.axes[0][1]
    first, second = x.row(0), y.row(0)
    if first.extent > step or second.extent > step:
        return None
    # Row i of y begins `shift` bytes behind row i + ahead of x.
    ahead, shift = divmod(y.address - x.address, step)
    for distance, offset in ((ahead, shift), (ahead + 1, shift - step)):
        # Are there rows i of y and i + distance of x?
        if max(0, -distance) <= min(y.axes[0][0], x.axes[0][0] - distance) - 1:
            if _meet(first, _Block(first.address + offset, second.bytes, second.axes), budget):
                return True
    return False


def _meet(x: _Block, y: _Block, budget: list[int]) -> bool:
    if _are_apart(x, y):
        return False
    if not x.axes and not y.axes:
        return True
    in_lattice = _meet_in_lattice(x, y, budget)
    if in_lattice is not None:
        return in_lattice
    if not x.axes or (y.axes and y.axes[0][1] > x.axes[0][1]):
        x, y = y, x
    for index in _rows_that_meet(x, y):
        budget[0] -= 1
        if budget[0] < 0 or _meet(x.row(index), y, budget):
            return True
    return False


def _ends(array: Array) -> tuple[int, int]:
    """The addresses of the first byte and of the one behind the last."""
    size, first, last = ELEMENT_SIZE[array.dtype], array.address, array.address
    for count, stride in zip(array.shape, array.strides):
        if stride < 0:
            first += (count - 1) * stride * size
        else:
            last += (count - 1) * stride * size
    return first, last + size


def overlap(x: Array, y: Array) -> bool:
    """Do they share an element's byte? Arrays of so odd a layout that this takes long to find out count as overlapping."""
    if x.device != y.device or 0 in x.shape or 0 in y.shape:
        return False
    # Most arrays are far apart.
    (first_x, end_x), (first_y, end_y) = _ends(x), _ends(y)
    return first_x < end_y and first_y < end_x and _meet(_block(x), _block(y), [_MOST_PIECES])


def overlaps_itself(array: Array) -> bool:
    """Do two of its elements share a place? Layouts whose axes are not nested count as such."""
    if 0 in array.shape:
        return False
    reach = 1
    for stride, count in sorted((abs(stride), count) for stride, count in zip(array.strides, array.shape) if count > 1):
        if stride < reach:
            return True
        reach += (count - 1) * stride
    return False


def check_out(out: Array, **operands: Optional[Array]) -> None:
    """Raises ValueError where out, which is written to, shares memory with itself or with an array that is read."""
    if overlaps_itself(out):
        raise ValueError(f"out's strides {out.strides} let elements of its share memory")
    for name, operand in operands.items():
        if operand is not None and overlap(out, operand):
            raise ValueError(f"out shares memory with {name}: it must not overlap what is read, so pass another out or a copy of {name}")
