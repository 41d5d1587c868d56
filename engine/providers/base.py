"""The provider interface, and what a provider needs to say of itself."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.graph.ir import Graph, Node
from engine.kernels.registry import KernelRegistry, Value


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a provider can be used on this machine, and if not why, in words."""

    ok: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.ok


class TensorAllocator(Protocol):
    """Hands out the memory that a provider's tensors live in."""

    def allocate(self, shape: Sequence[int], dtype: np.dtype) -> Any:
        """An uninitialised array of that shape and dtype on the provider's device.

        Raises
        ------
        DeviceError: the device has not enough memory.
        """

    def allocated_bytes(self) -> int:
        """Bytes handed out and still alive, as far as the allocator knows."""


class ExecutionProvider:
    """Who computes nodes. A subclass gives a name, says whether it is available, and registers kernels.

    Everything below `create_allocator` is a hook with a plain default: providers on the host need none of them.
    """

    name = ""
    device = "host"  # providers of one device exchange tensors without a copy

    def available(self) -> Availability:
        """Whether this machine can run the provider, and if not why. Takes at most a millisecond or so."""
        raise NotImplementedError

    def register_kernels(self, registry: KernelRegistry) -> None:
        """Add this provider's kernels."""
        raise NotImplementedError

    def create_allocator(self) -> TensorAllocator:
        """The allocator for one session."""
        raise NotImplementedError

    @property
    def xp(self) -> Any:
        """The array module of this provider's tensors."""
        return np

    def claim(self, graph: Graph) -> list[list[Node]]:
        """Groups of nodes this provider wants to run whole, before placement by kernels; none by default."""
        return []

    def to_device(self, value: Value) -> Value:
        """A host value on this provider's device."""
        return value

    def to_host(self, value: Value) -> Value:
        """A value of this provider's device on the host."""
        return value

    def run_start(self) -> None:
        """Called before the first node of a run."""

    def run_end(self) -> None:
        """Called after the last node of a run, also when the run failed."""

    def synchronize(self) -> None:
        """Wait until everything launched has been computed; called where times are read."""
