"""The module each node belongs to, as exporters tell it: by metadata or by the node's name. No Qt.

PyTorch's exporter writes ``pkg.torch.onnx.name_scopes`` (or ``namespace``) into the metadata of every node; most others
write the path into the name, as in ``/encoder/layer.0/attention/MatMul``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from engine.graph.ir import Node
from gui.canvas.folding import is_folded

MAX_DEPTH = 16
SCOPES = "pkg.torch.onnx.name_scopes"
CLASSES = "pkg.torch.onnx.class_hierarchy"
NAMESPACE = "namespace"
NO_MODULE = "_empty_nn_module_stack"  # what PyTorch writes where a pass put the node in
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")

Path = tuple[str, ...]


def module_path(node: Node) -> tuple[Path, Path] | None:
    """Names of the modules around a node, outer ones first, and their classes where known; None where nobody says.

    The names are cumulative where the exporter wrote them so ("encoder", "encoder.layer.0").
    """
    metadata = node.metadata
    if metadata:
        if SCOPES in metadata:
            return _inner(_quoted(metadata[SCOPES]), _quoted(metadata.get(CLASSES, "")))
        if NAMESPACE in metadata:
            steps = [step.partition(": ") for step in metadata[NAMESPACE].split("/")]
            return _inner([name for name, _, _ in steps], [kind for _, _, kind in steps])
    name = node.name
    if "/" not in name:
        return None
    return tuple([part for part in name.split("/") if part][:-1][:MAX_DEPTH]), ()


def _inner(names: list[str], classes: list[str]) -> tuple[Path, Path]:
    """Without the model at the beginning, whose name is empty, and the node at the end."""
    kinds = classes if len(classes) == len(names) else [""] * len(names)
    kept = [(name, kind.rsplit(".", 1)[-1]) for name, kind in zip(names, kinds, strict=True)][:-1]
    kept = [(name, kind) for name, kind in kept if name and not name.startswith(NO_MODULE)][:MAX_DEPTH]
    return tuple(name for name, _ in kept), tuple(kind for _, kind in kept)


def _quoted(text: str) -> list[str]:
    return [a or b for a, b in _QUOTED.findall(text)]


def module_paths(nodes: Iterable[Node]) -> tuple[list[Path], Mapping[Path, str]]:
    """The path of every node, and the classes of the modules by their path.

    A node of which nothing is said, such as one that an optimizer put in, belongs where its readers do.
    """
    ordered = list(nodes)
    found: dict[Node, Path | None] = {}
    classes: dict[Path, str] = {}
    for node in ordered:
        told = module_path(node)
        found[node] = told[0] if told else None
        if told:
            classes.update((told[0][: i + 1], kind) for i, kind in enumerate(told[1]) if kind)
    for node in sorted((n for n in ordered if found[n] is None), key=lambda n: -n.index):
        readers = {reader for t in node.outputs if t is not None for reader, _ in t.consumers if not is_folded(reader)}
        known = [path for reader in readers if (path := found.get(reader)) is not None]
        found[node] = common(known) if known and len(known) == len(readers) else None
    return [found[node] or () for node in ordered], classes


def common(paths: list[Path]) -> Path:
    """The longest beginning that all paths share."""
    low, high = min(paths), max(paths)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]
