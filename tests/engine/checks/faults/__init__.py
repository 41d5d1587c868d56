"""Faulty models by name, one fault each, in modules by subject; `FAULTS` has all of them."""

from tests.engine.checks.faults import calls, functions, names, stored, unneeded
from tests.engine.checks.faults.making import FAULTS, checked, findings

__all__ = ["FAULTS", "calls", "checked", "findings", "functions", "names", "stored", "unneeded"]
