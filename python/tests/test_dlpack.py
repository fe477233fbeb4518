"""Arrays that come by DLPack: versions of the protocol, what may be written to, and state that other packages share."""

import ctypes

import numpy as np
import pytest
import tmm_gemm as tmm
from tmm_gemm import _dlpack

if not hasattr(np.ndarray, "__dlpack__"):
    pytest.skip("this NumPy has no DLPack", allow_module_level=True)


def ones(*shape):
    return np.ones(shape, "f")


class Array:
    """An array of which tmm knows no more than DLPack tells."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OldArray(Array):
    """A producer from before DLPack had versions."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()


def knows_versions():
    try:
        ones(1).__dlpack__(max_version=(1, 0))
    except TypeError:
        return False
    return True


needs_versions = pytest.mark.skipif(not knows_versions(), reason="this NumPy's DLPack has no versions")


def read_only(*shape):
    array = ones(*shape)
    array.flags.writeable = False
    return array


@needs_versions
def test_what_is_read_only_is_multiplied_and_never_written_to():
    out = np.empty((4, 4), "f")
    assert tmm.matmul(Array(read_only(4, 4)), ones(4, 4), out=out)[0, 0] == 4
    assert tmm.matmul(ones(4, 4), Array(read_only(4, 4)), out, bias=Array(read_only(4)), residual=Array(read_only(4, 4)))[0, 0] == 6
    target = read_only(4, 4)
    with pytest.raises(ValueError, match="read-only"):
        tmm.matmul(ones(4, 4), ones(4, 4), out=Array(target))
    with pytest.raises(ValueError, match="read-only"):
        tmm.Plan(4, 4, 4, device="host").run(ones(4, 4), ones(4, 4), Array(target))
    assert target[0, 0] == 1


@needs_versions
def test_what_may_be_written_to_is():
    target = np.zeros((4, 4), "f")
    tmm.matmul(ones(4, 4), ones(4, 4), out=Array(target))
    assert target[3, 3] == 4


def test_producers_without_versions_are_multiplied_but_may_hide_that_they_are_read_only():
    target = np.zeros((4, 4), "f")
    assert tmm.matmul(OldArray(ones(4, 4)), OldArray(ones(4, 4)), target)[0, 0] == 4
    with pytest.raises(ValueError, match="before 1.0"):
        tmm.matmul(ones(4, 4), ones(4, 4), out=OldArray(target))


def test_a_producer_that_refuses_is_quoted():
    with pytest.raises(ValueError, match="a can't be had by DLPack"):
        tmm.matmul(OldArray(read_only(4, 4)), ones(4, 4), np.empty((4, 4), "f"))


@needs_versions
def test_a_version_that_is_not_known_is_refused(monkeypatch):
    monkeypatch.setattr(_dlpack, "_VERSION", (2, 0))
    with pytest.raises(ValueError, match="version 1.* of DLPack"):
        tmm.matmul(Array(ones(4, 4)), ones(4, 4), np.empty((4, 4), "f"))


def test_a_device_that_is_none_of_tmms_is_named_by_its_type():
    class Elsewhere(Array):
        def __dlpack_device__(self):
            return 8, 0

    with pytest.raises(TypeError, match="type 8"):
        tmm.matmul(Elsewhere(ones(4, 4)), ones(4, 4))


def prototypes(library, names):
    return {name: (getattr(library, name).restype, getattr(library, name).argtypes) for name in names}


def test_functions_that_all_packages_share_keep_their_types():
    names = ("PyCapsule_GetPointer", "PyCapsule_IsValid", "PyCapsule_New", "PyCapsule_GetName")
    ctypes.pythonapi.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    before = prototypes(ctypes.pythonapi, names)
    tmm.matmul(Array(ones(4, 4)), Array(ones(4, 4)), out=np.empty((4, 4), "f"))
    assert prototypes(ctypes.pythonapi, names) == before


def test_another_packages_object_of_libtmm_keeps_its_types():
    from tmm_gemm import _library

    other = ctypes.CDLL(_library.library._name)
    assert other.tmmGetVersion.argtypes is None
    assert other.tmmPlanRun is not _library.library.tmmPlanRun and other.tmmPlanRun.argtypes is None
