"""All passes over a copy of a model."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from engine.graph.ir import Model, Node, Tensor
from engine.graph.order import sort_graph
from engine.kernels.registry import MICROSOFT
from engine.optimiser.activations import fuse_activations, fuse_into_convolutions
from engine.optimiser.batch_norm import fold_batch_norms, fold_channel_additions
from engine.optimiser.copying import copy_graph
from engine.optimiser.dead_code import remove_dead_code
from engine.optimiser.folding import fold_constants
from engine.optimiser.no_ops import remove_no_ops
from engine.optimiser.rewriting import Change, Rewriting

PASSES: dict[str, Callable[[Rewriting], None]] = {
    "constant-folding": fold_constants,
    "no-ops": remove_no_ops,
    "batch-norm": fold_batch_norms,
    "channel-additions": fold_channel_additions,
    "activations": fuse_activations,
    "into-convolutions": fuse_into_convolutions,
    "dead-code": remove_dead_code,
}
"""By name, in the order in which they run."""


@dataclass(frozen=True, slots=True)
class Optimised:
    """A model made over for speed.

    Attributes
    ----------
    model: the copy that runs; it shares the original's weights.
    origins: for each node of the copy the user's nodes that it stands for, first the one whose place it has.
    originals: for each tensor of the copy that has the value of one of the user's, that tensor.
    changes: what the passes did.
    before: how many nodes the original has, subgraphs included.
    """

    model: Model
    origins: dict[Node, tuple[Node, ...]]
    originals: dict[Tensor, Tensor]
    changes: tuple[Change, ...]
    before: int

    @property
    def words(self) -> str:
        """In one line: ``made over for speed: 49 nodes became 24 (into-convolutions 25)``."""
        counts = Counter(change.pass_name for change in self.changes)
        done = ", ".join(f"{name} {count}" for name, count in counts.items())
        after = sum(1 for _ in self.model.nodes())
        return f"made over for speed: {self.before} nodes became {after} ({done or 'nothing to do'})"


def optimise(
    model: Model, passes: Collection[str] = tuple(PASSES), go_on: Callable[[], None] = lambda: None
) -> Optimised:
    """Run the named passes over a copy of the model, whose shapes have been inferred.

    Every output, and every tensor that is left, has the value it had, up to rounding. `go_on` is called between two
    passes, and may raise to stop.
    """
    copied = copy_graph(model.graph)
    work = Rewriting(copied.graph, {twin: (node,) for node, twin in copied.nodes.items()})
    for name, run in PASSES.items():
        if name in passes:
            go_on()
            work.pass_name = name
            run(work)
            work.sweep()
    sort_graph(work.graph)
    for scope in work.graph.walk():
        scope.opset_imports = {MICROSOFT: 1, **scope.opset_imports}
    originals = {twin: tensor for tensor, twin in copied.tensors.items()}
    made_over = replace(
        model, graph=work.graph, diagnostics=[], opset_imports={MICROSOFT: 1, **model.opset_imports}
    )
    return Optimised(made_over, work.origins, originals, tuple(work.changes), sum(1 for _ in model.nodes()))
