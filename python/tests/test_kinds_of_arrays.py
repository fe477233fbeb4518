"""Arrays that are more than their memory are refused by name, not multiplied without what they mean."""

import numpy as np
import pytest
import tmm_gemm as tmm


def ones(*shape):
    return np.ones(shape, "f")


class WithUnit(np.ndarray):
    def __array_ufunc__(self, *arguments, **options):
        raise AssertionError("a product without the unit")


class OldUnit(np.ndarray):
    def __array_wrap__(self, *arguments):
        return self


class Saturating(np.ndarray):
    def __matmul__(self, other):
        return np.clip(np.asarray(self) @ other, 0, 1)


class Labelled(np.ndarray):
    """Has more to say, but nothing about what its elements are."""

    def __array_finalize__(self, other):
        self.label = getattr(other, "label", None)


PLACES = {
    "a": lambda x: tmm.matmul(x, ones(3, 3)),
    "b": lambda x: tmm.matmul(ones(3, 3), x),
    "residual": lambda x: tmm.matmul(ones(3, 3), ones(3, 3), residual=x),
    "out": lambda x: tmm.matmul(ones(3, 3), ones(3, 3), out=x),
    "bias": lambda x: tmm.matmul(ones(3, 3), ones(3, 3), bias=x[0]),
    "a plan's": lambda x: tmm.Plan(3, 3, 3, device="host").run(x, ones(3, 3), ones(3, 3)),
}


@pytest.mark.parametrize("place", PLACES)
def test_masked_arrays(place):
    with pytest.raises(TypeError, match="masked"):
        PLACES[place](np.ma.array(ones(3, 3), mask=np.eye(3)))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", [WithUnit, OldUnit, Saturating])
def test_arrays_whose_arithmetic_is_their_own(place, kind):
    with pytest.raises(TypeError, match=kind.__name__):
        PLACES[place](ones(3, 3).view(kind))


def test_arrays_that_are_their_memory_are_multiplied(tmp_path):
    mapped = np.memmap(tmp_path / "matrix", "f", "w+", shape=(3, 3))
    mapped[:] = 1
    for array in (mapped, ones(3, 3).view(np.matrix), ones(3, 3).view(Labelled), ones(3, 3).view(type("Plain", (np.ndarray,), {}))):
        result = tmm.matmul(array, ones(3, 3))
        assert type(result) is np.ndarray and result[0, 0] == 3


class Sparse:
    def todense(self):
        return ones(3, 3)


def test_sparse_matrices_are_called_so():
    with pytest.raises(TypeError, match=r"a is sparse \(a Sparse\)"):
        tmm.matmul(Sparse(), ones(3, 3))


def test_sparse_matrices_of_scipy():
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_matrix, sparse.coo_array):
        with pytest.raises(TypeError, match="sparse"):
            tmm.matmul(make(np.eye(3, dtype="f")), ones(3, 3))
