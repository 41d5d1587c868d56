"""Comparing two models: their files' facts, their graphs node by node, their constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from engine.diff.fields import attribute_changes, field_change, type_text
from engine.diff.matching import Matcher
from engine.diff.report import FieldChange, ModelDiff, NodePair, WeightPair
from engine.diff.values import difference
from engine.dims import Dim, Expr, Substitution, symbol, symbols_of
from engine.graph.ir import Graph, Model, Node, Tensor

Report = Callable[[str, int, int], None]


def diff(
    before: Model, after: Model, weights: bool = True, report: Report = lambda _phase, _done, _total: None
) -> ModelDiff:
    """Hold two models against each other.

    Parameters
    ----------
    before, after: opened models, shapes inferred.
    weights: read the constants and compare their values; else only their types.
    report: called with a phase and how far it is, between any two weights; it may raise to stop.
    """
    result = ModelDiff(before, after, list(_facts(before, after)))
    report("Matching", 0, 1)
    comparison = _GraphComparison(result)
    comparison.run(before.graph, after.graph)
    for place, (first, second) in enumerate(comparison.constants.items()):
        report("Comparing weights", place, len(comparison.constants))
        _compare_constants(first, second, weights, result)
    _unpaired_constants(comparison.constants, result)
    return result


class _GraphComparison:
    """Walks the pairs of graphs, outer before inner, and knows which tensor of the one is which of the other."""

    def __init__(self, result: ModelDiff) -> None:
        self._result = result
        self._names: dict[str, Dim] = {}  # those of the second model for the symbolic dims of the first
        self._symbols = Substitution(self._names)
        self._tensors: dict[Tensor, Tensor] = {}
        self._alone: set[Node] = set()  # nodes that are added or removed
        self._matched: list[tuple[Node, Node, str]] = []
        self.constants: dict[Tensor, Tensor] = {}

    def run(self, before: Graph, after: Graph) -> None:
        """Compare the main graphs and those inside their nodes."""
        self._names |= _symbols(before, after)
        self._match(before, after)
        for node, twin, how in self._matched:
            self._result.pairs.append(NodePair(node, twin, how, tuple(self._changes(node, twin))))
        self._result.facts += self._signature(before, after)

    def _match(self, before: Graph, after: Graph) -> None:
        """Match a pair of graphs and those inside their nodes."""
        matcher = Matcher(before, after)
        matcher.run()
        for first, second in _paired_inputs(before.inputs, after.inputs):
            self._tensors[first] = second
            self._pair_constants(first, second)
        for node, twin in matcher.pairs.items():
            for a, b in zip(node.outputs, twin.outputs):
                if a is not None and b is not None:
                    self._tensors[a] = b
            for a, b in zip(node.inputs, twin.inputs):
                self._pair_constants(a, b)
        self._alone.update(matcher.added, matcher.removed)
        self._result.added += matcher.added
        self._result.removed += matcher.removed
        order = {node: place for place, node in enumerate(after.order)}
        pairs = sorted(matcher.pairs.items(), key=lambda pair: order.get(pair[1], len(order)))
        for node, twin in pairs:
            self._matched.append((node, twin, matcher.how[node]))
            for name, length in _lengths(node, twin):
                self._names.setdefault(name, length)
            for key in node.subgraphs.keys() & twin.subgraphs.keys():
                self._match(node.subgraphs[key], twin.subgraphs[key])

    def _pair_constants(self, first: Tensor | None, second: Tensor | None) -> None:
        if first is not None and second is not None and first.data is not None and second.data is not None:
            self.constants.setdefault(first, second)

    def _changes(self, node: Node, twin: Node) -> Iterator[FieldChange]:
        yield from field_change("operator", node.qualified_op, twin.qualified_op)
        if node.qualified_op == twin.qualified_op:
            yield from field_change("operator version", str(node.since_version), str(twin.since_version))
            yield from attribute_changes(node, twin)
        yield from self._wiring(node, twin)
        for slot, (a, b) in enumerate(zip(node.outputs, twin.outputs)):
            if a is not None and b is not None:
                yield from field_change(f"output {slot} type", type_text(a, self._symbols), type_text(b))

    def _wiring(self, node: Node, twin: Node) -> Iterator[FieldChange]:
        """Inputs that come from elsewhere, and outputs that only one side has."""
        for slot in range(max(len(node.inputs), len(twin.inputs))):
            a = node.inputs[slot] if slot < len(node.inputs) else None
            b = twin.inputs[slot] if slot < len(twin.inputs) else None
            if not self._same_source(a, b):
                yield FieldChange(f"input {slot}", _source(a), _source(b))
        a_count, b_count = (sum(t is not None for t in n.outputs) for n in (node, twin))
        yield from field_change("outputs", str(a_count), str(b_count))

    def _same_source(self, a: Tensor | None, b: Tensor | None) -> bool:
        if a is None or b is None:
            return a is b
        if self._tensors.get(a) is b:
            return True
        a, b = self._past_alone(a), self._past_alone(b)
        if a.data is not None and b.data is not None:
            return True
        return self._tensors.get(a) is b

    def _past_alone(self, tensor: Tensor) -> Tensor:
        """What a chain of added or removed nodes begins with: they stand in the report themselves."""
        seen: set[Tensor] = set()  # a chain may end in a cycle
        while tensor.producer in self._alone and tensor.data is None and tensor not in seen:
            seen.add(tensor)
            first = next(iter(tensor.producer.inputs), None)
            if first is None:
                break
            tensor = first
        return tensor

    def _signature(self, before: Graph, after: Graph) -> Iterator[FieldChange]:
        """Inputs and outputs of the model."""
        for kind, first, second in (
            ("input", before.feeds, after.feeds), ("output", before.outputs, after.outputs)
        ):  # fmt: skip
            pairs = dict(_paired_inputs(first, second))
            for tensor in first:
                twin = pairs.get(tensor)
                then = f"{twin.name} {type_text(twin)}" if twin else ""
                same_type = twin is not None and type_text(tensor, self._symbols) == type_text(twin)
                if twin is None or twin.name != tensor.name or not same_type:
                    yield FieldChange(f"{kind} of the model", f"{tensor.name} {type_text(tensor)}", then)
            for tensor in set(second) - set(pairs.values()):
                yield FieldChange(f"{kind} of the model", "", f"{tensor.name} {type_text(tensor)}")
            orders = [[tensor.name for tensor in tensors] for tensors in (first, second)]
            if sorted(orders[0]) == sorted(orders[1]):  # else the names themselves have been told
                yield from field_change(f"order of the {kind}s", *map(", ".join, orders))


def _source(tensor: Tensor | None) -> str:
    """Where an input comes from, in words."""
    if tensor is None:
        return "absent"
    if tensor.producer is not None and tensor.data is None:
        return f"{tensor.producer.name} output {tensor.producer_slot}"
    return f"constant {tensor.name}" if tensor.data is not None else f"input {tensor.name}"


def _paired_inputs(before: list[Tensor], after: list[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """By name, the others by place if there are as many of them."""
    names = {tensor.name: tensor for tensor in after}
    yield from ((tensor, names[tensor.name]) for tensor in before if tensor.name in names)
    known = {tensor.name for tensor in before}
    first = [tensor for tensor in before if tensor.name not in names]
    second = [tensor for tensor in after if tensor.name not in known]
    if len(first) == len(second):
        yield from zip(first, second)


def _symbols(before: Graph, after: Graph) -> dict[str, Dim]:
    """The names of `after` for the symbolic dims of `before`, where the inputs show which is which."""
    names: dict[str, Dim] = {}
    for a, b in _paired_inputs(before.inputs, after.inputs):
        for first, second in zip(a.inferred_shape or (), b.inferred_shape or ()):
            if isinstance(first, Expr) and isinstance(second, Expr) and str(first) in first.symbols():
                names.setdefault(str(first), second)
    return names


def _lengths(node: Node, twin: Node) -> Iterator[tuple[str, Dim]]:
    """The twin's symbols for lengths that only the run decides: they are named after their node."""
    dims = [dim for tensor in node.outputs if tensor is not None for dim in tensor.inferred_shape or ()]
    for name in {name for dim in dims for name in symbols_of(dim)}:
        if name.startswith(f"{node.name}_"):
            yield name, symbol(twin.name + name.removeprefix(node.name))


# Facts of the files


def _facts(before: Model, after: Model) -> Iterator[FieldChange]:
    yield from field_change("IR version", str(before.ir_version), str(after.ir_version))
    yield from _mapping_changes("opset", before.opset_imports, after.opset_imports)
    for what, first, second in (
        ("producer", f"{before.producer_name} {before.producer_version}".strip(),
         f"{after.producer_name} {after.producer_version}".strip()),
        ("graph name", before.graph.name, after.graph.name),
        ("domain", before.domain, after.domain),
        ("model version", str(before.model_version), str(after.model_version)),
        ("description", before.doc_string, after.doc_string),
    ):  # fmt: skip
        yield from field_change(what, first, second)
    yield from _mapping_changes("metadata", before.metadata, after.metadata)
    names = [{f"{domain}::{name}": "" for domain, name, _ in model.functions} for model in (before, after)]
    for name in names[0].keys() - names[1].keys():
        yield FieldChange("function", name, "")
    for name in names[1].keys() - names[0].keys():
        yield FieldChange("function", "", name)


def _mapping_changes(what: str, before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[FieldChange]:
    for key in dict.fromkeys((*before, *after)):
        name = key or "ai.onnx"
        yield from field_change(f"{what} {name}", str(before.get(key, "")), str(after.get(key, "")))


# Constants


def _compare_constants(first: Tensor, second: Tensor, values: bool, result: ModelDiff) -> None:
    a, b = first.data, second.data
    assert a is not None
    assert b is not None
    result.weights_compared += 1
    changes = (
        *field_change("type", f"{a.dtype}{list(a.dims)}", f"{b.dtype}{list(b.dims)}"),
        *field_change("problem", a.problem, b.problem),
    )
    apart = difference(a, b) if values and a.dims == b.dims and not a.problem and not b.problem else None
    if changes or (apart is not None and not apart.equal):
        result.weights.append(WeightPair(first, second, changes, apart))


def _unpaired_constants(pairs: Mapping[Tensor, Tensor], result: ModelDiff) -> None:
    """Constants that only one model reads."""
    taken = set(pairs.values())
    for model, known, found in (
        (result.before, pairs, result.removed_weights), (result.after, taken, result.added_weights)
    ):  # fmt: skip
        for graph in model.graph.walk():
            found += [t for t in graph.tensors.values() if t.data is not None and t.consumers and t not in known]
