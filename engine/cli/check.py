"""``oinfer check``: the findings about a model."""

from __future__ import annotations

import argparse

from engine.cli.model import add_model, open_named
from engine.cli.output import escape, findings_summary, heading, json_finding, print_json
from engine.diagnostics import Diagnostic, Group, Severity, grouped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_model(parser)


def execute(args: argparse.Namespace) -> int:
    """Print the findings, errors first; 1 if any is an error."""
    model = open_named(args)
    groups = grouped(model.diagnostics)
    failed = any(group.severity is Severity.ERROR for group in groups)
    if args.json:
        findings = [json_finding(d) for group in groups for d in group.findings]
        print_json({"path": model.path, "format": model.format, "ok": not failed, "diagnostics": findings})
    else:
        form = f" ({model.form})" if model.form else ""
        print(f"{escape(str(model.path))}{escape(form)}: {findings_summary(model.diagnostics)}")
        for group in groups:
            _print_group(group)
    return 1 if failed else 0


def _print_group(group: Group) -> None:
    first = group.findings[0]
    heading(f"{group.severity.value}  {group.code}: {first.title}")
    for finding in group.first:
        print(f"  {escape(finding.message)}  {escape(place(finding))}".rstrip())
    if group.rest:
        print(f"  and {group.rest:,} more (--json lists all)")
    if first.hint:
        print(f"  → {first.hint}")


def place(finding: Diagnostic) -> str:
    """Where a finding is, as far as its message does not say."""
    for kind, name in (("node", finding.node), ("tensor", finding.tensor)):
        if name:
            return "" if repr(name) in finding.message else f"({kind} {name})"
    return ""
