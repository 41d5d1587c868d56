"""Small models for inference, and how their shapes are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.graph.ir import Model, Tensor
from engine.graph.types import format_shape
from engine.shapes.infer import CODES, infer_shapes

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
INT_MAX, INT_MIN = (1 << 63) - 1, -(1 << 63)
Dims = Sequence[int | str | None] | None


def value(name: str, dims: Dims, dtype: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, dims)


def infer(
    nodes: list[Any], inputs: list[Any], outputs: list[Any] | None = None, opset: int = 18,
    bindings: dict[str, int] | None = None, **constants: Any,
) -> Model:  # fmt: skip
    """The inferred model of some nodes, with `constants` as initializers."""
    last = nodes[-1].output
    graph = helper.make_graph(
        nodes, "g", inputs, outputs or [helper.make_empty_tensor_value_info(n) for n in last if n],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )  # fmt: skip
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.acme", 1)]
    model = load_model_proto(helper.make_model(graph, opset_imports=imports, ir_version=8))
    infer_shapes(model, bindings)
    return model


def one(op: str, *dims: Dims, opset: int = 18, dtypes: Sequence[int] = (), outputs: int = 1, **rest: Any) -> list[str]:
    """Shapes that an operator makes of inputs of `dims`; arrays in `rest` are constant inputs after those."""
    constants = {k: v for k, v in rest.items() if isinstance(v, np.ndarray)}
    attributes = {k: v for k, v in rest.items() if k not in constants}
    names = [f"x{i}" for i in range(len(dims))]
    kinds = [*dtypes, *[FLOAT] * (len(dims) - len(dtypes))]
    made = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names + list(constants), made, name="node", **attributes)
    model = infer([node], [value(n, d, k) for n, d, k in zip(names, dims, kinds)], opset=opset, **constants)
    return [shape_of(model, name) for name in made]


def shape_of(model: Model, name: str) -> str:
    return format_shape(tensor(model, name).inferred_shape)


def tensor(model: Model, name: str) -> Tensor:
    found = next((g.tensors[name] for g in model.graph.walk() if name in g.tensors), None)
    assert found is not None
    return found


def codes(model: Model) -> list[str]:
    """Codes of what inference found."""
    return [d.code for d in model.diagnostics if d.code in CODES]


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def branch(name: str, nodes: list[Any], output: str) -> Any:
    return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(output)])
