"""Plans: one problem's kernels, chosen and loaded once."""

import ctypes
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _arrays, _library
from ._arrays import Array
from ._epilogue import BIAS_TYPES, bias_vector, check_operands, epilogue_of, parameter_values
from ._handles import handles
from ._library import Args, check, library
from ._product import compute_mode, scalar


class Plan:
    """The kernels of one problem: m x n = (m x k) (k x n) in row-major matrices without gaps, batch of them one behind the other.

    dtype, ctype: elements of A and B, and of C ("f32", "f16", "bf16"). ops: "n" or "t" for A and for B; the stored matrix of a "t" is the
    transpose of the operand. device: a CUDA ordinal, or "host". reads_c: beta may be other than 0. max_workspace: bytes, at most.
    epilogue, expression: as in matmul (with "swiglu" B has 2 n columns, with "swiglu_rows" A has 2 m rows); each run brings the bias, whose elements are of bias_type (as C's, where it is not given), the
    residual and the parameters.
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
    ) -> None:
        self._plan: Optional[ctypes.c_void_p] = None
        if ops not in ("nn", "nt", "tn", "tt"):
            raise ValueError(f"ops is {ops!r}, not one of nn, nt, tn, tt")
        for given in (dtype, ctype or dtype):
            if given not in _library.TYPES:
                raise ValueError(f"there is no type {given!r}; tmm knows {', '.join(_library.TYPES)}")
        self.dtype, self.ctype = dtype, ctype or dtype
        self.bias_type = bias_type or self.ctype
        self._epilogue = epilogue_of(epilogue, expression, False, False)
        if self.bias_type not in BIAS_TYPES and self._epilogue.bias:
            raise ValueError(f"there is no bias of type {self.bias_type!r}; a bias has {', '.join(BIAS_TYPES)}")
        self.device = _library.HOST if device == "host" else int(device)
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
            fields["max_workspace"] = max_workspace
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
            compute=compute_mode(compute, dtype),
            lda=max(1, self._shapes["a"][2]),
            ldb=max(1, self._shapes["b"][2]),
            ldc=max(1, n),
            stride_a=sizes["a"],
            stride_b=sizes["b"],
            stride_c=sizes["c"],
            reads_c=int(reads_c),
            **fields,
        )
        handle = handles.get(self.device)
        plan = ctypes.c_void_p()
        check(library.tmmPlanCreate(handle, ctypes.byref(problem), ctypes.byref(plan)), handle)
        self._plan = plan

    def __del__(self) -> None:
        if getattr(self, "_plan", None) is not None:
            library.tmmPlanDestroy(self._plan)

    @property
    def workspace_size(self) -> int:
        """Bytes of device memory that the plan holds for its runs."""
        size = ctypes.c_size_t()
        check(library.tmmPlanWorkspaceSize(self._plan, ctypes.byref(size)))
        return size.value

    def describe(self) -> dict[str, str]:
        """What was chosen: its "config", its "match" (exact, near, predicted or fallback), and "why"."""
        text = ctypes.create_string_buffer(16384)
        check(library.tmmPlanDescribe(self._plan, text, len(text)))
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
        values = parameter_values(parameters, self._epilogue)
        address = {}
        for name, value, dtype in (("a", a, self.dtype), ("b", b, self.dtype), ("c", out, self.ctype), ("residual", residual, self.ctype)):
            if value is None and name == "residual":
                continue
            array = _arrays.view(value, "out" if name == "c" else name)
            self._check(array, name, dtype)
            address[name] = array.address
        added = self._bias(bias)
        scale, keep = scalar(alpha, self.dtype), scalar(beta, self.dtype)
        args = Args(
            struct_size=ctypes.sizeof(Args),
            alpha=ctypes.addressof(scale),
            beta=ctypes.addressof(keep),
            bias=added.address if added else None,
            parameters=values,
            **address,
        )
        check(library.tmmPlanRun(self._plan, _arrays.stream_of(out) if stream is None else stream, ctypes.byref(args)))
        return out

    def _bias(self, bias: Any) -> Optional[Array]:
        if bias is None:
            return None
        array = bias_vector(bias, self._epilogue, self._shapes["c"], self.device)
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
        packed = _arrays.packed_strides(array.shape)
        if any(length > 1 and stride != step for length, stride, step in zip(array.shape, array.strides, packed)) and 0 not in array.shape:
            raise ValueError(f"{shown} has gaps or is transposed: its strides are {array.strides}, the plan was made for {packed}")
        if name == "c" and not array.writable:
            raise ValueError("out can't be written to")
