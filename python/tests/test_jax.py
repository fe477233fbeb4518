"""JAX's arrays are multiplied, and never written to: programs rely on it that they stay as they are."""

import os

import numpy as np
import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax")

import tmm_gemm as tmm  # noqa: E402
from jax import numpy as jnp  # noqa: E402


def test_results_are_arrays_of_jax():
    a, b = jnp.arange(12.0).reshape(3, 4), jnp.ones((4, 5))
    result = tmm.matmul(a, b)
    assert isinstance(result, jax.Array) and result.dtype == a.dtype and result.devices() == a.devices()
    assert np.allclose(result, a @ b)
    assert np.allclose(jax.jit(lambda x: x * 2)(result), 2 * (a @ b))
    assert np.allclose(tmm.matmul(a, b, bias=jnp.ones(5), residual=result), 2 * (a @ b) + 1)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_types_batches_and_vectors(dtype):
    a, b = jnp.ones((2, 3, 4), dtype), jnp.ones((4, 5), dtype)
    result = tmm.matmul(a, b)
    assert result.dtype == dtype and result.shape == (2, 3, 5) and float(result[1, 2, 4]) == 4
    assert tmm.matmul(a[0, 0], b[:, 0]).shape == () and tmm.matmul(a[:0], b).shape == (0, 3, 5)


def test_doubles_are_multiplied_as_doubles():
    with jax.enable_x64(True):
        a = jnp.asarray(np.random.default_rng(3).standard_normal((5, 40)))
        result = tmm.matmul(a, a.T, bias=a[:, 0])
        assert result.dtype == "float64" and isinstance(result, jax.Array)
        assert np.abs(np.asarray(result) - (np.asarray(a) @ np.asarray(a).T + np.asarray(a)[:, 0])).max() < 1e-13


def test_an_array_of_jax_is_no_place_for_a_result():
    a = jnp.ones((4, 4))
    out = jnp.zeros((4, 4))
    other = jax.device_put(out)
    for write in (lambda: tmm.matmul(a, a, out=out), lambda: tmm.Plan(4, 4, 4, device="host").run(a, a, out)):
        with pytest.raises((TypeError, ValueError), match="JAX's arrays never change"):
            write()
    assert float(jnp.abs(out).max()) == 0 and float(jnp.abs(other).max()) == 0


def test_results_may_go_to_an_array_of_another_library():
    a, out = jnp.ones((4, 4)), np.zeros((4, 4), "f")
    assert tmm.matmul(a, a, out=out) is out and out[0, 0] == 4
    assert isinstance(tmm.matmul(np.ones((4, 4), "f"), a), np.ndarray)


def test_within_jit_there_is_nothing_to_multiply():
    for transform in (jax.jit, jax.vmap, lambda f: jax.grad(lambda x: f(x).sum())):
        with pytest.raises(TypeError, match="traced"):
            transform(lambda x: tmm.matmul(x, jnp.ones((4, 4))))(jnp.ones((4, 4)))
