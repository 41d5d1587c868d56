"""Two models held against each other: which nodes are the same, and what of them has changed.

Nodes are matched by structure and by name (`engine.diff.matching`), so that a renamed model equals itself, and tensors
follow from the nodes. Nothing is run; weights are read one at a time, and only where asked for.
"""

from __future__ import annotations

from engine.diff.compare import diff
from engine.diff.report import FieldChange, ModelDiff, NodePair, WeightPair
from engine.diff.values import ValueDifference, difference, stored_value

__all__ = [
    "FieldChange", "ModelDiff", "NodePair", "ValueDifference", "WeightPair", "diff", "difference", "stored_value",
]  # fmt: skip
