"""PyTorch's own descriptions of its operators that multiply matrices (OpInfo, torch.testing._internal), with the samples and the wrong
inputs that ship in its wheel. The tests know nothing of tmm: they are run with libtmm_cublas.so and without it (scripts/test_dropin), and
the same ones must pass. TMM_TEST_TORCH_DEVICE=cpu tries them where there is no GPU.
"""

import os

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch.testing._internal needs expecttest")

from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from torch.testing._internal.common_utils import TestCase, noncontiguous_like  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

DEVICE = os.environ.get("TMM_TEST_TORCH_DEVICE", "cuda")
if DEVICE == "cuda" and not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)
# Those that are products, and those of linalg and nn that are made of them.
NAMES = """
    mm addmm bmm baddbmm addbmm matmul __rmatmul__ mv addmv inner einsum tensordot chain_matmul linalg.multi_dot linalg.matrix_power
    linalg.pinv linalg.vecdot nn.functional.linear nn.functional.bilinear cov corrcoef cdist
""".split()
# Eigenvectors, which a rounding may turn, are what the Hermitian variants are made of.
OPERATORS = [op for op in op_db if op.name in NAMES and op.variant_test_name != "hermitian"]
TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
# How far apart two results may be, in parts of the largest element, or of 1: sums in FP32 (of doubles in FP64) that are rounded to the type,
# twice or so.
TOLERANCES = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 4e-2, torch.float16: 5e-3}


def mapped(function, tree):
    return pytree.tree_map(lambda x: function(x) if isinstance(x, torch.Tensor) else x, tree)


def wide(tree):
    """The same on the CPU in FP64, where no product is tmm's."""
    return mapped(lambda x: x.detach().cpu().double() if x.is_floating_point() else x.detach().cpu(), tree)


def tensors(tree):
    return [x for x in pytree.tree_leaves(tree) if isinstance(x, torch.Tensor)]


class TestProducts(TestCase):
    def samples(self, device, dtype, op, requires_grad=False):
        for sample in op.sample_inputs(device, dtype, requires_grad=requires_grad):
            # A mask drawn at random is another one each time.
            if not sample.kwargs.get("dropout_p"):
                # Weights of cov are FP32 beside doubles.
                given = tensors((sample.input, sample.args, sample.kwargs))
                self.tolerance = max(TOLERANCES.get(x.dtype, 0) for x in given)
                yield sample

    def assert_close(self, found, expected, dtype):
        for ours, theirs in zip(tensors(found), tensors(expected), strict=True):
            self.assertEqual(ours.shape, theirs.shape)
            # What overflows 16 bits, by itself or on the way, tells nothing.
            fits = (theirs.abs() < torch.finfo(dtype).max / 4) | theirs.isnan()
            ours, theirs = ours.detach().cpu().to(theirs.dtype)[fits], theirs[fits]
            largest = theirs.abs().nan_to_num(0).max().item() if theirs.numel() else 0
            self.assertEqual(ours, theirs, rtol=0, atol=self.tolerance * max(1, largest))

    @ops(OPERATORS, allowed_dtypes=TYPES)
    def test_results_are_those_of_fp64(self, device, dtype, op):
        for sample in self.samples(device, dtype, op):
            found = op(sample.input, *sample.args, **sample.kwargs)
            self.assert_close(found, op(wide(sample.input), *wide(sample.args), **wide(sample.kwargs)), dtype)

    @ops(OPERATORS, allowed_dtypes=TYPES)
    def test_strides_change_nothing(self, device, dtype, op):
        for sample in self.samples(device, dtype, op):
            expected = op(sample.input, *sample.args, **sample.kwargs)
            spread = mapped(noncontiguous_like, (sample.input, sample.args, sample.kwargs))
            self.assert_close(op(spread[0], *spread[1], **spread[2]), wide(expected), dtype)

    @ops([op for op in OPERATORS if op.supports_out], allowed_dtypes=TYPES)
    def test_out_is_written(self, device, dtype, op):
        for sample in self.samples(device, dtype, op):
            expected = op(sample.input, *sample.args, **sample.kwargs)
            if not isinstance(expected, torch.Tensor):
                continue
            for out in (torch.full_like(expected, float("nan")), noncontiguous_like(torch.full_like(expected, float("nan")))):
                op(sample.input, *sample.args, **sample.kwargs, out=out)
                self.assert_close(out, wide(expected), dtype)

    @ops([op for op in OPERATORS if op.inplace_variant], allowed_dtypes=TYPES)
    def test_results_in_place(self, device, dtype, op):
        for sample in self.samples(device, dtype, op):
            expected = op(sample.input, *sample.args, **sample.kwargs)
            if sample.broadcasts_input or expected.shape != sample.input.shape:
                continue
            self.assert_close(op.inplace_variant(sample.input.clone(), *sample.args, **sample.kwargs), wide(expected), dtype)

    @ops([op for op in OPERATORS if op.supports_autograd], allowed_dtypes=TYPES)
    def test_gradients_are_those_of_fp64(self, device, dtype, op):
        if dtype not in op.supported_backward_dtypes(torch.device(device).type):
            self.skipTest("no gradients of this type")
        for sample in self.samples(device, dtype, op, requires_grad=True):
            # FP64 leaves of their own, in the same places of the sample.
            copies = {}

            def copied(x):
                copies[id(x)] = wide(x).requires_grad_(x.requires_grad)
                return copies[id(x)]

            given = [x for x in tensors((sample.input, sample.args, sample.kwargs)) if x.requires_grad and x.is_leaf]
            found = sample.output_process_fn_grad(op(sample.input, *sample.args, **sample.kwargs))
            inputs = mapped(copied, (sample.input, sample.args, sample.kwargs))
            expected = sample.output_process_fn_grad(op(inputs[0], *inputs[1], **inputs[2]))
            pairs = [(x, y) for x, y in zip(tensors(found), tensors(expected)) if x.requires_grad]
            if not given or not pairs:
                continue
            ours = torch.autograd.grad([x.sum() for x, _ in pairs], given, allow_unused=True)
            theirs = torch.autograd.grad([y.sum() for _, y in pairs], [copies[id(x)] for x in given], allow_unused=True)
            for one, other in zip(ours, theirs):
                self.assertEqual(one is None, other is None)
                if one is not None:
                    self.assert_close(one, other, dtype)

    @ops([op for op in OPERATORS if op.error_inputs_func], allowed_dtypes=(torch.float32,))
    def test_wrong_inputs_are_refused_as_described(self, device, dtype, op):
        for wrong in op.error_inputs(device):
            sample = wrong.sample_input
            with self.assertRaisesRegex(wrong.error_type, wrong.error_regex):
                op(sample.input, *sample.args, **sample.kwargs)


instantiate_device_type_tests(TestProducts, globals(), only_for=DEVICE)
