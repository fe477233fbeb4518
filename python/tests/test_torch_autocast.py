"""torch.ops.tmm under torch.autocast computes in the type that torch's own layers do. The CPU's tensors tell."""

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import tmm_gemm.torch  # noqa: E402, F401
from torch.nn import functional  # noqa: E402

TYPES = (torch.bfloat16, torch.float16)


def normal(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def same(ours, theirs):
    assert ours.dtype == theirs.dtype
    return torch.allclose(ours.double(), theirs.double(), atol=6e-2)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("bias", [None, torch.float32, torch.bfloat16])
def test_a_layer_computes_in_autocasts_type(dtype, bias):
    x, weight = normal(5, 8), normal(6, 8)
    added = None if bias is None else normal(6, dtype=bias)
    with torch.autocast("cpu", dtype):
        ours = torch.ops.tmm.linear(x, weight, added, "relu")
        theirs = torch.relu(functional.linear(x, weight, added))
        assert same(ours, theirs) and same(torch.ops.tmm.matmul(x, weight.mT), x @ weight.mT)


@pytest.mark.parametrize("dtype", TYPES)
def test_layers_of_both_kinds_behind_each_other(dtype):
    x, first, second = normal(5, 8), normal(8, 8), normal(8, 8)
    with torch.autocast("cpu", dtype):
        theirs = functional.linear(functional.linear(x, first), second)
        assert same(torch.ops.tmm.linear(functional.linear(x, first), second), theirs)
        assert same(functional.linear(torch.ops.tmm.linear(x, first), second), theirs)
        assert same(torch.ops.tmm.matmul(torch.ops.tmm.matmul(x, first.mT), second.mT), theirs)


def test_gradients_come_in_the_weights_own_type():
    x, weight, bias = (normal(*shape).requires_grad_() for shape in ((5, 8), (6, 8), (6,)))
    gradients = []
    for layer in (lambda: torch.ops.tmm.linear(x, weight, bias, "gelu"), lambda: functional.gelu(functional.linear(x, weight, bias))):
        with torch.autocast("cpu", torch.bfloat16):
            result = layer().float().sum()
        gradients.append(torch.autograd.grad(result, (x, weight, bias)))
    for ours, theirs in zip(*gradients):
        assert ours.dtype == torch.float32 and torch.allclose(ours, theirs, atol=0.2)


def test_outside_of_it_and_where_it_is_off_nothing_is_cast():
    x, weight = normal(5, 8), normal(6, 8)
    assert torch.ops.tmm.linear(x, weight).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        with torch.autocast("cpu", enabled=False):
            assert torch.ops.tmm.linear(x, weight).dtype == torch.float32
        assert torch.is_autocast_enabled("cpu")
    # As torch's own: types that differ are the program's to mend.
    with pytest.raises(TypeError, match="convert one of them"):
        torch.ops.tmm.linear(x.bfloat16(), weight)


def test_compiled_programs_cast_as_well():
    x, weight = normal(5, 8), normal(6, 8)

    def layer(x, weight):
        with torch.autocast("cpu", torch.bfloat16):
            return torch.ops.tmm.linear(functional.linear(x, weight.mT[:8, :6].mT.contiguous()), weight[:, :6].contiguous(), None, "relu")

    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    assert same(compiled(x, weight), layer(x, weight))
