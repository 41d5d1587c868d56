"""Kernels: one family of operators a module, each function one operator's meaning by the ONNX operator specification.

A kernel is a plain function declared with `@kernel(op_type, *since_versions)`::

    @kernel("LeakyRelu", 1, 6, 16)
    def leaky_relu(ctx, x, *, alpha=0.01):
        return ctx.xp.where(x >= 0, x, x * x.dtype.type(alpha))

Inputs come by position (None for an absent one), attributes as keyword-only parameters named as in the specification,
with its defaults. It returns one value, or a tuple with one value per output slot. Inputs are never changed in place.
"""
from __future__ import annotations

import importlib
import pkgutil

from engine.kernels.registry import LIBRARY, Kernel, KernelContext, KernelRegistry, kernel

__all__ = ["Kernel", "KernelContext", "KernelRegistry", "kernel", "library"]

# By name, so that a frozen build finds them: PyInstaller sees no dynamic import (see packaging/oinfer.spec).
_NOT_FAMILIES = {"registry"}


def library() -> list[Kernel]:
    """Every kernel of every family module, imported on first use."""
    for module in pkgutil.iter_modules(__path__):
        if module.name not in _NOT_FAMILIES:
            importlib.import_module(f"{__name__}.{module.name}")
    return LIBRARY
