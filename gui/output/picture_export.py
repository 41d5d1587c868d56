"""Pictures of what is on the canvas, asked for in the window and written in a job."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QFileDialog

from gui.background.jobs import Cancelled, Task
from gui.centre.canvas_view import CanvasView
from gui.document import Document
from gui.errors import explain_unwritten
from gui.output.render import ExportCancelled, Picture, write

PICTURES = "PNG picture (*.png);;SVG picture (*.svg);;PDF document (*.pdf)"


def export_dialog(view: CanvasView, document: Document, view_only: bool = False) -> None:
    """Ask for a file and write a picture of the graph, or of what is seen of it."""
    if view.drawing is None:
        return
    start = str(Path(document.settings.folder) / f"{Path(document.path or 'graph').stem}.png")
    path, _ = QFileDialog.getSaveFileName(view, "Export a picture", start, PICTURES)
    if path:
        export(view, document, path, view_only)


def export(view: CanvasView, document: Document, path: str, view_only: bool = False) -> None:
    """Write a picture in a job; what became of it is said above the canvas."""
    drawing, canvas = view.drawing, view.canvas
    if drawing is None or canvas.colouring is None:
        return
    x0, y0, x1, y1 = canvas.view.visible()
    area = QRectF(x0, y0, x1 - x0, y1 - y0) if view_only else None
    scale = max(2.0, 2.0 * canvas.view.scale) if view_only else None
    title, netron = Path(path).stem, view.options.netron
    picture = Picture(drawing, canvas.colours, canvas.colouring, title, netron, area, document.binder, canvas.copies)

    def work(task: Task) -> str:
        picture.cancelled = task.cancelled
        try:
            return write(picture, path, scale)
        except ExportCancelled as error:
            raise Cancelled from error

    def done(note: str) -> None:
        view.say(f"{Path(path).name} is written" + (f", {note}" if note else ""))

    def failed(error: Exception) -> None:
        document.failed.emit(f"Could not write {Path(path).name}", explain_unwritten(error, path))

    document.start(f"Drawing {Path(path).name}", work, done, failed)
