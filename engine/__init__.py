"""OInfer's inference engine: open an ONNX model, infer its shapes, run it, compare providers. Knows no Qt.

``load`` opens a file, ``infer`` adds shapes, ``Session`` runs, ``compare`` measures. Each phase can be used alone.
"""
from __future__ import annotations

from engine.graph.loader import load, load_model_proto
from engine.session import Session

__all__ = ["Session", "load", "load_model_proto"]
