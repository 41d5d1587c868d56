"""What tells of the document's model waits, faded, while another is seen: the sketch of one that is being opened."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gui.document import Document
from gui.widgets.veil import Veil


class HeldBack(QObject):
    """Fades widgets and takes no input for them, each in a turn of the event loop of its own.

    Qt tells every widget within, hundreds in all, and paints anew what is faded: all at once takes a tenth of a second.
    """

    def __init__(self, document: Document, widgets: Iterable[QWidget]) -> None:
        super().__init__(document)
        self._document = document
        self._pieces = {widget: partial(self._update, widget) for widget in widgets}
        self._veils: dict[QWidget, Veil] = {}
        document.sketched.connect(self._ask)
        document.model_changed.connect(self._ask)

    @property
    def _wanted(self) -> bool:
        return self._document.is_sketched and self._document.model is not None

    def _ask(self, *_: object) -> None:
        for widget, piece in self._pieces.items():
            if (widget in self._veils) != self._wanted:
                self._document.turns.ask(piece)

    def _update(self, widget: QWidget) -> None:
        if self._wanted and widget not in self._veils:
            widget.setEnabled(False)
            self._veils[widget] = Veil(widget)
        elif not self._wanted and widget in self._veils:
            widget.setEnabled(True)
            self._veils.pop(widget).deleteLater()
