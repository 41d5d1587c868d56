"""Opening a model for a command: load, infer, and the time each took."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

from engine.errors import ModelFormatError
from engine.graph.ir import Model


def open_model(path: str) -> Model:
    """Load and infer; `Model.timings_ms` gets ``infer``.

    Raises
    ------
    ModelFormatError: there is no such file, it cannot be read, or it is not an ONNX model.
    """
    from engine.graph.loader import load
    from engine.shapes.infer import infer_shapes

    try:
        model = load(Path(path))
    except OSError as error:
        raise ModelFormatError(f"{path}: {_words(error)}") from error
    start = perf_counter()
    infer_shapes(model)
    model.timings_ms["infer"] = (perf_counter() - start) * 1e3
    return model


def _words(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, IsADirectoryError):
        return "this is a folder; give the .onnx file in it"
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return f"it cannot be read ({error.strerror or error})"
