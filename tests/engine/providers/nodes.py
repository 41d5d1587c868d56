"""One node by hand, and the context a kernel gets, for tests without a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from engine import dtypes
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.types import TensorType


def make_node(op_type: str, *inputs: str | None, version: int = 0, domain: str = "", **attributes: Any) -> Node:
    """A node whose inputs have the dtypes named (None for one whose dtype is unknown); its output has the first's."""
    graph = Graph("test")
    node = Node(graph, op_type, domain, f"{op_type}_0", 0)
    node.since_version = version or onnx.defs.get_schema(op_type, domain=domain).since_version
    node.inputs = [_tensor(graph, f"x{i}", name) for i, name in enumerate(inputs)]
    node.outputs = [_tensor(graph, "y", inputs[0] if inputs else None)]
    node.attributes = attributes
    return node


def _tensor(graph: Graph, name: str, dtype: str | None) -> Tensor:
    tensor = Tensor(name, graph)
    if dtype is not None:
        tensor.stored_type = TensorType(dtypes.BY_NAME[dtype])
    return tensor


@dataclass(slots=True)
class Context:
    """A kernel context for one node without subgraphs."""

    node: Node
    xp: Any = np
    wanted: tuple[bool, ...] = (True,)

    def opset(self) -> int:
        return 21

    def run_graph(self, graph: Graph, inputs: Any) -> list[Any]:
        raise NotImplementedError

    def prepared(self, name: str, make: Callable[[], Any], *sources: Any) -> Any:
        return make()
