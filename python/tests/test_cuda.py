"""The package with tensors in a GPU's memory. TMM_TEST_TORCH_DEVICE=cpu tries what needs no streams where there is no GPU."""

import os
import threading

import pytest

torch = pytest.importorskip("torch", minversion="2.4")

import tmm_gemm as tmm  # noqa: E402
import tmm_gemm.torch  # noqa: E402, F401
from torch.nn import functional  # noqa: E402

DEVICE = os.environ.get("TMM_TEST_TORCH_DEVICE", "cuda")
if DEVICE == "cuda" and not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)
needs_streams = pytest.mark.skipif(DEVICE != "cuda", reason="streams are a GPU's")

TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
ROUNDING = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
SIZES = [(128, 128, 128), (16, 512, 256), (100, 37, 99), (1, 300, 64), (5, 1, 7)]


def tensor(*shape, dtype=torch.float32):
    # An odd seed a shape, so that no two operands are alike.
    random = torch.Generator().manual_seed(sum(shape) * 2 + len(shape))
    return torch.randn(*shape, generator=random, dtype=torch.float64).to(dtype).to(DEVICE)


def assert_product(result, a, b, more=lambda x: x):
    """result is more(a @ b) within the errors of its sums, FP64 or FP32, and the last rounding; more keeps differences."""
    wide = a.double() @ b.double()
    # What is expected of doubles errs as much as they may.
    unit, least = (2.0**-52, 0) if a.dtype == torch.float64 else (2.0**-24, 1e-6)
    bound = (a.shape[-1] + 8) * unit * (a.double().abs() @ b.double().abs()) + least
    expected = more(wide)
    assert result.shape == expected.shape and result.device.type == DEVICE
    assert ((result.double() - expected).abs() <= bound + 2 * ROUNDING[result.dtype] * expected.abs()).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("ops", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("m, n, k", SIZES)
def test_products(m, n, k, ops, dtype):
    a = tensor(m, k, dtype=dtype) if ops[0] == "n" else tensor(k, m, dtype=dtype).T
    b = tensor(k, n, dtype=dtype) if ops[1] == "n" else tensor(n, k, dtype=dtype).T
    assert_product(tmm.matmul(a, b), a, b)


@pytest.mark.parametrize("dtype", TYPES)
def test_batches_and_strides(dtype):
    a, b = tensor(6, 33, 20, dtype=dtype), tensor(20, 17, dtype=dtype)
    assert_product(tmm.matmul(a, b), a, b)
    heads = tensor(16, 3, 8, dtype=dtype).transpose(0, 1)
    assert_product(tmm.matmul(heads, heads.mT), heads, heads.mT)
    for left, right in ((a[0, :, ::2], b[::2]), (a[0].flip(0)[:, 3:], b[3:]), (a[0, :, 1:9], b[1:9, 1:])):
        assert_product(tmm.matmul(left, right), left, right)
    assert tmm.matmul(a[:, :0], b).shape == (6, 0, 17)


def test_out_alpha_and_beta():
    a, b = tensor(40, 24), tensor(24, 30)
    out = tensor(40, 30)
    before = out.double()
    assert tmm.matmul(a, b, out, alpha=0.5, beta=2) is out
    assert_product(out, a, b, lambda x: 0.5 * x + 2 * before)


ACTIVATIONS = {
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "silu": functional.silu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_epilogues(activation):
    a, b, bias, residual = tensor(48, 32), tensor(32, 40), tensor(40), tensor(48, 40)
    result = tmm.matmul(a, b, epilogue=f"bias+{activation}+residual", bias=bias, residual=residual)
    expected = ACTIVATIONS[activation](a.double() @ b.double() + bias.double()) + residual.double()
    assert torch.allclose(result.double(), expected, atol=1e-4)


def test_an_expression():
    a, b = tensor(48, 32), tensor(32, 40)
    result = tmm.matmul(a, b, expression="fmaxf(x, p0)", parameters=[0.25])
    assert_product(result, a, b, lambda x: x.clamp_min(0.25))


def test_a_plan():
    device = 0 if DEVICE == "cuda" else "host"
    plan = tmm.Plan(48, 40, 32, device=device, epilogue="bias")
    a, b, bias, out = tensor(48, 32), tensor(32, 40), tensor(40), tensor(48, 40)
    plan.run(a, b, out, bias=bias)
    assert_product(out, a, b, lambda x: x + bias.double())
    assert plan.describe()["match"] in ("exact", "near", "predicted", "fallback")


@pytest.mark.parametrize("dtype", TYPES)
def test_gradients(dtype):
    tolerance = {torch.float64: 1e-13, torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}[dtype]
    inputs = [tensor(4, 24, 32, dtype=dtype), tensor(40, 32, dtype=dtype), tensor(40, dtype=dtype)]
    inputs = [x.requires_grad_() for x in inputs]
    wide = [x.detach().double().requires_grad_() for x in inputs]
    for ours, theirs in (
        (torch.ops.tmm.linear(*inputs, "gelu"), functional.gelu(functional.linear(*wide))),
        (torch.ops.tmm.matmul(inputs[0], inputs[1].mT), wide[0] @ wide[1].mT),
    ):
        assert torch.allclose(ours.double(), theirs, atol=tolerance, rtol=tolerance)
        found = torch.autograd.grad(ours.sum(), inputs, allow_unused=True)
        for one, other in zip(found, torch.autograd.grad(theirs.sum(), wide, allow_unused=True)):
            assert (one is None) == (other is None)
            if one is not None:
                largest = other.abs().max().item()
                assert torch.allclose(one.double(), other, atol=tolerance * max(1, largest))


def test_opcheck():
    torch.library.opcheck(torch.ops.tmm.matmul.default, (tensor(24, 32).requires_grad_(), tensor(32, 40).requires_grad_()))
    inputs = (tensor(24, 32).requires_grad_(), tensor(40, 32).requires_grad_(), tensor(40).requires_grad_())
    torch.library.opcheck(torch.ops.tmm.linear.default, (*inputs, "gelu"))


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=needs_streams)])
def test_compiled_programs(backend):
    inputs = [tensor(24, 32).requires_grad_(), tensor(40, 32).requires_grad_(), tensor(40).requires_grad_()]
    layer = torch.compile(lambda *x: torch.ops.tmm.linear(*x, "silu") * 2, backend=backend, fullgraph=True)
    ours = torch.autograd.grad(layer(*inputs).sum(), inputs)
    theirs = torch.autograd.grad((functional.silu(functional.linear(*inputs)) * 2).sum(), inputs)
    assert all(torch.allclose(one, other, atol=1e-3) for one, other in zip(ours, theirs))


@needs_streams
def test_the_current_stream_is_used():
    """The operand is written on the stream by a long chain of kernels; a product on another stream would not wait for it."""
    a, b = tensor(512, 512), tensor(512, 512)
    tmm.matmul(a, b)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        late = torch.zeros_like(a)
        for _ in range(200):
            late += a
        result = tmm.matmul(late, b)
    stream.synchronize()
    assert_product(result, late, b)


@needs_streams
def test_a_stream_that_is_named_orders_copies_and_the_result():
    """Operands that are copied first, and a result that is made, on a stream that is not torch's current one."""
    a, b = tensor(512, 1024)[:, ::2], tensor(1024, 512)[::2, ::2].contiguous()[:, :256]
    tmm.matmul(a, b)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    for _ in range(20):
        result = tmm.matmul(a, b, stream=stream.cuda_stream)
        stream.synchronize()
        assert_product(result, a, b)
    torch.cuda.current_stream().wait_stream(stream)


@needs_streams
def test_kernels_of_dropped_plans_go_behind_their_work():
    a, b = tensor(2048, 2048), tensor(2048, 2048)
    expected = a.double() @ b.double()
    for number in range(12):
        out = torch.empty_like(a)
        for _ in range(20):
            plan = tmm.Plan(2048, 2048, 2048, device=0, expression=f"x * {number}.5f")
            plan.run(a, b, out)
        del plan
        assert torch.allclose(out.double(), expected * (number + 0.5), atol=1e-2 * (number + 1))


@needs_streams
def test_many_streams_share_a_handle_and_its_workspaces():
    # Deep K takes a workspace of most kernels.
    a, b = tensor(64, 65536), tensor(65536, 64)
    expected = a.double() @ b.double()
    torch.cuda.synchronize()
    before = torch.cuda.mem_get_info()[0]
    for _ in range(200):
        stream = torch.cuda.ExternalStream(torch.cuda.Stream().cuda_stream)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            result = tmm.matmul(a, b)
        stream.synchronize()
        assert torch.allclose(result.double(), expected, atol=1e-2)
    assert before - torch.cuda.mem_get_info()[0] < 4 << 30


@needs_streams
def test_lazy_bits_and_versions_on_a_gpu():
    a, b = tensor(64, 64), torch.randn(64, 64, dtype=torch.complex64, device=DEVICE).conj().imag
    assert torch.allclose(tmm.matmul(a, b), (a.double() @ b.double()).float(), atol=1e-3)
    out = torch.empty_like(a)
    version = out._version
    tmm.matmul(a, a, out)
    assert out._version > version


@needs_streams
def test_a_graph_captured_on_a_side_stream():
    x, weight, bias = tensor(64, 96), tensor(128, 96), tensor(128)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        torch.ops.tmm.linear(x, weight, bias, "relu")
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            result = torch.ops.tmm.linear(x, weight, bias, "relu")
    torch.cuda.synchronize()
    for factor in (2.0, -0.5):
        x.mul_(factor)
        graph.replay()
        torch.cuda.synchronize()
        expected = torch.relu(functional.linear(x.double(), weight.double(), bias.double()))
        assert torch.allclose(result.double(), expected, atol=1e-3)


@needs_streams
def test_threads_with_streams_of_their_own():
    faults = []

    def work(seed):
        try:
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for size in (64, 96, 128):
                    a, b = tensor(size, 32 + seed), tensor(32 + seed, size)
                    assert_product(tmm.matmul(a, b), a, b)
        except BaseException as fault:  # noqa: BLE001
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@needs_streams
def test_operands_on_two_devices_are_refused():
    with pytest.raises(ValueError, match="different devices"):
        tmm.matmul(tensor(4, 4), torch.ones(4, 4))


@needs_streams
def test_cupys_arrays_on_its_current_stream():
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = cupy.random.rand(300, 200, dtype="f") - 0.5
        result = tmm.matmul(x, x.T)
        stream.synchronize()
    expected = cupy.asnumpy(x).astype("d")
    assert abs(cupy.asnumpy(result) - expected @ expected.T).max() < 1e-4
