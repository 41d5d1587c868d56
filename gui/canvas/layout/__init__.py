"""Layered layout of dataflow graphs over plain arrays: no Qt, no engine, deterministic.

The steps follow Sugiyama's scheme with one dummy trunk per tensor instead of one per edge:
`ranking` (which layer), `ordering` (where in the layer), `coordinates` (x), `routing` (y, lines, labels).
"""

from gui.canvas.layout.pipeline import layout
from gui.canvas.layout.types import Layout, LayoutInput

__all__ = ["Layout", "LayoutInput", "layout"]
