"""The field of one input: how it is made, typed or picked from a list."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu, QSizePolicy

import resources
from gui.look.theme import Theme, mono_font, on_theme

_FROM_FILE = "from file…"
NUMERIC = ("normal", "uniform:0:1", "integers:0:10", "arange", "tokens", "ones", "zeros")
STRINGS = ("words:cat,dog,bird",)
_PICTURES = "*.png *.jpg *.jpeg *.bmp *.webp *.gif *.ppm *.tif *.tiff"
_FILES = f"Arrays and pictures (*.npz *.npy *.pb {_PICTURES});;All files (*)"
_GENERATORS = """normal[:SCALE]
uniform:LOW:HIGH
integers:LOW:HIGH
arange[:START[:STEP]]
tokens[:COUNT], below the rows of the table they index
ones, zeros, true, false, or a number
words:A,B,C for strings
FILE.npz[:KEY], FILE.npy, FILE.pb
PICTURE.png[:255|signed|imagenet], resized to the input"""


class SpecField(QLineEdit):
    """A generator in the text form of `InputSpec`; the arrow, or the Down key, opens a menu of `presets` and files.

    A combo box would be a dozen widgets, list and scroll bars included, to make and to dress for each of up to a
    hundred inputs.
    """

    def __init__(self, text: str, presets: Iterable[str]) -> None:
        super().__init__(text)
        self._presets = tuple(dict.fromkeys([*([text] if text else []), *presets]))
        self.setCursorPosition(0)  # the beginning says more than the end
        self.setFont(mono_font())
        self.setMinimumWidth(96)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(_GENERATORS)
        self._arrow = QAction("Choose", self)
        self._arrow.triggered.connect(self.open_menu)
        self.addAction(self._arrow, QLineEdit.ActionPosition.TrailingPosition)
        on_theme(self._set_theme)

    @Slot()
    def open_menu(self) -> None:
        """Offer the presets, and a file."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for preset in self._presets:
            action = menu.addAction(preset.replace("&", "&&"))
            action.triggered.connect(lambda _checked=False, preset=preset: self.setText(preset))
        menu.addAction(_FROM_FILE, self._ask_for_file)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_F4):
            self.open_menu()
        else:
            super().keyPressEvent(event)

    @Slot()
    def _ask_for_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Input from file", "", _FILES)
        if path:
            self.setText(path)

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self._arrow.setIcon(QIcon(str(resources.path(f"icons/down-{theme.name}.svg"))))
