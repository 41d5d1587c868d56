"""``oinfer compare``: the chosen providers against CPU only, in time and in numbers."""

from __future__ import annotations

import argparse

from engine.agreement import Agreement
from engine.cli import inputs
from engine.cli.model import open_named
from engine.cli.output import escape, heading, print_json, print_table
from engine.cli.run import placement_text, print_feeds
from engine.compare import Comparison, compare
from engine.feeds import load_arrays

_COLUMNS = ("tensor", "", "max abs", "max rel", "cosine", "rtol", "")
_SHOWN_NODES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    inputs.add_arguments(parser)
    parser.add_argument("--repeat", type=inputs.positive, default=10, metavar="N", help="timed runs (default 10)")
    parser.add_argument("--warmup", type=inputs.natural, default=2, metavar="N", help="runs before (default 2)")
    parser.add_argument("--per-node", action="store_true", help="compare every node, and name the first to diverge")
    parser.add_argument("--against", metavar="F.npz", help="hold the outputs against those of a file too")


def execute(args: argparse.Namespace) -> int:
    """Compare; 1 if the outputs disagree."""
    providers = inputs.choose_providers(args.providers)
    against = load_arrays(args.against) if args.against else None
    model = open_named(args)
    prepared = inputs.prepare(model, args)
    comparison = compare(
        model, prepared.feeds, providers, warmup=args.warmup, repeat=args.repeat, per_node=args.per_node,
        against=against,
    )  # fmt: skip
    if args.json:
        print_json({**comparison.to_json(), "dims": prepared.dims, "seed": args.seed})
    else:
        print_report(comparison, prepared)
    return 0 if comparison.agree else 1


def print_report(comparison: Comparison, prepared: inputs.PreparedFeeds) -> None:
    """The report for people."""
    print_feeds(prepared)
    heading("Time")
    print_table(
        ((name, f"{side.median_ms:.2f} ms", "{:.2f} to {:.2f}".format(*side.quartiles_ms), placement_text(side.session))
         for name, side in (("mixed", comparison.mixed), ("CPU only", comparison.cpu_only))),
        ("", "median", "middle half", "nodes"),
    )  # fmt: skip
    print(f"  speedup {comparison.speedup_pct:+.1f} %")
    for note in comparison.notes:
        print(f"  {note}")
    for fallback in comparison.mixed.fallbacks:
        print(f"  {escape(fallback.node.qualified_name)} fell back from {fallback.provider}: {escape(fallback.reason)}")
    heading("Mixed against CPU only")
    print_table((agreement_row(n, a) for n, a in comparison.outputs.items()), _COLUMNS)
    if comparison.against is not None:
        heading("Mixed against the file")
        print_table((agreement_row(e.tensor.qualified_name, e.agreement) for e in comparison.against), _COLUMNS)
    if comparison.nodes is not None:
        apart = [entry for entry in comparison.nodes if not entry.agreement.agrees]
        heading(f"Nodes: {len(comparison.nodes)} tensors compared, {len(apart)} beyond their tolerance")
        if apart:
            print_table((agreement_row(e.tensor.qualified_name, e.agreement) for e in apart[:_SHOWN_NODES]), _COLUMNS)
    first = comparison.first_divergence
    if first is not None:
        print(f"  first divergence: {escape(first.tensor.qualified_name)}"
              + (f" of node {escape(first.node.qualified_name)}" if first.node else ""))  # fmt: skip
    if comparison.first_nonfinite is not None:
        bad = comparison.first_nonfinite
        print(f"  first non-finite values: node {escape(bad.node.qualified_name)} ({bad.nan} NaN, {bad.inf} infinite)")
    print("\noutputs agree" if comparison.agree else "\noutputs disagree")


def agreement_row(name: str, agreement: Agreement) -> tuple[object, ...]:
    """A table row: name, verdict, differences, tolerance, and why where they disagree."""
    verdict = "agrees" if agreement.agrees else "differs"
    tolerance = f"{agreement.tolerance.rtol:.0e}" if agreement.tolerance.rtol else "exact"
    return name, verdict, agreement.max_abs, agreement.max_rel, agreement.cosine, tolerance, agreement.reason
