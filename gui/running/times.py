"""The times of a run as rows: per node, per operator type stacked by provider, and the copies between devices."""
from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from engine.compare import Comparison
from engine.graph.ir import Graph, Node
from engine.optimiser import Optimised
from engine.providers.placement import Placement
from engine.session import ProviderEdge, provider_edges
from gui.running.report import Report, report_of
from gui.running.state import RunState
from gui.text import provider_name


@dataclass(slots=True, eq=False)
class NodeTime:
    """A row of the table of node times.

    `ms` is the median of the mixed side's runs, `cpu_ms` of the CPU's; `spread` is half the middle half's width, in ms;
    `share` is of the main graph's total, `bar` of the slowest node; `refusals` says why earlier providers declined.
    `parts` are the nodes that ran as one in the fast mode, itself among them; the CPU's time is then that of all.
    """

    node: Node
    ms: float
    share: float
    spread: float
    provider: str
    bar: float = 0.0
    cpu_ms: float = 0.0
    refusals: str = ""
    parts: tuple[Node, ...] = ()

    @property
    def operator(self) -> str:
        """Its operator, or those of its parts: ``Conv + Relu``."""
        return " + ".join(node.qualified_op for node in self.parts) or self.node.qualified_op

    def to_json(self) -> dict[str, Any]:
        """The row as a line of CSV or an entry of JSON."""
        return {
            "node": self.node.qualified_name, "operator": self.operator, "provider": self.provider, "ms": self.ms,
            "cpu_only_ms": self.cpu_ms, "spread_ms": self.spread, "share": self.share,
            "parts": " + ".join(node.qualified_name for node in self.parts),
        }  # fmt: skip


@dataclass(slots=True)
class OperatorTime:
    """All nodes of one operator type in the main graph: milliseconds by provider, and on the CPU alone."""

    operator: str
    by_provider: dict[str, float] = field(default_factory=dict)
    cpu_ms: float = 0.0
    nodes: list[NodeTime] = field(default_factory=list)

    @property
    def ms(self) -> float:
        """Of the mixed side."""
        return sum(self.by_provider.values())

    def to_json(self) -> dict[str, Any]:
        """The operator as an entry of JSON."""
        return {
            "operator": self.operator, "nodes": len(self.nodes), "ms": self.ms, "by_provider": self.by_provider,
            "cpu_only_ms": self.cpu_ms,
        }  # fmt: skip


@dataclass(slots=True)
class RunTimes:
    """What the panes show of a finished run: its report, nodes and operators (slowest first), nodes of the graphs in
    run order, and the edges that carried copies."""

    report: Report
    nodes: list[NodeTime]
    operators: list[OperatorTime]
    in_order: dict[Graph, list[NodeTime]]
    copies: list[ProviderEdge]


def run_times(run: RunState, comparison: Comparison) -> RunTimes:
    """Work out the figures of a run and its comparison; takes time with thousands of nodes."""
    nodes = node_times(run)
    in_order: dict[Graph, list[NodeTime]] = {}
    for row in sorted(nodes, key=lambda row: row.node.index):
        in_order.setdefault(row.node.graph, []).append(row)
    return RunTimes(report_of(comparison), nodes, operator_times(nodes), in_order, copied_edges(comparison))


def node_times(run: RunState) -> list[NodeTime]:
    """A row for every node of the main graph and its subgraphs that ran, slowest first; `share` of the main graph's
    total, in which a node that owns subgraphs counts with all of theirs."""
    total = sum(ms for node, ms in run.node_ms.items() if node.graph.owner is None) or 1.0
    slowest = max(run.node_ms.values(), default=0.0) or 1.0
    mixed, cpu = _seconds(run.comparison)
    all_parts = run.made_over.parts if run.made_over is not None else {}

    def row(node: Node, ms: float) -> NodeTime:
        parts, placement = all_parts.get(node, ()), run.placements.get(node)
        cpu_ms = sum(median(cpu[part]) * 1e3 for part in parts or (node,) if cpu.get(part))
        return NodeTime(
            node, ms, ms / total, _spread(mixed.get(node, [])), provider_name(placement), ms / slowest, cpu_ms,
            _refusals(placement), parts,
        )  # fmt: skip

    rows = [row(node, ms) for node, ms in run.node_ms.items()]
    return sorted(rows, key=lambda row: -row.ms)


def operator_times(rows: list[NodeTime]) -> list[OperatorTime]:
    """The nodes of the main graph by operator type, the type that took longest first."""
    found: dict[str, OperatorTime] = {}
    for row in rows:
        if row.node.graph.owner is None:
            entry = found.setdefault(row.operator, OperatorTime(row.operator))
            entry.by_provider[row.provider] = entry.by_provider.get(row.provider, 0.0) + row.ms
            entry.cpu_ms += row.cpu_ms
            entry.nodes.append(row)
    return sorted(found.values(), key=lambda entry: -entry.ms)


def copied_edges(comparison: Comparison) -> list[ProviderEdge]:
    """The edges of the graph that carried copies in the last timed run, the slowest first.

    In the fast mode those of tensors that the optimiser made, which are none of the user's, are left out.
    """
    session = comparison.mixed.session
    edges = provider_edges(session.placements, comparison.mixed.copies)
    if session.optimised is not None:
        edges = [_users_edge(edge, session.optimised) for edge in edges if edge.tensor in session.optimised.originals]
    return sorted(edges, key=lambda edge: -edge.seconds)


def _users_edge(edge: ProviderEdge, optimised: Optimised) -> ProviderEdge:
    """The same edge in the graph as stored."""
    tensor = optimised.originals[edge.tensor]
    readers = dict.fromkeys(optimised.origins[node][0] for node in edge.consumers)
    return replace(edge, tensor=tensor, producer=tensor.producer, consumers=tuple(readers))


def placement_rows(run: RunState | None) -> list[dict[str, Any]]:
    """Who ran each node, and why earlier providers did not, as lines of CSV or entries of JSON."""
    return [
        {
            "node": node.qualified_name, "operator": node.qualified_op, "provider": provider_name(placement),
            "declined": _refusals(placement),
        }
        for node, placement in (run.placements.items() if run is not None else ())
    ]  # fmt: skip


def copy_rows(edges: list[ProviderEdge]) -> list[dict[str, Any]]:
    """What went from device to device, as entries of JSON."""
    return [
        {
            "tensor": edge.tensor.qualified_name, "from": edge.source, "to": edge.target, "copies": edge.count,
            "bytes": edge.nbytes, "ms": edge.seconds * 1e3,
        }
        for edge in edges
    ]  # fmt: skip


def _refusals(placement: Placement | None) -> str:
    return "\n".join(f"{r.provider}: {r.reason}" for r in placement.refusals) if placement is not None else ""


def _seconds(comparison: Comparison | None) -> tuple[dict[Node, list[float]], dict[Node, list[float]]]:
    return (comparison.mixed.node_seconds, comparison.cpu_only.node_seconds) if comparison is not None else ({}, {})


def _spread(seconds: list[float]) -> float:
    if len(seconds) < 2:
        return 0.0
    seconds, quarter = sorted(seconds), len(seconds) // 4
    return (seconds[-1 - quarter] - seconds[quarter]) / 2 * 1e3
