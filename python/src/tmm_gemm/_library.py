"""The C interface of libtmm (tmm/tmm.h) as ctypes sees it."""

import ctypes
import os
from pathlib import Path

HOST = -1
ROW_MAJOR, COLUMN_MAJOR = 101, 102
NO_TRANS, TRANS = 111, 112
TYPES = {"f32": 0, "f16": 1, "bf16": 2, "f64": 3, "s8": 4, "s32": 5}
COMPUTE_MODES = {"f32": 0, "f32_strict": 1, "tf32": 2, "f64": 3, "s32": 4}
RESULTS = {"full": 0, "symmetric": 1, "lower": 2, "upper": 3}


class StatusError(RuntimeError):
    """A failure that has a number. It can be pickled and copied, so that it crosses processes."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple:
        # RuntimeError's own would make it again of the message alone.
        return type(self), (self.status, *self.args), self.__dict__


class TmmError(StatusError):
    """What libtmm answered. `status` is the tmmStatus_t."""


class ArgumentError(TmmError, ValueError):
    """An argument that libtmm refuses."""


class ExpressionError(ArgumentError):
    """An expression that does not compile, with the compiler's words."""


# The tmmStatus_t from TMM_STATUS_INVALID_STRUCT_SIZE on that blame an argument, and TMM_STATUS_INVALID_EXPRESSION.
_ARGUMENT_STATUSES = {*range(3, 32), *range(37, 46), 50, 52, 53}
_INVALID_EXPRESSION = 40


class Problem(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("layout", ctypes.c_int),
        ("op_a", ctypes.c_int),
        ("op_b", ctypes.c_int),
        ("m", ctypes.c_int64),
        ("n", ctypes.c_int64),
        ("k", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("type_a", ctypes.c_int),
        ("type_b", ctypes.c_int),
        ("type_c", ctypes.c_int),
        ("compute", ctypes.c_int),
        ("lda", ctypes.c_int64),
        ("ldb", ctypes.c_int64),
        ("ldc", ctypes.c_int64),
        ("stride_a", ctypes.c_int64),
        ("stride_b", ctypes.c_int64),
        ("stride_c", ctypes.c_int64),
        ("alignment", ctypes.c_int),
        ("reads_c", ctypes.c_int),
        ("epilogue", ctypes.c_int),
        ("max_workspace", ctypes.c_size_t),
        ("activation", ctypes.c_int),
        ("has_bias", ctypes.c_int),
        ("bias_axis", ctypes.c_int),
        ("type_bias", ctypes.c_int),
        ("has_residual", ctypes.c_int),
        ("ldr", ctypes.c_int64),
        ("stride_r", ctypes.c_int64),
        ("expression", ctypes.c_char_p),
        ("result", ctypes.c_int),
        ("pointer_array", ctypes.c_int),
        ("invariant", ctypes.c_int),
    ]


Parameters = ctypes.c_float * 4


class Args(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("alpha", ctypes.c_void_p),
        ("beta", ctypes.c_void_p),
        ("a", ctypes.c_void_p),
        ("b", ctypes.c_void_p),
        ("c", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("workspace_size", ctypes.c_size_t),
        ("prepared_a", ctypes.c_void_p),
        ("prepared_b", ctypes.c_void_p),
        ("residual", ctypes.c_void_p),
        ("parameters", Parameters),
        ("a_array", ctypes.c_void_p),
        ("b_array", ctypes.c_void_p),
        ("c_array", ctypes.c_void_p),
    ]


def _load() -> ctypes.CDLL:
    # TMM_LIBRARY names a library to use in place of the one that the package carries.
    # The object is the package's own, so that no other package sees or changes the types of its functions.
    path = os.environ.get("TMM_LIBRARY") or str(Path(__file__).with_name("libtmm.so"))
    library = ctypes.CDLL(path)
    handle, plan, stream = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    signatures = {
        "tmmCreate": (ctypes.c_int, [ctypes.POINTER(handle), ctypes.c_int, ctypes.c_char_p]),
        "tmmDestroy": (ctypes.c_int, [handle]),
        "tmmSetTuning": (ctypes.c_int, [handle, ctypes.c_int]),
        "tmmGemmOnStream": (ctypes.c_int, [handle, stream, ctypes.POINTER(Problem), ctypes.POINTER(Args)]),
        "tmmSynchronize": (ctypes.c_int, [handle, stream]),
        "tmmPlanCreate": (ctypes.c_int, [handle, ctypes.POINTER(Problem), ctypes.POINTER(plan)]),
        "tmmPlanWorkspaceSize": (ctypes.c_int, [plan, ctypes.POINTER(ctypes.c_size_t)]),
        "tmmPlanRun": (ctypes.c_int, [plan, stream, ctypes.POINTER(Args)]),
        "tmmPlanDescribe": (ctypes.c_int, [plan, ctypes.c_char_p, ctypes.c_size_t]),
        "tmmPlanDestroy": (ctypes.c_int, [plan]),
        "tmmStatusString": (ctypes.c_char_p, [ctypes.c_int]),
        "tmmLastError": (ctypes.c_char_p, [handle]),
        "tmmGemmProblemInit": (ctypes.c_int, [ctypes.POINTER(Problem)]),
        "tmmGetVersion": (ctypes.c_int, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


library = _load()


def check(status: int, handle=None) -> None:
    """Raises TmmError unless the status is success."""
    if status == 0:
        return
    said = library.tmmLastError(handle) or b""
    name = library.tmmStatusString(status) or b"unknown status"
    kind = TmmError
    if status in _ARGUMENT_STATUSES:
        kind = ExpressionError if status == _INVALID_EXPRESSION else ArgumentError
    raise kind(status, (said or name).decode(errors="replace"))


def _is_invariant_at_first() -> int:
    """What the environment says, which the library alone reads."""
    # A newer library's struct is longer than one of these.
    problems = (Problem * 8)()
    check(library.tmmGemmProblemInit(problems))
    return problems[0].invariant


# tmmGemmProblemInit's; set_invariant changes the last.
defaults = {
    "struct_size": ctypes.sizeof(Problem),
    "layout": ROW_MAJOR,
    "op_a": NO_TRANS,
    "op_b": NO_TRANS,
    "batch": 1,
    "alignment": 16,
    "max_workspace": ctypes.c_size_t(-1).value,
    "invariant": _is_invariant_at_first(),
}


def new_problem(**fields) -> Problem:
    """The defaults, then these fields. The struct may be shorter than a newer library's, which struct_size tells it."""
    return Problem(**{**defaults, **fields})


def version() -> str:
    """libtmm's own version."""
    number = library.tmmGetVersion()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
