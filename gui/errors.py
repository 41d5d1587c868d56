"""Errors as the user meets them: what happened, where, and what to do; the unexpected ones reported once each."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
import traceback
from types import TracebackType

from PySide6 import __version__ as qt_version
from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QMessageBox

from engine.errors import EngineError, ModelFormatError

# In a message that says itself what to do.
_ADVICE = re.compile(r"\b(open (one|the|it)|download it|unpack it|a folder)\b")


def explain(error: Exception, path: str = "") -> str:
    """One or two sentences about an expected failure: the cause, the place, the next step."""
    if isinstance(error, ModelFormatError):
        place = f" (at byte {error.offset:,})" if error.offset and "byte" not in str(error) else ""
        told = _sentence(f"{str(error).removesuffix('.')}{place}")
        return told if _ADVICE.search(told) else f"{told} Get the file again, or choose another one."
    if isinstance(error, FileNotFoundError):
        return f"There is no file at {path}. It may have been moved or renamed."
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder. Choose the .onnx file inside it."
    if isinstance(error, PermissionError):
        return f"You have no permission to read {path}. Change its permissions or copy it elsewhere."
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {path}"
    if isinstance(error, EngineError):
        return _sentence(str(error))
    if isinstance(error, MemoryError):
        return "There is not enough memory. Close other programs, or use smaller inputs."
    return f"Unexpected {type(error).__name__}: {error}. Please report this with the file that caused it."


def explain_unwritten(error: Exception, path: str) -> str:
    """One or two sentences about a file that could not be written."""
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {path}. Choose another place."
    return explain(error, path)


def _sentence(text: str) -> str:
    text = text.strip() or "Something went wrong"
    if text.split(" ")[0].isalpha():  # not a file's or a node's name
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else text + "."


class ErrorReporter(QObject):
    """Catches what nobody else did, from any thread, and shows it once, one dialog at a time; the program goes on."""

    _caught = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._seen: set[str] = set()
        self._open = False
        self._caught.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Become `sys.excepthook`."""
        sys.excepthook = self.hook

    def hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """A `sys.excepthook`: prints the traceback and queues the report."""
        sys.__excepthook__(kind, error, trace)
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        self._caught.emit(f"{kind.__name__}: {error}", "".join(traceback.format_exception(kind, error, trace)))

    @Slot(str, str)
    def _show(self, summary: str, details: str) -> None:
        key = hashlib.sha1(details.encode(), usedforsecurity=False).hexdigest()
        if key in self._seen or self._open:
            return
        self._seen.add(key)
        self._open = True
        box = QMessageBox(QMessageBox.Icon.Warning, "OInfer", "", parent=QApplication.activeWindow())
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText("Something unexpected went wrong. OInfer goes on.")
        box.setInformativeText(summary[:500])
        box.setDetailedText(f"{environment()}\n\n{details}")
        copy = box.addButton("Copy details", QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Close)
        try:
            box.exec()
            if box.clickedButton() is copy:
                QApplication.clipboard().setText(f"{environment()}\n\n{details}")
        finally:
            self._open = False


def environment() -> str:
    """Versions, for reports."""
    return f"Python {platform.python_version()}, PySide6 {qt_version}, {platform.platform()}"
