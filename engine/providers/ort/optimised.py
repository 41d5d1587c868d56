"""The graph that ONNX Runtime makes of a model before it runs it, as a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Literal, get_args

from engine.errors import ExportError
from engine.export import Written, export
from engine.export.writer import EXTERNAL_ABOVE
from engine.graph.ir import Model
from engine.providers.ort.support import ENDING, ERRORS_ONLY, first_line

Level = Literal["basic", "extended", "all"]
LEVELS: tuple[Level, ...] = get_args(Level)


def export_optimised(model: Model, path: str | os.PathLike[str], level: Level = "extended") -> Written:
    """Have ONNX Runtime optimise `model` for its CPU provider, and write what it makes of it to the ONNX file `path`.

    Weights go into `path` + ".data" where they are more than 1 GiB. Files that exist are replaced once both are
    complete.

    Parameters
    ----------
    level: "basic" folds constants and removes nodes that change nothing; "extended" also fuses nodes into operators of
        com.microsoft; "all" also changes the layout of tensors to what suits this machine's processor.

    Raises
    ------
    ExportError: ONNX Runtime is not installed or refuses the model, or the file cannot be written.
    """
    target = os.path.realpath(path)
    try:
        with tempfile.TemporaryDirectory(prefix=".oinfer-", dir=os.path.dirname(target)) as folder:
            stored = export(model, os.path.join(folder, "stored.onnx"))
            made = Path(folder) / os.path.basename(target)
            _optimise(stored.path, made, level, stored.nbytes + stored.data_nbytes > EXTERNAL_ABOVE)
            data = made.with_name(made.name + ".data")
            written = Written(os.fspath(path), made.stat().st_size)
            if data.exists():
                written = Written(written.path, written.nbytes, target + ".data", data.stat().st_size)
                os.replace(data, target + ".data")
            os.replace(made, target)
            return written
    except OSError as error:
        raise ExportError(f"cannot write {os.fspath(path)}: {error.strerror or error}") from error


def _optimise(source: str, target: Path, level: Level, weights_apart: bool) -> None:
    try:
        import onnxruntime
    except ImportError as error:
        raise ExportError("ONNX Runtime is not installed: pip install 'oinfer[ort]'") from error

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.optimized_model_filepath = str(target)
    options.graph_optimization_level = {
        "basic": levels.ORT_ENABLE_BASIC, "extended": levels.ORT_ENABLE_EXTENDED, "all": levels.ORT_ENABLE_ALL,
    }[level]  # fmt: skip
    options.add_session_config_entry("session.save_model_format", "ONNX")
    if weights_apart:
        name = target.name + ".data"
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", name)
    try:
        onnxruntime.InferenceSession(source, options, providers=["CPU" + ENDING])
    except Exception as error:  # it raises classes of its own, derived from RuntimeError and Exception
        reason = first_line(error).partition(f"{source} failed:")[2] or first_line(error)
        raise ExportError(f"ONNX Runtime refuses the model: {reason.strip()}") from error
