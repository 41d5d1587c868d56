"""The Accelerate provider: Apple's vector and matrix library on the host, float32 only."""

from __future__ import annotations

import sys

from engine.errors import DeviceError
from engine.kernels.registry import KernelRegistry
from engine.providers.accelerate.kernels import accelerate_kernels
from engine.providers.accelerate.vectors import FRAMEWORK, VectorLibrary
from engine.providers.base import Availability, ExecutionProvider, TensorAllocator
from engine.providers.cpu import HostAllocator

__all__ = ["AccelerateProvider"]


class AccelerateProvider(ExecutionProvider):
    """vDSP and vForce for elementwise operators, cblas_sgemm for MatMul, Gemm and Conv; its tensors are NumPy arrays.

    Parameters
    ----------
    library: path of a library with the framework's symbols; by default the framework itself, which only macOS has.
    """

    name = "Accelerate"

    def __init__(self, library: str | None = None) -> None:
        self._path = library
        self._library: VectorLibrary | None = None
        self._problem = "" if library or sys.platform == "darwin" else "only on macOS"

    def available(self) -> Availability:
        if self._library is None and not self._problem:
            try:
                self._library = VectorLibrary(self._path or FRAMEWORK)
            except DeviceError as error:
                self._problem = str(error)
        return Availability(not self._problem, self._problem)

    def register_kernels(self, registry: KernelRegistry) -> None:
        if not self.available() or self._library is None:
            raise DeviceError(f"Accelerate: {self._problem}")
        for kernel in accelerate_kernels(self._library):
            registry.register(kernel)

    def create_allocator(self) -> TensorAllocator:
        return HostAllocator()
