"""Plans: one problem's kernels, chosen and loaded once."""

import ctypes
import os
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _arguments, _arrays, _library, _overlap
from ._array import PRODUCT_TYPE, Array, packed_strides
from ._epilogue import BIAS_TYPES, bias_vector, check_operands, epilogue_of, parameter_values
from ._handles import handles
from ._library import Args, check, library
from ._product import promises, scalar


class _Owner:
    """Destroys a plan once, whatever becomes of the objects that refer to it."""

    def __init__(self, plan: ctypes.c_void_p, device: int) -> None:
        self.plan, self.is_host, self.process = plan, device == _library.HOST, os.getpid()

    # What it needs is bound here, since modules may be gone when a program ends.
    def __del__(self, destroy: Any = library.tmmPlanDestroy, process: Any = os.getpid) -> None:
        # CUDA works in no child of fork().
        if self.is_host or process() == self.process:
            destroy(self.plan)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("what owns a plan can't be copied")


class Plan:
    """The kernels of one problem: m x n = (m x k) (k x n) in row-major matrices without gaps, batch of them one behind the other.

    dtype, ctype: elements of A and B, and of C ("f32", "f16", "bf16", "f64"). ops: "n" or "t" for A and for B; the stored matrix of a "t" is the
    transpose of the operand. device: a CUDA ordinal, or "host". reads_c: beta may be other than 0. max_workspace: bytes, at most.
    epilogue, expression: as in matmul (with "swiglu" B has 2 n columns, with "swiglu_rows" A has 2 m rows); each run brings the bias, whose elements are of bias_type (as C's, where it is not given), the
    residual and the parameters. result, invariant: as in matmul; describe()["order of sums"] says how an invariant plan adds up.
    A plan may be run by one thread at a time, and on one stream at a time.
    """

    def __init__(
        self,
        m: int,
        n: int,
        k: int,
        *,
        batch: int = 1,
        dtype: str = "f32",
        ctype: Optional[str] = None,
        compute: Optional[str] = None,
        ops: str = "nn",
        device: Union[int, str] = 0,
        reads_c: bool = False,
        max_workspace: Optional[int] = None,
        epilogue: Optional[str] = None,
        expression: Optional[str] = None,
        bias_type: Optional[str] = None,
        result: str = "full",
        invariant: Optional[bool] = None,
    ) -> None:
        m, n, k, batch = (_arguments.whole(size, name) for size, name in ((m, "m"), (n, "n"), (k, "k"), (batch, "batch")))
        _arguments.word(ops, "ops", ("nn", "nt", "tn", "tt"))
        self.dtype = _arguments.element_type(dtype, "dtype")
        self.ctype = PRODUCT_TYPE.get(self.dtype, self.dtype) if ctype is None else _arguments.element_type(ctype, "ctype")
        self.bias_type = self.ctype if bias_type is None else _arguments.element_type(bias_type, "bias_type")
        self._epilogue = epilogue_of(epilogue, expression, False, False)
        if self.bias_type not in BIAS_TYPES and self._epilogue.bias:
            raise ValueError(f"there is no bias of type {self.bias_type!r}; a bias has {', '.join(BIAS_TYPES)}")
        self.device = _arguments.device(device)
        products = self._epilogue.products
        rows, columns = m * products[0], n * products[1]
        self._shapes = {
            "a": (batch, *((rows, k) if ops[0] == "n" else (k, rows))),
            "b": (batch, *((k, columns) if ops[1] == "n" else (columns, k))),
            "c": (batch, m, n),
        }
        sizes = {name: rows * columns for name, (_, rows, columns) in self._shapes.items()}
        fields = self._epilogue.fields(self.bias_type)
        if self._epilogue.residual:
            fields.update(ldr=max(1, n), stride_r=sizes["c"])
        if max_workspace is not None:
            fields["max_workspace"] = _arguments.whole(max_workspace, "max_workspace")
            if fields["max_workspace"] < 0:
                raise ValueError(f"max_workspace is {max_workspace}; bytes are at least 0")
        problem = _library.new_problem(
            op_a=_library.TRANS if ops[0] == "t" else _library.NO_TRANS,
            op_b=_library.TRANS if ops[1] == "t" else _library.NO_TRANS,
            m=m,
            n=n,
            k=k,
            batch=batch,
            type_a=_library.TYPES[dtype],
            type_b=_library.TYPES[dtype],
            type_c=_library.TYPES[self.ctype],
            lda=max(1, self._shapes["a"][2]),
            ldb=max(1, self._shapes["b"][2]),
            ldc=max(1, n),
            stride_a=sizes["a"],
            stride_b=sizes["b"],
            stride_c=sizes["c"],
            reads_c=int(reads_c),
            **promises(dtype, compute, result, invariant),
            **fields,
        )
        handle = handles.get(self.device)
        plan = ctypes.c_void_p()
        check(library.tmmPlanCreate(handle, ctypes.byref(problem), ctypes.byref(plan)), handle)
        self._owner = _Owner(plan, self.device)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "a Plan can't be copied or pickled, since it holds memory and loaded kernels: make another one of the same arguments"
        )

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory that the plan holds for its runs."""
        size = ctypes.c_size_t()
        check(library.tmmPlanWorkspaceSize(self._owner.plan, ctypes.byref(size)))
        return size.value

    def describe(self) -> dict[str, str]:
        """What was chosen: its "config", its "match" (exact, near, predicted or fallback), and "why"."""
        text = ctypes.create_string_buffer(16384)
        check(library.tmmPlanDescribe(self._owner.plan, text, len(text)))
        lines = (line.partition(": ") for line in text.value.decode().splitlines())
        return {name: value for name, found, value in lines if found}

    def run(
        self,
        a: Any,
        b: Any,
        out: Any,
        *,
        bias: Any = None,
        residual: Any = None,
        parameters: Optional[Sequence[float]] = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        stream: Optional[int] = None,
    ) -> Any:
        """out = f(alpha * op(a) * op(b) + beta * out). Arrays have the problem's shapes, with or without a batch of one. Returns out."""
        check_operands(self._epilogue, bias, residual)
        args = Args(struct_size=ctypes.sizeof(Args), parameters=parameter_values(parameters, self._epilogue))
        scale = scalar(_arguments.number(alpha, "alpha"), self.dtype)
        keep = scalar(_arguments.number(beta, "beta"), self.dtype)
        args.alpha, args.beta = ctypes.addressof(scale), ctypes.addressof(keep)
        stream = _arrays.stream_of(out) if stream is None else _arguments.stream_address(stream)
        with _arrays.on_stream(out, stream):
            view_a, view_b = _arrays.view(a, "a", stream), _arrays.view(b, "b", stream)
            destination = _arrays.destination(out, stream)
            view_residual = None if residual is None else _arrays.view(residual, "residual", stream)
            added = None if bias is None else self._bias(bias, stream)
            operands = (("a", view_a, self.dtype), ("b", view_b, self.dtype), ("c", destination.array, self.ctype))
            for name, array, dtype in (*operands, ("residual", view_residual, self.ctype)):
                if array is not None:
                    self._check(array, name, dtype)
                    setattr(args, name, array.address)
            destination.check_writable()
            args.bias = added.address if added else None
            _overlap.check_out(destination.array, a=view_a, b=view_b, bias=added, residual=view_residual)
            destination.begin()
            check(library.tmmPlanRun(self._owner.plan, stream, ctypes.byref(args)))
            if _arrays.must_be_done(destination.array, a, b, bias, residual):
                handles.synchronize(self.device, stream)
            return destination.finish()

    def _bias(self, bias: Any, stream: int) -> Array:
        array = bias_vector(bias, self._epilogue, self._shapes["c"], self.device, stream)
        if array.dtype != self.bias_type:
            raise TypeError(f"bias has elements of type {array.dtype}, but the plan was made for {self.bias_type}")
        return array

    def _check(self, array: Array, name: str, dtype: str) -> None:
        shown, shape = "out" if name == "c" else name, self._shapes["c" if name == "residual" else name]
        if array.shape != shape and (shape[0] != 1 or array.shape != shape[1:]):
            raise ValueError(f"{shown} has the shape {array.shape}, but the plan was made for {shape if shape[0] != 1 else shape[1:]}")
        if array.dtype != dtype:
            raise TypeError(f"{shown} has elements of type {array.dtype}, but the plan was made for {dtype}")
        if array.device != self.device:
            raise ValueError(f"{shown} does not lie on the plan's device")
        packed = packed_strides(array.shape)
        if any(length > 1 and stride != step for length, stride, step in zip(array.shape, array.strides, packed)) and 0 not in array.shape:
            raise ValueError(f"{shown} has gaps or is transposed: its strides are {array.strides}, the plan was made for {packed}")
