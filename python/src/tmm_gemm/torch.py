"""tmm's products as operators of PyTorch, with gradients, fake tensors and torch.compile. Needs PyTorch 2.4.

torch.ops.tmm.matmul is a plain product, torch.ops.tmm.gram that of matrices and their own transposes, torch.ops.tmm.linear a layer with its
bias and activation. They are registered when tmm is imported after torch, or when this module is. Under torch.autocast all compute in its
type, as torch's own do.
"""

from typing import Optional

import torch

from ._epilogue import ACTIVATIONS

from ._product import matmul as _matmul
from ._torch_tensors import empty_like


@torch.library.custom_op("tmm::matmul", mutates_args=())
def matmul(a: torch.Tensor, b: torch.Tensor, compute: Optional[str] = None) -> torch.Tensor:
    """a @ b by tmm's kernels on the current stream. compute: as in tmm.matmul; None is FP32, and FP64 for doubles."""
    return _matmul(a, b, compute=compute)


@matmul.register_fake
def _(a: torch.Tensor, b: torch.Tensor, compute: Optional[str] = None) -> torch.Tensor:
    rows = a.shape[-2:-1] if a.dim() > 1 else ()
    columns = b.shape[-1:] if b.dim() > 1 else ()
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*batch, *rows, *columns))


def _summed_to(gradient: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """Adds up what a broadcast has repeated."""
    return gradient.sum_to_size(shape) if gradient.shape != shape else gradient


def _gradients(ctx, gradient: torch.Tensor) -> tuple:
    a, b = ctx.saved_tensors
    multiply = torch.ops.tmm.matmul
    # A vector is a row before the product, a column behind it.
    rows = a.unsqueeze(0) if a.dim() == 1 else a
    columns = b.unsqueeze(1) if b.dim() == 1 else b
    if b.dim() == 1:
        gradient = gradient.unsqueeze(-1)
    if a.dim() == 1:
        gradient = gradient.unsqueeze(-2)
    of_a = of_b = None
    if ctx.needs_input_grad[0]:
        of_a = _summed_to(multiply(gradient, columns.mT, ctx.compute), rows.shape).reshape(a.shape)
    if ctx.needs_input_grad[1]:
        of_b = _summed_to(multiply(rows.mT, gradient, ctx.compute), columns.shape).reshape(b.shape)
    return of_a, of_b, None


def _save(ctx, inputs: tuple, output: torch.Tensor) -> None:
    a, b, ctx.compute = inputs
    ctx.save_for_backward(a, b)


matmul.register_autograd(_gradients, setup_context=_save)


@torch.library.custom_op("tmm::gram", mutates_args=())
def gram(x: torch.Tensor, compute: Optional[str] = None) -> torch.Tensor:
    """x @ x.mT, equal to its transpose bit for bit: one triangle of each matrix is computed. compute: as in tmm.matmul."""
    return _matmul(x, x.mT, compute=compute, result="symmetric")


@gram.register_fake
def _(x: torch.Tensor, compute: Optional[str] = None) -> torch.Tensor:
    return empty_like(x, (*x.shape[:-1], x.mT.shape[-1]))


def _gram_gradients(ctx, gradient: torch.Tensor) -> tuple:
    (x,) = ctx.saved_tensors
    return torch.ops.tmm.matmul(gradient + gradient.mT, x, ctx.compute), None


def _save_gram(ctx, inputs: tuple, output: torch.Tensor) -> None:
    x, ctx.compute = inputs
    ctx.save_for_backward(x)


gram.register_autograd(_gram_gradients, setup_context=_save_gram)


def _rows_of(x: torch.Tensor) -> torch.Tensor:
    """All dimensions before the last as one."""
    return x.flatten(0, -2) if x.dim() > 1 else x.unsqueeze(0)


@torch.library.custom_op("tmm::linear", mutates_args=())
def linear(
    x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None, activation: str = "none", compute: Optional[str] = None
) -> torch.Tensor:
    """activation(x @ weight.T + bias), as torch.nn.functional.linear and the activation behind it, by one kernel on the current stream.

    x: any dimensions before the last. weight: a row for each element of the result's last dimension; so has bias, which may be None.
    activation: "none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid" or "tanh". compute: as in tmm.matmul.
    Gradients are torch's: those of gelu, gelu_tanh and silu need activation's argument, which is computed again in the backward pass;
    the products of the backward pass are torch.ops.tmm.matmul's.
    """
    _check_linear(x, weight, activation)
    words = [word for word in ("bias" if bias is not None else "none", activation) if word != "none"]
    result = _matmul(_rows_of(x), weight.mT, epilogue="+".join(words) or None, bias=bias, compute=compute)
    return result.view(*x.shape[:-1], weight.shape[0])


def _check_linear(x: torch.Tensor, weight: torch.Tensor, activation: str) -> None:
    if activation != "none" and activation not in ACTIVATIONS:
        raise ValueError(f"activation is {activation!r}; tmm knows none, {', '.join(ACTIVATIONS)}")
    if weight.dim() != 2 or not x.dim() or x.shape[-1] != weight.shape[1]:
        raise ValueError(f"x of shape {tuple(x.shape)} and weight of shape {tuple(weight.shape)} do not go together as x @ weight.T")


@linear.register_fake
def _(
    x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None, activation: str = "none", compute: Optional[str] = None
) -> torch.Tensor:
    _check_linear(x, weight, activation)
    return x.new_empty((*x.shape[:-1], weight.shape[0]))


# The gradient of an activation's argument z, from that of its result y, by torch's own formulas.
_OF_RESULT = {
    "relu": lambda gradient, y: torch.ops.aten.threshold_backward(gradient, y, 0),
    "sigmoid": torch.ops.aten.sigmoid_backward,
    "tanh": torch.ops.aten.tanh_backward,
}
_OF_ARGUMENT = {
    "gelu": torch.ops.aten.gelu_backward,
    "gelu_tanh": lambda gradient, z: torch.ops.aten.gelu_backward(gradient, z, approximate="tanh"),
    "silu": torch.ops.aten.silu_backward,
}


def _linear_gradients(ctx, gradient: torch.Tensor) -> tuple:
    x, weight, bias, y = ctx.saved_tensors
    if ctx.activation in _OF_RESULT:
        gradient = _OF_RESULT[ctx.activation](gradient, y)
    elif ctx.activation != "none":
        gradient = _OF_ARGUMENT[ctx.activation](gradient, torch.ops.tmm.linear(x, weight, bias, "none", ctx.compute))
    multiply, rows = torch.ops.tmm.matmul, _rows_of(gradient)
    of_x = of_weight = of_bias = None
    if ctx.needs_input_grad[0]:
        of_x = multiply(rows, weight, ctx.compute).reshape(x.shape)
    if ctx.needs_input_grad[1]:
        of_weight = multiply(rows.mT, _rows_of(x), ctx.compute)
    if bias is not None and ctx.needs_input_grad[2]:
        of_bias = rows.sum(0).to(bias.dtype)
    return of_x, of_weight, of_bias, None, None


def _save_linear(ctx, inputs: tuple, output: torch.Tensor) -> None:
    x, weight, bias, ctx.activation, ctx.compute = inputs
    ctx.save_for_backward(x, weight, bias, output if ctx.activation in _OF_RESULT else None)


linear.register_autograd(_linear_gradients, setup_context=_save_linear)

# torch keeps what is registered as long as this object is there.
_registrations = torch.library.Library("tmm", "FRAGMENT")


def _register_autocast(name: str, device: str, key: str) -> None:
    operator = getattr(torch.ops.tmm, name)

    def cast(value):
        # As torch casts for its own products: doubles stay what they are.
        is_eligible = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != torch.float64
        return value.to(torch.get_autocast_dtype(device)) if is_eligible and value.device.type == device else value

    def multiply(*arguments, **named):
        with torch.autocast(device, enabled=False):
            return operator(*map(cast, arguments), **{word: cast(value) for word, value in named.items()})

    _registrations.impl(name, multiply, key)


for _name in ("matmul", "gram", "linear"):
    _register_autocast(_name, "cuda", "AutocastCUDA")
    _register_autocast(_name, "cpu", "AutocastCPU")
