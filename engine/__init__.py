"""OInfer's inference engine: open an ONNX model, infer its shapes, run it, compare providers. Knows no Qt.

``open_model`` opens a file for looking at (``load``, then ``infer``); ``Session`` runs, ``compare`` measures.
"""
from __future__ import annotations

from engine.compare import compare
from engine.export import export
from engine.graph.loader import load, load_model_proto
from engine.opening import open_model
from engine.session import Session
from engine.shapes.infer import infer_shapes as infer

__all__ = ["Session", "compare", "export", "infer", "load", "load_model_proto", "open_model"]
