"""The optimiser: a model made over for running fast, beside the user's own, which stays as it is.

`optimise` copies the model and lets each pass of `PASSES` rewrite the copy. What the passes did is listed node by
node, and every node of the copy knows the user's nodes that it stands for.
"""
from __future__ import annotations

from engine.optimiser.optimise import PASSES, Optimised, optimise
from engine.optimiser.rewriting import Change

__all__ = ["PASSES", "Change", "Optimised", "optimise"]
