"""How the numbers of a quantised tensor stand for real ones. Knows no Qt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from engine.dtypes import DType
from engine.errors import DataError
from engine.graph.ir import Node, Tensor

LARGEST = 1 << 20  # elements of a scale that are read to tell its range


@dataclass(frozen=True, slots=True)
class Quantisation:
    """real = (quantised - zero point) · scale.

    `tensor` is the quantised one. `axis` is that of a scale for each channel, None where one scale serves all; with
    `block` > 0 each scale serves so many elements along it. `node` is where this is said, None for an annotation.
    """

    tensor: Tensor
    scale: Tensor | None
    zero_point: Tensor | None
    axis: int | None = None
    block: int = 0
    node: Node | None = None


class _Layout(NamedTuple):
    """Slots of (value, scale, zero point): `inputs`, and for the `output` the inputs that describe it."""

    inputs: tuple[tuple[int, int, int], ...]
    output: tuple[int, int]


_BINARY = _Layout(inputs=((0, 1, 2), (3, 4, 5)), output=(6, 7))
_UNARY = _Layout(inputs=((0, 1, 2),), output=(3, 4))
_LAYOUTS = {
    "QLinearConv": _BINARY, "QLinearMatMul": _BINARY, "QLinearAdd": _BINARY, "QLinearMul": _BINARY,
    "QLinearSigmoid": _UNARY, "QLinearLeakyRelu": _UNARY, "QLinearSoftmax": _UNARY,
    "QLinearAveragePool": _UNARY, "QLinearGlobalAveragePool": _UNARY, "QLinearReduceMean": _UNARY,
}  # fmt: skip


def quantisations(tensor: Tensor) -> list[Quantisation]:
    """What the nodes around a tensor, and the file's annotations, say of its quantisation; each said once."""
    found: list[Quantisation] = []
    for one in (*_of_producer(tensor), *_of_consumers(tensor), *_annotated(tensor)):
        if all((one.tensor, one.scale, one.zero_point) != (o.tensor, o.scale, o.zero_point) for o in found):
            found.append(one)
    return found


def _of_producer(tensor: Tensor) -> Iterator[Quantisation]:
    node = tensor.producer
    if node is None:
        return
    if node.op_type == "DequantizeLinear":
        yield from _linear(node, _input(node, 0))
    elif node.op_type == "QuantizeLinear":
        yield from _linear(node, tensor)
    elif node.op_type == "DynamicQuantizeLinear" and tensor.producer_slot == 0:
        outputs = [*node.outputs, None, None, None]
        yield Quantisation(tensor, outputs[1], outputs[2], node=node)
    elif node.op_type in _LAYOUTS:
        scale, zero_point = _LAYOUTS[node.op_type].output
        yield Quantisation(tensor, _input(node, scale), _input(node, zero_point), node=node)


def _of_consumers(tensor: Tensor) -> Iterator[Quantisation]:
    for node, slot in tensor.consumers:
        if node.op_type == "QuantizeLinear" and slot == 0 and node.outputs:
            yield from _linear(node, node.outputs[0])
        elif node.op_type == "DequantizeLinear" and slot == 0:
            yield from _linear(node, tensor)
        layout = _LAYOUTS.get(node.op_type)
        for value, scale, zero_point in layout.inputs if layout is not None else ():
            if slot == value:
                yield _per_channel(Quantisation(tensor, _input(node, scale), _input(node, zero_point), node=node))


def _linear(node: Node, quantised: Tensor | None) -> Iterator[Quantisation]:
    if quantised is None:
        return
    axis, block = node.attributes.get("axis", 1), node.attributes.get("block_size", 0)
    one = Quantisation(quantised, _input(node, 1), _input(node, 2), node=node)
    yield _per_channel(one, axis if isinstance(axis, int) else 1, block if isinstance(block, int) else 0)


def _per_channel(one: Quantisation, axis: int = 0, block: int = 0) -> Quantisation:
    """With the axis, where there is more than one scale."""
    shape = one.scale.inferred_shape if one.scale is not None else None
    if not shape or shape == (1,):
        return one
    return Quantisation(one.tensor, one.scale, one.zero_point, axis, block, one.node)


def _annotated(tensor: Tensor) -> Iterator[Quantisation]:
    names = tensor.graph.quantization.get(tensor.name)
    if names:
        scale, zero_point = names.get("SCALE_TENSOR", ""), names.get("ZERO_POINT_TENSOR", "")
        yield Quantisation(tensor, tensor.graph.find(scale), tensor.graph.find(zero_point))


def _input(node: Node, slot: int) -> Tensor | None:
    return node.inputs[slot] if slot < len(node.inputs) else None


def describe(one: Quantisation) -> str:
    """Scale, zero point and the real range in words, as far as the file fixes them."""
    scale, zero = _numbers(one.scale), _numbers(one.zero_point)
    parts = []
    if one.axis is not None:
        what = f"blocks of {one.block} along axis {one.axis}" if one.block else f"each channel of axis {one.axis}"
        parts.append(f"a scale for {what}")
    if scale is not None and scale.size:
        parts.append(f"scale {_extent(scale)}")
    if zero is not None and zero.size:
        parts.append(f"zero point {_extent(zero)}")
    dtype = one.tensor.dtype
    if scale is not None and scale.size and dtype is not None and dtype.kind in ("int", "uint"):
        low, high = _representable(dtype, scale, zero)
        parts.append(f"holds {low:.4g} … {high:.4g}")
    return ", ".join(parts) or "known only at run time"


def _numbers(tensor: Tensor | None) -> np.ndarray | None:
    """The stored values as float64, None where they are computed or cannot be read."""
    if tensor is None or tensor.data is None or tensor.data.size > LARGEST:
        return None
    try:
        return np.asarray(tensor.data.array()).astype(np.float64)
    except (DataError, ValueError):
        return None


def _extent(numbers: np.ndarray) -> str:
    low, high = float(numbers.min()), float(numbers.max())
    return f"{low:.6g}" if low == high else f"{low:.4g} … {high:.4g}"


def _representable(dtype: DType, scale: np.ndarray, zero: np.ndarray | None) -> tuple[float, float]:
    lowest = -(2 ** (dtype.bits - 1)) if dtype.kind == "int" else 0
    highest = lowest + 2**dtype.bits - 1
    offset = zero if zero is not None and zero.size and zero.shape in ((), scale.shape) else np.zeros(())
    return float(((lowest - offset) * scale).min()), float(((highest - offset) * scale).max())
