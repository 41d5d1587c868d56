"""``oinfer compare``: the chosen providers against CPU only, in time and in numbers."""

from __future__ import annotations

import argparse

from engine.agreement import RTOL, Agreement
from engine.cli import inputs
from engine.cli.model import open_named
from engine.cli.output import escape, heading, print_json, print_table, require_folder
from engine.cli.patience import LongLoops
from engine.cli.run import named_values, placement_text, print_changes, print_refusals
from engine.cli.values import print_feeds
from engine.compare import Comparison, Side, compare
from engine.errors import InputError
from engine.feeds import load_arrays
from engine.feeds.files import INPUT_PREFIX, save_arrays
from engine.words import bytes_text

_COLUMNS = ("tensor", "", "max abs", "max rel", "cosine", "rtol", "")
_SHOWN_NODES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    inputs.add_arguments(parser)
    parser.add_argument("--repeat", type=inputs.positive, default=10, metavar="N", help="timed runs (default 10)")
    parser.add_argument("--warmup", type=inputs.natural, default=2, metavar="N", help="runs before (default 2)")
    parser.add_argument("--per-node", action="store_true", help="compare every node, and name the first to diverge")
    parser.add_argument("--against", metavar="F.npz", help="hold the outputs against those of a file too")
    parser.add_argument("--save", metavar="F.npz", help="write the inputs and the mixed side's outputs, with "
                        "--per-node all its tensors, for --inputs and --against")  # fmt: skip
    parser.add_argument("--rtol", metavar="[DTYPE=]X", action="append", default=[], help="relative tolerance, of every "
                        "float type or of one, such as float16=0.02")  # fmt: skip
    parser.add_argument("--second-opinion", metavar="PROVIDER", help="hold both sides against this provider too, such "
                        "as ORT")  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    """Compare; 1 if the outputs disagree."""
    if args.save:
        require_folder(args.save)
    providers = inputs.choose_providers(args.providers)
    asked = None if args.second_opinion is None else inputs.available_provider(args.second_opinion)
    tolerances = parse_tolerances(args.rtol)
    against = load_arrays(args.against) if args.against else None
    model = open_named(args, writes=args.save)
    prepared = inputs.prepare(model, args)
    comparison = compare(
        model, prepared.feeds, providers, warmup=args.warmup, repeat=args.repeat, observer=LongLoops(),
        per_node=args.per_node, against=against, tolerances=tolerances, overrides=inputs.overrides(args),
        second_opinion=asked, values=False, mode=args.mode,
    )  # fmt: skip
    if args.save:
        fed = {f"{INPUT_PREFIX}{name}": value for name, value in prepared.feeds.items()}
        save_arrays(args.save, fed | named_values(comparison.mixed.result))
    if args.json:
        print_json({**comparison.to_json(), "dims": prepared.dims, "seed": args.seed})
    else:
        print_report(comparison, prepared)
    return 0 if comparison.agree else 1


def parse_tolerances(texts: list[str]) -> dict[str, float] | None:
    """Relative tolerances by dtype from ``X`` and ``DTYPE=X``; None where there are none.

    Raises
    ------
    InputError: no number, or a type that has no tolerance.
    """
    rtol: dict[str, float] = {}
    for text in texts:
        dtype, equals, number = text.rpartition("=")
        if equals and dtype not in RTOL:
            raise InputError(f"--rtol {text}: {dtype!r} has no tolerance; these have: {', '.join(RTOL)}")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value < float("inf"):
            raise InputError(f"--rtol {text}: give a number, 0 or more")
        rtol.update({dtype: value} if equals else dict.fromkeys(RTOL, value))
    return rtol or None


def print_report(comparison: Comparison, prepared: inputs.PreparedFeeds) -> None:
    """The report for people."""
    print_feeds(prepared)
    _print_times(comparison)
    heading("Mixed against CPU only")
    print_table((agreement_row(n, a) for n, a in comparison.outputs.items()), _COLUMNS)
    if comparison.against is not None:
        heading("Mixed against the file")
        print_table((agreement_row(e.tensor.qualified_name, e.agreement) for e in comparison.against), _COLUMNS)
    if comparison.nodes is not None:
        apart = [entry for entry in comparison.nodes if not entry.agreement.agrees]
        heading(f"Nodes: {len(comparison.nodes)} tensors compared, {len(apart)} beyond their tolerance")
        if apart:
            print_table((agreement_row(e.tensor.qualified_name, e.agreement, e.note) for e in apart[:_SHOWN_NODES]),
                        _COLUMNS)  # fmt: skip
    first = comparison.first_divergence
    if first is not None:
        print(f"  first divergence: {escape(first.tensor.qualified_name)}"
              + (f" of node {escape(first.node.qualified_name)}" if first.node else ""))  # fmt: skip
    if comparison.first_nonfinite is not None:
        _print_nonfinite(comparison)
    if comparison.second_opinion is not None:
        print(f"  {escape(comparison.second_opinion.words)}")
    print(f"\n{'outputs agree' if comparison.agree else 'outputs disagree'}: {escape(comparison.verdict)}")


def _print_times(comparison: Comparison) -> None:
    heading("Time")
    sides = (("mixed", comparison.mixed), ("CPU only", comparison.cpu_only))
    print_table((_time_row(name, side) for name, side in sides), ("", "median", "middle half", "cold", "nodes"))
    if not comparison.is_same_work:  # else a note says that the difference is noise
        print(f"  speedup {comparison.speedup_pct:+.1f} %")
    copies = comparison.mixed.copies
    if copies:
        took = sum(copy.seconds for copy in copies) * 1e3
        print(f"  {len(copies)} copies between devices: {bytes_text(sum(c.nbytes for c in copies))}, {took:.2f} ms")
    print_changes(comparison.mixed.session)
    print_refusals(comparison.mixed.session)
    for note in comparison.notes:
        print(f"  {note}")
    for fallback in comparison.mixed.fallbacks:
        print(f"  {escape(fallback.node.qualified_name)} fell back from {fallback.provider}: {escape(fallback.reason)}")


def _time_row(name: str, side: Side) -> tuple[object, ...]:
    cold = "-" if side.cold_ms is None else f"{side.cold_ms:.2f} ms"
    return name, f"{side.median_ms:.2f} ms", "{:.2f} to {:.2f}".format(*side.quartiles_ms), cold, placement_text(
        side.session
    )


def _print_nonfinite(comparison: Comparison) -> None:
    bad = comparison.first_nonfinite
    assert bad is not None
    print(f"  first non-finite values: {escape(bad.words)}")
    for peak in bad.near:
        print(f"    before it {escape(peak.tensor.qualified_name)} reaches {peak.max_abs:.6g} of {peak.limit:.6g}")


def agreement_row(name: str, agreement: Agreement, note: str = "") -> tuple[object, ...]:
    """A table row: name, verdict, differences, tolerance, and why where they disagree."""
    tolerance = f"{agreement.tolerance.rtol:.0e}" if agreement.tolerance.rtol else "exact"
    figures = agreement.max_abs, agreement.max_rel, agreement.cosine
    return name, agreement.words, *figures, tolerance, "; ".join(filter(None, (agreement.reason, note)))
