"""The handles that matmul and plans share, one for each device."""

import ctypes
import os
import threading

from . import _arguments
from ._library import check, library


class _Handles:
    """Handles are kept: making one reads the database. One serves all streams, so that they share kernels and plans."""

    def __init__(self) -> None:
        self._tuning = False
        self._clear()
        # CUDA works in no child of fork(), and the host device's threads are not there either.
        os.register_at_fork(after_in_child=self._clear)

    def _clear(self) -> None:
        self._lock = threading.Lock()
        self._handles: dict[int, ctypes.c_void_p] = {}

    def get(self, device: int) -> ctypes.c_void_p:
        with self._lock:
            handle = self._handles.get(device)
            if handle is None:
                handle = ctypes.c_void_p()
                check(library.tmmCreate(ctypes.byref(handle), device, None))
                check(library.tmmSetTuning(handle, self._tuning), handle)
                self._handles[device] = handle
        return handle

    def set_tuning(self, allowed: bool) -> None:
        with self._lock:
            self._tuning = allowed
            for handle in self._handles.values():
                check(library.tmmSetTuning(handle, allowed), handle)

    def synchronize(self, device: int, stream: int) -> None:
        handle = self.get(device)
        check(library.tmmSynchronize(handle, stream), handle)


handles = _Handles()


def set_tuning(allowed: bool) -> None:
    """May a plan be measured while it is made, on every device, from now on? No, at first.

    Where it may, an epilogue or an expression that was not tuned for its shape runs two ways, for a few milliseconds: in the kernel that
    multiplies, and in a step behind the plain product. The faster one serves, and Plan.describe()["why"] has both times. Products that
    matmul has computed before stay as they are. A product that is measured must not be captured into a CUDA graph.
    """
    handles.set_tuning(_arguments.flag(allowed, "allowed"))
