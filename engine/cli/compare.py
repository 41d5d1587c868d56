"""``oinfer compare``: the chosen providers against CPU only, in time and in numbers."""

from __future__ import annotations

import argparse

from engine.cli import inputs
from engine.cli.opening import open_model
from engine.cli.output import print_json
from engine.compare import Comparison, compare
from engine.feeds import load_arrays


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
    model = open_model(args.model)
    prepared = inputs.prepare(model, args)
    comparison = compare(
        model, prepared.feeds, providers, warmup=args.warmup, repeat=args.repeat, per_node=args.per_node,
        against=against,
    )  # fmt: skip
    if args.json:
        print_json({**comparison.to_json(), "dims": prepared.dims, "seed": args.seed})
    else:
        print_report(comparison)
    return 0 if comparison.agree else 1


def print_report(comparison: Comparison) -> None:
    """The report for people."""
    raise NotImplementedError
