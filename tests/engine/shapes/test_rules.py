"""Every operator that runs has a shape rule, and so has every one of the standard."""

from __future__ import annotations

import onnx.defs

from engine.kernels import library
from engine.shapes import rules  # noqa: F401 - declares them
from engine.shapes.registry import ruled_operators


def test_every_kernel_has_a_rule() -> None:
    assert {(k.domain, k.op_type) for k in library()} - ruled_operators() == set()


def test_every_operator_of_the_standard_has_a_rule() -> None:
    """Functions of the standard included: they are inferred as the operators they are."""
    standard = {(s.domain, s.name) for s in onnx.defs.get_all_schemas()}
    assert standard - ruled_operators() == set()
