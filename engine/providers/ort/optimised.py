"""The graph that ONNX Runtime makes of a model before it runs it, as a file."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Literal, get_args

from engine.errors import ExportError
from engine.export import Written, check_target, export
from engine.export.writer import DATA_ENDING
from engine.graph.ir import Graph, Model
from engine.graph.loader import load
from engine.providers.ort.support import ENDING, NOTHING, first_line, runtime

Level = Literal["basic", "extended", "all"]
LEVELS: tuple[Level, ...] = get_args(Level)
POLL_SECONDS = 0.02


def export_optimised(
    model: Model, path: str | os.PathLike[str], level: Level = "extended", go_on: Callable[[], object] | None = None
) -> tuple[Written, Graph]:
    """Have ONNX Runtime optimise `model` for its CPU provider, and write what it makes of it to the ONNX file `path`,
    as `export` writes files; also returns the graph that is in it.

    Parameters
    ----------
    level: "basic" folds constants and removes nodes that change nothing; "extended" also fuses nodes into operators of
        com.microsoft; "all" also changes the layout of tensors to what suits this machine's processor.
    go_on: is called again and again, and may raise to stop. Where it is given, ONNX Runtime works in a process of its
        own, which ends then.

    Raises
    ------
    ExportError: ONNX Runtime is not installed or refuses the model, or the file cannot be written.
    DataError: weights cannot be read.
    """
    path = os.fspath(path)
    check_target(model, path)
    check = go_on or (lambda: None)
    try:
        with tempfile.TemporaryDirectory(prefix=".oinfer-", dir=_roomy_folder(path)) as folder:
            stored = export(model, os.path.join(folder, "stored.onnx"), go_on=check)
            made = os.path.join(folder, "made.onnx")
            if go_on is None:
                _optimise(stored.path, made, level, bool(stored.data_path))
            else:
                _optimise_apart(go_on, stored.path, made, level, bool(stored.data_path))
            for file in filter(None, (stored.path, stored.data_path)):
                os.remove(file)  # so that no more than two copies of the weights need room
            optimised = load(made, go_on=check)
            return export(optimised, path, go_on=check), optimised.graph
    except OSError as error:
        raise ExportError(f"cannot write {path}: {error.strerror or error}") from error


def _roomy_folder(path: str) -> str | None:
    """Where there is room for the model: beside the file. Not beside a device, nor where ONNX Runtime, which takes
    UTF-8 alone, cannot go."""
    folder = os.path.dirname(os.path.realpath(path))
    is_named = folder == os.fsencode(folder).decode(errors="replace")
    return folder if is_named and (os.path.isfile(path) or not os.path.exists(path)) else None


def _optimise_apart(go_on: Callable[[], object], *task: Any) -> None:
    """`_optimise` in a process of its own, since nothing else stops ONNX Runtime."""
    context = multiprocessing.get_context("spawn")
    answers, pipe = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(pipe, task), name="oinfer-optimise", daemon=True)
    try:
        process.start()
    except (OSError, RuntimeError):  # no more processes, or an unguarded main script: it works, and cannot be stopped
        _optimise(*task)
        return
    pipe.close()
    try:
        while not answers.poll(POLL_SECONDS):
            go_on()
        error = answers.recv()
    except EOFError:
        raise ExportError("ONNX Runtime's process ended before it was done, perhaps for lack of memory") from None
    finally:
        process.kill()
        process.join()
        answers.close()
    if error is not None:
        raise error


def _work(pipe: Connection, task: tuple[Any, ...]) -> None:
    """What the process does: answer with what failed, or with None."""
    try:
        _optimise(*task)
    except KeyboardInterrupt:
        return
    except ExportError as error:
        pipe.send(error)
    else:
        pipe.send(None)


def _optimise(source: str, target: str, level: Level, weights_apart: bool) -> None:
    """Write what ONNX Runtime makes of `source` to `target`, its weights beside it only if so wanted: it leaves out the
    metadata of nodes then."""
    try:
        onnxruntime = runtime()
    except ImportError as error:
        raise ExportError("ONNX Runtime is not installed: pip install 'oinfer[ort]'") from error

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = NOTHING  # what it would say is raised
    options.optimized_model_filepath = target
    options.graph_optimization_level = {
        "basic": levels.ORT_ENABLE_BASIC, "extended": levels.ORT_ENABLE_EXTENDED, "all": levels.ORT_ENABLE_ALL,
    }[level]  # fmt: skip
    options.add_session_config_entry("session.save_model_format", "ONNX")
    if weights_apart:
        name = os.path.basename(target) + DATA_ENDING
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", name)
    try:
        onnxruntime.InferenceSession(source, options, providers=["CPU" + ENDING])
    except Exception as error:  # it raises classes of its own, derived from RuntimeError and Exception
        reason = first_line(error).partition(f"{source} failed:")[2] or first_line(error)
        raise ExportError(f"ONNX Runtime refuses the model: {reason.strip()}") from error
