"""``oinfer check``: the findings about a model."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from engine.cli.output import escape, print_json, print_table
from engine.diagnostics import Diagnostic, Severity
from engine.opening import open_model

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("model", metavar="MODEL")


def execute(args: argparse.Namespace) -> int:
    """Print the findings, errors first; 1 if any is an error."""
    model = open_model(args.model)
    findings = sorted(model.diagnostics, key=lambda d: _RANK[d.severity])
    failed = any(d.severity is Severity.ERROR for d in findings)
    if args.json:
        print_json({
            "path": model.path,
            "ok": not failed,
            "diagnostics": [asdict(d) | {"severity": d.severity.value} for d in findings],
        })  # fmt: skip
    elif findings:
        print_table(((d.severity.value, d.code, d.message, place(d)) for d in findings), indent="")
    else:
        print(f"{escape(str(model.path))}: no findings")
    return 1 if failed else 0


def place(finding: Diagnostic) -> str:
    """Where a finding is, as far as its message may not say."""
    named = [f"{kind} {name}" for kind, name in (("node", finding.node), ("tensor", finding.tensor)) if name]
    return f"({', '.join(named)})" if named else ""
