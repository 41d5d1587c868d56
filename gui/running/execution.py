"""A comparison run as the function of a job: progress and cancelling through an observer, results as a `RunState`."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from engine import dtypes
from engine.compare import Comparison, TensorAgreement, compare
from engine.errors import EngineError, NodeError
from engine.feeds import bound_dims, make_feeds
from engine.graph.ir import Model, Node, Tensor
from engine.graph.types import SequenceType, TensorType, Type
from engine.providers import ExecutionProvider, provider_named
from engine.session import Keep, Observer, RunResult, Session, SessionOptions
from engine.session.stepping import parse_feedback, run_steps
from engine.shapes.observed import check_observed
from gui.background.jobs import Task
from gui.running.made_over import MadeOver
from gui.running.plan import RunPlan
from gui.running.state import RunState
from gui.running.times import run_times


class PartialRun(Exception):
    """A run that ended early: why, and what it had computed."""

    def __init__(self, error: EngineError, state: RunState) -> None:
        super().__init__(str(error))
        self.error = error
        self.state = state


class TaskObserver(Observer):
    """Reports each node of the main graph to a job's task, as part of all runs; stops when the task is cancelled."""

    def __init__(self, task: Task, nodes: int) -> None:
        self._task = task
        self._nodes = max(nodes, 1)
        self._run, self._runs = 0, 1
        self.word = "Run"

    def start_run(self, run: int, runs: int) -> None:
        """Run number `run` of `runs` is about to start."""
        self._run, self._runs = run, runs

    def before_node(self, node: Node) -> None:
        if node.graph.owner is None:
            text = f"{self.word} {min(self._run + 1, self._runs)} of {self._runs}"
            self._task.report(text, self._run * self._nodes + node.index, self._runs * self._nodes, node.name)

    def should_stop(self) -> bool:
        return self._task.cancelled()


def execute(model: Model, plan: RunPlan, task: Task) -> RunState:
    """Make the inputs, run both sides, and gather what the panes show.

    Raises
    ------
    PartialRun: a node failed; what came before it is there. EngineError: the run could not start.
    """
    task.report("Making inputs")
    feeds: Mapping[str, Any] = make_feeds(model, plan.dims, plan.input_specs(), plan.seed)
    task.check()
    task.report("Preparing")
    providers = [provider_named(name) for name in plan.providers]
    observer = TaskObserver(task, len(model.graph.order))
    try:
        feeds = _advance(model, plan, providers, feeds, observer)
        comparison = compare(
            model, feeds, providers, plan.warmup, plan.repeat, observer, plan.per_node,
            on_run=observer.start_run, overrides=plan.overrides, mode=plan.mode,
        )  # fmt: skip
    except NodeError as error:
        raise PartialRun(error, _trace(model, plan, providers, feeds, observer)) from error
    state = _state(comparison, plan, feeds)
    state.mismatches = check_observed(model, state.values, bound_dims(model, feeds))
    return state


def _advance(
    model: Model, plan: RunPlan, providers: Sequence[ExecutionProvider], feeds: Mapping[str, Any],
    observer: TaskObserver,
) -> Mapping[str, Any]:
    """What the last of the plan's steps is fed: its states come from the steps before it."""
    if plan.steps <= 1:
        return feeds
    feedback = parse_feedback(plan.feedback, model)
    observer.word = "Step"
    session = _session(model, plan, providers, observer)
    for step, (fed, _result) in enumerate(run_steps(session, feeds, plan.steps, feedback, observer, Keep.NONE)):
        observer.start_run(step + 1, plan.steps)
        feeds = fed
    observer.word = "Run"
    return feeds


def _session(
    model: Model, plan: RunPlan, providers: Sequence[ExecutionProvider], observer: TaskObserver
) -> Session:
    """The session that the chosen providers' side has in the comparison."""
    return Session(model, providers, SessionOptions(mode=plan.mode), plan.overrides, observer)


def _trace(
    model: Model, plan: RunPlan, providers: Sequence[ExecutionProvider], feeds: Mapping[str, Any],
    observer: TaskObserver,
) -> RunState:
    """What a run computes before the node that fails: the timed runs keep nothing, so it runs once more."""
    try:
        result = _session(model, plan, providers, observer).run(feeds, observer, Keep.ALL)
    except NodeError as error:
        result = error.partial if isinstance(error.partial, RunResult) else RunResult()
    return RunState(
        result=result, values=result.values, observed=_observed(result.values), dims=dict(plan.dims), partial=True,
        feeds=dict(feeds),
    )  # fmt: skip


def _state(comparison: Comparison, plan: RunPlan, feeds: Mapping[str, Any]) -> RunState:
    mixed = comparison.mixed
    state = RunState(
        comparison=comparison,
        result=mixed.result,
        node_ms={node: median(seconds) * 1e3 for node, seconds in mixed.node_seconds.items()},
        placements=mixed.session.users_placements(),
        values=mixed.result.values,
        observed=_observed(mixed.result.values),
        disagreement=_disagreement(comparison.nodes or []),
        dims=dict(plan.dims),
        feeds=dict(feeds),
    )
    if mixed.session.optimised is not None:
        state.made_over = MadeOver.of(comparison.cpu_only.session.model, mixed.session.optimised)
    state.times = run_times(state, comparison)
    return state


def _observed(values: Mapping[Tensor, Any]) -> dict[Tensor, Type]:
    types = {tensor: observed_type(value) for tensor, value in values.items()}
    return {tensor: kind for tensor, kind in types.items() if kind is not None}


def observed_type(value: Any) -> Type | None:
    """The type that a value of a run has; None for absent values and maps."""
    if isinstance(value, np.ndarray):
        return TensorType(dtypes.from_numpy(value.dtype), value.shape)
    if isinstance(value, list):
        return SequenceType(observed_type(value[0]) if value else None)
    return None


def _disagreement(entries: list[TensorAgreement]) -> dict[Node, float]:
    worst: dict[Node, float] = {}
    for entry in entries:
        agreement = entry.agreement
        difference = agreement.max_rel if agreement.max_rel is not None else (0.0 if agreement.agrees else float("inf"))
        if entry.node is not None:
            worst[entry.node] = max(worst.get(entry.node, 0.0), difference)
    return worst
