"""Rows and columns of the Order pane: the nodes of a graph in run order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtGui import QColor

from engine.costs import Cost, CostTable
from engine.graph.ir import Graph, Node
from engine.words import bytes_text
from gui.canvas.palette import category_of
from gui.models.table import Column, Style
from gui.running.state import RunState
from gui.text import count_text, ms_text, provider_name

NUMBER, OPERATOR, NAME, TIME, PROVIDER, FILE, MACS, FLOPS, PARAMETERS, TRAFFIC = range(10)
COSTS = (MACS, FLOPS, PARAMETERS, TRAFFIC)


@dataclass(slots=True, eq=False)
class NodeFacts:
    """What the last run and the costs say of nodes, shared by all rows of a table, so that news need no pass over them.

    Among the nodes looked at, `slowest` is the longest time, in ms, None where none ran, `providers` who took them, and
    `most` the largest number of operations.
    """

    run: RunState | None = None
    slowest: float | None = None
    providers: frozenset[str] = frozenset()
    costs: Mapping[Node, Cost] = field(default_factory=dict)
    most: int = 0

    def set_run(self, run: RunState | None, nodes: Sequence[Node]) -> None:
        """Another run, or none, and the nodes that are looked at."""
        self.run, self.slowest, self.providers = run, None, frozenset()
        if run is not None:
            placed = [run.placements[node] for node in nodes if node in run.placements]
            takers = {id(placement.provider): placement for placement in placed}  # few: naming each would take longer
            self.providers = frozenset(map(provider_name, takers.values()))
            self.slowest = max((run.node_ms[node] for node in nodes if node in run.node_ms), default=None)

    def set_costs(self, table: CostTable | None, nodes: Iterable[Node]) -> None:
        """Costs counted anew, or none yet, and the nodes that are looked at."""
        costs = self.costs = table.costs if table is not None else {}
        self.most = max((_count(costs[node].flops) for node in nodes if node in costs), default=0)


@dataclass(slots=True, eq=False)
class OrderRow:
    """A node with what is known of it. `moved`: it runs at another place than the file has it."""

    node: Node
    moved: bool
    facts: NodeFacts

    @property
    def parameters(self) -> int:
        """Elements of the constants that it reads."""
        return sum(t.data.size for t in dict.fromkeys(self.node.inputs) if t is not None and t.data is not None)

    @property
    def traffic(self) -> int | None:
        """Bytes of its inputs and outputs; None where that is open."""
        cost = self.cost
        if cost is None or not isinstance(cost.bytes_read, int) or not isinstance(cost.bytes_written, int):
            return None
        return cost.bytes_read + cost.bytes_written

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def ms(self) -> float | None:
        """The median time of the node; None where it did not run."""
        return self.facts.run.node_ms.get(self.node) if self.facts.run else None

    @property
    def share(self) -> float:
        """That time against the slowest node's."""
        return (self.ms or 0.0) / self.facts.slowest if self.facts.slowest else 0.0

    @property
    def provider(self) -> str:
        """Who took it; empty where nobody did."""
        return provider_name(self.facts.run.placements.get(self.node)) if self.facts.run else ""

    @property
    def cost(self) -> Cost | None:
        """What it takes for the sizes of the dims."""
        return self.facts.costs.get(self.node)

    @property
    def cost_share(self) -> float:
        """Its operations against the largest number."""
        cost = self.cost
        return _count(cost.flops) / self.facts.most if cost is not None and self.facts.most > 0 else 0.0


def order_rows(graph: Graph, facts: NodeFacts) -> list[OrderRow]:
    """The nodes in run order, then those that have none since they lie on or behind a cycle."""
    moved = moved_nodes(graph.order)
    sorted_rows = [OrderRow(node, node in moved, facts) for node in graph.order]
    return sorted_rows + [OrderRow(node, False, facts) for node in graph.nodes if node.index < 0]


def moved_nodes(order: Sequence[Node]) -> set[Node]:
    """The fewest nodes that must move to turn file order into run order: all but a longest increasing run."""
    tails: list[int] = []  # smallest file index that ends an increasing run of each length
    ends: list[int] = []  # and the place in `order` of that end
    before = [-1] * len(order)
    for place, node in enumerate(order):
        length = bisect_left(tails, node.file_index)
        if length == len(tails):
            tails.append(node.file_index)
            ends.append(place)
        else:
            tails[length], ends[length] = node.file_index, place
        before[place] = ends[length - 1] if length else -1
    stay: set[int] = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        stay.add(place)
        place = before[place]
    return {node for place, node in enumerate(order) if place not in stay}


def _count(dim: object) -> int:
    """A count to sort and to measure by; what is not known comes before all others."""
    return dim if isinstance(dim, int) else -1


def category_colour(node: Node) -> QColor:
    """The colour of a node's operator category."""
    return QColor(category_of(node.op_type, node.domain).colour)


def _name_tip(row: OrderRow) -> str:
    stored = "" if row.node.stored_name == row.node.name else "\n(the file has no name, or one used before)"
    return f"{row.node.name}{stored}"


def _flops_tip(row: OrderRow) -> str:
    if row.cost is None:
        return ""
    return row.cost.unknown_because or f"{row.cost.flops} operations on single elements"


def _amount(dim: object) -> str:
    return count_text(dim) if isinstance(dim, int) else ""


def _file_text(row: OrderRow) -> str:
    return f"{'↕ ' if row.moved else ''}{row.node.file_index + 1}"


COLUMNS = (
    Column("#", lambda r: str(r.node.index + 1) if r.node.index >= 0 else "–", Style("muted"), right=True,
           key=lambda r: r.node.index if r.node.index >= 0 else 1 << 60, heading_tip="Place in the run order",
           tip=lambda r: "" if r.node.index >= 0 else "Not in the run order: on a cycle, or behind one"),
    Column("operator", lambda r: r.node.op_type, square=lambda r: category_colour(r.node),
           tip=lambda r: r.node.qualified_op),
    Column("name", lambda r: r.node.name, Style("muted"), tip=_name_tip),
    Column("ms", lambda r: "" if r.ms is None else ms_text(r.ms), Style("muted"), right=True,
           key=lambda r: -1.0 if r.ms is None else r.ms, bar=lambda r: r.share,
           heading_tip="Median time in the last run"),
    Column("provider", lambda r: r.provider, Style("muted")),
    Column("file", _file_text, lambda r: Style("accent" if r.moved else "muted"), right=True,
           key=lambda r: r.node.file_index, heading_tip="Place in the file; ↕ marks nodes that run elsewhere",
           tip=lambda r: "Runs at another place than the file has it" if r.moved else ""),
    Column("MACs", lambda r: _amount(r.cost and r.cost.macs), Style("muted"), right=True,
           key=lambda r: _count(r.cost and r.cost.macs),
           heading_tip="Multiplications that are added up, for the sizes of the dims"),
    Column("FLOPs", lambda r: _amount(r.cost and r.cost.flops), Style("muted"), right=True,
           key=lambda r: _count(r.cost and r.cost.flops), bar=lambda r: r.cost_share, tip=_flops_tip,
           heading_tip="Operations on single elements, for the sizes of the dims"),
    Column("params", lambda r: count_text(r.parameters) if r.parameters else "", Style("muted"), right=True,
           key=lambda r: r.parameters, heading_tip="Elements of the constants that it reads"),
    Column("traffic", lambda r: "" if r.traffic is None else bytes_text(r.traffic), Style("muted"), right=True,
           key=lambda r: _count(r.traffic), heading_tip="Bytes of its inputs and of its outputs"),
)  # fmt: skip
