"""Execution providers: who computes a node, apart from what the node means.

`all_providers()` is the catalogue in default order; those that are never used by default come last. A new provider is
a subclass of `ExecutionProvider` and one entry here.
"""

from __future__ import annotations

from engine.errors import InputError
from engine.providers.accelerate import AccelerateProvider
from engine.providers.base import Availability, ExecutionProvider, TensorAllocator
from engine.providers.cpu import CPUProvider
from engine.providers.cuda import CUDAProvider
from engine.providers.ort import OnnxRuntimeProvider, execution_providers
from engine.words import meant

__all__ = [
    "AccelerateProvider", "Availability", "CPUProvider", "CUDAProvider", "ExecutionProvider", "OnnxRuntimeProvider",
    "TensorAllocator", "all_providers", "default_providers", "provider_named",
]  # fmt: skip

_CATALOGUE: tuple[ExecutionProvider, ...] = (
    CUDAProvider(), AccelerateProvider(), CPUProvider(), OnnxRuntimeProvider(),
)  # fmt: skip


def all_providers() -> list[ExecutionProvider]:
    """Every provider OInfer knows, in default order, whether this machine can run it or not."""
    return list(_CATALOGUE)


def default_providers() -> list[ExecutionProvider]:
    """The providers that are used where nobody names any: what this machine can run; CPU is always the last."""
    return [provider for provider in _CATALOGUE if provider.by_default and provider.available()]


def provider_named(name: str) -> ExecutionProvider:
    """The provider of that name, letter case aside; ``ORT:NAME`` is ONNX Runtime with its execution provider NAME.

    Raises
    ------
    InputError: there is none of that name; the message lists those there are.
    """
    wanted, _, choice = name.strip().partition(":")
    for provider in _CATALOGUE:
        if provider.name.lower() == wanted.lower() and not choice:
            return provider
        if isinstance(provider, OnnxRuntimeProvider) and provider.name.lower() == wanted.lower():
            return OnnxRuntimeProvider(_choice_named(provider, choice))
    known = [provider.name for provider in _CATALOGUE]
    hint = meant(wanted, known)
    raise InputError(f"there is no execution provider {name.strip()!r}; there are {', '.join(known)}{hint}")


def _choice_named(provider: OnnxRuntimeProvider, choice: str) -> str:
    """ONNX Runtime's own execution provider of that name, letter case aside; the name itself where there is none."""
    known = execution_providers() if provider.available() else []
    return next((name for name in known if name.lower() == choice.lower()), choice)
