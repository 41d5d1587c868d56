"""Operators that make tensors from attributes and shapes."""

from __future__ import annotations

import math

import numpy as np

from engine import dtypes
from engine.dims import ceil_div, maximum, product
from engine.graph.data import TensorData
from engine.shapes import values
from engine.shapes.call import Call
from engine.shapes.facts import Out, ShapeClash, Unknown
from engine.shapes.registry import rule


@rule("Constant")
def constant(call: Call) -> Out:
    """The stored value."""
    tensor = call.node.outputs[0]
    if tensor is None or tensor.data is None:
        raise Unknown("the Constant has no value that can be read")
    return Out(tensor.data.dims, tensor.data.dtype, values.from_data(tensor.data))


@rule("ConstantOfShape")
def constant_of_shape(call: Call) -> Out:
    """One value throughout a shape that an input gives."""
    shape = tuple(call.dim(e, f"dim{i}") for i, e in enumerate(call.elements(0)))
    data = call.node.attributes.get("value")
    dtype = data.dtype if isinstance(data, TensorData) else dtypes.FLOAT32
    value = None
    if values.is_small(shape):
        elements = values.from_data(data) if isinstance(data, TensorData) else values.vector([0.0])
        if elements is not None and elements.size == 1:
            value = values.filled(shape, elements.reshape(-1)[0])  # type: ignore[arg-type]
    return Out(shape, dtype, value)


@rule("Range")
def range_(call: Call) -> Out:
    """``max(ceil((limit - start) / delta), 0)`` numbers."""
    scalars = [call.value(0), call.value(1), call.value(2) if call.has(2) else values.scalar(1)]
    start, limit, delta = (None if v is None else v.reshape(-1)[0] for v in scalars)
    dtype = call.dtype(0)
    if start is None or limit is None or delta is None or delta == 0:
        return Out((call.length("count"),))
    if all(isinstance(x, (int, float)) for x in (start, limit, delta)):
        count = max(math.ceil((limit - start) / delta), 0)
        if count > values.MAX_ELEMENTS or dtype is None:
            return Out((count,))
        made = (np.arange(count) * delta + start).astype(dtype.numpy)
        return Out((count,), None, made.astype(object))
    whole = [int(x) if isinstance(x, float) and x.is_integer() else x for x in (start, limit, delta)]
    if any(isinstance(x, float) for x in whole):
        return Out((call.length("count"),))
    start, limit, delta = whole
    if isinstance(delta, int) and delta < 0:
        start, limit, delta = -start, -limit, -delta
    return Out((maximum(ceil_div(limit - start, delta), 0),))


@rule("RandomNormal", "RandomUniform")
def random(call: Call) -> Out:
    """The attribute's shape, float32 where no dtype is given."""
    return Out(tuple(call.required_ints("shape")), call.dtype_attr("dtype") or dtypes.FLOAT32)


@rule("Multinomial")
def multinomial(call: Call) -> Out:
    """`sample_size` draws for each row."""
    return Out((call.rank_at_least(0, 1)[0], call.attr("sample_size", 1)), call.dtype_attr("dtype") or dtypes.INT32)


@rule("Shape")
def shape_of(call: Call) -> Out:
    """The dims as values, from opset 15 on those from `start` to `end`."""
    shape = call.known_shape(0)
    if shape is None:
        return Out((call.unknown_dim("rank", call.fact(0).because),), dtypes.INT64)
    rank = len(shape)
    start, end = (min(max(a + rank if a < 0 else a, 0), rank) for a in (call.attr("start", 0), call.attr("end", rank)))
    part = list(shape[start:end])
    return Out((len(part),), dtypes.INT64, values.vector(part))


@rule("Size")
def size(call: Call) -> Out:
    """The number of elements as a scalar."""
    shape = call.known_shape(0)
    return Out((), dtypes.INT64, None if shape is None else values.scalar(product(shape)))


@rule("EyeLike")
def eye_like(call: Call) -> Out:
    """The shape of the input, which must be a matrix."""
    shape = call.shape(0)
    if len(shape) != 2:
        raise ShapeClash(f"its input has rank {len(shape)}, not 2")
    return Out(shape, call.dtype_attr("dtype") or call.dtype(0))


@rule("HannWindow", "HammingWindow", "BlackmanWindow")
def window(call: Call) -> Out:
    """A window of the length that the input gives."""
    return Out((call.dim(call.elements(0)[0], "length"),), call.dtype_attr("output_datatype") or dtypes.FLOAT32)
