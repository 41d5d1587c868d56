"""What a run left behind, for the panes and the canvas. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.compare import Comparison
from engine.diagnostics import Diagnostic
from engine.graph.ir import Node, Tensor
from engine.graph.types import Type
from engine.kernels.registry import Value
from engine.providers.placement import Placement
from engine.session import RunResult
from gui.running.made_over import MadeOver

if TYPE_CHECKING:
    from gui.running.times import RunTimes


@dataclass(slots=True, eq=False)
class RunState:
    """What the last run left behind; every field may be empty, since a run can be stopped or fail half way.

    `node_ms` is the median per node, `values` the tensors that were kept, `observed` the types they had. `disagreement`
    is each node's largest relative difference against the CPU, `feeds` what both sides were fed. `mismatches` are the
    tensors that came out otherwise than inferred. `made_over` is there for the fast mode.
    """

    comparison: Comparison | None = None
    result: RunResult | None = None
    node_ms: dict[Node, float] = field(default_factory=dict)
    placements: dict[Node, Placement] = field(default_factory=dict)
    values: dict[Tensor, Value] = field(default_factory=dict)
    observed: dict[Tensor, Type] = field(default_factory=dict)
    disagreement: dict[Node, float] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    partial: bool = False
    feeds: dict[str, Value] = field(default_factory=dict)
    times: RunTimes | None = None
    mismatches: list[Diagnostic] = field(default_factory=list)
    made_over: MadeOver | None = None
