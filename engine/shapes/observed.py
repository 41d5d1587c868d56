"""After a run: what was inferred, under the sizes of the run, against the values that the run made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine import dtypes
from engine.diagnostics import Diagnostic, Severity
from engine.dims import Expr, symbols_of
from engine.graph.ir import Graph, Model, Tensor
from engine.graph.types import OptionalType, SequenceType, TensorType, Type
from engine.shapes.bind import Binder


def check_observed(model: Model, values: Mapping[Tensor, Any], bindings: Mapping[str, int]) -> list[Diagnostic]:
    """A finding "observed-mismatch" for each tensor whose dtype or shape in a run is not what inference says.

    Each is a fault of inference, of a kernel or of the file. Dims that only the run decides are learnt where they come
    up and hold from there on.

    Parameters
    ----------
    values: what the run made (`RunResult.values`).
    bindings: the sizes of the input symbols in the run (`engine.feeds.bound_dims`).
    """
    binder = Binder({**_lengths_of_the_run(model, values, bindings), **bindings})
    findings = []
    for tensor, value in values.items():
        inferred = binder.type(tensor.inferred_type)
        if tensor.producer is None or _fits(inferred, value):
            continue
        node = tensor.producer
        message = (
            f"{tensor.name!r} is {_written(value)} in the run, but inferred as {inferred}: by "
            f"{node.qualified_op} {node.name!r}, or by the shapes before it"
        )
        place = (node.qualified_name, tensor.qualified_name)
        findings.append(Diagnostic("observed-mismatch", Severity.WARNING, message, *place))
    return findings


def _lengths_of_the_run(
    model: Model, values: Mapping[Tensor, Any], bindings: Mapping[str, int]
) -> dict[str, int]:
    """Sizes of the symbols that only a run decides, each where it first stands alone as a dim.

    Bodies of loops are left out: what is kept of them may be of different rounds.
    """
    found: dict[str, int] = {}
    for tensor in _made_once(model.graph):
        shape, array = tensor.inferred_shape, values.get(tensor)
        if shape is None or not isinstance(array, np.ndarray):
            continue
        for dim, size in zip(shape, array.shape):
            if isinstance(dim, Expr) and symbols_of(dim) == (str(dim),) and str(dim) not in bindings:
                found.setdefault(str(dim), size)
    return found


def _made_once(graph: Graph) -> Iterator[Tensor]:
    """What the nodes of a graph make, and those of its function calls, in run order."""
    for node in graph.order:
        body = node.subgraphs.get("function")
        if body is not None:
            yield from _made_once(body)
        yield from (tensor for tensor in node.outputs if tensor is not None)


def _fits(type_: Type | None, value: Any) -> bool:
    """Whether a value can be of a type; what the type leaves open fits anything."""
    if type_ is None or value is None:
        return True
    if isinstance(type_, OptionalType):
        return _fits(type_.element, value)
    if isinstance(type_, SequenceType):
        return isinstance(value, list) and all(_fits(type_.element, element) for element in value)
    if isinstance(type_, TensorType):
        return isinstance(value, np.ndarray) and _fits_array(type_, value)
    return True


def _fits_array(type_: TensorType, array: np.ndarray) -> bool:
    if type_.dtype is not None and dtypes.from_numpy(array.dtype) not in (type_.dtype, None):
        return type_.dtype is dtypes.STRING and array.dtype.kind == "O"
    if type_.shape is None:
        return True
    return len(type_.shape) == array.ndim and all(
        not isinstance(dim, int) or dim == size for dim, size in zip(type_.shape, array.shape)
    )


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(TensorType(dtypes.from_numpy(value.dtype), value.shape))
    return f"a sequence of {len(value)}" if isinstance(value, list) else type(value).__name__
