"""Collects the findings of the rules, and knows where in the model they are."""
from __future__ import annotations

from engine.diagnostics import CATALOGUE, Diagnostic, Severity, in_function
from engine.graph.ir import Graph, Model, Node, Tensor


class Findings:
    """The findings of one check, in the order found.

    The body of a function that is never called is a template without a place of its own: its findings name the
    function in words and concern the model.
    """

    def __init__(self, model: Model) -> None:
        self.all: list[Diagnostic] = []
        self._templates = {f.body: f.name for f in model.functions.values()}

    def add(
        self, code: str, message: str, node: Node | None = None, tensor: Tensor | None = None,
        severity: Severity | None = None,
    ) -> None:  # fmt: skip
        """Add a finding, of the severity that the catalogue gives the code unless another is asked for."""
        severity = severity or CATALOGUE[code].severity
        graph = node.graph if node else tensor.graph if tensor else None
        places = node.qualified_name if node else "", tensor.qualified_name if tensor else ""
        found = [Diagnostic(code, severity, message, *places)]
        function = self._templates.get(graph.outermost) if graph else None
        self.all += found if function is None else in_function(found, function)

    def nodes(self, code: str) -> set[str]:
        """The places of the findings of one code."""
        return {finding.node for finding in self.all if finding.code == code}


def title(node: Node) -> str:
    """A node in a sentence, such as ``Conv 'conv1'``."""
    return f"{node.qualified_op} {node.name!r}"


def scope_title(graph: Graph) -> str:
    """A graph in a sentence: ``the graph``, or ``the subgraph 'loop/body'``."""
    return f"the subgraph {graph.prefix[:-1]!r}" if graph.owner else "the graph"
