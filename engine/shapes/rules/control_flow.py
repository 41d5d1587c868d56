"""If, Loop and Scan: their bodies are inferred in place, from facts of what goes in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine import dtypes
from engine.dims import Dim, Expr, is_at_least, maximum, symbols_of
from engine.graph.ir import Graph
from engine.graph.types import TensorType, format_shape
from engine.shapes import values
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import Fact, ShapeClash, public_type
from engine.shapes.merging import merge_types
from engine.shapes.registry import rule

_MAX_ROUNDS = 4
"""Rounds after which a loop's carried types have settled: dims only ever go from known to unknown, all at once."""


def _body(call: Call, name: str) -> Graph:
    graph = call.node.subgraphs.get(name)
    if graph is None:
        raise ShapeClash(f"attribute {name!r} is missing")
    return graph


@rule("If")
def if_(call: Call) -> list[Any]:
    """What both branches have in common, or the taken one's outputs where the condition is known."""
    condition = call.value(0)
    taken = condition.reshape(-1)[0] if condition is not None and condition.size == 1 else None
    then, other = (_body(call, name) for name in ("then_branch", "else_branch"))
    # A branch that is not taken may hold what could not run: squeezing an axis that is not 1, say.
    yes = call.scope.graph(then, [], runs=None if taken is None else bool(taken))
    no = call.scope.graph(other, [], runs=None if taken is None else not taken)
    if taken is not None:
        return list(yes if taken else no)
    return [_either(call, slot, a, b) for slot, (a, b) in enumerate(zip(yes, no))]


def _either(call: Call, slot: int, a: Fact, b: Fact) -> Fact:
    if a.type is None or b.type is None:
        return Fact(because=a.because or b.because)
    because = _why_apart(call, a, b)
    merged = merge_types(a.type, b.type, lambda axis: call.unknown_dim((slot, axis), because))
    unranked = merged is None or (isinstance(merged, TensorType) and merged.shape is None)
    return Fact(merged, values.merge(a.value, b.value), (a.because or b.because or because) if unranked else "")


def _why_apart(call: Call, a: Fact, b: Fact) -> str:
    """How the types of the branches differ; where both are as little known, why the first of them is not."""
    first, second = _written(a), _written(b)
    if first == second:
        found = call.scope.reason(a) or call.scope.reason(b)
        return found or f"both branches of {call.node.name!r} leave it open: {first}"
    return f"the branches of {call.node.name!r} differ: {first} and {second}"


def _written(fact: Fact) -> str:
    type_ = public_type(fact.type)
    return format_shape(type_.shape) if isinstance(type_, TensorType) else str(type_)


@rule("Loop")
def loop(call: Call) -> list[Any]:
    """Carried values of types that hold for every round; scan outputs stacked along a new first axis."""
    body = _body(call, "body")
    carried = [_with_value(call, slot) for slot in call.slots[2:]]
    counter = call.length("round")
    round_number = Fact(TensorType(dtypes.INT64, ()), values.scalar(counter))
    go_on = Fact(TensorType(dtypes.BOOL, ()), values.scalar(True))

    def one_round(state: list[Fact]) -> list[Fact]:
        return call.scope.graph(body, [round_number, go_on, *state])

    state, outputs = _settle(call, carried, one_round, skip=1)
    always = bool(outputs) and outputs[0].value is not None and outputs[0].value.reshape(-1)[0] is True
    if not always:
        # The condition decides: what is seen after the loop may come from any round, which the state covers.
        outputs = call.scope.graph(body, [round_number, replace(go_on, value=None), *state])
    trips = _trips(call, always)
    scans = [_stacked(fact, trips, 0) for fact in outputs[1 + len(carried) :]]
    return [_outside(call, counter, slot, fact) for slot, fact in enumerate([*state, *scans])]


def _outside(call: Call, counter: Expr, slot: int, fact: Fact) -> Fact:
    """A fact as it holds after the loop, where its round counter means nothing."""
    type_ = fact.type
    if not isinstance(type_, TensorType) or type_.shape is None:
        return replace(fact, value=None)
    because = f"it depends on the round of {call.node.name!r}"
    name = str(counter)
    shape = tuple(
        call.unknown_dim(("outside", slot, i), because) if name in symbols_of(d) else d
        for i, d in enumerate(type_.shape)
    )
    inside = fact.value is not None and any(name in symbols_of(e) for e in fact.value.reshape(-1))
    return Fact(type_.with_shape(shape), None if inside else fact.value, fact.because)


def _with_value(call: Call, slot: int) -> Fact:
    fact = call.fact(slot)
    return Fact(fact.type, call.value(slot), fact.because) if call.has(slot) else Fact(because="it is not given")


def _settle(
    call: Call, initial: list[Fact], one_round: Callable[[list[Fact]], list[Fact]], skip: int
) -> tuple[list[Fact], list[Fact]]:
    """Facts of the carried values that hold before and after each round, and the body's outputs under them."""
    state = initial
    for number in range(_MAX_ROUNDS):
        outputs = one_round(state)
        after = outputs[skip : skip + len(state)]
        merged = [_carried(call, i, a, b) for i, (a, b) in enumerate(zip(state, after))] + state[len(after) :]
        if all(a.type == b.type and values.same_values(a.value, b.value) for a, b in zip(state, merged)):
            return merged, outputs
        state = merged
        if number == _MAX_ROUNDS - 2:
            state = [_forgotten(call, f) for f in state]
    return state, outputs


def _carried(call: Call, index: int, before: Fact, after: Fact) -> Fact:
    because = f"it changes from round to round of {call.node.name!r}"
    if before.type is None or after.type is None:
        return Fact(because=before.because or after.because or because)
    merged = merge_types(before.type, after.type, lambda axis: call.unknown_dim((index, axis), because))
    unranked = merged is None or (isinstance(merged, TensorType) and merged.shape is None)
    reason = (before.because or after.because or because) if unranked else ""
    return Fact(merged, values.merge(before.value, after.value), reason)


def _forgotten(call: Call, fact: Fact) -> Fact:
    """A fact of which only the dtype is sure."""
    dtype = fact.type.dtype if isinstance(fact.type, TensorType) else None
    unsure = f"it changes from round to round of {call.node.name!r} in ways not followed"
    return Fact(TensorType(dtype) if isinstance(fact.type, TensorType) else fact.type, None, fact.because or unsure)


def _trips(call: Call, always: bool) -> Dim:
    """How often a loop runs: its trip count, where its condition is true throughout."""
    limit = call.value(0)
    count = limit.reshape(-1)[0] if limit is not None and limit.size == 1 else None
    start = call.value(1) if call.has(1) else values.scalar(True)
    if start is not None and start.size == 1 and start.reshape(-1)[0] is False:
        return 0
    goes = start is not None and start.size == 1 and start.reshape(-1)[0] is True
    if isinstance(count, int) and count <= 0:
        return 0
    if goes and always and isinstance(count, (int, Expr)):
        return count if is_at_least(count, 0) else maximum(count, 0)
    return call.length("trips")


def _stacked(fact: Fact, count: Dim, axis: int) -> Fact:
    """What is stacked from one value a round."""
    type_ = fact.type
    if not isinstance(type_, TensorType) or type_.shape is None:
        return Fact(TensorType(type_.dtype) if isinstance(type_, TensorType) else None, None, fact.because)
    at = axis_in(axis, len(type_.shape) + 1)
    return Fact(type_.with_shape((*type_.shape[:at], count, *type_.shape[at:])), None, fact.because)


@rule("Scan")
def scan(call: Call) -> list[Any]:
    """State values of types that hold for every step; outputs stacked along their scan axes."""
    body = _body(call, "body")
    scanned = call.required_int("num_scan_inputs")
    batched = call.node.since_version < 9  # opset 8: sequence_lens first, and a batch axis before all others
    slots = list(call.slots[1:] if batched else call.slots)
    if not 0 < scanned <= len(slots):
        raise ShapeClash(f"it scans {scanned} of {len(slots)} inputs")
    states, sequences = slots[: len(slots) - scanned], slots[len(slots) - scanned :]
    ranks = [len(call.shape(slot)) for slot in sequences]
    axes = call.optional_ints("scan_input_axes") or [0] * scanned
    axes = [1] * scanned if batched else [axis_in(a, r) for a, r in zip(axes, ranks)]
    slices = [_sliced(call, slot, axis, batched) for slot, axis in zip(sequences, axes)]
    lengths = [call.shape(slot)[axis] for slot, axis in zip(sequences, axes)]
    known = [n for n in lengths if isinstance(n, int)]
    if len(set(known)) > 1:
        raise ShapeClash(f"its scan inputs have different lengths {known}")
    length = known[0] if known else lengths[0]
    initial = [_unbatched(_with_value(call, slot), batched) for slot in states]
    state, outputs = _settle(call, initial, lambda s: call.scope.graph(body, [*s, *slices]), skip=0)
    made = outputs[len(state) :]
    out_axes = call.optional_ints("scan_output_axes") or [0] * len(made)
    results = [*state, *(_stacked(f, length, a) for f, a in zip(made, out_axes))]
    if batched and sequences:
        batch = call.shape(sequences[0])[0]
        results = [_stacked(f, batch, 0) for f in results]
    return results


def _sliced(call: Call, slot: int, axis: int, batched: bool) -> Fact:
    shape = call.shape(slot)
    kept = tuple(d for i, d in enumerate(shape) if i != axis and not (batched and i == 0))
    return Fact(TensorType(call.dtype(slot), kept))


def _unbatched(fact: Fact, batched: bool) -> Fact:
    if batched and isinstance(fact.type, TensorType) and fact.type.shape:
        return Fact(fact.type.with_shape(fact.type.shape[1:]))
    return fact
