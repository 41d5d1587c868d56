"""``oinfer run``: run a model once or several times."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np

from engine.cli import inputs
from engine.cli.model import open_named
from engine.cli.output import escape, heading, print_json, print_table
from engine.dtypes import from_numpy
from engine.errors import InputError
from engine.feeds.files import save_arrays, storable
from engine.graph.types import format_shape
from engine.providers.placement import placement_counts
from engine.session import RunResult, Session

_SHOWN_VALUES = 8  # an output of at most so many elements is printed whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    inputs.add_arguments(parser)
    parser.add_argument("--outputs", metavar="F.npz", help="write the outputs here, each under its name")
    parser.add_argument("--all-tensors", action="store_true", help="with --outputs: write every tensor of the run")
    parser.add_argument("--repeat", type=inputs.positive, default=1, metavar="N", help="timed runs (default 1)")
    parser.add_argument("--warmup", type=inputs.natural, default=0, metavar="N", help="runs before (default 0)")


def execute(args: argparse.Namespace) -> int:
    """Run, report, write the outputs."""
    if args.all_tensors and not args.outputs:
        raise InputError("--all-tensors needs --outputs F.npz to write them to")
    providers = inputs.choose_providers(args.providers)
    model = open_named(args)
    prepared = inputs.prepare(model, args)
    session = Session(model, providers)
    result, runs_ms = run_repeatedly(session, prepared.feeds, args.warmup, args.repeat)
    left_out = save_arrays(args.outputs, named_values(result, args.all_tensors)) if args.outputs else []
    if args.json:
        print_json(as_json(session, result, runs_ms, prepared, args.seed))
    else:
        print_report(session, result, runs_ms, prepared)
        for name in left_out:
            print(f"oinfer: {escape(name)} is no tensor and is not in {escape(args.outputs)}", file=sys.stderr)
    return 0


def run_repeatedly(
    session: Session, feeds: Mapping[str, Any], warmup: int, repeat: int
) -> tuple[RunResult, list[float]]:
    """The last result, and the milliseconds of every run after the warm-up."""
    runs_ms = []
    for turn in range(warmup + repeat):
        result = session.run(feeds)
        if turn >= warmup:
            runs_ms.append(result.seconds * 1e3)
    return result, runs_ms


def named_values(result: RunResult, all_tensors: bool) -> dict[str, Any]:
    """Outputs by name, or every tensor of the run by its qualified name."""
    if not all_tensors:
        return dict(result.outputs)
    return {tensor.qualified_name: value for tensor, value in result.values.items()} | dict(result.outputs)


def as_json(
    session: Session, result: RunResult, runs_ms: list[float], prepared: inputs.PreparedFeeds, seed: int
) -> dict[str, object]:
    """The report under the keys that docs/cli.md names."""
    return {
        "providers": [provider.name for provider in session.providers],
        "placement": placement_counts(session.placements.values()),
        "runs_ms": runs_ms,
        "fallbacks": [
            {"node": f.node.qualified_name, "provider": f.provider, "reason": f.reason} for f in result.fallbacks
        ],
        "copies": [
            {"tensor": c.tensor.qualified_name, "source": c.source, "target": c.target, "nbytes": c.nbytes}
            for c in result.copies
        ],
        "dims": prepared.dims,
        "seed": seed,
        "inputs": {name: describe(value) for name, value in prepared.feeds.items()},
        "outputs": {name: describe(value) for name, value in result.outputs.items()},
    }


def placement_text(session: Session) -> str:
    """Who took how many of the nodes: ``CUDA 11/12, CPU 1/12``."""
    counts = placement_counts(session.placements.values())
    total = sum(counts.values())
    return ", ".join(f"{name} {count}/{total}" for name, count in counts.items())


def describe(value: Any) -> dict[str, object]:
    """dtype, shape and a few figures of a value; of a sequence or map its kind and length."""
    if not isinstance(value, np.ndarray | np.generic):
        kind = {list: "sequence", dict: "map", type(None): "absent"}.get(type(value), type(value).__name__)
        return {"kind": kind, "length": len(value) if isinstance(value, list | dict) else None}
    array = np.asarray(value)
    dtype = from_numpy(array.dtype)
    described: dict[str, object] = {"dtype": dtype.name if dtype else str(array.dtype), "shape": list(array.shape)}
    if dtype and dtype.kind in ("float", "int", "uint", "bool") and array.size:
        numbers = array.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        described |= {"nan": int(np.isnan(numbers).sum()), "inf": int(np.isinf(numbers).sum())}
        if finite.size:
            described |= {"min": float(finite.min()), "max": float(finite.max()), "mean": float(finite.mean())}
    if array.size <= _SHOWN_VALUES:
        described["values"] = storable(array).tolist()
    return described


def print_report(
    session: Session, result: RunResult, runs_ms: list[float], prepared: inputs.PreparedFeeds
) -> None:
    """The report for people."""
    print_feeds(prepared)
    heading("Outputs")
    print_table(value_row(name, value) for name, value in result.outputs.items())
    heading("Run")
    times = f"{median(runs_ms):.2f} ms"
    if len(runs_ms) > 1:
        times += f" (median of {len(runs_ms)}, {min(runs_ms):.2f} to {max(runs_ms):.2f})"
    print(f"  {times}; nodes: {placement_text(session)}")
    for fallback in result.fallbacks:
        print(f"  {escape(fallback.node.qualified_name)} fell back from {fallback.provider}: {escape(fallback.reason)}")


def print_feeds(prepared: inputs.PreparedFeeds) -> None:
    """What was fed, and the dims that nobody gave."""
    heading("Inputs")
    print_table(value_row(name, value) for name, value in prepared.feeds.items())
    if prepared.assumed:
        print("  with " + ", ".join(f"{escape(n)} = {v}" for n, v in prepared.assumed.items()) + " (set with --dim)")


def value_row(name: str, value: Any) -> tuple[object, ...]:
    """A table row: name, type, and the values or their range."""
    described = describe(value)
    if "kind" in described:
        return name, described["kind"], f"{described['length']} elements"
    shape = format_shape(tuple(np.asarray(value).shape))
    if "values" in described and described["shape"]:
        figures = str(described["values"])
    elif "values" in described:
        figures = f"= {described['values']}"
    else:
        figures = "  ".join(f"{key} {described[key]:.4g}" for key in ("min", "max", "mean") if key in described)
    bad = "  ".join(f"{described[key]} {key}" for key in ("nan", "inf") if described.get(key))
    return name, f"{described['dtype']}{shape}", f"{figures}  {bad}".rstrip()
