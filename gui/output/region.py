"""A part of the graph as a model of its own, with what it read and made in the last run. Knows no Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.export import export, region_of
from engine.feeds import save_arrays
from engine.graph.ir import Model, Node, Tensor
from engine.words import counted
from gui.facts.tensor_values import to_numpy
from gui.running.state import RunState


@dataclass(frozen=True, slots=True)
class SavedRegion:
    """What was written: the model, the file of values or "", and inputs whose values the run did not leave."""

    path: str
    values_path: str
    missing: tuple[str, ...]
    nodes: int


def save_region(
    model: Model, nodes: Sequence[Node], path: str, run: RunState | None, go_on: Callable[[], object] = lambda: None
) -> SavedRegion:
    """Write the nodes as a model and, after a run, its values to ``PATH.npz`` beside it; `go_on` may raise to stop.

    Inputs stand there as ``in:NAME``, outputs as ``out:NAME``, so that
    ``oinfer compare PATH --inputs PATH.npz --against PATH.npz`` runs it again and holds it to what it made.

    Raises
    ------
    ExportError, DataError: see `engine.export.export`.
    InputError: the values cannot be written.
    """
    written = export(model, path, nodes, go_on)
    region = region_of(nodes)
    if run is None:
        return SavedRegion(written.path, "", tuple(t.name for t in region.inputs), len(region.nodes))
    values = {f"in:{t.name}": value for t in region.inputs if (value := _value(t, run)) is not None}
    missing = tuple(t.name for t in region.inputs if f"in:{t.name}" not in values)
    values |= {f"out:{t.name}": value for t in region.outputs if (value := _value(t, run)) is not None}
    target = f"{path}.npz"  # not with another suffix: that name may be of something else, such as the user's inputs
    left_out = save_arrays(target, values, go_on)
    missing += tuple(name.removeprefix("in:") for name in left_out if name.startswith("in:"))
    return SavedRegion(written.path, target, missing, len(region.nodes))


def _value(tensor: Tensor, run: RunState) -> Any:
    value = run.values.get(tensor)
    if value is None:
        value = run.feeds.get(tensor.name) if tensor in tensor.graph.inputs else None
    return value if value is None or isinstance(value, list | dict | tuple) else to_numpy(value)


def told(saved: SavedRegion) -> str:
    """What was saved, in words for the user."""
    name = Path(saved.path).name
    count = counted(saved.nodes, "node")
    if not saved.values_path:
        return f"{name} holds {count}. Run the model first to save the region's inputs with it."
    values = Path(saved.values_path).name
    if saved.missing:
        return f"{name} holds {count}; {values} lacks {', '.join(_few(saved.missing))}, which the run did not keep."
    return f"{name} holds {count}. Run it again with: oinfer compare {name} --inputs {values} --against {values}"


def _few(names: Iterable[str]) -> list[str]:
    listed = list(names)
    return listed[:4] + ([f"{len(listed) - 4} more"] if len(listed) > 4 else [])
