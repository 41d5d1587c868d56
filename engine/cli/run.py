"""``oinfer run``: run a model once, several times, or step by step."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from engine.cli import inputs
from engine.cli.model import open_named
from engine.cli.output import escape, heading, json_finding, print_json, print_table, require_folder
from engine.cli.patience import LongLoops
from engine.cli.values import describe, figures_json, print_feeds, value_row
from engine.compare.side import copy_json
from engine.diagnostics import Diagnostic
from engine.errors import InputError
from engine.feeds import bound_dims
from engine.feeds.files import save_arrays
from engine.graph.ir import Model
from engine.providers.placement import placement_counts, refusal_lines
from engine.session import (
    Keep,
    ObserverGroup,
    RunResult,
    Session,
    SessionOptions,
    ShapeObserver,
    parse_feedback,
    run_steps,
    suggest_feedback,
)
from engine.session.stepping import ARGMAX, Feedback
from engine.shapes.observed import check_observed
from engine.words import bytes_text

MAX_NAME = 200  # characters of a name in a message


@dataclass(slots=True)
class Runs:
    """The last result, the milliseconds of every timed run, in steps the tokens that were chosen on the way, and where
    the last run of the same feeds did not make what had been inferred."""

    result: RunResult = field(default_factory=RunResult)
    ms: list[float] = field(default_factory=list)
    tokens: dict[str, list[Any]] = field(default_factory=dict)
    mismatches: list[Diagnostic] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    inputs.add_arguments(parser)
    parser.add_argument("--outputs", metavar="F.npz", help="write the outputs here, each under its name")
    parser.add_argument("--all-tensors", action="store_true", help="with --outputs: write every tensor of the run")
    parser.add_argument("--tensors", metavar="PATTERN", help="with --outputs: write the tensors whose names match "
                        "too, such as '*attn*'")  # fmt: skip
    parser.add_argument("--statistics", action="store_true", help="tell figures of every tensor, and keep none")
    parser.add_argument("--repeat", type=inputs.positive, default=1, metavar="N", help="timed runs (default 1)")
    parser.add_argument("--warmup", type=inputs.natural, default=0, metavar="N", help="runs before (default 0)")
    parser.add_argument("--steps", type=inputs.positive, metavar="N", help="run step by step, states fed back")
    parser.add_argument("--feedback", metavar="OUT=IN,...", help="with --steps, what is fed back: OUT=IN, "
                        "OUT:argmax=IN for tokens, IN+=1 for a mask that grows, auto for states that are named alike "
                        "(default auto)")  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    """Run, report, write the outputs."""
    if (args.all_tensors or args.tensors) and not args.outputs:
        raise InputError("--all-tensors and --tensors need --outputs F.npz to write to")
    if args.feedback and not args.steps:
        raise InputError("--feedback needs --steps N")
    if args.outputs:
        require_folder(args.outputs)
    providers = inputs.choose_providers(args.providers)
    model = open_named(args, writes=args.outputs)
    prepared = inputs.prepare(model, args)
    feedback = parse_feedback(args.feedback or "auto", model) if args.steps else []
    options = SessionOptions(pattern=args.tensors or "*", mode=args.mode)
    session = Session(model, providers, options, inputs.overrides(args))
    if args.steps:
        runs = step(session, prepared.feeds, args.steps, feedback, _keep(args))
    else:
        runs = repeat(session, prepared.feeds, args.warmup, args.repeat, _keep(args))
    left_out = save_arrays(args.outputs, named_values(runs.result)) if args.outputs else []
    if args.json:
        print_json(as_json(session, runs, prepared, args.seed, feedback))
    else:
        print_report(session, runs, prepared, feedback)
        _hint_feedback(model, args)
        for name in left_out:
            told = escape(name[:MAX_NAME]) + "…" * (len(name) > MAX_NAME)
            print(f"oinfer: {told} is no tensor, or its name is too long: not in {escape(args.outputs)}",
                  file=sys.stderr)  # fmt: skip
    return 0


def _keep(args: argparse.Namespace) -> Keep:
    if args.all_tensors:
        return Keep.ALL
    if args.tensors:
        return Keep.MATCHING
    return Keep.STATISTICS if args.statistics else Keep.NONE


def repeat(session: Session, feeds: Mapping[str, Any], warmup: int, times: int, keep: Keep) -> Runs:
    """The same run several times; only the last one keeps more than its outputs."""
    runs, shapes = Runs(), ShapeObserver()
    for turn in range(warmup + times):
        last = turn == warmup + times - 1
        observer = ObserverGroup(LongLoops(), shapes if last else None)
        runs.result = session.run(feeds, observer, keep if last else Keep.NONE)
        if turn >= warmup:
            runs.ms.append(runs.result.seconds * 1e3)
    observed = session.by_users_tensors(shapes.values)
    runs.mismatches = check_observed(session.model, observed, bound_dims(session.model, feeds))
    return runs


def step(session: Session, feeds: Mapping[str, Any], steps: int, feedback: list[Feedback], keep: Keep) -> Runs:
    """The steps one after the other; `result` is the last one's."""
    runs = Runs()
    tokens = [entry.input for entry in feedback if entry.how == ARGMAX]
    for number, (fed, result) in enumerate(run_steps(session, feeds, steps, feedback, LongLoops(), keep)):
        runs.result = result
        runs.ms.append(result.seconds * 1e3)
        for name in tokens if number else ():
            runs.tokens.setdefault(name, []).append(fed[name].reshape(-1).tolist())
    return runs


def named_values(result: RunResult) -> dict[str, Any]:
    """Outputs by name, and what else the run kept by its qualified name."""
    return {tensor.qualified_name: value for tensor, value in result.values.items()} | dict(result.outputs)


def as_json(
    session: Session, runs: Runs, prepared: inputs.PreparedFeeds, seed: int, feedback: list[Feedback]
) -> dict[str, object]:
    """The report under the keys that docs/cli.md names."""
    result = runs.result
    report: dict[str, object] = {
        "mode": str(session.options.mode),
        "providers": [provider.name for provider in session.providers],
        "placement": placement_counts(session.placements.values()),
        "refusals": [line.to_json() for line in refusal_lines(session.placements)],
        "runs_ms": runs.ms,
        "fallbacks": [
            {"node": f.node.qualified_name, "provider": f.provider, "reason": f.reason} for f in result.fallbacks
        ],
        "copies": [copy_json(copy) for copy in result.copies],
        "mismatches": [json_finding(finding) for finding in runs.mismatches],
        "peak_bytes": result.peak_bytes,
        "dims": prepared.dims,
        "seed": seed,
        "inputs": {name: describe(value) for name, value in prepared.feeds.items()},
        "outputs": {name: describe(value) for name, value in result.outputs.items()},
    }
    if feedback:
        report |= {"feedback": [str(entry) for entry in feedback], "tokens": runs.tokens}
    if session.optimised is not None:
        report["changes"] = [change.to_json() for change in session.optimised.changes]
    if result.statistics:
        report["statistics"] = {t.qualified_name: figures_json(s) for t, s in result.statistics.items()}
    return report


def placement_text(session: Session) -> str:
    """Who took how many of the nodes: ``CUDA 11/12, CPU 1/12``; ``none`` of no nodes."""
    counts = placement_counts(session.placements.values())
    total = sum(counts.values())
    return ", ".join(f"{name} {count}/{total}" for name, count in counts.items()) or "none"


def print_changes(session: Session) -> None:
    """In the fast mode what was done to the graph, counted by pass."""
    if session.optimised is not None:
        print(f"  {session.optimised.words}")


def print_refusals(session: Session) -> None:
    """Which operators earlier providers did not take, and why."""
    for line in refusal_lines(session.placements):
        print(f"  {escape(str(line))}")


def print_report(session: Session, runs: Runs, prepared: inputs.PreparedFeeds, feedback: list[Feedback]) -> None:
    """The report for people."""
    result, ms = runs.result, runs.ms
    print_feeds(prepared)
    heading("Outputs of the last step" if feedback else "Outputs")
    print_table(value_row(name, value) for name, value in result.outputs.items())
    if result.statistics:
        heading("Tensors")
        print_table(
            ((t.qualified_name, f"{s.dtype}{list(s.shape)}", s.min, s.max, s.mean, s.std, s.nan, s.inf)
             for t, s in result.statistics.items()), ("", "", "min", "max", "mean", "std", "nan", "inf"),
        )  # fmt: skip
    heading("Run")
    times = f"{median(ms):.2f} ms"
    if len(ms) > 1:
        times += f" (median of {len(ms)}, {min(ms):.2f} to {max(ms):.2f})"
    print(f"  {times}; nodes: {placement_text(session)}; values took up to {bytes_text(result.peak_bytes)}")
    print_changes(session)
    print_refusals(session)
    for entry in feedback:
        print(f"  fed back: {escape(str(entry))}")
    for name, tokens in runs.tokens.items():
        print(f"  {escape(name)} by step: {' '.join(','.join(map(str, token)) for token in tokens)}")
    for finding in runs.mismatches:
        print(f"  {escape(finding.message)}")
    for fallback in result.fallbacks:
        print(f"  {escape(fallback.node.qualified_name)} fell back from {fallback.provider}: {escape(fallback.reason)}")


def _hint_feedback(model: Model, args: argparse.Namespace) -> None:
    if not args.steps and (states := suggest_feedback(model)):
        print(f"  {len(states)} of its inputs look like states: --steps N runs it step by step and feeds them back")
