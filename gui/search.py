"""Finding nodes and tensors: a small query language and its matcher. Knows no Qt.

All terms of a query must match. A plain word, or several in quotes, is looked for in names and operators; ``op:Conv``,
``name:attn``, ``dtype:f16`` and ``shape:*×64×*`` ask one thing each, the operator and the shape as a whole, with ``*``
for anything. Case doesn't matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from typing import TypeAlias

from engine.graph.ir import Graph, Model, Node, Tensor
from engine.graph.types import TensorType
from gui.text import shape_text

Item: TypeAlias = "Node | Tensor"
Test: TypeAlias = Callable[["Node | Tensor"], bool]

FIELDS = ("op", "name", "dtype", "shape")
_TERM = re.compile(r'(?:(?P<field>\w+):)?(?:"(?P<quoted>[^"]*)"?|(?P<word>\S+))')


def find(query: str, model: Model, first: Graph | None = None) -> list[Item]:
    """Nodes in run order, then tensors, that match; those of the graph `first` before those of the others."""
    tests = parse(query)
    if not tests:
        return []
    graphs = sorted(model.graph.walk(), key=lambda graph: graph is not first)
    return [item for graph in graphs for item in _items(graph) if all(test(item) for test in tests)]


def parse(query: str) -> list[Test]:
    """The tests that a query stands for."""
    tests = []
    for term in _TERM.finditer(query):
        field = (term["field"] or "").casefold()
        words = (term["quoted"] if term["quoted"] is not None else term["word"]).casefold()
        if field not in FIELDS:
            words = f"{field}:{words}" if field else words
            field = ""
        if words:
            tests.append(_TESTS[field](words))
    return tests


def _items(graph: Graph) -> Iterator[Item]:
    yield from graph.order
    yield from (node for node in graph.nodes if node.index < 0)
    yield from graph.tensors.values()


def _text_test(words: str) -> Test:
    def test(item: Item) -> bool:
        if words in item.name.casefold():
            return True
        return isinstance(item, Node) and words in item.qualified_op.casefold()

    return test


def _name_test(words: str) -> Test:
    return lambda item: words in item.name.casefold()


def _op_test(words: str) -> Test:
    matches = _glob(words)
    return lambda item: isinstance(item, Node) and (matches(item.op_type) or matches(item.qualified_op))


def _dtype_test(words: str) -> Test:
    def test(item: Item) -> bool:
        dtypes = [tensor.dtype for tensor in _tensors(item)]
        return any(dtype and words in (dtype.short.casefold(), dtype.name.casefold()) for dtype in dtypes)

    return test


def _shape_test(words: str) -> Test:
    matches = _glob(re.sub(r"(?<=[\w*?)])[x,](?=[\w*?(])", "×", words))

    def test(item: Item) -> bool:
        return any(matches(text) for tensor in _tensors(item) for text in _shape_texts(tensor))

    return test


def _shape_texts(tensor: Tensor) -> Iterator[str]:
    for value_type in (tensor.stored_type, tensor.inferred_type):
        if isinstance(value_type, TensorType) and value_type.shape is not None:
            yield shape_text(value_type.shape)


def _tensors(item: Item) -> list[Tensor]:
    """What decides the shape of an item: the tensor itself, or a node's outputs."""
    return [item] if isinstance(item, Tensor) else [t for t in item.outputs if t is not None]


def _glob(pattern: str) -> Callable[[str], bool]:
    match = re.compile(translate(pattern), re.IGNORECASE).match
    return lambda text: match(text) is not None


_TESTS: dict[str, Callable[[str], Test]] = {
    "": _text_test, "op": _op_test, "name": _name_test, "dtype": _dtype_test, "shape": _shape_test,
}  # fmt: skip
