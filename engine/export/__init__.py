"""Writing a model, or a region of its graph, as an ONNX file."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from engine.errors import ExportError
from engine.export.messages import MessageMaker
from engine.export.payloads import Payloads
from engine.export.region import Region, nodes_between, region_of
from engine.export.writer import DATA_ENDING, Written, write_model
from engine.graph.ir import Model, Node

__all__ = ["Region", "Written", "check_target", "export", "nodes_between", "region_of", "spare_sources"]


def export(
    model: Model, path: str | os.PathLike[str], nodes: Iterable[Node] | None = None,
    go_on: Callable[[], object] = lambda: None,
) -> Written:  # fmt: skip
    """Write `model`, or the region that `nodes` make up, to the ONNX file `path`.

    A whole model is written as it was stored, its nodes in run order; training info is left out. A region of one graph
    (the main one, a subgraph or a function's body) becomes a model of its own: tensors that cross its border are its
    inputs and outputs, constants that it reads come along. Weights are copied in pieces, never held all at once; above
    1 GiB they go into a second file, `path` + ".data". A file that exists is replaced once the new one is complete,
    unless the model is read from it. `go_on` is called again and again and may raise to stop; nothing is left then.

    Raises
    ------
    ExportError: the region is none, a boundary tensor has no known type, or the file cannot be written.
    DataError: stored data that belongs to it cannot be read.
    """
    path = os.fspath(path)
    check_target(model, path)
    payloads = Payloads()
    maker = MessageMaker(model, payloads, go_on)
    proto = maker.whole() if nodes is None else maker.region(region_of(nodes))
    return write_model(proto, payloads, path, go_on)


def check_target(model: Model, path: str) -> None:
    """Refuse to write a model over a file that `model` is read from: each may be the only one there is.

    Raises
    ------
    ExportError: `path`, or the file that weights would go into, is one of them.
    """
    for target in (path, path + DATA_ENDING):
        spare_sources(model, target)


def spare_sources(model: Model, path: str) -> None:
    """Refuse to write anything over a file that `model` is read from: each may be the only one there is.

    Raises
    ------
    ExportError: `path` is one of them.
    """
    if _is_same(path, model.path):
        raise ExportError(f"{path} is the model itself: choose another name")
    if any(_is_same(path, file) for file in model.data_paths):
        raise ExportError(f"{path} holds weights of the model: choose another name")


def _is_same(path: str, other: str | None) -> bool:
    return other is not None and os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)
