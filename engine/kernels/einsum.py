"""Einstein summation."""
from __future__ import annotations

from typing import Any

from engine.kernels.precision import in_float32
from engine.kernels.registry import KernelContext, kernel


@kernel("Einsum", 12, 28)
@in_float32
def einsum(ctx: KernelContext, *inputs: Any, equation: str) -> Any:
    """Sum of products over the indices that `equation` leaves out of its right side (Einsum 12)."""
    return ctx.xp.einsum(equation.replace(" ", ""), *inputs, optimize=len(inputs) > 1)
