"""torch.ops.tmm.matmul: tmm's product as an operator of PyTorch, with gradients, fake tensors and torch.compile. Needs PyTorch 2.4.

It is registered when tmm is imported after torch, or when this module is.
"""

import torch

from ._product import matmul as _matmul


@torch.library.custom_op("tmm::matmul", mutates_args=())
def matmul(a: torch.Tensor, b: torch.Tensor, compute: str = "f32") -> torch.Tensor:
    """a @ b by tmm's kernels on the current stream. compute: as in tmm.matmul."""
    return _matmul(a, b, compute=compute)


@matmul.register_fake
def _(a: torch.Tensor, b: torch.Tensor, compute: str = "f32") -> torch.Tensor:
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
