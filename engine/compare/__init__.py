"""Comparison: a model on the chosen providers against CPU only, in time and in numbers.

`compare` runs both sides on the same feeds, and holds outputs, every tensor, values of a file and a second opinion
together; `Comparison` says what came out, in figures and in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.agreement import Tolerances
from engine.compare.against import compare_expected, expected_tensors
from engine.compare.comparison import SAME_PATH, Comparison
from engine.compare.nodes import TensorAgreement, compare_nodes, compare_outputs, run_order
from engine.compare.nonfinite import NonFinite, counts_text, find_nonfinite, nonfinite_outputs
from engine.compare.opinion import SecondOpinion, ask
from engine.compare.side import Side, Watch, measure
from engine.compare.undefined import unsettled_operators
from engine.errors import InputError
from engine.graph.ir import Model
from engine.kernels.registry import Value
from engine.providers import ExecutionProvider, default_providers, provider_named
from engine.session import Mode, Observer

__all__ = [
    "SAME_PATH", "Comparison", "NonFinite", "SecondOpinion", "Side", "TensorAgreement", "compare", "counts_text",
    "expected_tensors", "find_nonfinite", "run_order",
]  # fmt: skip


def compare(
    model: Model,
    feeds: Mapping[str, Value],
    providers: Sequence[ExecutionProvider] | None = None,
    warmup: int = 2,
    repeat: int = 10,
    observer: Observer | None = None,
    per_node: bool = False,
    against: Mapping[str, Value] | None = None,
    tolerances: Tolerances | float | Mapping[str, float] | None = None,
    on_run: Callable[[int, int], None] | None = None,
    overrides: Mapping[str, str] | None = None,
    second_opinion: ExecutionProvider | None = None,
    values: bool = True,
    mode: Mode | str = Mode.FAITHFUL,
) -> Comparison:
    """Run the model on the chosen providers and on the CPU alone, `warmup` + `repeat` times each, and compare.

    The timed runs keep nothing but outputs. What is compared or looked at besides comes from one more run of a side,
    which keeps every tensor.

    Parameters
    ----------
    providers: in order of preference; the default order when None.
    observer: watches every run of both sides, and can stop them.
    per_node: compare every tensor, not the outputs alone.
    against: expected values by tensor name; see `expected_tensors` for the names understood.
    tolerances: what is allowed; a number or a mapping by dtype changes the relative tolerances that
        `Tolerances.for_providers` gives for the providers that took nodes.
    on_run: told (runs done, runs in all) before each run and at the end.
    overrides: the mixed side's own placements (see `Placer.place`).
    second_opinion: runs the model once too, and its values are held against those of both sides.
    values: keep the mixed side's tensors to be looked at.
    mode: the mixed side's; the other side always runs the graph as stored.

    Raises
    ------
    InputError: feeds, `against` or `overrides` do not fit the model, or `repeat` is less than 1.
    CannotRunError, NodeError, RunCancelled: as `Session.run`.
    """
    if repeat < 1 or warmup < 0:
        raise InputError(f"repeat must be at least 1 and warmup at least 0, not {repeat} and {warmup}")
    expected = None if against is None else expected_tensors(model, against)
    chosen = default_providers() if providers is None else providers
    mixed = Side.prepare(model, chosen, overrides, mode, observer)
    cpu_only = Side.prepare(model, [provider_named("CPU")], observer=observer)
    asked = None if second_opinion is None else Side.prepare(model, [second_opinion])
    traced = [side for side, wanted in ((mixed, values or per_node or expected is not None), (cpu_only, per_node),
                                        (asked, True)) if wanted and side is not None]  # fmt: skip
    watch = Watch(observer, on_run, 2 * (warmup + repeat) + len(traced))
    in_blocks = measure(mixed, cpu_only, feeds, warmup, repeat, watch)
    for side in traced:
        side.trace(feeds, watch)
    watch.finish()

    allowed = _tolerances(mixed, tolerances)
    comparison = Comparison(mixed, cpu_only, allowed, compare_outputs(model, mixed.result, cpu_only.result, allowed))
    comparison.nonfinite = nonfinite_outputs(mixed.result.outputs)
    comparison.notes += _notes(comparison, in_blocks)
    if per_node:
        comparison.nodes = list(compare_nodes(model, mixed.result.values, cpu_only.result.values, allowed))
        comparison.first_nonfinite = find_nonfinite(model.graph, mixed.result.values, cpu_only.result.values)
    if expected is not None:
        comparison.against = compare_expected(model, mixed.result, expected, allowed)
    if asked is not None:
        comparison.second_opinion = ask(model, asked, mixed, cpu_only, allowed, per_node)
    return comparison


def _tolerances(mixed: Side, wanted: Tolerances | float | Mapping[str, float] | None) -> Tolerances:
    if isinstance(wanted, Tolerances):
        return wanted
    allowed = Tolerances.for_providers(mixed.placement)
    return allowed if wanted is None else allowed.with_rtol(wanted)


def _notes(comparison: Comparison, in_blocks: bool) -> list[str]:
    notes = []
    if comparison.is_same_work:
        notes.append(SAME_PATH)
    if in_blocks:
        notes.append("the sides ran in blocks, not in turns: threads of a provider stay busy after its runs")
    if not comparison.mixed.warmup_ms:
        notes.append("without warm-up the first timed run is the cold one")
    return notes + unsettled_operators(comparison.mixed.session.model)
