"""Where the first NaN or infinity comes from, and how close to its limit the values before it were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from engine.compare.nodes import run_order
from engine.dtypes import from_numpy
from engine.graph.ir import Graph, Node, Tensor
from engine.kernels.registry import Value

NEAR = 0.45
"""Values beyond this part of the largest number of their dtype are close to it: 30,000 in float16."""

MOST_TOLD = 2  # outputs that are named


@dataclass(frozen=True, slots=True)
class Peak:
    """The largest magnitude in a tensor, and the largest number of its dtype."""

    tensor: Tensor
    max_abs: float
    limit: float

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return {"tensor": self.tensor.qualified_name, "max_abs": self.max_abs, "limit": self.limit}


@dataclass(frozen=True, slots=True)
class NonFinite:
    """The first node whose output holds NaN or infinities while its inputs hold none.

    Attributes
    ----------
    nan, inf: how many of the tensor's elements.
    limit: the largest number of its dtype.
    inputs: the largest magnitudes that the node read, the largest first.
    near: tensors before it, in run order, that were close to the limit of a narrow dtype.
    hidden: whether the other side's values are finite there.
    """

    node: Node
    tensor: Tensor
    nan: int
    inf: int
    limit: float
    inputs: tuple[Peak, ...] = ()
    near: tuple[Peak, ...] = ()
    hidden: bool = False

    @property
    def words(self) -> str:
        """In one line: what, where, from what inputs."""
        read = ", ".join(f"{peak.tensor.name} up to {peak.max_abs:.4g}" for peak in self.inputs)
        text = f"{self.node.qualified_name} makes {counts_text(self.nan, self.inf)} of finite inputs"
        text += f" ({read})" if read else ""
        if self.inf:
            text += f"; its type ends at {self.limit:.6g}"
        return text + ("; the CPU's values are finite there" if self.hidden else "")

    def to_json(self) -> dict[str, Any]:
        """Its fields as JSON has them."""
        return {
            "node": self.node.qualified_name, "tensor": self.tensor.qualified_name, "nan": self.nan, "inf": self.inf,
            "limit": self.limit, "inputs": [p.to_json() for p in self.inputs], "near": [p.to_json() for p in self.near],
            "hidden": self.hidden,
        }  # fmt: skip


def nonfinite_outputs(outputs: Mapping[str, Value]) -> str:
    """Which outputs hold NaN or infinities, in words: ``y holds 64 NaN``; empty where all are finite."""
    held = [(name, counts) for name, value in outputs.items() if any(counts := _count_nonfinite(value))]
    told = [f"{name} holds {counts_text(*counts)}" for name, counts in held[:MOST_TOLD]]
    if len(held) > MOST_TOLD:
        told.append(f"so do {len(held) - MOST_TOLD:,} other outputs")
    return ", ".join(told)


def counts_text(nan: int, inf: int) -> str:
    """``3 NaN and 1 infinite``; empty where there are none of either."""
    return " and ".join(f"{count:,} {what}" for count, what in ((nan, "NaN"), (inf, "infinite")) if count)


def find_nonfinite(
    graph: Graph, values: Mapping[Tensor, Value], other: Mapping[Tensor, Value] | None = None
) -> NonFinite | None:
    """The first node in run order that makes NaN or infinities out of finite inputs; None where there is none.

    Parameters
    ----------
    values, other: the tensors of this side and of the one it is compared with.
    """
    counts: dict[Tensor, tuple[int, int]] = {}

    def count(tensor: Tensor) -> tuple[int, int]:
        if tensor not in counts:
            counts[tensor] = _count_nonfinite(values.get(tensor))
        return counts[tensor]

    for node in run_order(graph):
        for tensor in node.outputs:
            if tensor is None or not any(count(tensor)) or any(any(count(t)) for t in node.read_tensors()):
                continue
            nan, inf = count(tensor)
            inputs = sorted(_peaks(node.read_tensors(), values), key=lambda peak: -peak.max_abs)
            hidden = other is not None and tensor in other and not any(_count_nonfinite(other[tensor]))
            near = tuple(_near(graph, node, values))
            return NonFinite(node, tensor, nan, inf, _limit(values[tensor]), tuple(inputs), near, hidden)
    return None


def _near(graph: Graph, last: Node, values: Mapping[Tensor, Value]) -> Iterator[Peak]:
    for node in run_order(graph):
        if node is last:
            return
        for peak in _peaks((t for t in node.outputs if t is not None), values):
            if peak.limit <= 2.0**17 and peak.max_abs > NEAR * peak.limit:
                yield peak


def _peaks(tensors: Iterator[Tensor], values: Mapping[Tensor, Value]) -> Iterator[Peak]:
    for tensor in tensors:
        value = values.get(tensor)
        if isinstance(value, np.ndarray) and value.size and _is_float(value):
            yield Peak(tensor, float(np.abs(value).max()), _limit(value))


def _is_float(value: np.ndarray) -> bool:
    dtype = from_numpy(value.dtype)
    return dtype is not None and dtype.kind == "float"


def _limit(value: Value) -> float:
    """The largest number of an array's float dtype."""
    if isinstance(value, list):
        return max((_limit(v) for v in value), default=float("inf"))
    if not isinstance(value, np.ndarray) or not _is_float(value):
        return float("inf")
    return float(ml_dtypes.finfo(value.dtype).max)


def _count_nonfinite(value: Value) -> tuple[int, int]:
    """NaNs and infinities in a value."""
    if isinstance(value, list):
        counts = [_count_nonfinite(v) for v in value]
        return sum(nan for nan, _ in counts), sum(inf for _, inf in counts)
    if not isinstance(value, np.ndarray) or value.dtype.kind in "iubOUS" or np.isfinite(value).all():
        return 0, 0
    return int(np.count_nonzero(np.isnan(value))), int(np.count_nonzero(np.isinf(value)))
