"""What a tensor of PyTorch is besides its memory: lazy bits, version counters, layouts, subclasses. The CPU's tensors tell."""

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import tmm_gemm as tmm  # noqa: E402
import tmm_gemm.torch  # noqa: E402, F401

N = 6


def normal(*shape):
    return torch.randn(*(shape or (N, N)))


def negative(*shape):
    """A tensor whose memory holds the negated values."""
    tensor = torch.randn(*(shape or (N, N)), dtype=torch.complex64).conj().imag
    assert tensor.is_neg()
    return tensor


def close(found, expected):
    return torch.allclose(found, expected, atol=1e-4)


OPERANDS = {
    "a": lambda: (negative(), normal(), {}),
    "b": lambda: (normal(), negative(), {}),
    "a vector": lambda: (negative()[0], normal(), {}),
    "a column": lambda: (normal(), negative()[:, :1], {}),
    "transposed": lambda: (negative().T, negative().mT, {}),
    "a batch": lambda: (negative(3, N, N), negative(N, N), {}),
    "a view of floats": lambda: (torch._neg_view(normal()), normal(), {}),
    "the bias": lambda: (normal(), normal(), {"bias": negative(N, N)[0]}),
    "the residual": lambda: (normal(), normal(), {"residual": torch._neg_view(normal())}),
}


@pytest.mark.parametrize("case", OPERANDS)
def test_lazy_negative_bits_are_heeded(case):
    a, b, added = OPERANDS[case]()
    expected = a @ b + sum(added.values())
    assert close(tmm.matmul(a, b, **added), expected)
    assert close(torch.ops.tmm.matmul(a, b), a @ b)


@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_a_result_with_the_bit_has_the_right_values(beta):
    a, b, storage = normal(), normal(), normal()
    out = torch._neg_view(storage)
    expected = a @ b + beta * out
    assert tmm.matmul(a, b, out, beta=beta) is out
    assert close(out, expected) and close(storage, -expected)


def test_plans_heed_the_bit_as_well():
    a, b, bias, residual, storage = negative(), negative(), negative()[1], negative(), normal()
    plan = tmm.Plan(N, N, N, device="host", epilogue="bias+residual")
    # A plan takes matrices without gaps.
    a, b, residual = (torch._neg_view(x.resolve_neg().contiguous()) for x in (a, b, residual))
    out = torch._neg_view(storage)
    assert plan.run(a, b, out, bias=bias, residual=residual) is out
    assert close(out, a.clone() @ b.clone() + bias + residual)


def written(out):
    return [
        lambda a: tmm.matmul(a, a, out=out),
        lambda a: tmm.Plan(N, N, N, device="host").run(a, a, out),
        lambda a: tmm.matmul(a, a, out=out.T),
        lambda a: tmm.matmul(a[:2], a, out=out[:2]),
        lambda a: tmm.matmul(a, a, out=torch._neg_view(out)),
        lambda a: tmm.matmul(a[:0], a, out=out[:0]) is None or tmm.matmul(a, a, out=out.detach()),
    ]


@pytest.mark.parametrize("way", range(6))
def test_autograd_sees_that_out_was_overwritten(way):
    x, w = normal().requires_grad_(), normal()
    y = (x * w).sum()
    version = w._version
    written(w)[way](normal())
    assert w._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_older_versions_of_torch_are_told_in_another_way(monkeypatch):
    monkeypatch.delattr(torch.autograd.graph, "increment_version", raising=False)
    for out in (normal(), normal().T, torch.zeros(()), normal()[:, :0]):
        version = out._version
        tmm.matmul(*((normal(), normal()[:, : out.shape[-1]]) if out.ndim else (normal(N), normal(N))), out=out)
        assert out._version > version or out.numel() == 0


def test_results_of_inference_have_no_version_and_need_none():
    with torch.inference_mode():
        a = normal()
        out = torch.empty(N, N)
        assert close(tmm.matmul(a, a, out=out), a @ a)


def test_an_out_that_wants_a_gradient_is_refused_as_torch_refuses_it():
    weight = normal().requires_grad_()
    with pytest.raises(ValueError, match="no_grad"):
        tmm.matmul(normal(), normal(), out=weight)
    with torch.no_grad():
        a = normal()
        version = weight._version
        assert close(tmm.matmul(a, a, out=weight), a @ a) and weight._version > version


def test_overlapping_tensors_are_refused():
    memory = normal(2 * N, N)
    with pytest.raises(ValueError, match="shares memory with b"):
        tmm.matmul(normal(), memory[1 : N + 1], out=memory[:N])
    with pytest.raises(ValueError, match="share memory"):
        tmm.matmul(normal(), normal(), out=normal(N).expand(N, N))


LAYOUTS = {
    "sparse_coo": lambda: torch.eye(4).to_sparse(),
    "sparse_csr": lambda: torch.eye(4).to_sparse_csr(),
    "sparse_bsr": lambda: torch.eye(4).to_sparse_bsr((2, 2)),
    "mkldnn": lambda: torch.eye(4).to_mkldnn() if torch.backends.mkldnn.is_available() else pytest.skip("no mkldnn here"),
    "nested": lambda: torch.nested.nested_tensor([torch.eye(4), torch.eye(4)]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors_that_are_not_dense_are_called_by_their_layout(layout):
    with pytest.raises(TypeError, match=layout):
        tmm.matmul(LAYOUTS[layout](), torch.eye(4))
    with pytest.raises(TypeError, match="dense"):
        tmm.matmul(torch.eye(4), torch.eye(4), residual=LAYOUTS[layout]())


class Metres(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        raise AssertionError("a product without the unit")


class Elsewhere(torch.Tensor):
    @staticmethod
    def __new__(cls, shape):
        return torch.Tensor._make_wrapper_subclass(cls, shape)

    @classmethod
    def __torch_dispatch__(cls, function, types, arguments=(), named=None):
        raise AssertionError("a product of what is not there")


class Plain(torch.Tensor):
    pass


def test_subclasses_that_mean_more_are_refused_others_are_tensors():
    for tensor in (normal().as_subclass(Metres), Elsewhere((N, N))):
        with pytest.raises(TypeError, match=type(tensor).__name__):
            tmm.matmul(tensor, normal())
    a = normal()
    for tensor in (a.as_subclass(Plain), torch.nn.Parameter(a)):
        assert close(tmm.matmul(tensor.detach() if tensor.requires_grad else tensor, a), a @ a)


@pytest.mark.filterwarnings("ignore")
def test_masked_tensors_are_refused():
    masked = pytest.importorskip("torch.masked")
    tensor = masked.masked_tensor(normal(), torch.eye(N, dtype=torch.bool))
    with pytest.raises(TypeError, match="MaskedTensor"):
        tmm.matmul(tensor, normal())


def test_tensors_without_memory_are_refused():
    with pytest.raises(TypeError, match="meta"):
        tmm.matmul(torch.empty(N, N, device="meta"), normal())
    with pytest.raises(TypeError, match="torch.ops.tmm.matmul"):
        torch.func.vmap(lambda x: tmm.matmul(x, normal()), randomness="different")(normal(3, N, N))


def test_a_tangent_that_is_zero_without_memory():
    zero = torch._efficientzerotensor(N, N)
    try:
        assert close(tmm.matmul(zero, normal()), torch.zeros(N, N))
    except TypeError as refused:
        assert "memory" in str(refused)
