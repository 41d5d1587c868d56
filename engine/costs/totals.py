"""Costs of a whole model added up: in all, by operator and by module of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.costs.cost import Cost, NotKnown
from engine.costs.nodes import NodeCosts, is_choice
from engine.dims import Dim, DimTooComplex
from engine.graph.ir import Graph, Model, Node, Tensor
from engine.graph.modules import module_path
from engine.shapes.bind import Binder


@dataclass(slots=True)
class Totals:
    """Costs of some nodes added up.

    `macs`, `flops` and the bytes are sums over what is known, None only where they grow too long to write.
    `incomplete` is the number of nodes whose operations are not all in: they are not known, or how often they run, in
    which case once is counted. `parameters` counts the elements of the constants that they read, each once.
    """

    nodes: int = 0
    macs: Dim | None = 0
    flops: Dim | None = 0
    bytes_read: Dim | None = 0
    bytes_written: Dim | None = 0
    parameters: int = 0
    incomplete: int = 0
    _constants: set[Tensor] = field(default_factory=set, repr=False)

    def add(self, node: Node, cost: Cost, times: Dim | None) -> None:
        """Count a node that runs so many times, None for an unknown number."""
        self.nodes += 1
        parts = (cost.macs, cost.flops, cost.bytes_read, cost.bytes_written)
        self.incomplete += times is None or cost.flops is None
        run = 1 if times is None else times
        self.macs, self.flops, self.bytes_read, self.bytes_written = (
            _plus(so_far, part, run)
            for so_far, part in zip((self.macs, self.flops, self.bytes_read, self.bytes_written), parts, strict=True)
        )
        for tensor in node.inputs:
            if tensor is not None and tensor.data is not None and tensor not in self._constants:
                self._constants.add(tensor)
                self.parameters += tensor.data.size


def _plus(so_far: Dim | None, part: Dim | None, times: Dim) -> Dim | None:
    if so_far is None or part is None:
        return so_far
    try:
        return so_far + part * times
    except DimTooComplex:
        return None


@dataclass(slots=True)
class CostTable:
    """Costs of every node of a model, subgraphs included, and their sums.

    `by_op` is keyed by qualified operator, dearest first. `by_module` is keyed by module path (`engine.graph.modules`)
    and counts each node in all the modules around it; the key () stands for all nodes.
    """

    costs: dict[Node, Cost] = field(default_factory=dict)
    total: Totals = field(default_factory=Totals)
    by_op: dict[str, Totals] = field(default_factory=dict)
    by_module: dict[tuple[str, ...], Totals] = field(default_factory=dict)


def cost_table(model: Model, bindings: Mapping[str, int] | None = None) -> CostTable:
    """Count every node under bindings of the input symbols; without them in expressions, which takes longer.

    Nodes that hold subgraphs are not counted themselves, but what they run is: of an If the dearer branch.
    """
    costs = NodeCosts(Binder(bindings) if bindings else None)
    table = CostTable(costs={node: costs.of(node) for node in model.nodes()})
    table.by_module[()] = table.total
    for node, times in _runs(model.graph, 1, costs):
        cost = table.costs[node]
        table.total.add(node, cost, times)
        table.by_op.setdefault(node.qualified_op, Totals()).add(node, cost, times)
        path = module_path(node)
        for end in range(1, len(path) + 1):
            table.by_module.setdefault(path[:end], Totals()).add(node, cost, times)
    table.by_op = dict(sorted(table.by_op.items(), key=lambda item: -_weight(item[1])))
    return table


def _runs(graph: Graph, times: Dim | None, costs: NodeCosts) -> Iterator[tuple[Node, Dim | None]]:
    """Nodes without subgraphs of their own, and how often each runs."""
    for node in graph.order:
        if not node.subgraphs:
            yield node, times
            continue
        try:
            repeated = costs.repetitions(node)
            inner = None if times is None else times * repeated
        except (NotKnown, ArithmeticError, LookupError):
            inner = None
        for sub in _dearer(node, costs) if is_choice(node) else node.subgraphs.values():
            yield from _runs(sub, inner, costs)


def _dearer(node: Node, costs: NodeCosts) -> list[Graph]:
    def weight(graph: Graph) -> int:
        return sum(c for n in graph.order if isinstance(c := costs.of(n).flops, int))

    return [max(node.subgraphs.values(), key=weight)]


def _weight(totals: Totals) -> int:
    return totals.flops if isinstance(totals.flops, int) else 0
