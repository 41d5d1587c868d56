"""Device memory from CuPy's pool, and CuPy's errors in the engine's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.errors import DeviceError, EngineError


class PoolAllocator:
    """CuPy arrays out of CuPy's default memory pool, which keeps freed blocks for the next request."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def allocate(self, shape: Sequence[int], dtype: np.dtype) -> Any:
        """An uninitialised array on the device.

        Raises
        ------
        DeviceError: the device has not enough memory.
        """
        with device_errors():
            return self._xp.empty(tuple(shape), dtype)

    def allocated_bytes(self) -> int:
        """Bytes of the pool in use, those of other sessions of this process included."""
        return int(self._xp.get_default_memory_pool().used_bytes())


@contextmanager
def device_errors() -> Iterator[None]:
    """Turn whatever CuPy raises inside into `DeviceError`; the engine's own errors pass.

    Any kind counts: CuPy raises TypeError and NotImplementedError for what NumPy can do and it cannot, and where the
    values are at fault the CPU kernel, which is tried next, says so in terms of the operator.
    """
    try:
        yield
    except EngineError:
        raise
    except MemoryError as error:
        raise DeviceError(f"the GPU is out of memory: {error}") from error
    except Exception as error:
        raise DeviceError(f"CuPy: {type(error).__name__}: {error}") from error
