"""Shape rules: one family of operators a module, each rule declared with `@rule`.

The families are imported by name, so that a frozen build finds them.
"""

from __future__ import annotations

from engine.shapes.registry import find
from engine.shapes.rules import (  # noqa: F401 - importing a family declares its rules
    attention,
    constants,
    control_flow,
    convolution,
    elementwise,
    indexing,
    matmul,
    microsoft,
    microsoft_quantized,
    ml,
    movement,
    nchwc,
    normalization,
    objects,
    pooling,
    quantization,
    recurrent,
    reduction,
    reshaping,
    resizing,
    sequences,
    signal,
    training,
    unreleased,
)

__all__ = ["find"]
