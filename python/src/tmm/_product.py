"""matmul: operands of any dimensions become problems that libtmm takes."""

import ctypes
import itertools
from typing import Any, Optional

from . import _arrays, _library
from ._arrays import ELEMENT_SIZE, Array
from ._handles import handles
from ._library import Args, check, library
from ._shapes import Matrices, as_matrix, folded, matrices, operand, result_as_matrices, shapes


def _op(transposed: bool) -> int:
    return _library.TRANS if transposed else _library.NO_TRANS


def scalar(value: float, dtype: str) -> Any:
    """A host value in the compute type."""
    return ctypes.c_double(value) if dtype == "f64" else ctypes.c_float(value)


def _alignment(*addresses: int) -> int:
    together = 16
    for address in addresses:
        together |= address
    return together & -together


def _refuse_epilogue(epilogue: Any, bias: Any) -> None:
    if epilogue is not None or bias is not None:
        raise NotImplementedError("this version of tmm has no epilogues: leave epilogue and bias out")


def compute_mode(compute: Optional[str], dtype: str) -> int:
    mode = compute or ("f64" if dtype == "f64" else "f32")
    if mode not in _library.COMPUTE_MODES:
        raise ValueError(f"compute is {mode!r}; tmm knows {', '.join(_library.COMPUTE_MODES)}")
    return _library.COMPUTE_MODES[mode]


def _check_together(a: Array, b: Array, out: Array, shape: tuple[int, ...]) -> None:
    if a.dtype != b.dtype:
        raise TypeError(f"a has elements of type {a.dtype} and b of type {b.dtype}: convert one of them")
    if not a.device == b.device == out.device:
        places = ", ".join(
            f"{name} on {'the host' if array.device == _library.HOST else f'GPU {array.device}'}"
            for name, array in (("a", a), ("b", b), ("out", out))
        )
        raise ValueError(f"the arrays lie on different devices: {places}")
    if out.shape != shape:
        raise ValueError(f"out has the shape {out.shape}, but the product has {shape}")
    if not out.writable:
        raise ValueError("out can't be written to")


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    epilogue: Optional[str] = None,
    bias: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    compute: Optional[str] = None,
    stream: Optional[int] = None,
) -> Any:
    """alpha * (a @ b) + beta * out, by the fastest kernel that tmm knows for the shape.

    Shapes go together as in numpy.matmul. Arrays of NumPy are multiplied on the emulated device, which is right but slow; CUDA arrays
    (PyTorch, CuPy, whatever has __dlpack__) on their own GPU, on the stream that their library uses now. out, where it is given, is
    written to and returned; it must not overlap a or b. Its type is that of a and b, or float32 for 16-bit operands.

    compute: "f32" (the default: as accurate as a loop of FP32 FMAs), "f32_strict" or "tf32". stream: the address of a CUDA stream, for
    arrays of a library that tmm does not know. Raises TypeError and ValueError for arrays that do not go together, TmmError for what
    libtmm refuses. Threads may call it at once.
    """
    _refuse_epilogue(epilogue, bias)
    view_a, view_b = _arrays.view(a, "a"), _arrays.view(b, "b")
    batch, shape = shapes(view_a, view_b)
    if out is None:
        if beta != 0:
            raise ValueError("beta is not 0, but there is no out that it scales")
        out = _arrays.new_array_like(a, shape)
    view_out = _arrays.view(out, "out")
    _check_together(view_a, view_b, view_out, shape)
    mode = compute_mode(compute, view_a.dtype)
    if 0 in shape:
        return out
    if stream is None:
        stream = _arrays.stream_of(a)
    left = operand(a, as_matrix(view_a, True), "a", batch)
    right = operand(b, as_matrix(view_b, False), "b", batch)
    result = matrices(result_as_matrices(view_out, view_a, view_b), batch)
    if result is None:
        raise ValueError(f"out's strides {view_out.strides} leave neither rows nor columns of neighbouring elements that lie apart")
    _multiply(left, right, result, batch, alpha, beta, mode, stream)
    return out


def _multiply(a: Matrices, b: Matrices, c: Matrices, batch: tuple[int, ...], alpha: float, beta: float, compute: int, stream: int) -> None:
    m, n = c.array.shape[-2:]
    k = a.array.shape[-1]
    if c.transposed:
        # The transpose of C is the product of the operands' transposes, the other way round.
        a, b, m, n = b, a, n, m
    together = folded(batch, [a.batch_strides, b.batch_strides, c.batch_strides])
    in_bytes = [[ELEMENT_SIZE[x.array.dtype] * steps[i] for _, steps in together.outer] for i, x in enumerate((a, b, c))]
    problem = _library.new_problem(
        op_a=_op(a.transposed != c.transposed),
        op_b=_op(b.transposed != c.transposed),
        m=m,
        n=n,
        k=k,
        batch=together.length,
        type_a=_library.TYPES[a.array.dtype],
        type_b=_library.TYPES[b.array.dtype],
        type_c=_library.TYPES[c.array.dtype],
        compute=compute,
        lda=a.ld,
        ldb=b.ld,
        ldc=c.ld,
        stride_a=together.strides[0],
        stride_b=together.strides[1],
        stride_c=together.strides[2],
        reads_c=int(beta != 0),
        alignment=_alignment(a.array.address, b.array.address, c.array.address, *itertools.chain(*in_bytes)),
    )
    scale, keep = scalar(alpha, a.array.dtype), scalar(beta, a.array.dtype)
    args = Args(struct_size=ctypes.sizeof(Args), alpha=ctypes.addressof(scale), beta=ctypes.addressof(keep))
    handle = handles.get(c.array.device, stream)
    for place in itertools.product(*(range(length) for length, _ in together.outer)):
        args.a, args.b, args.c = (x.array.address + sum(i * step for i, step in zip(place, steps)) for x, steps in zip((a, b, c), in_bytes))
        check(library.tmmGemm(handle, ctypes.byref(problem), ctypes.byref(args)), handle)
