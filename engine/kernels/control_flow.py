"""If, Loop, Scan and SequenceMap: the operators whose bodies are graphs. They run on the host."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.graph.ir import Graph, Tensor
from engine.kernels.axes import Array, along, as_ints, normalise_axis
from engine.kernels.registry import KernelContext, Value, kernel

_LATE = (19, 21, 23, 24, 25)


@kernel("If", 1, 11, 13, 16, *_LATE, generic=False)
def if_(ctx: KernelContext, condition: Array, *, then_branch: Graph, else_branch: Graph) -> tuple[Value, ...]:
    return tuple(ctx.run_graph(then_branch if _truth(condition) else else_branch, []))


@kernel("Loop", 1, 11, 13, 16, *_LATE, generic=False)
def loop(
    ctx: KernelContext, trip_count: Array | None, condition: Array | None, *carried: Value, body: Graph
) -> tuple[Value, ...]:
    """Run `body` while its condition holds and trips are left.

    An absent trip count means no limit, an absent condition means true. Outputs are the carried values after the last
    trip, then each scan output stacked over the trips on a new first axis.
    """
    trips = None if trip_count is None else as_ints(trip_count)[0]
    going = condition is None or _truth(condition)
    state = list(carried)
    stacks: list[list[Array]] = [[] for _ in body.outputs[1 + len(state) :]]
    trip = 0
    while going and (trips is None or trip < trips):
        given = np.array(trip, np.int64), np.array(True)
        again, *results = ctx.run_graph(body, [*given, *state])
        # The specification ignores this where the condition input is absent; ONNX Runtime heeds it, and so do models.
        going = _truth(again)
        state = results[: len(state)]
        for stack, value in zip(stacks, results[len(state) :]):
            stack.append(value)
        trip += 1
    declared = body.outputs[1 + len(state) :]
    return (*state, *(_stack(stack, t, 0) for stack, t in zip(stacks, declared)))


@kernel("Scan", 9, 11, 16, *_LATE, generic=False)
def scan(
    ctx: KernelContext, *inputs: Value, body: Graph, num_scan_inputs: int, scan_input_axes: list[int] | None = None,
    scan_input_directions: list[int] | None = None, scan_output_axes: list[int] | None = None,
    scan_output_directions: list[int] | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    """Run `body` once per slice of the scan inputs; stack what it scans out along the axes asked for."""
    states = len(inputs) - num_scan_inputs
    outputs = len(body.outputs) - states
    sequences = [
        _oriented(x, axis, backwards) for x, axis, backwards in zip(
            inputs[states:], scan_input_axes or [0] * num_scan_inputs,
            scan_input_directions or [0] * num_scan_inputs,
        )
    ]  # fmt: skip
    state, stacks = _scan_steps(ctx, body, list(inputs[:states]), sequences, len(sequences[0]))
    results = []
    for stack, tensor, axis, backwards in zip(
        stacks, body.outputs[states:], scan_output_axes or [0] * outputs, scan_output_directions or [0] * outputs
    ):
        results.append(_stack(stack[::-1] if backwards else stack, tensor, axis))
    return (*state, *results)


@kernel("Scan", 8, generic=False)
def scan_8(
    ctx: KernelContext, lengths: Array | None, *inputs: Array, body: Graph, num_scan_inputs: int,
    directions: list[int] | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    """Version 8 scans axis 1 of each batch on its own; steps beyond a sequence's length are zero."""
    states = len(inputs) - num_scan_inputs
    longest = inputs[states].shape[1]
    finals: list[list[Array]] = [[] for _ in range(states)]
    stacked: list[list[Array]] = [[] for _ in body.outputs[states:]]
    for batch in range(inputs[states].shape[0]):
        steps = longest if lengths is None else int(lengths[batch])
        sequences = [
            _oriented(x[batch, :steps], 0, backwards)
            for x, backwards in zip(inputs[states:], directions or [0] * num_scan_inputs)
        ]
        state, stacks = _scan_steps(ctx, body, [x[batch] for x in inputs[:states]], sequences, steps)
        for final, value in zip(finals, state):
            final.append(value)
        for total, stack, tensor in zip(stacked, stacks, body.outputs[states:]):
            steps_out = _stack(stack, tensor, 0)
            padded = np.zeros((longest, *steps_out.shape[1:]), steps_out.dtype)
            padded[:steps] = steps_out
            total.append(padded)
    return tuple(np.stack(values) for values in (*finals, *stacked))


def _scan_steps(
    ctx: KernelContext, body: Graph, state: list[Value], sequences: Sequence[Array], steps: int
) -> tuple[list[Value], list[list[Array]]]:
    """The state after all steps, and per scan output its values step by step."""
    stacks: list[list[Array]] = [[] for _ in body.outputs[len(state) :]]
    for step in range(steps):
        results = ctx.run_graph(body, [*state, *(x[step] for x in sequences)])
        state, scanned = results[: len(state)], results[len(state) :]
        for stack, value in zip(stacks, scanned):
            stack.append(value)
    return state, stacks


def _oriented(x: Array, axis: int, backwards: int) -> Array:
    """A view of a scan input whose first axis runs in scan order."""
    axis = normalise_axis(axis, x.ndim)
    if backwards:
        x = x[along(axis, x.ndim, slice(None, None, -1))]
    return np.moveaxis(x, axis, 0)


def _stack(values: list[Array], declared: Tensor, axis: int) -> Array:
    """The values on a new axis. Of no values, dtype and dims are what the body declares; unknown dims are 0."""
    if values:
        return np.stack(values, axis=axis)
    dims = declared.inferred_shape if declared.inferred_shape is not None else declared.stored_shape
    known = [d if isinstance(d, int) else 0 for d in dims or ()]
    known.insert(normalise_axis(axis, len(known) + 1), 0)
    return np.zeros(known, declared.dtype.numpy if declared.dtype else np.float32)


def _truth(condition: Any) -> bool:
    return bool(np.asarray(condition).reshape(-1)[0])


@kernel("SequenceMap", 17, generic=False)
def sequence_map(ctx: KernelContext, sequence: list[Value], *others: Value, body: Graph) -> tuple[Value, ...]:
    """Apply `body` to each element; other inputs are sequences of the same length, or the same tensor each time."""
    columns: list[list[Value]] = [[] for _ in body.outputs]
    for i, element in enumerate(sequence):
        given = [other[i] if isinstance(other, list) else other for other in others]
        for column, value in zip(columns, ctx.run_graph(body, [element, *given])):
            column.append(value)
    return tuple(columns)
