"""PyTorch's tensors."""

import contextlib
import functools
import sys
from collections.abc import Iterator
from typing import Any, Optional

from ._array import Array, unknown_dtype
from ._library import HOST


def is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


@functools.lru_cache(maxsize=64)
def _is_its_memory(kind: type) -> bool:
    """A subclass that takes part in torch's operations itself gives its elements another meaning, or holds them elsewhere."""
    torch = sys.modules["torch"]
    if kind is torch.Tensor:
        return True
    functions = (torch.Tensor.__torch_function__.__func__, torch._C._disabled_torch_function_impl)
    function = getattr(kind.__torch_function__, "__func__", kind.__torch_function__)
    return function in functions and kind.__torch_dispatch__ is torch.Tensor.__torch_dispatch__


def _check_kind(value: Any, name: str) -> None:
    torch = sys.modules["torch"]
    if not _is_its_memory(type(value)):
        raise TypeError(
            f"{name} is a {type(value).__name__}, to which its elements mean more than their values, or which holds them elsewhere: "
            f"pass a plain tensor, such as {name}.as_subclass(torch.Tensor) where the values in its memory are meant"
        )
    if value.layout is not torch.strided or value.is_nested:
        layout = "nested" if value.is_nested else f"of the layout {value.layout}"
        raise TypeError(f"{name} is {layout}, and tmm multiplies dense tensors only: {name}.to_dense() makes one of a sparse tensor")
    if value.device.type not in ("cuda", "cpu"):
        raise TypeError(f"{name} lies on {value.device}; tmm multiplies on CUDA devices and, for tests, on the CPU")


def _address(value: Any, name: str) -> int:
    try:
        address = value.data_ptr()
    except RuntimeError as error:
        raise TypeError(f"{name} has no memory of its own ({str(error).splitlines()[0]}): torch.ops.tmm.matmul may take it") from None
    if address == 0 and value.numel() != 0:
        raise TypeError(f"{name} has no memory of its own: torch.ops.tmm.matmul may take it")
    return address


def view(value: Any, name: str) -> Array:
    torch = sys.modules["torch"]
    _check_kind(value, name)
    names = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16", torch.float64: "f64", torch.int8: "s8", torch.int32: "s32"}
    dtype = names.get(value.dtype)
    if dtype is None:
        raise unknown_dtype(name, value.dtype)
    if value.is_neg():
        # The memory holds the negated values, as that of z.conj().imag does.
        value = value.detach().resolve_neg()
    device = value.device.index if value.device.type == "cuda" else HOST
    return Array(_address(value, name), dtype, tuple(value.shape), value.stride(), device, value)


def why_read_only(value: Any) -> Optional[str]:
    if value.requires_grad and sys.modules["torch"].is_grad_enabled():
        return "it requires a gradient, of which autograd would not know: write to out.detach(), or under torch.no_grad()"
    return None


def mark_written(value: Any) -> None:
    """Tells autograd, which then refuses to use values that it has saved and that are gone."""
    torch = sys.modules["torch"]
    if value.is_inference():
        return
    increment = getattr(torch.autograd.graph, "increment_version", None)
    if increment is not None:
        increment(value)
    else:
        # Older versions of torch count each operation in place, even one on no element.
        value.detach().as_strided((0,), (1,)).zero_()


def _is_on_gpu(value: Any) -> bool:
    # One that is refused is not asked.
    return _is_its_memory(type(value)) and value.is_cuda


def stream_of(value: Any) -> int:
    return int(sys.modules["torch"].cuda.current_stream(value.device).cuda_stream) if _is_on_gpu(value) else 0


@contextlib.contextmanager
def on_stream(value: Any, stream: int) -> Iterator[None]:
    """Makes the stream torch's current one, so that copies, and the memory of the result, are ordered with the product."""
    torch = sys.modules["torch"]
    if not _is_on_gpu(value) or stream == stream_of(value):
        yield
        return
    with torch.cuda.stream(torch.cuda.ExternalStream(stream, device=value.device)):
        yield


def packed_copy(value: Any) -> Any:
    return value.contiguous()


def empty_like(value: Any, shape: tuple[int, ...]) -> Any:
    torch = sys.modules["torch"]
    return value.new_empty(shape, dtype=torch.int32 if value.dtype == torch.int8 else value.dtype)
