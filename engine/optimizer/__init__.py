"""The optimizer: a model made over for running fast, beside the user's own, which stays as it is.

`optimize` copies the model and lets each pass of `PASSES` rewrite the copy. What the passes did is listed node by
node, and every node of the copy knows the user's nodes that it stands for.
"""
from __future__ import annotations

from engine.optimizer.optimize import PASSES, Optimized, optimize
from engine.optimizer.rewriting import Change

__all__ = ["PASSES", "Change", "Optimized", "optimize"]
