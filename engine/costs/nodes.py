"""The cost of one node; for If, Loop, Scan and function calls, of what they run."""

from __future__ import annotations

from collections.abc import Iterable

from engine.costs import formulas, layers  # noqa: F401 - importing layers declares its formulas
from engine.costs.cost import Cost, KnownShape, NotKnown, Sizes
from engine.dims import Dim, DimTooComplex, maximum, product
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.types import TensorType
from engine.shapes.bind import Binder


def node_cost(node: Node, binder: Binder | None = None) -> Cost:
    """What running a node once takes; for many nodes use one `NodeCosts`."""
    return NodeCosts(binder).of(node)


def tensor_bytes(tensor: Tensor, binder: Binder | None = None) -> Dim | None:
    """Bytes that a tensor's elements take as stored, by its inferred type; None where not known.

    Elements narrower than a byte are packed. Strings, sequences and maps have no size before they are there.
    """
    return NodeCosts(binder).bytes_of(tensor)


class NodeCosts:
    """Costs of nodes by their inferred shapes: expressions, or ints where a `Binder` fixes all symbols.

    A node with subgraphs costs what they do: a call its function's nodes, an If its dearer branch, Loop and Scan their
    bodies as often as they run. Each node is counted once and remembered.
    """

    __slots__ = ("_binder", "_bytes", "_known", "_shapes")

    def __init__(self, binder: Binder | None = None) -> None:
        self._binder = binder
        self._known: dict[Node, Cost] = {}
        self._shapes: dict[Tensor, KnownShape | None] = {}
        self._bytes: dict[Tensor, Dim | None] = {}

    def of(self, node: Node) -> Cost:
        """What running a node once takes."""
        cost = self._known.get(node)
        if cost is None:
            cost = self._known[node] = self._counted(node)
        return cost

    def _counted(self, node: Node) -> Cost:
        read, written = self._bytes_of_all(node.inputs), self._bytes_of_all(node.outputs)
        try:
            macs, flops = self._inside(node) if node.subgraphs else self._own(node)
            return Cost(macs, flops, read, written)
        except NotKnown as reason:
            because = str(reason)
        except DimTooComplex:
            because = "its operations are too many to write"
        except (ArithmeticError, LookupError, TypeError, ValueError):
            because = "its inputs or attributes are not as the operator has them"
        return Cost(None, None, read, written, because)

    def _own(self, node: Node) -> tuple[Dim, Dim]:
        formula = formulas.find(node.domain, node.op_type)
        if formula is None:
            raise NotKnown(f"no formula counts the operations of {node.qualified_op}")
        macs, operations = formula(Sizes(node, self._shape))
        return macs, 2 * macs + operations

    def _shape(self, tensor: Tensor) -> KnownShape | None:
        if tensor not in self._shapes:
            shape = tensor.inferred_shape
            if shape is not None and self._binder is not None:
                shape = self._binder.shape(shape)
            known = shape is not None and None not in shape
            self._shapes[tensor] = shape if known else None  # type: ignore[assignment]
        return self._shapes[tensor]

    # --- bytes

    def bytes_of(self, tensor: Tensor) -> Dim | None:
        """Bytes of a tensor's elements (see `tensor_bytes`)."""
        if tensor not in self._bytes:
            self._bytes[tensor] = self._counted_bytes(tensor)
        return self._bytes[tensor]

    def _counted_bytes(self, tensor: Tensor) -> Dim | None:
        type_, shape = tensor.inferred_type, self._shape(tensor)
        bits = type_.dtype.bits if isinstance(type_, TensorType) and type_.dtype is not None else 0
        if shape is None or not bits:
            return None
        try:
            elements = product(shape)
            return elements * (bits // 8) if bits >= 8 else (elements * bits + 7) // 8
        except DimTooComplex:
            return None

    def _bytes_of_all(self, tensors: Iterable[Tensor | None]) -> Dim | None:
        total: Dim = 0
        try:
            for tensor in tensors:
                size = self.bytes_of(tensor) if tensor is not None else 0
                if size is None:
                    return None
                total = total + size
        except DimTooComplex:
            return None
        return total

    # --- subgraphs

    def _inside(self, node: Node) -> tuple[Dim, Dim]:
        works = [self._graph(graph) for graph in node.subgraphs.values()]
        if is_choice(node):
            (then_macs, then_flops), (else_macs, else_flops) = works
            return maximum(then_macs, else_macs), maximum(then_flops, else_flops)
        macs, flops = (sum(parts) for parts in zip(*works, strict=True))
        times = self.repetitions(node)
        return times * macs, times * flops

    def _graph(self, graph: Graph) -> tuple[Dim, Dim]:
        macs: Dim = 0
        flops: Dim = 0
        for node in graph.order:
            cost = self.of(node)
            if cost.macs is None or cost.flops is None:
                raise NotKnown(f"{node.name!r}: {cost.unknown_because}")
            macs, flops = macs + cost.macs, flops + cost.flops
        return macs, flops

    def repetitions(self, node: Node) -> Dim:
        """How often a node's subgraph runs each time the node does. Raises NotKnown."""
        if node.op_type == "Scan":
            return self._scan_length(node)
        if node.op_type == "Loop":
            return self._loop_rounds(node)
        if node.op_type == "SequenceMap":
            raise NotKnown("how long its sequence is is known only at run time")
        return 1

    def _loop_rounds(self, node: Node) -> Dim:
        states = max(len(node.inputs) - 2, 0)
        scanned = node.outputs[states] if len(node.outputs) > states else None
        shape = self._shape(scanned) if scanned is not None else None
        if shape:  # stacked from one value a round
            return shape[0]
        raise NotKnown("how often its loop runs is known only at run time")

    def _scan_length(self, node: Node) -> Dim:
        count = node.attributes.get("num_scan_inputs")
        if not isinstance(count, int) or not 0 < count <= len(node.inputs):
            raise NotKnown("it does not say what it scans")
        sizes = Sizes(node, self._shape)
        scanned = sizes.input(len(node.inputs) - count)
        if node.since_version < 9:  # opset 8 has a batch axis before the scanned one
            return scanned[0] * scanned[1]
        return scanned[(sizes.ints("scan_input_axes") or [0])[0]]


def is_choice(node: Node) -> bool:
    """Whether a node runs one of two subgraphs."""
    return node.op_type == "If" and len(node.subgraphs) == 2
