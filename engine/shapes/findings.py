"""What inference finds wrong with a model, each thing once."""

from __future__ import annotations

from engine.diagnostics import Diagnostic, Severity
from engine.graph.ir import Node, Tensor


class Findings:
    """The findings of one inference in the order in which they were made."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], Diagnostic] = {}

    def report(self, code: str, severity: Severity, message: str, node: Node, tensor: Tensor | None = None) -> None:
        """Report something of a node, or of a tensor that it makes, for the first time."""
        place = tensor.qualified_name if tensor else ""
        self.report_once((code, node.qualified_name, place), code, severity, message, node, tensor)

    def report_once(
        self, key: tuple[str, str, str], code: str, severity: Severity, message: str, node: Node,
        tensor: Tensor | None = None,
    ) -> None:  # fmt: skip
        """Report something that is told once for each `key`, wherever it is found."""
        place = tensor.qualified_name if tensor else ""
        self._found.setdefault(key, Diagnostic(code, severity, message, node.qualified_name, place))

    def all(self) -> list[Diagnostic]:
        """All of them."""
        return list(self._found.values())


def title(node: Node) -> str:
    """A node as messages name it."""
    return f"{node.qualified_op} {node.name!r}"
