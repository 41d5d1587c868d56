"""Shape rules: one family of operators a module, each rule declared with `@rule`."""

from __future__ import annotations

from engine.shapes.rules import (
    attention,
    constants,
    control_flow,
    convolution,
    elementwise,
    indexing,
    matmul,
    microsoft,
    ml,
    movement,
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
)

LOADED = (
    attention, constants, control_flow, convolution, elementwise, indexing, matmul, microsoft, ml, movement,
    normalization, objects, pooling, quantization, recurrent, reduction, reshaping, resizing, sequences, signal,
    training,
)  # fmt: skip
"""The families, named so that a frozen build finds them."""
