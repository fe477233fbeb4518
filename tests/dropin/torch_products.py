"""Products of PyTorch of every kind, each compared with the same in FP64. The program knows nothing of tmm: it is run with
libtmm_cublas.so and without it (scripts/test_dropin). Prints a line a product, and ends with 1 where one is wrong.

A result must keep a bound for each element, |error| <= (k + 8) u (|A| |B| + ...), and one for all of them together, which a product with
operands rounded to TF32 would break: the root of their mean square is at most 4 u sqrt(k) of that of the result.
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Callable

import torch
from torch.nn import functional

# Half a unit in the last place.
_ROUNDING = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
_WIDE = torch.float64

SIZES = [
    (512, 512, 512),
    (1024, 768, 3072),
    (4096, 64, 1024),
    (64, 64, 16384),
    (16, 4096, 4096),
    (1, 1024, 1024),
    (1000, 37, 999),
    (333, 257, 65),
    (129, 1, 77),
]


@dataclass
class Case:
    name: str
    # It takes the operands; what it adds up, in absolute values, bounds the error.
    call: Callable
    operands: list
    k: int
    # Where the result is no sum of products: of the FP64 operands.
    expected: Callable = None
    # What an activation adds to an element's error, as a share of the product and of the bias that it is applied to.
    slack: float = 0.0


class Operands:
    def __init__(self, device: str, dtype: torch.dtype):
        self.device, self.dtype = device, dtype
        self.random = torch.Generator().manual_seed(7)

    def __call__(self, *shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=self.random).to(self.dtype).to(self.device)


def matrices(make: Operands) -> list:
    cases = []
    for m, n, k in SIZES:
        for ops in ("nn", "nt", "tn", "tt"):
            a = make(m, k) if ops[0] == "n" else make(k, m).t()
            b = make(k, n) if ops[1] == "n" else make(n, k).t()
            cases.append(Case(f"mm {ops} {m}x{n}x{k}", torch.mm, [a, b], k))
    for m, n, k in SIZES[:3] + SIZES[6:8]:
        cases += [
            Case(f"addmm {m}x{n}x{k}", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), [make(m, n), make(m, k), make(k, n)], k),
            Case(f"addmm of a row {m}x{n}x{k}", torch.addmm, [make(n), make(m, k), make(k, n)], k),
            Case(f"linear {m}x{n}x{k}", functional.linear, [make(m, k), make(n, k), make(n)], k),
            Case(f"linear without bias {m}x{n}x{k}", functional.linear, [make(m, k), make(n, k)], k),
        ]
        operands = [make(n), make(m, k), make(k, n)]
        cases.append(Case(f"addmm and relu {m}x{n}x{k}", torch._addmm_activation, operands, k, lambda *x: torch.addmm(*x).relu()))
        cases.append(
            Case(
                f"addmm and gelu {m}x{n}x{k}",
                lambda *x: torch._addmm_activation(*x, use_gelu=True),
                operands,
                k,
                lambda *x: functional.gelu(torch.addmm(*x), approximate="tanh"),
                # A Hopper GPU's tanh.approx is right to 2^-11 of its value, and half of that counts; where sizes are odd, cuBLASLt
                # moreover rounds the product to the type of the result before it adds the bias.
                slack=3e-4 + 2 * _ROUNDING[make.dtype],
            )
        )
    return cases


def batches(make: Operands) -> list:
    cases = []
    for batch, m, n, k in ((8, 256, 256, 64), (48, 128, 128, 64), (5, 65, 33, 129), (3, 1, 511, 200)):
        shape = f"{batch} {m}x{n}x{k}"
        cases += [
            Case(f"bmm {shape}", torch.bmm, [make(batch, m, k), make(batch, k, n)], k),
            Case(f"bmm nt {shape}", torch.bmm, [make(batch, m, k), make(batch, n, k).mT], k),
            Case(f"bmm tn {shape}", torch.bmm, [make(batch, k, m).mT, make(batch, k, n)], k),
            Case(
                f"baddbmm {shape}",
                lambda c, a, b: torch.baddbmm(c, a, b, beta=2, alpha=0.5),
                [make(batch, m, n), make(batch, m, k), make(batch, k, n)],
                k,
            ),
            Case(f"matmul of a shared matrix {shape}", torch.matmul, [make(batch, m, k), make(k, n)], k),
            Case(f"matmul of four dimensions {shape}", torch.matmul, [make(2, batch, m, k), make(batch, k, n)], k),
        ]
    return cases


def strided(make: Operands) -> list:
    m, n, k = 300, 200, 160
    return [
        Case("columns of a wider matrix", torch.mm, [make(m, 2 * k)[:, :k], make(k, n + 8)[:, 8:]], k),
        Case("columns that begin anywhere", torch.mm, [make(m, k + 3)[:, 1 : k + 1], make(k, n + 5)[:, 3 : n + 3]], k),
        Case("every other column", torch.mm, [make(m, 2 * k)[:, ::2], make(k, 2 * n)[:, ::2]], k),
        Case("every other row", torch.mm, [make(2 * m, k)[::2], make(2 * k, n)[::2]], k),
        Case("heads side by side", torch.matmul, [make(64, 12, 64).transpose(0, 1), make(64, 12, 64).permute(1, 2, 0)], 64),
        Case("a repeated matrix", torch.bmm, [make(1, m, k).expand(4, m, k), make(4, k, n)], k),
        Case("a vector", torch.mv, [make(m, k), make(k)], k),
        Case("einsum", lambda a, b: torch.einsum("bik,bkj->bij", a, b), [make(4, m, k), make(4, k, n)], k),
    ]


def wrong(case: Case, result: torch.Tensor) -> str:
    """What is wrong with the result; empty where it is right."""
    wide = [operand.to(_WIDE) for operand in case.operands]
    expected = (case.expected or case.call)(*wide)
    added_up = (case.call if case.expected is None else torch.addmm)(*(operand.abs() for operand in wide))
    unit, sums = _ROUNDING[result.dtype], _ROUNDING[torch.float32]
    slack = case.slack * (wide[0].abs() + (wide[1] @ wide[2]).abs()) if case.slack else torch.zeros_like(expected)
    bound = (case.k + 8) * sums * added_up + 2 * unit * expected.abs() + slack
    error = (result.to(_WIDE) - expected).abs()
    if result.shape != expected.shape or not torch.isfinite(result).all():
        return "another shape, or elements that are not finite"
    worst = (error / bound).max().item() if error.numel() else 0.0
    size = expected.square().mean().clamp_min(1e-300).sqrt()
    scatter = (error.square().mean().sqrt() / size).item() if error.numel() else 0.0
    most = 4 * sums * case.k**0.5 + 2 * unit + slack.square().mean().sqrt().item() / size.item()
    return "" if worst <= 1 and scatter <= most else f"{worst:.3g} of the bound, {scatter:.3g} of {most:.3g} in the mean"


def checked(case: Case, result: torch.Tensor, how: str, dtype: torch.dtype) -> bool:
    fault = wrong(case, result)
    print(
        f"{'WRONG' if fault else 'right'} {str(dtype).removeprefix('torch.')} {case.name}{how}{': ' + fault if fault else ''}", flush=True
    )
    return not fault


def gradients_are_right(make: Operands, dtype: torch.dtype) -> bool:
    m, n, k = 320, 192, 256
    inputs = [make(m, k).requires_grad_(), make(n, k).requires_grad_(), make(n).requires_grad_()]
    gradient = make(m, n)
    found = torch.autograd.grad(functional.linear(*inputs), inputs, gradient)
    x, weight = inputs[0].detach(), inputs[1].detach()
    return all(
        [
            checked(Case("gradient of linear's input", torch.mm, [gradient, weight], n), found[0], "", dtype),
            checked(Case("gradient of linear's weight", torch.mm, [gradient.t(), x], m), found[1], "", dtype),
        ]
    )


def on_a_side_stream(cases: list, dtype: torch.dtype) -> bool:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        results = [case.call(*case.operands) for case in cases]
    torch.cuda.current_stream().wait_stream(stream)
    return all([checked(case, result, " on a side stream", dtype) for case, result in zip(cases, results)])


def in_a_graph(cases: list, dtype: torch.dtype) -> bool:
    """Captured after a call, then replayed with other values."""
    graph = torch.cuda.CUDAGraph()
    for case in cases:
        case.call(*case.operands)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        results = [case.call(*case.operands) for case in cases]
    fine = True
    for replay in range(2):
        for case in cases:
            for operand in case.operands:
                # Nobody can scale what lies in one place several times.
                if 0 not in operand.stride():
                    operand.mul_(-0.5)
        graph.replay()
        torch.cuda.synchronize()
        fine = all([checked(case, result, f" in a graph, replay {replay}", dtype) for case, result in zip(cases, results)]) and fine
    return fine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    # What cuBLAS may sum in 16 bits would break the bound without tmm.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    fine = True
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        make = Operands(options.device, dtype)
        cases = [*matrices(make), *batches(make), *strided(make)]
        fine = all([checked(case, case.call(*case.operands), "", dtype) for case in cases]) and fine
        fine = gradients_are_right(make, dtype) and fine
        if options.device.startswith("cuda"):
            fine = on_a_side_stream(cases, dtype) and fine
            fine = in_a_graph(cases[::3], dtype) and fine
    print("all right" if fine else "SOME WRONG")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
