"""The CUDA provider: the array-module kernels on an NVIDIA GPU through CuPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import DeviceError
from engine.graph.ir import Model
from engine.kernels import library
from engine.kernels.registry import KernelRegistry, Value
from engine.providers.base import Availability, ExecutionProvider, TensorAllocator
from engine.providers.cuda.kernels import device_kernel, runs_on_device
from engine.providers.cuda.memory import PoolAllocator, device_errors
from engine.providers.cuda.probe import cuda_availability

__all__ = ["CUDAProvider"]


class CUDAProvider(ExecutionProvider):
    """Tensors are CuPy arrays on one device; every kernel of the library that keeps to the array module runs there.

    Parameters
    ----------
    array_module: stands for CuPy, which is otherwise imported when first needed (it takes about a second).
    """

    name = "CUDA"
    device = "cuda:0"

    def __init__(self, array_module: Any = None) -> None:
        self._xp = array_module
        self._problem = ""  # why CuPy could not be imported, once that was tried
        self._stream: Any = None

    def available(self) -> Availability:
        if self._problem:
            return Availability(False, self._problem)
        return Availability(True) if self._xp is not None else cuda_availability()

    @property
    def xp(self) -> Any:
        """CuPy.

        Raises
        ------
        DeviceError: CuPy is there but cannot be imported.
        """
        if self._xp is None:
            try:
                import cupy
            except Exception as error:  # a broken CUDA installation raises of many kinds
                self._problem = f"CuPy cannot be imported: {error}"
                raise DeviceError(self._problem) from error
            self._xp = cupy
        return self._xp

    def register_kernels(self, registry: KernelRegistry) -> None:
        """Add the kernels of the library that keep to the array module.

        Raises
        ------
        DeviceError: CuPy is there but cannot be imported.
        """
        _ = self.xp
        for kernel in library():
            if runs_on_device(kernel):
                registry.register(device_kernel(kernel))

    def create_allocator(self) -> TensorAllocator:
        return PoolAllocator(self.xp)

    def for_session(self, model: Model) -> CUDAProvider:
        """One with a stream of its own, so that sessions wait only for their own work."""
        own = CUDAProvider(self._xp)
        own._problem = self._problem
        return own

    def run_start(self) -> None:
        with device_errors():
            if self._stream is None:
                self._stream = self.xp.cuda.Stream(non_blocking=True)
            self._stream.__enter__()  # what this thread launches and allocates from here on belongs to the stream

    def run_end(self) -> None:
        self._stream.__exit__(None, None, None)

    def to_device(self, value: Value) -> Value:
        """The value with its arrays uploaded; lists and maps element by element.

        Raises
        ------
        DeviceError: the device is out of memory or lost, or CuPy has no such dtype.
        """
        if isinstance(value, list):
            return [self.to_device(v) for v in value]
        if value is None or isinstance(value, (dict, self.xp.ndarray)):
            return value
        with device_errors():
            return self.xp.asarray(np.asarray(value))

    def to_host(self, value: Value) -> Value:
        """The value with its arrays downloaded; lists and maps element by element.

        Raises
        ------
        DeviceError: the device is lost, or failed in work launched before.
        """
        if isinstance(value, list):
            return [self.to_host(v) for v in value]
        if not isinstance(value, self.xp.ndarray):
            return value
        with device_errors():
            return self.xp.asnumpy(value)

    def synchronize(self) -> None:
        """Wait for what this thread's stream has been given.

        Raises
        ------
        DeviceError: work launched before has failed.
        """
        with device_errors():
            self.xp.cuda.get_current_stream().synchronize()

    def mark(self) -> Any:
        """An event, which the device passes when it has done all that was launched before."""
        with device_errors():
            event = self.xp.cuda.Event()
            event.record()
            return event

    def seconds_between(self, start: Any, end: Any) -> float:
        """Seconds by the device's clock; waits for the second event."""
        with device_errors():
            end.synchronize()
            return float(self.xp.cuda.get_elapsed_time(start, end)) * 1e-3
