"""The exceptions the engine raises, each with a message meant for the person at the screen."""
from __future__ import annotations

from typing import Any


class EngineError(Exception):
    """Base of all errors that a user of the engine can cause and mend.

    `partial` is what a run had computed before it ended in this error (`engine.session.RunResult`), else None.
    """

    partial: Any = None


class ModelFormatError(EngineError):
    """The file is not an ONNX model; the message says why and, where known, at which byte and in which field."""

    def __init__(self, message: str, offset: int | None = None, field: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.field = field


class DataError(EngineError):
    """The stored data of one tensor cannot be read (missing file, wrong size, outside the model's folder).

    `code` is the code of the diagnostic that reports it.
    """

    def __init__(self, message: str, code: str = "bad-data") -> None:
        super().__init__(message)
        self.code = code


class ExportError(EngineError):
    """A model, a region of it or tensors cannot be written; the message says why."""


class InputError(EngineError):
    """What was fed does not fit the model's inputs; `input_name` names the input."""

    def __init__(self, message: str, input_name: str = "") -> None:
        super().__init__(message)
        self.input_name = input_name


class CannotRunError(EngineError):
    """The model cannot be run at all: operators without a kernel, a cycle, missing weights."""


class NodeError(EngineError):
    """A node failed while running; `node` is its qualified name."""

    def __init__(self, message: str, node: str = "") -> None:
        super().__init__(message)
        self.node = node

    def add(self, remark: str) -> None:
        """Say one thing more at the end of the message."""
        self.args = (f"{self}. {remark}",)


class RunCancelled(EngineError):
    """The run was stopped by its observer between two nodes."""


class DeviceError(EngineError):
    """A device failed (out of memory, lost); the session falls back to the CPU kernel for that node."""


class UnsupportedError(EngineError):
    """A kernel meets a form of its operator that it does not implement; the message says which."""
