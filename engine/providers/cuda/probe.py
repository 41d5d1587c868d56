"""Whether this machine can run CUDA, found without importing CuPy (which takes a second)."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import sys

from engine.providers.base import Availability


@functools.cache
def cuda_availability() -> Availability:
    """Driver, device and CuPy, in that order; the first that is missing is the reason. Probed once a process."""
    devices = _device_count()
    if devices is None:
        return Availability(False, "no NVIDIA driver on this machine")
    if devices == 0:
        return Availability(False, "the NVIDIA driver finds no GPU")
    if importlib.util.find_spec("cupy") is None:
        return Availability(False, "CuPy is not installed: pip install 'oinfer[cuda]'")
    return Availability(True)


def _device_count() -> int | None:
    """GPUs that the driver offers; None without a driver (CUDA driver API: cuInit, cuDeviceGetCount)."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value
