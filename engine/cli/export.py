"""``oinfer export``: write a model, or a part of it, as an ONNX file."""

from __future__ import annotations

import argparse
import os
from typing import TypeVar

from engine.cli.model import add_model, open_named
from engine.cli.output import escape, print_json
from engine.errors import InputError
from engine.export import Written, export, nodes_between, region_of
from engine.graph.ir import Model, Node
from engine.providers.ort.optimised import LEVELS, export_optimised
from engine.words import bytes_text, counted, meant

T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model(parser)
    parser.add_argument("target", metavar="OUT", help="the .onnx file to write")
    parser.add_argument("--nodes", metavar="A,B", help="only these nodes, by name as `inspect` shows it")
    parser.add_argument("--from", dest="sources", metavar="T,U", help="only what needs these tensors")
    parser.add_argument("--to", dest="targets", metavar="T,U", help="only what these tensors need")
    parser.add_argument("--onnxruntime", metavar="LEVEL", choices=LEVELS,
                        help="what ONNX Runtime makes of the model before it runs it, at this level of optimisation: "
                             "basic, extended (with fused operators), all (and this machine's layouts)")  # fmt: skip


def execute(args: argparse.Namespace) -> int:
    """Write the file, and say what is in it."""
    model = open_named(args)
    if args.onnxruntime:
        return _export_optimised(model, args)
    nodes = _chosen(model, args)
    written = export(model, args.target, nodes)
    region = region_of(nodes) if nodes is not None else None
    inputs = [t.name for t in (region.inputs if region else model.graph.feeds)]
    outputs = [t.name for t in (region.outputs if region else model.graph.outputs)]
    count = len(region.nodes if region else model.graph.nodes)
    _report(written, count, inputs, outputs, args.json)
    return 0


def _export_optimised(model: Model, args: argparse.Namespace) -> int:
    if args.nodes or args.sources or args.targets:
        raise InputError("--onnxruntime writes the whole model: leave --nodes, --from and --to out")
    written, made = export_optimised(model, args.target, args.onnxruntime)
    _report(written, len(made.nodes), [t.name for t in made.feeds], [t.name for t in made.outputs], args.json)
    return 0


def _report(written: Written, count: int, inputs: list[str], outputs: list[str], as_json: bool) -> None:
    """What is in the file."""
    if as_json:
        print_json({
            "path": written.path, "nbytes": written.nbytes, "data_path": written.data_path,
            "data_nbytes": written.data_nbytes, "nodes": count, "inputs": inputs, "outputs": outputs,
        })  # fmt: skip
        return
    print(f"{escape(written.path)}: {counted(count, 'node')}, {bytes_text(written.nbytes)}")
    if written.data_path:
        print(f"  weights  {escape(os.path.basename(written.data_path))}, {bytes_text(written.data_nbytes)}")
    print(f"  inputs   {escape(', '.join(inputs)) or 'none'}")
    print(f"  outputs  {escape(', '.join(outputs)) or 'none'}")


def _chosen(model: Model, args: argparse.Namespace) -> list[Node] | None:
    """The nodes that the options name; None for the whole model."""
    if args.nodes:
        if args.sources or args.targets:
            raise InputError("give either --nodes, or --from and --to")
        return _named({node.qualified_name: node for node in model.nodes()}, args.nodes, "node")
    if not args.sources and not args.targets:
        return None
    tensors = {t.qualified_name: t for graph in model.graph.walk() for t in graph.tensors.values()}
    sources = _named(tensors, args.sources, "tensor")
    targets = _named(tensors, args.targets, "tensor")
    return nodes_between((targets or sources)[0].graph, sources, targets)


def _named(known: dict[str, T], names: str | None, what: str) -> list[T]:
    """What a list of names separated by commas means; a name may itself hold commas if it stands alone."""
    if not names:
        return []
    listed = [names] if names in known else [name.strip() for name in names.split(",")]
    for name in listed:
        if name not in known:
            raise InputError(f"the model has no {what} {name!r}; `oinfer inspect` lists them{meant(name, known)}")
    return [known[name] for name in listed]
