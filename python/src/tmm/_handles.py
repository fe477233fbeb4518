"""The handles that matmul and plans share."""

import ctypes
import os
import threading

from ._library import check, library


class _Handles:
    """A handle for each device and stream, since one serves one stream. They are kept: making one reads the database."""

    def __init__(self) -> None:
        self._clear()
        # CUDA works in no child of fork(), and the host device's threads are not there either.
        os.register_at_fork(after_in_child=self._clear)

    def _clear(self) -> None:
        self._lock = threading.Lock()
        self._handles: dict[tuple[int, int], ctypes.c_void_p] = {}

    def get(self, device: int, stream: int = 0) -> ctypes.c_void_p:
        with self._lock:
            handle = self._handles.get((device, stream))
            if handle is None:
                handle = ctypes.c_void_p()
                check(library.tmmCreate(ctypes.byref(handle), device, None))
                check(library.tmmSetStream(handle, stream), handle)
                self._handles[device, stream] = handle
        return handle


handles = _Handles()
