"""The values of a session and of one run, each on the device where it was computed, copied only where somebody asks."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.graph.ir import Node, Tensor
from engine.kernels.registry import Value
from engine.providers.base import HOST, ExecutionProvider


@dataclass(frozen=True, slots=True)
class Copy:
    """A tensor copied between devices during a run, in bytes and seconds."""

    tensor: Tensor
    source: str
    target: str
    nbytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Fallback:
    """A node that a provider failed on and the CPU computed instead, with the provider's reason."""

    node: Node
    provider: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Transfer:
    """A copy whose time is read off its device's clock later, so that making it waits for nothing."""

    tensor: Tensor
    source: str
    target: str
    nbytes: int
    clock: ExecutionProvider
    start: Any
    end: Any

    def measured(self) -> Copy:
        seconds = self.clock.seconds_between(self.start, self.end)
        return Copy(self.tensor, self.source, self.target, self.nbytes, seconds)


@dataclass(slots=True)
class Constants:
    """What a session never computes: values on the host and, from first use on, their copies on other devices."""

    values: Mapping[Tensor, Value]
    replicas: dict[Tensor, dict[str, Value]] = field(default_factory=dict)


class TensorStore:
    """The values of one run by tensor, over the constants of its session.

    `_home` remembers the provider of values off the host, `_replicas` the copies made so far, by device.
    """

    __slots__ = ("_constants", "_home", "_host", "_replicas", "_transfers", "values")

    def __init__(self, constants: Constants, host: ExecutionProvider) -> None:
        self.values: dict[Tensor, Value] = {}
        self._constants = constants
        self._host = host
        self._home: dict[Tensor, ExecutionProvider] = {}
        self._replicas: dict[Tensor, dict[str, Value]] = {}
        self._transfers: list[_Transfer] = []

    def put(self, tensor: Tensor, value: Value, provider: ExecutionProvider) -> None:
        """Keep a value that lies on the device of `provider`, in place of an earlier one of that tensor."""
        self.values[tensor] = value
        if provider.device != HOST:
            self._replicas.pop(tensor, None)
            self._home[tensor] = provider
        elif self._home or self._replicas:
            self._replicas.pop(tensor, None)
            self._home.pop(tensor, None)

    def alias(self, tensor: Tensor, source: Tensor) -> None:
        """Give a tensor the value of another one where that lies, and whatever copies of it are made."""
        if source in self.values:
            self.values[tensor] = self.values[source]
            self._replicas[tensor] = self._replicas.setdefault(source, {})
        else:
            self.values[tensor] = self._constants.values[source]
            self._replicas[tensor] = self._constants.replicas.setdefault(source, {})
        if source in self._home:
            self._home[tensor] = self._home[source]
        else:
            self._home.pop(tensor, None)

    def get(self, tensor: Tensor, provider: ExecutionProvider) -> Value:
        """The value on the device of `provider`, copied there on first demand."""
        if tensor in self.values:
            value, home, replicas = self.values[tensor], self._home.get(tensor, self._host), self._replicas
        else:
            value, home, replicas = self._constants.values[tensor], self._host, self._constants.replicas
        device = provider.device
        if value is None or home.device == device:
            return value
        copies = replicas.setdefault(tensor, {})
        if device not in copies:
            if HOST in copies:
                value, home = copies[HOST], self._host
            copies[device] = self._copy(tensor, value, home, provider)
        return copies[device]

    def on_host(self, tensor: Tensor) -> Value:
        """The value on the host, copied there on first demand."""
        if tensor in self._home:
            return self.get(tensor, self._host)
        return self.values[tensor] if tensor in self.values else self._constants.values[tensor]

    def peek(self, tensor: Tensor) -> Value:
        """The value wherever it lies; None where there is none."""
        return self.values[tensor] if tensor in self.values else self._constants.values.get(tensor)

    def release(self, tensor: Tensor) -> None:
        """Forget a value of this run and its copies."""
        self.values.pop(tensor, None)
        self._home.pop(tensor, None)
        self._replicas.pop(tensor, None)

    def for_looking(self, tensor: Tensor) -> Value:
        """The value on the host; a copy made for this alone is not counted among the run's."""
        counted = len(self._transfers)
        value = self.on_host(tensor)
        del self._transfers[counted:]
        return value

    def copies(self) -> list[Copy]:
        """The copies of this run so far; waits for the devices that made them."""
        return [transfer.measured() for transfer in self._transfers]

    def _copy(
        self, tensor: Tensor, value: Value, home: ExecutionProvider, provider: ExecutionProvider
    ) -> Value:
        clock = home if provider.device == HOST else provider
        start = clock.mark()
        copied = provider.transfer(value, home)
        end = clock.mark()
        self._transfers.append(_Transfer(tensor, home.device, provider.device, _nbytes(copied), clock, start, end))
        return copied


def _nbytes(value: Value) -> int:
    if isinstance(value, list):
        return sum(_nbytes(v) for v in value)
    return int(getattr(value, "nbytes", 0))


def fresh_bytes(value: Value, inputs: Iterable[Value]) -> int:
    """Bytes of main memory that a node allocated for a value; views of its inputs or of a file count nothing."""
    if type(value) is np.ndarray and value.base is None:  # nearly every value: a view of it can't be older than it is
        return 0 if any(given is value for given in inputs) else value.nbytes
    owner = _owner(value)
    if owner is None or any(_owner(given) is owner for given in inputs):
        return 0
    return owner.nbytes


def _owner(value: Value) -> np.ndarray | None:
    """The array whose memory a host array lies in; None for values elsewhere and views of a file."""
    if not isinstance(value, np.ndarray):
        return None
    if value.base is None:
        return value
    return value.base if isinstance(value.base, np.ndarray) else None
