"""``oinfer diff``: what changed from one model to another."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from engine.cli.output import escape, heading, print_json, print_table
from engine.diff import ModelDiff, WeightPair, diff
from engine.diff.fields import type_text
from engine.graph.ir import Node
from engine.opening import open_model
from engine.words import counted

MOST = 40  # rows of a section, unless --all


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("before", metavar="A")
    parser.add_argument("after", metavar="B")
    parser.add_argument("--no-weights", action="store_true", help="compare the types of constants, not their values")
    parser.add_argument("--all", action="store_true", help=f"list every difference, not the first {MOST} of each kind")
    parser.add_argument("--allow-external", action="store_true",
                        help="take weights through links that lead out of a model's folder")  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    """Print the differences; 0 where nothing but names differs, else 1."""
    models = [open_model(path, allow_external=args.allow_external) for path in (args.before, args.after)]
    found = diff(models[0], models[1], weights=not args.no_weights)
    if args.json:
        print_json(found.to_json())
    else:
        print_report(found, None if args.all else MOST)
    return 0 if found.same else 1


def print_report(found: ModelDiff, most: int | None) -> None:
    """The report for people."""
    print(f"{escape(str(found.before.path))}\n{escape(str(found.after.path))}")
    same = len(found.pairs) - len(found.changed) - len(found.renamed)
    print(f"  {counted(same, 'node')} the same, {len(found.renamed)} renamed, {len(found.changed)} changed, "
          f"{len(found.added)} added, {len(found.removed)} removed; "
          f"{len(found.weights)} of {counted(found.weights_compared, 'constant')} differ")  # fmt: skip
    _section("Files", ((c.what, c.before or "-", c.after or "-") for c in found.facts), most)
    _section("Removed nodes", map(_node, found.removed), most)
    _section("Added nodes", map(_node, found.added), most)
    _section("Changed nodes", _changes(found), most)
    _section("Constants that differ", map(_weight, found.weights), most)
    for title, tensors in (("Constants removed", found.removed_weights), ("Constants added", found.added_weights)):
        _section(title, ((t.qualified_name, type_text(t)) for t in tensors), most)
    if found.same:
        told = "names and what stands under Files" if found.facts else "names"
        print(f"Nothing but {told} differs." if found.renamed or found.facts else "The models are the same.")


def _section(title: str, rows: Iterable[tuple[object, ...]], most: int | None) -> None:
    listed = list(rows)
    if not listed:
        return
    heading(f"{title} ({len(listed)})")
    print_table(listed[:most])
    if most is not None and len(listed) > most:
        print(f"  and {len(listed) - most} more; --all lists them")


def _node(node: Node) -> tuple[object, ...]:
    return node.qualified_op, node.qualified_name


def _changes(found: ModelDiff) -> Iterable[tuple[object, ...]]:
    for pair in found.changed:
        name = pair.after.qualified_name
        for place, change in enumerate(pair.changes):
            yield ("" if place else name, change.what, change.before or "-", "→", change.after or "-")


def _weight(pair: WeightPair) -> tuple[object, ...]:
    words = "; ".join(f"{c.what} {c.before or '-'} → {c.after or '-'}" for c in pair.changes)
    apart = pair.difference.in_words() if pair.difference is not None else "not compared"
    return pair.after.qualified_name, words or apart
