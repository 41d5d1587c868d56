"""Opening a model for a command: load, infer, and the time each took."""

from __future__ import annotations

from time import perf_counter

from engine.graph.ir import Model
from engine.graph.loader import load
from engine.shapes.infer import infer_shapes


def open_model(path: str) -> Model:
    """Load and infer; `Model.timings_ms` gets ``infer``.

    Raises
    ------
    ModelFormatError: there is no such file, it cannot be read, or it is not an ONNX model.
    """
    model = load(path)
    start = perf_counter()
    infer_shapes(model)
    model.timings_ms["infer"] = (perf_counter() - start) * 1e3
    return model
