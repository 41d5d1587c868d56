"""A provider with a device of its own that computes a few operators, some nodes of them wrong on purpose."""
from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import engine.providers as providers
from engine.kernels import library
from engine.kernels.registry import KernelRegistry
from engine.providers import Availability, CPUProvider

Fault = Callable[[np.ndarray], np.ndarray]


class PlantedProvider(CPUProvider):
    """Takes the operators in `operators` and changes what the nodes named in `faults` give."""

    name, device = "Planted", "planted:0"

    def __init__(self, operators: Collection[str], faults: dict[str, Fault]) -> None:
        self._operators = operators
        self._faults = faults

    def available(self) -> Availability:
        return Availability(True)

    def register_kernels(self, registry: KernelRegistry) -> None:
        for kernel in library():
            if kernel.op_type in self._operators:
                registry.register(replace(kernel, function=self._wrapped(kernel.function)))

    def _wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(ctx: Any, *inputs: Any, **attributes: Any) -> Any:
            result = function(ctx, *inputs, **attributes)
            fault = self._faults.get(ctx.node.name)
            return fault(result) if fault else result

        return call

    def to_device(self, value: Any) -> Any:
        return value

    def to_host(self, value: Any) -> Any:
        return value


def plant(monkeypatch: pytest.MonkeyPatch, operators: Collection[str], faults: dict[str, Fault]) -> None:
    """Put a `PlantedProvider` first in the catalogue."""
    catalogue = (PlantedProvider(operators, faults), *providers.all_providers())
    monkeypatch.setattr(providers, "_CATALOGUE", catalogue)
