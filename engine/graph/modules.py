"""Where in the source model a node comes from: the modules around it, as exporters leave them in metadata or names.

PyTorch's exporter writes ``pkg.torch.onnx.name_scopes`` (or ``namespace``) into the metadata of every node; most others
write the path into the name, as in ``/encoder/layer.0/attention/MatMul``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from engine.graph.ir import Node

Path: TypeAlias = tuple[str, ...]
"""The names of modules, outermost first; cumulative where the exporter wrote them so: ``("layers", "layers.0")``."""
Told: TypeAlias = tuple[Path, Path]
"""A path and the classes of its modules, each empty where it is not known; no classes at all where none is."""

MAX_DEPTH = 16
_LONGEST = 1 << 12  # characters of a name or an entry that are looked at: both come from the file
_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_NAMESPACE = "namespace"
_NO_MODULE = "_empty_nn_module_stack"  # what torch writes where a pass put the node in
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")


def module_path(node: Node) -> Path:
    """The modules around a node; often empty."""
    told = told_by_metadata(node.metadata) or told_by_prefix(*prefixes([node.stored_name]))
    return told[0] if told is not None else ()


def told_by_metadata(metadata: Mapping[str, str]) -> Told | None:
    """The modules that the metadata of a node tells of; None where it says nothing of them."""
    scopes, namespace = metadata.get(_SCOPES), metadata.get(_NAMESPACE)
    if scopes is not None:
        return _inner(_quoted(scopes), _quoted(metadata.get(_CLASSES, "")))
    if namespace is not None:
        steps = [step.partition(": ") for step in namespace[:_LONGEST].split("/")]
        return _inner([name for name, _, _ in steps], [kind for _, _, kind in steps])
    return None


def prefixes(names: Iterable[str]) -> list[str]:
    """What of each node's name is not its own: "/a/b" of "/a/b/Conv", "/" of "/Conv", "" of "Conv"."""
    return [name.rpartition("/")[0] or name[: name.find("/") + 1] for name in names]


def told_by_prefix(prefix: str) -> Told | None:
    """The modules that the prefix of a node's name tells of; None where it says nothing of them.

    Of nodes that were made into one the names are joined, as in "a/Conv;a/Relu": the first counts.
    """
    if ";" in prefix:
        return told_by_prefix(*prefixes([prefix.partition(";")[0]]))
    return (tuple([name for name in prefix[:_LONGEST].split("/") if name][:MAX_DEPTH]), ()) if prefix else None


def _inner(names: list[str], classes: list[str]) -> Told:
    """Without the model at the beginning, whose name is empty, and the node at the end."""
    kinds = classes if len(classes) == len(names) else [""] * len(names)
    steps = [(name, kind.rsplit(".", 1)[-1]) for name, kind in zip(names, kinds, strict=True)][:-1]
    steps = [(name, kind) for name, kind in steps if name and not name.startswith(_NO_MODULE)][:MAX_DEPTH]
    return tuple(name for name, _ in steps), tuple(kind for _, kind in steps)


def _quoted(text: str) -> list[str]:
    return [a or b for a, b in _QUOTED.findall(text[:_LONGEST])]
