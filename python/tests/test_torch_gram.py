"""torch.ops.tmm.gram, on the CPU's tensors: x @ x.mT, of which one triangle is computed."""

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import tmm_gemm.torch  # noqa: E402, F401


def tensor(*shape, dtype=torch.float32):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


CASES = {
    "a matrix": lambda: tensor(9, 7),
    "transposed": lambda: torch.randn(7, 9).T.requires_grad_(),
    "a window": lambda: torch.randn(12, 20)[2:11, 3:10].requires_grad_(),
    "gaps": lambda: torch.randn(9, 14)[:, ::2].requires_grad_(),
    "one row": lambda: tensor(1, 7),
    "a batch": lambda: tensor(2, 9, 7),
    "batches": lambda: torch.randn(3, 2, 7, 9).transpose(0, 1).mT.requires_grad_(),
    "doubles": lambda: tensor(37, 20, dtype=torch.float64),
}


@pytest.mark.parametrize("case", CASES)
def test_results_and_gradients_are_torchs(case):
    x = CASES[case]()
    result, expected = torch.ops.tmm.gram(x), x @ x.mT
    assert torch.equal(result, result.mT) and torch.allclose(result, expected, atol=1e-5)
    # An unsymmetric one, as a loss has that looks at one triangle.
    gradient = torch.randn_like(result)
    ours, theirs = (torch.autograd.grad(y, x, gradient)[0] for y in (result, expected))
    assert ours.shape == theirs.shape and torch.allclose(ours, theirs, atol=1e-4)


def test_one_triangle_is_mirrored():
    # NaNs of which each has bits of its own: a full product takes on those of one operand, the same for both triangles.
    nans = (0x7FC00001 + torch.arange(63, dtype=torch.int32)).view(torch.float32).reshape(9, 7)
    result = torch.ops.tmm.gram(nans).view(torch.int32)
    assert torch.equal(result, result.mT)


def test_gradients_of_gradients():
    x = tensor(5, 4, dtype=torch.float64)
    assert torch.autograd.gradcheck(torch.ops.tmm.gram, x) and torch.autograd.gradgradcheck(torch.ops.tmm.gram, x)


@pytest.mark.parametrize("case", CASES)
def test_opcheck(case):
    torch.library.opcheck(torch.ops.tmm.gram.default, (CASES[case](),))


def test_compiled_programs_keep_the_operator_whole():
    x = tensor(9, 7)
    compiled = torch.compile(lambda x: torch.ops.tmm.gram(x).relu() * 2, backend="aot_eager", fullgraph=True)
    (ours,) = torch.autograd.grad(compiled(x).sum(), x)
    (theirs,) = torch.autograd.grad(((x @ x.mT).relu() * 2).sum(), x)
    assert torch.allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_16_bits_and_autocast(dtype):
    x = torch.randn(9, 7)
    halves = torch.ops.tmm.gram(x.to(dtype))
    assert halves.dtype == dtype and torch.equal(halves, halves.mT)
    assert torch.allclose(halves.double(), x.double() @ x.double().mT, atol=6e-2, rtol=2e-2)
    with torch.autocast("cpu", dtype):
        assert torch.equal(torch.ops.tmm.gram(x), halves)


def test_bytes_make_sums_of_32_bits_in_fake_tensors_too():
    x = torch.randint(-128, 128, (9, 7), dtype=torch.int8)
    assert torch.equal(torch.ops.tmm.gram(x), x.int() @ x.int().mT)
    assert torch.ops.tmm.gram(x.to("meta")).dtype == torch.int32


def test_values_that_memory_holds_negated():
    x = torch.randn(9, 7, dtype=torch.complex64).conj().imag
    assert x.is_neg() and torch.allclose(torch.ops.tmm.gram(x), x @ x.mT, atol=1e-5)


def test_a_vector_has_no_transpose():
    for x in (torch.randn(7), torch.randn(7, device="meta")):
        with pytest.raises(RuntimeError, match="matrices or batches of matrices"):
            torch.ops.tmm.gram(x)
