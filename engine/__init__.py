"""OInfer's inference engine: open an ONNX model, infer its shapes, run it, compare providers. Knows no Qt."""
from __future__ import annotations

from engine.graph.loader import load, load_model_proto

__all__ = ["load", "load_model_proto"]
