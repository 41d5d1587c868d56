"""What the fields of a query ask of a node or tensor (see `gui.finding.search`). Knows no Qt."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from typing import TypeAlias

import regex

from engine.dtypes import BY_CODE, DType
from engine.errors import DataError
from engine.graph.data import TensorData
from engine.graph.ir import Graph, Node, Tensor, ValueSource
from engine.graph.modules import module_path
from engine.graph.types import TensorType
from gui.facts.schemas import default_values
from gui.running.state import RunState
from gui.text import shape_text

Item: TypeAlias = "Node | Tensor"
Test: TypeAlias = Callable[["Node | Tensor"], "bool | None"]
Matcher: TypeAlias = Callable[[str], bool]

LONGEST = 4096  # characters of a text that are looked at: a model's names may be of any length
MATCH_LIMIT = 1.0  # seconds that a regular expression has for one text
SMALL = 64  # bytes of a tensor attribute whose value is looked at
DTYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "saturate_dtype")


class QueryError(ValueError):
    """A term can't be understood; the message says what it wants."""


@dataclass(frozen=True, slots=True)
class Term:
    """The text of a term; `form` is "word", "quoted" or "regex"."""

    text: str
    form: str = "word"

    def inside(self) -> Matcher:
        """Looks for the text anywhere; in words ``*`` stands for anything and ``|`` for either."""
        if self.form == "regex":
            return _regex(self.text)
        if self.form == "word" and len(self.text) > 1 and ("*" in self.text or "|" in self.text):
            return _regex("|".join(re.escape(part).replace(r"\*", ".*") for part in self.text.split("|") if part))
        words = self.text.casefold()
        return lambda text: words in text[:LONGEST].casefold()

    def whole(self, prepare: Callable[[str], str] = str) -> Matcher:
        """Compares whole texts; in words ``*`` stands for anything and ``|`` for either."""
        if self.form == "regex":
            return _regex(self.text)
        if self.form == "quoted":
            words = self.text.casefold()
            return lambda text: text.casefold() == words
        match = re.compile("|".join(translate(prepare(p)) for p in self.text.split("|") if p) or "$", re.I).match
        return lambda text: match(text[:LONGEST]) is not None


def _regex(pattern: str) -> Matcher:
    """By `regex`, which, unlike `re`, can be stopped and lets other threads work: ``(a|aa)+$`` can take for ever."""
    try:
        search = regex.compile(pattern, regex.IGNORECASE).search
    except (regex.error, RecursionError, OverflowError) as error:
        raise QueryError(f"not a regular expression: {error}") from error

    def matches(text: str) -> bool:
        try:
            return search(text[:LONGEST], timeout=MATCH_LIMIT, concurrent=True) is not None
        except TimeoutError:
            raise QueryError(f"takes too long to match {text[:40]!r}; {pattern[:40]!r} must be simpler") from None

    return matches


# Texts


def _anything(term: Term, _run: RunState | None) -> Test:
    matches = term.inside()
    return lambda item: matches(item.name) or (isinstance(item, Node) and matches(item.qualified_op))


def _name(term: Term, _run: RunState | None) -> Test:
    matches = term.inside()
    return lambda item: matches(item.name)


def _op(term: Term, _run: RunState | None) -> Test:
    matches = term.whole()
    return lambda item: matches(item.op_type) or matches(item.qualified_op) if isinstance(item, Node) else None


def _tensor(term: Term, _run: RunState | None) -> Test:
    """A tensor by its name, and the nodes that read or make it."""
    matches = term.inside()

    def test(item: Item) -> bool:
        if isinstance(item, Tensor):
            return matches(item.name)
        return any(matches(t.name) for t in (*item.inputs, *item.outputs, *item.captures) if t is not None)

    return test


def _module(term: Term, _run: RunState | None) -> Test:
    matches = term.inside()
    return lambda item: matches("/".join(module_path(item))) if isinstance(item, Node) else None


# Types


def _tensors(item: Item) -> list[Tensor]:
    """What decides the type of an item: the tensor itself, or a node's outputs."""
    return [item] if isinstance(item, Tensor) else [t for t in item.outputs if t is not None]


def _dtype(term: Term, _run: RunState | None) -> Test:
    matches = term.whole()

    def test(item: Item) -> bool:
        dtypes = [tensor.dtype for tensor in _tensors(item)]
        return any(dtype is not None and _is_dtype(dtype, matches) for dtype in dtypes)

    return test


def _is_dtype(dtype: DType, matches: Matcher) -> bool:
    return matches(dtype.short) or matches(dtype.name)


def _shape(term: Term, run: RunState | None) -> Test:
    matches = term.whole(_crosses)
    observed = run.observed if run is not None else {}

    def test(item: Item) -> bool:
        for tensor in _tensors(item):
            for value_type in (tensor.stored_type, tensor.inferred_type, observed.get(tensor)):
                if (
                    isinstance(value_type, TensorType)
                    and value_type.shape is not None
                    and matches(shape_text(value_type.shape))
                ):
                    return True
        return False

    return test


def _crosses(text: str) -> str:
    """A shape or list as the window writes it: ``1x64`` and ``[1,64]`` as ``1×64``."""
    return re.sub(r"(?<=[\w*?)])[x,](?=[\w*?(-])", "×", text.strip("[]"))


# Attributes

_ATTRIBUTE = re.compile(r"(?P<name>[\w*?]+)?(?:(?P<how><=|>=|<|>|=)(?P<value>.*))?", re.DOTALL)


def _attr(term: Term, _run: RunState | None) -> Test:
    parts = _ATTRIBUTE.fullmatch(term.text) if term.form != "regex" else None
    if parts is None:
        matches = term.inside()
        return lambda item: any(matches(name) for name in _attributes(item)) if isinstance(item, Node) else None
    is_name = Term(parts["name"] or "*").whole()
    is_value = _value_test(parts["how"], parts["value"]) if parts["how"] else lambda _name, _value: True

    def test(item: Item) -> bool | None:
        if not isinstance(item, Node):
            return None
        return any(is_name(name) and is_value(name, value) for name, value in _attributes(item).items())

    return test


def _attributes(node: Node) -> dict[str, object]:
    return {**default_values(node.op_type, node.since_version, node.domain), **node.attributes}


def _value_test(how: str, text: str) -> Callable[[str, object], bool]:
    if not text:
        raise QueryError("wants a value, such as attr:axis=-1")
    wanted = _number(text)
    form = "regex" if len(text) > 2 and text[0] == text[-1] == "/" else "word"
    matches = Term(text.strip("/") if form == "regex" else text.strip('"'), form).whole(_crosses)

    def test(name: str, value: object) -> bool:
        if isinstance(value, TensorData):
            value = _small_value(value)
        if isinstance(value, int | float) and wanted is not None:
            return _HOW[how](float(value), wanted)
        if how != "=":
            return False
        if name in DTYPE_ATTRIBUTES and isinstance(value, int) and value in BY_CODE:
            return _is_dtype(BY_CODE[value], matches)
        return matches(_value_text(value))

    return test


def _small_value(data: TensorData) -> object:
    """The number of a scalar tensor, the list of a short one; None for what is not worth reading."""
    try:
        return data.array().tolist() if 0 < data.nbytes <= SMALL and len(data.dims) < 2 else None
    except DataError:
        return None


def _value_text(value: object) -> str:
    if isinstance(value, list):
        return "×".join(_value_text(v) for v in value[:64])
    if isinstance(value, float):
        return f"{value:g}"
    return value.name if isinstance(value, Graph) else str(value)


# Numbers

_HOW: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip
_COMPARISON = re.compile(r"(?P<how><=|>=|<|>|=)?(?P<number>[-+]?[\d.]+(?:e[-+]?\d+)?)(?P<unit>[^\d.]*)", re.I)
_MS = {"": 1.0, "ms": 1.0, "s": 1e3, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}
_BYTES = {"": 1.0, "b": 1.0} | {
    unit: float(base**power)
    for power, letter in enumerate("kmgt", 1)
    for unit, base in ((f"{letter}ib", 1024), (f"{letter}b", 1000), (letter, 1024))
}
_PLAIN = {"": 1.0, "%": 0.01}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _comparison(term: Term, units: dict[str, float], example: str) -> Callable[[float], bool]:
    """A bare number means "at least"."""
    parts = _COMPARISON.fullmatch(term.text)
    number = _number(parts["number"]) if parts else None
    unit = units.get(parts["unit"].casefold()) if parts else None
    if parts is None or number is None or unit is None:
        raise QueryError(f"wants a number, such as {example}")
    how, limit = _HOW[parts["how"] or ">="], number * unit
    return lambda value: how(value, limit)


def _size(term: Term, _run: RunState | None) -> Test:
    holds = _comparison(term, _BYTES, "size:>1MiB")
    return lambda item: item.data is not None and holds(item.data.nbytes) if isinstance(item, Tensor) else None


def _time(term: Term, run: RunState | None) -> Test:
    holds = _comparison(term, _MS, "time:>1ms")
    times = run.node_ms if run is not None else {}
    return lambda item: holds(times[item]) if isinstance(item, Node) and item in times else None


def _error(term: Term, run: RunState | None) -> Test:
    holds = _comparison(term, _PLAIN, "err:>1e-3")
    errors = run.disagreement if run is not None else {}
    return lambda item: holds(errors[item]) if isinstance(item, Node) and item in errors else None


def _provider(term: Term, run: RunState | None) -> Test:
    matches = term.whole()
    placements = run.placements if run is not None else {}

    def test(item: Item) -> bool | None:
        placement = placements.get(item) if isinstance(item, Node) else None
        provider = getattr(placement, "provider", None)
        return matches(provider.name) if provider is not None else None

    return test


# Kinds


def _types(tensor: Tensor) -> Iterator[TensorType]:
    yield from (t for t in (tensor.inferred_type, tensor.stored_type) if isinstance(t, TensorType))


def _unknown(item: Item) -> bool:
    """Whether the shape of a tensor, or of an output of a node, isn't fully known."""
    return any(
        tensor.unknown_because or not any(t.shape is not None and None not in t.shape for t in _types(tensor))
        for tensor in _tensors(item)
    )


KINDS: dict[str, Callable[[Item], bool]] = {
    "node": lambda item: isinstance(item, Node),
    "tensor": lambda item: isinstance(item, Tensor),
    "input": lambda item: isinstance(item, Tensor) and item in item.graph.inputs,
    "output": lambda item: isinstance(item, Tensor) and item in item.graph.outputs,
    "constant": lambda item: isinstance(item, Tensor) and item.data is not None,
    "computed": lambda item: isinstance(item, Tensor) and item.source is ValueSource.COMPUTED and item.data is None,
    "unused": lambda item: isinstance(item, Tensor) and not item.consumers and item not in item.graph.outputs,
    "unknown": _unknown,
    "branching": lambda item: isinstance(item, Node) and bool(item.subgraphs),
    "inner": lambda item: item.graph.parent is not None,
}
"""What ``is:`` may ask: unknown shapes, nodes that own subgraphs, what lies inside one."""


def _kind(term: Term, _run: RunState | None) -> Test:
    name = term.text.casefold()
    if name not in KINDS:
        raise QueryError(f"wants one of {', '.join(KINDS)}")
    return KINDS[name]


FIELDS: dict[str, Callable[[Term, RunState | None], Test]] = {
    "": _anything, "op": _op, "name": _name, "tensor": _tensor, "module": _module, "shape": _shape, "dtype": _dtype,
    "attr": _attr, "size": _size, "provider": _provider, "time": _time, "err": _error, "is": _kind,
}  # fmt: skip
RUN_FIELDS = ("provider", "time", "err", "shape")
