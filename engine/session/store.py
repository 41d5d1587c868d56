"""The values of one run, each on the device where it was computed, copied to others only where somebody asks."""
from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.graph.ir import Node, Tensor
from engine.kernels.registry import Value
from engine.providers.base import ExecutionProvider

HOST = "host"


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


class TensorStore:
    """Values by tensor. `home` remembers the provider of values off the host; `replicas` the copies made so far."""

    __slots__ = ("_home", "_replicas", "copies", "values")

    def __init__(self) -> None:
        self.values: dict[Tensor, Value] = {}
        self.copies: list[Copy] = []
        self._home: dict[Tensor, ExecutionProvider] = {}
        self._replicas: dict[tuple[Tensor, str], Value] = {}

    def put(self, tensor: Tensor, value: Value, provider: ExecutionProvider) -> None:
        """Keep a value that `provider` computed, in place of an earlier one of that tensor."""
        self.values[tensor] = value
        if provider.device != HOST or self._home:
            self._forget_replicas(tensor)
            if provider.device != HOST:
                self._home[tensor] = provider
            else:
                self._home.pop(tensor, None)

    def get(self, tensor: Tensor, provider: ExecutionProvider) -> Value:
        """The value on the device of `provider`, copied there on first demand."""
        home = self._home.get(tensor)
        source, target = home.device if home else HOST, provider.device
        if source == target:
            return self.values[tensor]
        return self._replica(tensor, target, home, provider)

    def on_host(self, tensor: Tensor) -> Value:
        """The value on the host, copied there on first demand."""
        home = self._home.get(tensor)
        return self.values[tensor] if home is None else self._replica(tensor, HOST, home, None)

    def _replica(
        self, tensor: Tensor, target: str, home: ExecutionProvider | None, provider: ExecutionProvider | None
    ) -> Value:
        key = tensor, target
        if key not in self._replicas:
            start = time.perf_counter()
            value = self.values[tensor]
            if home is not None:
                value = self._replicas.get((tensor, HOST), None) if provider is not None else None
                value = home.to_host(self.values[tensor]) if value is None else value
            if provider is not None:
                value = provider.to_device(value)
            seconds = time.perf_counter() - start
            self.copies.append(Copy(tensor, home.device if home else HOST, target, _nbytes(value), seconds))
            self._replicas[key] = value
        return self._replicas[key]

    def _forget_replicas(self, tensor: Tensor) -> None:
        for key in [key for key in self._replicas if key[0] is tensor]:
            del self._replicas[key]

    def host_values(self) -> dict[Tensor, Value]:
        """Every value, on the host; copies made only for looking are not counted among `copies`."""
        counted = len(self.copies)
        values = {tensor: self.on_host(tensor) for tensor in self.values}
        del self.copies[counted:]
        return values


def _nbytes(value: Value) -> int:
    if isinstance(value, list):
        return sum(_nbytes(v) for v in value)
    return int(getattr(value, "nbytes", 0))


def owned_bytes(values: Iterable[Value]) -> int:
    """Bytes that host arrays hold themselves; views of other arrays count nothing."""
    return sum(v.nbytes for v in values if isinstance(v, np.ndarray) and v.base is None)
