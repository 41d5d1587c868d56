"""A file of weights opened by its own name: the model beside it that uses them."""
from __future__ import annotations

import os

from engine.errors import DataError, ModelFormatError
from engine.graph.storage import FileStorage, open_regular
from engine.graph.wire import LiftedModel, TooLargeError, WireError, encode_varint

MOST_CANDIDATES = 50
_KEY = b"\x0a\x08location\x12"  # a StringStringEntryProto up to its value


def model_beside(path: str) -> str | None:
    """The path of the one .onnx file in the same folder whose external data is in the file `path`, if any.

    Raises
    ------
    ModelFormatError: there are several.
    """
    folder, name = os.path.split(os.path.abspath(path))
    try:
        found = sorted(n for n in os.listdir(folder) if n.lower().endswith(".onnx") and n != name)
    except OSError:
        return None
    found.sort(key=lambda n: not name.startswith(n.removesuffix(".onnx")))
    wanted = name.encode(errors="surrogateescape")
    entry = _KEY + encode_varint(len(wanted)) + wanted
    models = [model for model in found[:MOST_CANDIDATES] if _mentions(os.path.join(folder, model), entry)]
    if len(models) > 1:
        raise ModelFormatError(f"{path} holds weights of several models, open one of them: {', '.join(models[:5])}")
    return os.path.join(folder, models[0]) if models else None


def _mentions(model: str, entry: bytes) -> bool:
    try:
        return entry in LiftedModel(FileStorage(open_regular(model), model)).slim
    except (OSError, DataError, WireError, TooLargeError):
        return False
