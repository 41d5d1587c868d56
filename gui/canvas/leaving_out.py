"""Nodes of kinds that the user does not want to see: lines lead past them. No Qt.

What changes only the form of a value, such as a Cast, is passed by: its readers hang on what it reads. What computes
shapes ends: there is no line for it. Nodes that make an output of the graph in any other way than by passing on stay.
"""

from __future__ import annotations

from engine.graph.ir import Graph, Node, Tensor
from engine.kernels.registry import MICROSOFT
from engine.providers.shape_arithmetic import shape_arithmetic
from gui.canvas.scene import SceneOptions

CASTS = frozenset({"Cast", "CastLike", "Identity", "Dropout"})
QUANTISATION = frozenset({"QuantizeLinear", "DequantizeLinear"})
SHAPES = frozenset({"Shape", "Size"})
_DOMAINS = ("", MICROSOFT)


class LeftOut:
    """The nodes that are left out of a scene of a graph and its subgraphs, and where their readers hang instead."""

    def __init__(self, graph: Graph, options: SceneOptions) -> None:
        passed = (CASTS if options.hide_casts else frozenset()) | (QUANTISATION if options.hide_qdq else frozenset())
        self._ended: set[Node] = self._shapes(graph) if options.hide_shapes else set()
        self._passed: set[Node] = set()
        if passed:
            nodes = (node for scope in graph.walk() for node in scope.nodes)
            self._passed = {node for node in nodes if _passes(node, passed)} - self._ended

    @staticmethod
    def _shapes(graph: Graph) -> set[Node]:
        made = {tensor.producer for scope in graph.walk() for tensor in scope.outputs}
        found = {node for scope in graph.walk() for node in scope.nodes if node.op_type in SHAPES and not node.domain}
        return {node for node in shape_arithmetic(graph) | found if node not in made and not node.subgraphs}

    def __contains__(self, node: Node) -> bool:
        return node in self._passed or node in self._ended

    @property
    def nodes(self) -> set[Node]:
        """All that is left out."""
        return self._passed | self._ended

    def source(self, tensor: Tensor) -> Tensor | None:
        """The tensor whose line leads to the readers of this one; None where no line does."""
        if not self._passed and not self._ended:
            return tensor
        seen: set[Tensor] = set()
        while tensor.producer in self._passed and tensor not in seen:
            seen.add(tensor)
            first = tensor.producer.inputs[0] if tensor.producer is not None else None
            if first is None:
                return None
            tensor = first
        return None if tensor in seen or tensor.producer in self._ended else tensor


def _passes(node: Node, kinds: frozenset[str]) -> bool:
    return node.op_type in kinds and node.domain in _DOMAINS and bool(node.inputs) and node.inputs[0] is not None
