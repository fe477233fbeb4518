"""matmul: operands of any dimensions become problems that libtmm takes."""

import ctypes
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from . import _arguments, _arrays, _library, _overlap
from ._array import ELEMENT_SIZE, Array
from ._epilogue import Epilogue, bias_vector, check_operands, check_residual, epilogue_of, parameter_values
from ._handles import handles
from ._library import Args, check, library
from ._shapes import Matrices, as_matrix, folded, is_transpose, laid_out_as, matrices, operand, result_as_matrices, shapes


def _op(transposed: bool) -> int:
    return _library.TRANS if transposed else _library.NO_TRANS


def scalar(value: float, dtype: str) -> Any:
    """A host value in the compute type."""
    if dtype == "s8":
        if not value.is_integer() or not -(2**31) <= value < 2**31:
            raise ValueError(f"alpha or beta is {value}; for products of int8 both are whole numbers of 32 bits")
        return ctypes.c_int32(int(value))
    return ctypes.c_double(value) if dtype == "f64" else ctypes.c_float(value)


def _alignment(*addresses: int) -> int:
    together = 16
    for address in addresses:
        together |= address
    return together & -together


def promises(dtype: str, compute: Optional[str], result: str, invariant: Optional[bool]) -> dict[str, int]:
    """Of tmmGemmProblem_t: what a product makes of C, and what it promises about that."""
    mode = compute or {"f64": "f64", "s8": "s32"}.get(dtype, "f32")
    fields = {
        "compute": _library.COMPUTE_MODES[_arguments.word(mode, "compute", _library.COMPUTE_MODES)],
        "result": _library.RESULTS[_arguments.word(result, "result", _library.RESULTS)],
    }
    if invariant is not None:
        fields["invariant"] = int(_arguments.flag(invariant, "invariant"))
    return fields


def set_invariant(wanted: bool) -> None:
    """Are products and plans invariant that do not say, from now on? At first they are where the environment has TMM_INVARIANT=1.

    A row of an invariant product has the same bits whatever rows it is computed with, in calls of any size: they hang on that row of a,
    on b, and on the types and the device's model alone. That costs speed where few rows meet a deep K.
    """
    _library.defaults["invariant"] = int(_arguments.flag(wanted, "wanted"))


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


@dataclass
class _Finish:
    """What becomes of the sums: alpha and beta, and the epilogue with its operands."""

    alpha: float
    beta: float
    epilogue: Epilogue
    bias: Optional[Array]
    residual: Optional[Matrices]
    parameters: Any


def matmul(
    a: Any,
    b: Any,
    out: Any = None,
    epilogue: Optional[str] = None,
    bias: Any = None,
    residual: Any = None,
    parameters: Optional[Sequence[float]] = None,
    *,
    expression: Optional[str] = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    compute: Optional[str] = None,
    result: Optional[str] = None,
    invariant: Optional[bool] = None,
    stream: Optional[int] = None,
) -> Any:
    """f(alpha * (a @ b) + beta * out), by the fastest kernel that tmm knows for the shape; without an epilogue f changes nothing.

    Shapes go together as in numpy.matmul. Arrays of NumPy are multiplied on the emulated device, which is right but slow; CUDA arrays
    (PyTorch, CuPy, JAX, whatever has __dlpack__) on their own GPU, on the stream that their library uses now. out, where it is given, is
    written to and returned; it must share no memory with another operand. Its type is that of a and b, or float32 for 16-bit operands; of int8
    it is int32, in which sums wrap around.

    epilogue: words of a shapes file, such as "relu", "bias+gelu" or "bias_rows+silu+residual": f(x) = activation(x + bias) + residual.
    "swiglu" is a gate: of a product of 2 n columns the result has silu(the first n) * (the last n), and a bias has 2 n elements;
    "swiglu_rows" does the same with 2 m rows.
    Without it bias and residual are added where they are given. bias: one dimension, float32, float16 or bfloat16, or float64 as a and b are, an element for each
    column of the product, or for each row with "bias_rows". residual: of the product's shape and type, whatever its strides, with a
    batch that may be missing. expression: f in C++ instead of an activation, over x, row, column, batch, bias,
    residual and p0 to p3: "fmaxf(x + bias, p0)"; batch counts all matrices of the result. parameters: p0 to p3, 0 where they are not
    given; other values need no other kernel.

    compute: "f32" (the default: as accurate as a loop of FP32 FMAs), "f32_strict" or "tf32"; for float64 "f64" alone, the default of these.

    result: "full", "symmetric", "lower" or "upper". "symmetric" says that you know the product to be symmetric: one triangle is computed,
    in about half the time where it is large, and the result equals its transpose bit for bit. Without it, a product of a matrix and the
    same memory's transpose, such as matmul(a, a.T), is taken as symmetric where neither beta, bias, residual, gate nor an expression of row
    or column can make it another one. "lower" and "upper": only that triangle of out, with the diagonal, is read and written.
    invariant: as set_invariant has it, for this product. stream: the address of a CUDA stream, for
    arrays of a library that tmm does not know. Raises TypeError and ValueError for arrays that do not go together, ExpressionError (a
    ValueError, too) for an expression that does not compile, TmmError for what libtmm refuses. Threads may call it at once.
    """
    wanted = epilogue_of(epilogue, expression, bias is not None, residual is not None)
    check_operands(wanted, bias, residual)
    values = parameter_values(parameters, wanted)
    alpha, beta = _arguments.number(alpha, "alpha"), _arguments.number(beta, "beta")
    if result in ("lower", "upper") and out is None:
        raise ValueError(f"result is {result!r}, but there is no out that keeps its other triangle")
    stream = _arrays.stream_of(a) if stream is None else _arguments.stream_address(stream)
    with _arrays.on_stream(a, stream):
        view_a, view_b = _arrays.view(a, "a", stream), _arrays.view(b, "b", stream)
        batch, shape = _shape_of_result(view_a, view_b, wanted)
        if beta != 0:
            _check_beta(wanted, out)
        destination = _arrays.new_destination(a, shape, stream) if out is None else _arrays.destination(out, stream)
        view_out = destination.array
        _check_together(view_a, view_b, view_out, shape)
        destination.check_writable()
        if result is None:
            is_symmetric = beta == 0 and is_transpose(view_a, view_b) and wanted.keeps_symmetry
            result = "symmetric" if is_symmetric else "full"
        promised = promises(view_a.dtype, compute, result, invariant)
        c = result_as_matrices(view_out, view_a, view_b)
        added = None if bias is None else bias_vector(bias, wanted, c.shape, c.device, stream)
        view_residual = None if residual is None else _arrays.view(residual, "residual", stream)
        if view_residual is not None:
            check_residual(view_residual, view_out, view_a.ndim > 1 and view_b.ndim > 1)
        if 0 in shape:
            return destination.finish()
        if out is not None:
            _overlap.check_out(view_out, a=view_a, b=view_b, bias=added, residual=view_residual)
        left = operand(a, as_matrix(view_a, True), "a", batch)
        right = operand(b, as_matrix(view_b, False), "b", batch)
        target = matrices(c, batch)
        if target is None:
            raise ValueError(f"out's strides {view_out.strides} leave neither rows nor columns of neighbouring elements that lie apart")
        finish = _Finish(alpha, beta, wanted, added, None, values)
        if view_residual is not None:
            finish.residual = laid_out_as(residual, result_as_matrices(view_residual, view_a, view_b), "residual", target, batch)
        destination.begin()
        _multiply(left, right, target, batch, finish, promised, stream)
        if _arrays.must_be_done(view_out, a, b, out, bias, residual):
            handles.synchronize(view_out.device, stream)
        return destination.finish()


def _shape_of_result(a: Array, b: Array, epilogue: Epilogue) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The batch, and the shape of all."""
    batch, shape = shapes(a, b)
    if not epilogue.is_gate:
        return batch, shape
    of_rows = epilogue.gated_axis == "rows"
    halved, name = (a, "a") if of_rows else (b, "b")
    if halved.ndim < 2:
        raise ValueError(f"{epilogue.activation} takes the {epilogue.gated_axis} of {name} by halves, but {name} is a vector")
    axis = len(shape) - (2 if of_rows and b.ndim > 1 else 1)
    return batch, (*shape[:axis], epilogue.halved(shape[axis]), *shape[axis + 1 :])


def _check_beta(epilogue: Epilogue, out: Any) -> None:
    if epilogue.is_gate:
        raise ValueError(f"{epilogue.activation} does not read out: leave beta 0")
    if out is None:
        raise ValueError("beta is not 0, but there is no out that it scales")


def _multiply(
    a: Matrices, b: Matrices, c: Matrices, batch: tuple[int, ...], finish: _Finish, promised: dict[str, int], stream: int
) -> None:
    m, n = c.array.shape[-2:]
    operands = [a, b, c] + ([finish.residual] if finish.residual else [])
    together = folded(batch, [x.batch_strides for x in operands])
    if together.outer and re.search(r"\bbatch\b", finish.epilogue.expression or ""):
        raise ValueError("the expression names batch, but this batch takes several launches: pass arrays whose batches lie in equal steps")
    in_bytes = [[ELEMENT_SIZE[x.array.dtype] * steps[i] for _, steps in together.outer] for i, x in enumerate(operands)]
    fields = finish.epilogue.fields(finish.bias.dtype if finish.bias else "f32")
    if finish.residual:
        fields.update(ldr=finish.residual.ld, stride_r=together.strides[3])
    problem = _library.new_problem(
        # Columns of neighbouring elements are a column-major C, whose operands are stored the other way round.
        layout=_library.COLUMN_MAJOR if c.transposed else _library.ROW_MAJOR,
        op_a=_op(a.transposed != c.transposed),
        op_b=_op(b.transposed != c.transposed),
        m=m,
        n=n,
        k=a.array.shape[-1],
        batch=together.length,
        type_a=_library.TYPES[a.array.dtype],
        type_b=_library.TYPES[b.array.dtype],
        type_c=_library.TYPES[c.array.dtype],
        lda=a.ld,
        ldb=b.ld,
        ldc=c.ld,
        stride_a=together.strides[0],
        stride_b=together.strides[1],
        stride_c=together.strides[2],
        reads_c=int(finish.beta != 0),
        alignment=_alignment(*(x.array.address for x in operands), *itertools.chain(*in_bytes)),
        **promised,
        **fields,
    )
    scale, keep = scalar(finish.alpha, a.array.dtype), scalar(finish.beta, a.array.dtype)
    args = Args(
        struct_size=ctypes.sizeof(Args),
        alpha=ctypes.addressof(scale),
        beta=ctypes.addressof(keep),
        bias=finish.bias.address if finish.bias else None,
        parameters=finish.parameters,
    )
    handle = handles.get(c.array.device)
    for place in itertools.product(*(range(length) for length, _ in together.outer)):
        at = [x.array.address + sum(i * step for i, step in zip(place, steps)) for x, steps in zip(operands, in_bytes)]
        args.a, args.b, args.c = at[:3]
        if finish.residual:
            args.residual = at[3]
        check(library.tmmGemmOnStream(handle, stream, ctypes.byref(problem), ctypes.byref(args)), handle)
