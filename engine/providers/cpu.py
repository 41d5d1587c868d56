"""The CPU provider: every kernel of the library over NumPy. Always available; the truth others are held against."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from engine.errors import DeviceError
from engine.kernels import library
from engine.kernels.parallel import workers
from engine.kernels.registry import KernelRegistry
from engine.providers.base import Availability, ExecutionProvider, TensorAllocator
from engine.providers.heap import keep_freed_memory


class HostAllocator:
    """NumPy arrays in host memory, counted while they live."""

    def __init__(self) -> None:
        self._alive = 0

    def allocate(self, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """An uninitialised array.

        Raises
        ------
        DeviceError: the host has not enough memory.
        """
        try:
            array: np.ndarray = np.empty(tuple(shape), dtype)
        except (MemoryError, ValueError) as error:  # NumPy's word for more than an address can count is ValueError
            raise DeviceError(f"the host has no memory for {dtype}{list(shape)}") from error
        self._alive += array.nbytes
        weakref.finalize(array, self._release, array.nbytes)
        return array

    def allocated_bytes(self) -> int:
        """Bytes of the arrays handed out that somebody still holds, views included."""
        return self._alive

    def _release(self, nbytes: int) -> None:
        self._alive -= nbytes


class CPUProvider(ExecutionProvider):
    """NumPy on the host; registers the whole kernel library."""

    name = "CPU"

    def available(self) -> Availability:
        return Availability(True)

    def register_kernels(self, registry: KernelRegistry) -> None:
        for kernel in library():
            registry.register(kernel)

    def create_allocator(self) -> TensorAllocator:
        return HostAllocator()

    def run_start(self) -> None:
        keep_freed_memory()
        workers()  # holds BLAS to one thread from the first run on, whoever computes in it
