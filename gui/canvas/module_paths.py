"""The module each node belongs to, as exporters tell it: by metadata or by the node's name. No Qt.

PyTorch's exporter writes ``pkg.torch.onnx.name_scopes`` (or ``namespace``) into the metadata of every node; most others
write the path into the name, as in ``/encoder/layer.0/attention/MatMul``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from engine.graph.ir import Node
from gui.canvas.folding import is_folded

MAX_DEPTH = 16
SCOPES = "pkg.torch.onnx.name_scopes"
CLASSES = "pkg.torch.onnx.class_hierarchy"
NAMESPACE = "namespace"
NO_MODULE = "_empty_nn_module_stack"  # what PyTorch writes where a pass put the node in
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")

Path = tuple[str, ...]


Told = tuple[Path, Path]


def module_path(node: Node) -> Told | None:
    """Names of the modules around a node, outer ones first, and their classes where known; None where nobody says.

    The names are cumulative where the exporter wrote them so ("encoder", "encoder.layer.0").
    """
    return told_path(node.name, node.metadata)


def told_path(name: str, metadata: Mapping[str, str]) -> Told | None:
    """What `module_path` says of a node with this name and metadata."""
    if metadata:
        if SCOPES in metadata:
            return _inner(_quoted(metadata[SCOPES]), _quoted(metadata.get(CLASSES, "")))
        if NAMESPACE in metadata:
            steps = [step.partition(": ") for step in metadata[NAMESPACE].split("/")]
            return _inner([name for name, _, _ in steps], [kind for _, _, kind in steps])
    outer, slash, own = name.rpartition("/")
    if not slash:
        return None
    return (_steps(outer)[:MAX_DEPTH] if own else _steps(outer)[:-1][:MAX_DEPTH]), ()


@lru_cache(maxsize=4096)  # the nodes of a module follow each other
def _steps(name: str) -> Path:
    return tuple([part for part in name.split("/") if part])


def _inner(names: list[str], classes: list[str]) -> tuple[Path, Path]:
    """Without the model at the beginning, whose name is empty, and the node at the end."""
    kinds = classes if len(classes) == len(names) else [""] * len(names)
    kept = [(name, kind.rsplit(".", 1)[-1]) for name, kind in zip(names, kinds, strict=True)][:-1]
    kept = [(name, kind) for name, kind in kept if name and not name.startswith(NO_MODULE)][:MAX_DEPTH]
    return tuple(name for name, _ in kept), tuple(kind for _, kind in kept)


def _quoted(text: str) -> list[str]:
    return [a or b for a, b in _QUOTED.findall(text)]


def module_paths(nodes: Sequence[Node]) -> tuple[list[Path], Mapping[Path, str]]:
    """The path of every node, and the classes of the modules by their path; see `settled_paths`."""
    number = {node: i for i, node in enumerate(nodes)}

    def readers(i: int) -> set[int]:
        """Those in subgraphs are all -1."""
        consumers = [reader for t in nodes[i].outputs if t is not None for reader, _ in t.consumers]
        return {number.get(reader, -1) for reader in consumers if not is_folded(reader)}

    return settled_paths([module_path(node) for node in nodes], readers, [node.index for node in nodes])


def settled_paths(
    told: Sequence[Told | None], readers: Callable[[int], set[int]], time: Sequence[int]
) -> tuple[list[Path], Mapping[Path, str]]:
    """The path of every node by what `told_path` says of it, and the classes of the modules by their path.

    A node of which nothing is said, such as one that an optimizer put in, belongs where its readers do.

    Parameters
    ----------
    readers
        The numbers of the nodes that read what a node makes; -1 for one that has no place here.
    time
        Where each node stands in the run order.
    """
    found = [one[0] if one is not None else None for one in told]
    classes: dict[Path, str] = {}
    for one in told:
        if one is not None and one[1]:
            classes.update((one[0][: i + 1], kind) for i, kind in enumerate(one[1]) if kind)
    for i in sorted((i for i, path in enumerate(found) if path is None), key=lambda i: -time[i]):
        around = readers(i)
        known = [path for r in around if r >= 0 and (path := found[r]) is not None]
        found[i] = common(known) if known and len(known) == len(around) else None
    return [path or () for path in found], classes


def common(paths: list[Path]) -> Path:
    """The longest beginning that all paths share."""
    low, high = min(paths), max(paths)
    length = 0
    while length < min(len(low), len(high)) and low[length] == high[length]:
        length += 1
    return low[:length]
