"""Quantisation and its inverse."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.shapes.call import Call
from engine.shapes.facts import Out
from engine.shapes.registry import rule


@rule("QuantizeLinear")
def quantize_linear(call: Call) -> Out:
    """The shape of the input, in the dtype of the zero point, of the attribute, or uint8."""
    dtype = call.dtype(2) if call.has(2) else call.dtype_attr("output_dtype") or dtypes.UINT8
    return Out(call.shape(0), dtype)


@rule("DequantizeLinear")
def dequantize_linear(call: Call) -> Out:
    """The shape of the input, in the dtype of the attribute or of the scale; float32 before opset 19."""
    dtype = call.dtype_attr("output_dtype") or call.dtype(1)
    return Out(call.shape(0), dtype)


@rule("DynamicQuantizeLinear")
def dynamic_quantize_linear(call: Call) -> list[Any]:
    """uint8 of the input's shape, and its scale and zero point."""
    return [Out(call.shape(0), dtypes.UINT8), Out((), dtypes.FLOAT32), Out((), dtypes.UINT8)]
