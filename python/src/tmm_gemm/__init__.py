"""tmm: matrix products by kernels that are generated, compiled, measured and chosen for each shape and GPU."""

import sys as _sys

from ._handles import set_tuning
from ._library import ArgumentError, ExpressionError, TmmError
from ._library import version as _version
from ._plan import Plan
from ._product import matmul, set_invariant
from ._tools import ToolError, tune, winners

__all__ = ["ArgumentError", "ExpressionError", "Plan", "TmmError", "ToolError", "matmul", "set_invariant", "set_tuning", "tune", "winners"]

__version__ = _version()

# Whoever has torch wants torch.ops.tmm; whoever has not should not wait for it.
if "torch" in _sys.modules and hasattr(_sys.modules["torch"].library, "custom_op"):
    from . import torch as _torch  # noqa: F401
