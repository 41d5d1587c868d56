"""Execution providers: who computes a node, apart from what the node means.

`all_providers()` is the catalogue in default order. A new provider is a subclass of `ExecutionProvider` and one entry
here.
"""

from __future__ import annotations

from engine.errors import InputError
from engine.providers.accelerate import AccelerateProvider
from engine.providers.base import Availability, ExecutionProvider, TensorAllocator
from engine.providers.cpu import CPUProvider
from engine.providers.cuda import CUDAProvider

__all__ = [
    "AccelerateProvider", "Availability", "CPUProvider", "CUDAProvider", "ExecutionProvider", "TensorAllocator",
    "all_providers", "default_providers", "provider_named",
]  # fmt: skip

_CATALOGUE: tuple[ExecutionProvider, ...] = (CUDAProvider(), AccelerateProvider(), CPUProvider())


def all_providers() -> list[ExecutionProvider]:
    """Every provider OInfer knows, in default order, whether this machine can run it or not."""
    return list(_CATALOGUE)


def default_providers() -> list[ExecutionProvider]:
    """The providers that this machine can run, in default order; CPU is always the last."""
    return [provider for provider in _CATALOGUE if provider.available()]


def provider_named(name: str) -> ExecutionProvider:
    """The provider of that name, letter case aside.

    Raises
    ------
    InputError: there is none of that name; the message lists those there are.
    """
    for provider in _CATALOGUE:
        if provider.name.lower() == name.strip().lower():
            return provider
    known = ", ".join(provider.name for provider in _CATALOGUE)
    raise InputError(f"there is no execution provider {name.strip()!r}; there are {known}")
