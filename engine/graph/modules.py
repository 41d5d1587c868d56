"""Where in the source model a node comes from: the path of modules that exporters leave in names or metadata."""

from __future__ import annotations

import ast
from functools import lru_cache

from engine.graph.ir import Node

_NAME_SCOPES = "pkg.torch.onnx.name_scopes"
_NAMESPACE = "namespace"
_NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"  # torch writes it where it does not know the module
_LONGEST = 1 << 12  # characters of a name or an entry that are looked at: both come from the file


def module_path(node: Node) -> tuple[str, ...]:
    """The modules around a node, outermost first, each by its full name: ``("layers", "layers.0")``; often empty.

    Sources: the metadata "pkg.torch.onnx.name_scopes" and "namespace" of torch.onnx, else slashes in the node's name,
    as torch.jit, TensorFlow and JAX exporters write them.
    """
    scopes = node.metadata.get(_NAME_SCOPES)
    if scopes is not None:
        return _of_scopes(scopes)
    namespace = node.metadata.get(_NAMESPACE)
    if namespace is not None:
        parts = [part.partition(": ")[0] for part in namespace[:_LONGEST].split("/")]
        return _cleaned(parts[:-1])
    return _cleaned(node.stored_name[:_LONGEST].partition(";")[0].split("/")[:-1])


@lru_cache(1 << 14)
def _of_scopes(text: str) -> tuple[str, ...]:
    try:
        scopes = ast.literal_eval(text) if len(text) <= _LONGEST else []
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ()
    return _cleaned([s for s in scopes if isinstance(s, str)][:-1]) if isinstance(scopes, list) else ()


def _cleaned(parts: list[str]) -> tuple[str, ...]:
    return tuple(part for part in parts if part and part != _NO_MODULE)
