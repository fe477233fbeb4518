"""The operator of PyTorch, on the CPU's tensors: the emulated device computes them."""

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import tmm_gemm as tmm  # noqa: E402
import tmm_gemm.torch  # noqa: E402, F401


def tensor(*shape):
    return torch.randn(*shape, requires_grad=True)


CASES = {
    "matrices": lambda: (tensor(5, 7), tensor(7, 3)),
    "transposed": lambda: (torch.randn(7, 5).T.requires_grad_(), tensor(7, 3)),
    "batch": lambda: (tensor(2, 5, 7), tensor(2, 7, 3)),
    "broadcast": lambda: (tensor(2, 5, 7), tensor(7, 3)),
    "row": lambda: (tensor(7), tensor(7, 3)),
    "column": lambda: (tensor(2, 5, 7), tensor(7)),
    "dot": lambda: (tensor(7), tensor(7)),
}


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_are_torchs(case):
    a, b = CASES[case]()
    expected = a.detach().requires_grad_() @ b
    result = torch.ops.tmm.matmul(a, b)
    assert torch.allclose(result, expected, atol=1e-5)
    gradient = torch.randn_like(result)
    for ours, theirs in zip(torch.autograd.grad(result, (a, b), gradient), torch.autograd.grad(a @ b, (a, b), gradient)):
        assert ours.shape == theirs.shape and torch.allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("case", CASES)
def test_opcheck(case):
    torch.library.opcheck(torch.ops.tmm.matmul.default, CASES[case]())


def test_compiled_programs_keep_the_operator_whole():
    a, b = tensor(5, 7), tensor(7, 3)
    compiled = torch.compile(lambda x, y: torch.ops.tmm.matmul(x, y).relu() * 2, backend="aot_eager", fullgraph=True)
    compiled(a, b).sum().backward()
    ours = a.grad.clone()
    a.grad = None
    ((a @ b).relu() * 2).sum().backward()
    assert torch.allclose(ours, a.grad, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits(dtype):
    a, b = torch.randn(5, 7).to(dtype), torch.randn(7, 3).to(dtype)
    assert torch.allclose(torch.ops.tmm.matmul(a, b).double(), a.double() @ b.double(), atol=5e-2)


def test_doubles_and_their_gradients():
    a, b = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 5, 7), (7, 3)))
    assert torch.autograd.gradcheck(torch.ops.tmm.matmul, (a, b))
    assert torch.allclose(torch.ops.tmm.matmul(a, b), a @ b, rtol=0, atol=1e-13)
    weight, bias = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((3, 7), (3,)))
    for activation in ("none", "gelu", "silu", "tanh"):
        assert torch.autograd.gradcheck(lambda *x, name=activation: torch.ops.tmm.linear(*x, name), (a, weight, bias))
    compiled = torch.compile(lambda x, y: torch.ops.tmm.matmul(x, y) * 2, backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(a, b), 2 * (a @ b), rtol=0, atol=1e-12)
    with pytest.raises(tmm.ArgumentError, match="TMM_F64"):
        torch.ops.tmm.matmul(a, b, "tf32")


def test_strides_that_no_kernel_takes_are_copied():
    a, b = torch.randn(5, 14)[:, ::2], torch.randn(7, 3)
    assert torch.allclose(tmm.matmul(a, b), a @ b, atol=1e-5)


def test_what_is_no_dense_matrix_is_refused():
    with pytest.raises(TypeError):
        tmm.matmul(torch.eye(3).to_sparse(), torch.eye(3))
    with pytest.raises(TypeError):
        tmm.matmul(torch.eye(3, device="meta"), torch.eye(3))
