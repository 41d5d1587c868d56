"""The provider interface, and what a provider needs to say of itself."""
from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.graph.ir import Graph, Model, Node, Tensor
from engine.kernels.registry import KernelRegistry, Value
from engine.providers.groups import Group

HOST = "host"
"""The device of every provider that works on NumPy arrays in main memory."""


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

    Attributes
    ----------
    device: providers of one device exchange tensors without a copy.
    by_default: whether it is used where the user names no providers.
    spins: whether threads of its own stay busy for a while after a run, and would slow whoever runs next.
    """

    name = ""
    device = HOST
    by_default = True
    spins = False

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

    def for_session(self, model: Model) -> ExecutionProvider:
        """The provider that one session works with: itself, or a fresh one where a session has a state of its own."""
        return self

    def claim(self, graph: Graph, free: Collection[Node]) -> list[list[Node]]:
        """Groups of the main graph's nodes that this provider wants to run whole, before placement by kernels.

        Only nodes in `free` may be claimed. A group must be convex: no path may leave it and come back.
        """
        return []

    def compile(self, group: Group, outputs: Sequence[Tensor]) -> Callable[..., Sequence[Value]]:
        """A function of the values of `group.inputs`, on this provider's device, that gives those of `outputs`.

        Raises
        ------
        DeviceError: the group cannot be compiled; the CPU then runs its nodes.
        """
        raise NotImplementedError

    def to_device(self, value: Value) -> Value:
        """A host value on this provider's device."""
        return value

    def to_host(self, value: Value) -> Value:
        """A value of this provider's device on the host."""
        return value

    def transfer(self, value: Value, source: ExecutionProvider) -> Value:
        """A value of another provider's device on this one's; by way of the host unless a shorter one is known."""
        return self.to_device(source.to_host(value))

    def run_start(self) -> None:
        """Called before the first node of a run."""

    def run_end(self) -> None:
        """Called after the last node of a run, also when the run failed."""

    def synchronize(self) -> None:
        """Wait until everything launched has been computed; called where the clock of a whole run is read."""

    def mark(self) -> Any:
        """The present moment on the clock of this provider's device, which must not wait for the device."""
        return time.perf_counter()

    def seconds_between(self, start: Any, end: Any) -> float:
        """Seconds between two marks; may wait until the device has passed the second one."""
        return float(end - start)
