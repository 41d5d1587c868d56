"""Finding nodes and tensors: the query language and its search over a whole model. Knows no Qt.

All terms of a query must match, in any order; case doesn't matter.

    words "two words" /regex/          in names and operators
    op:Conv  op:*pool*|relu            the operator, as a whole; * stands for anything, | for either
    name:attn  tensor:mask  module:layers.0
    shape:1x64x*  dtype:int8           of a tensor, or of a node's outputs
    attr:axis=-1  attr:group>1         attributes, those at their default included
    size:>1MiB  is:constant            see `gui.finding.fields.KINDS`
    provider:CPU  time:>1ms  err:>1e-3 of the last run
    -op:Constant                       anything but
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.graph.ir import Graph, Model
from gui.finding.fields import FIELDS, RUN_FIELDS, Item, QueryError, Term, Test
from gui.running.state import RunState

CHECK_EVERY = 512  # items between two questions whether to go on

_TERM = re.compile(
    r"(?P<minus>-)?(?:(?P<field>\w+):)?"
    r'(?:"(?P<quoted>[^"]*)"?|/(?P<regex>(?:\\.|[^/\\])+)/(?=\s|$)|(?P<word>(?:"[^"]*"?|[^\s"])+))'
)


@dataclass(frozen=True, slots=True)
class Query:
    """What a line of text asks for. `error` says in words what is wrong with it; `needs_run` whether a run changes it.

    A test answers None for what it does not apply to, such as the operator of a tensor; that passes neither as it
    stands nor negated.
    """

    tests: tuple[tuple[Test, bool], ...] = ()
    error: str = ""
    needs_run: bool = False

    def matches(self, item: Item) -> bool:
        """Whether a node or tensor passes all tests."""
        for test, wanted in self.tests:
            answer = test(item)
            if answer is None or answer is not wanted:
                return False
        return True


def parse(text: str, run: RunState | None = None) -> Query:
    """The query that a text stands for; `run` answers for provider, time and err."""
    tests: list[tuple[Test, bool]] = []
    needs_run = False
    for match in _TERM.finditer(text):
        name = (match["field"] or "").casefold()
        wanted = _term(match)
        if name not in FIELDS:
            wanted = Term(f"{match['field']}:{wanted.text}", wanted.form)
            name = ""
        if not wanted.text:
            continue
        needs_run |= name in RUN_FIELDS
        try:
            tests.append((FIELDS[name](wanted, run), not match["minus"]))
        except QueryError as error:
            return Query(error=f"{match[0].strip()}: {error}", needs_run=needs_run)
    return Query(tuple(tests), needs_run=needs_run)


def term(field: str, text: str) -> str:
    """A term that asks for exactly this text, quoted where it must be."""
    return f"{field}:{text}" if re.fullmatch(r"[\w.:-]+", text) else f'{field}:"{text.replace(chr(34), "")}"'


def _term(match: re.Match[str]) -> Term:
    for form in ("quoted", "regex", "word"):
        if match[form] is not None:
            return Term(match[form], form)
    return Term("", "word")


def find(
    query: str | Query, model: Model, first: Graph | None = None, check: Callable[[], None] = lambda: None
) -> list[Item]:
    """Nodes in run order, then tensors, that match; those of the graph `first` before those of the others.

    `check` is called now and then and may raise.

    Raises
    ------
    QueryError: a regular expression takes too long.
    """
    if isinstance(query, str):
        query = parse(query)
    if not query.tests:
        return []
    found = []
    graphs = sorted(model.graph.walk(), key=lambda graph: graph is not first)
    for count, item in enumerate(item for graph in graphs for item in _items(graph)):
        if count % CHECK_EVERY == 0:
            check()
        if query.matches(item):
            found.append(item)
    return found


def _items(graph: Graph) -> Iterator[Item]:
    yield from graph.order
    yield from (node for node in graph.nodes if node.index < 0)
    yield from graph.tensors.values()
