"""Values in a report: type and figures of what went in and came out."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.cli.inputs import PreparedFeeds
from engine.cli.output import escape, heading, print_table
from engine.feeds.files import storable
from engine.graph.types import format_shape
from engine.session import Statistics, statistics_of

_SHOWN_VALUES = 8  # a value of at most so many elements is printed whole


def describe(value: Any) -> dict[str, object]:
    """dtype, shape and a few figures of a value; of a sequence or map its kind and length."""
    figures = statistics_of(value)
    if figures is None:
        kind = {list: "sequence", dict: "map", type(None): "absent"}.get(type(value), type(value).__name__)
        return {"kind": kind, "length": len(value) if isinstance(value, list | dict) else None}
    described = figures_json(figures)
    array = np.asarray(value)
    if array.size <= _SHOWN_VALUES:
        described["values"] = storable(array).tolist()
    return described


def figures_json(figures: Statistics) -> dict[str, object]:
    """Statistics for JSON; figures that a type does not have are left out."""
    described: dict[str, object] = {"dtype": figures.dtype, "shape": list(figures.shape)}
    if figures.min is not None or figures.nan or figures.inf:
        described |= {"nan": figures.nan, "inf": figures.inf, "zeros": figures.zeros}
    if figures.min is not None:
        described |= {"min": figures.min, "max": figures.max, "mean": figures.mean, "std": figures.std}
    return described


def print_feeds(prepared: PreparedFeeds) -> None:
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
