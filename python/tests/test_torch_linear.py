"""torch.ops.tmm.linear on the CPU's tensors, against torch's own layers; and tmm.matmul's epilogues with tensors of bfloat16."""

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import tmm_gemm as tmm  # noqa: E402
import tmm_gemm.torch  # noqa: E402, F401
from torch.nn import functional  # noqa: E402

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


def test_every_activation_of_tmm_is_tested_here():
    assert {"none", *tmm._epilogue.ACTIVATIONS} == set(ACTIVATIONS)


def tensor(*shape):
    return torch.randn(*shape, requires_grad=True)


def layer(*shape, outputs=3, bias=True):
    return tensor(*shape), tensor(outputs, shape[-1]), tensor(outputs) if bias else None


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(5, 7), (2, 4, 7), (7,), (0, 7)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_results_and_gradients_are_torchs(activation, shape, has_bias):
    inputs = layer(*shape, bias=has_bias)
    expected = ACTIVATIONS[activation](functional.linear(*inputs))
    result = torch.ops.tmm.linear(*inputs, activation)
    assert result.shape == expected.shape and torch.allclose(result, expected, atol=1e-5)
    gradient = torch.randn_like(result)
    given = [x for x in inputs if x is not None]
    for ours, theirs in zip(torch.autograd.grad(result, given, gradient), torch.autograd.grad(expected, given, gradient)):
        assert ours.shape == theirs.shape and torch.allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "silu"])
@pytest.mark.parametrize("has_bias", [True, False])
def test_opcheck(activation, has_bias):
    torch.library.opcheck(torch.ops.tmm.linear.default, (*layer(2, 5, 7, bias=has_bias), activation))


def test_a_gradient_is_computed_for_what_wants_one_only():
    x, weight, bias = layer(5, 7)
    torch.ops.tmm.linear(x.detach(), weight, bias.detach(), "gelu").sum().backward()
    assert weight.grad is not None and x.grad is None and bias.grad is None


def test_compiled_programs_keep_the_operator_whole():
    x, weight, bias = layer(2, 5, 7)
    compiled = torch.compile(lambda *inputs: torch.ops.tmm.linear(*inputs, "gelu_tanh") * 2, backend="aot_eager", fullgraph=True)
    ours = torch.autograd.grad(compiled(x, weight, bias).sum(), (x, weight, bias))
    theirs = torch.autograd.grad((functional.gelu(functional.linear(x, weight, bias), approximate="tanh") * 2).sum(), (x, weight, bias))
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(ours, theirs))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bias_type", [torch.float32, None])
def test_16_bits(dtype, bias_type):
    x, weight, bias = (given.detach().to(dtype).requires_grad_() for given in layer(5, 7))
    bias = bias.detach().to(bias_type or dtype).requires_grad_()
    wide = [given.detach().double().requires_grad_() for given in (x, weight, bias)]
    result, expected = torch.ops.tmm.linear(x, weight, bias, "silu"), functional.silu(functional.linear(*wide))
    assert result.dtype == dtype and torch.allclose(result.double(), expected, atol=5e-2)
    for ours, theirs in zip(torch.autograd.grad(result.sum(), (x, weight, bias)), torch.autograd.grad(expected.sum(), wide)):
        assert torch.allclose(ours.double(), theirs, atol=1e-1)
    assert torch.autograd.grad(torch.ops.tmm.linear(x, weight, bias).sum(), bias)[0].dtype == bias.dtype


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: torch.ops.tmm.linear(torch.ones(5, 7), torch.ones(3, 7), None, "softmax"), "'softmax'"),
        (lambda: torch.ops.tmm.linear(torch.ones(5, 7), torch.ones(7, 3)), "x @ weight.T"),
        (lambda: torch.ops.tmm.linear(torch.ones(5, 7), torch.ones(7)), "x @ weight.T"),
        (lambda: torch.ops.tmm.linear(torch.ones(5, 7), torch.ones(3, 7), torch.ones(4)), "(4,)"),
    ],
)
def test_what_is_no_layer_is_refused(call, words):
    with pytest.raises(ValueError) as raised:
        call()
    assert words in str(raised.value)


def test_matmul_with_tensors_of_bfloat16():
    a, b, bias, residual = (torch.randn(*shape).bfloat16() for shape in ((5, 7), (7, 4), (5,), (4, 5)))
    result = tmm.matmul(a, b, epilogue="bias_rows+relu+residual", bias=bias, residual=residual.T)
    expected = torch.relu(a.double() @ b.double() + bias.double()[:, None]) + residual.double().T
    assert result.dtype == torch.bfloat16 and torch.allclose(result.double(), expected, atol=1e-1)
