"""Forms of the Run pane: a size for each symbolic dim, a generator for each input."""
from __future__ import annotations

from collections.abc import Iterable, Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine.feeds import SymbolUse
from engine.graph.ir import Tensor
from gui.text import one_line, type_text
from gui.theme import mono_font
from gui.widgets.tips import plain_tip

_FROM_FILE = "from file…"
_NUMERIC = ("normal", "uniform:0:1", "integers:0:10", "ones", "zeros", _FROM_FILE)
_STRINGS = ("words:cat,dog,bird", _FROM_FILE)
_FILES = "Arrays (*.npz *.npy *.pb);;All files (*)"
_LABEL_WIDTH = 26  # characters


class FormGrid(QScrollArea):
    """Rows of a label and a field, scrolling where they do not fit. `changed` tells of any edit."""

    changed = Signal()

    def __init__(self, name: str, empty: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._empty = empty
        self._fields: dict[str, QWidget] = {}

    def _rebuild(self, rows: Iterable[tuple[str, str, str, QWidget]]) -> None:
        """Show rows of (key, label text, remark for the tooltips, field)."""
        page = QWidget()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 6, 0)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        self._fields = {}
        for row, (key, text, remark, field) in enumerate(rows):
            label = plain_label(text, tip=f"{key}\n{remark}")
            label.setBuddy(field)
            field.setAccessibleName(text)
            field.setToolTip(plain_tip("\n".join(filter(None, [remark, field.toolTip()]))))
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
            self._fields[key] = field
        if not self._fields:
            grid.addWidget(plain_label(self._empty, role="muted"), 0, 0)
        outer.addLayout(grid)
        outer.addStretch(1)
        self.setWidget(page)

    def focus(self, key: str) -> None:
        """Put the cursor into the field of `key`, where an error is to be mended."""
        field = self._fields.get(key)
        if field is not None:
            self.ensureWidgetVisible(field)
            field.setFocus()


class DimsForm(FormGrid):
    """A number for each symbolic dim. Values are kept as typed: an empty field has none."""

    def __init__(self) -> None:
        super().__init__("Dims", "All dims of the inputs are fixed")

    def set_dims(self, uses: Mapping[str, list[SymbolUse]], dims: Mapping[str, int]) -> None:
        """Show a field for each symbol, with the places that use it."""
        rows = []
        for name, places in uses.items():
            field = QLineEdit(str(dims.get(name, "")), placeholderText="size")
            field.setMaximumWidth(110)
            field.setFont(mono_font())
            field.textChanged.connect(self.changed)
            where = "used by " + ", ".join(f"axis {use.axis} of {one_line(use.input, 40)}" for use in places)
            rows.append((name, one_line(name, _LABEL_WIDTH), where, field))
        self._rebuild(rows)

    def dims(self) -> dict[str, int]:
        """The sizes typed in; fields that hold no whole number from 0 up are left out."""
        texts = {name: field.text().strip() for name, field in self._fields.items() if isinstance(field, QLineEdit)}
        return {name: int(text) for name, text in texts.items() if text.isascii() and text.isdigit()}

    def invalid(self) -> str | None:
        """The first symbol whose field holds no size."""
        known = self.dims()
        return next((name for name in self._fields if name not in known), None)


class InputsForm(FormGrid):
    """A generator for each input, in the text form of `InputSpec`, picked from a list or typed."""

    def __init__(self) -> None:
        super().__init__("Inputs", "The model has no inputs to feed")

    def set_inputs(self, tensors: Iterable[Tensor], specs: Mapping[str, str]) -> None:
        """Show a field for each input with its type."""
        rows = []
        for tensor in tensors:
            is_text = tensor.dtype is not None and tensor.dtype.kind == "string"
            field = _SpecBox(specs.get(tensor.name, ""), _STRINGS if is_text else _NUMERIC)
            field.currentTextChanged.connect(self.changed)
            kind = type_text(tensor.inferred_type or tensor.stored_type)
            rows.append((tensor.name, one_line(tensor.name, _LABEL_WIDTH), kind, field))
        self._rebuild(rows)

    def specs(self) -> dict[str, str]:
        """The generators as typed; empty fields are left to their default."""
        texts = {n: field.currentText().strip() for n, field in self._fields.items() if isinstance(field, QComboBox)}
        return {name: text for name, text in texts.items() if text}


class _SpecBox(QComboBox):
    """An editable list of generators; its last entry asks for a file."""

    def __init__(self, text: str, presets: Iterable[str]) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.addItems(list(dict.fromkeys([*([text] if text else []), *presets])))
        self.setEditText(text)
        self.setFont(mono_font())
        self.setMinimumWidth(96)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._last = text
        self.setToolTip("normal[:SCALE], uniform:LOW:HIGH, integers:LOW:HIGH, ones, zeros, a number, or a file")
        self.activated.connect(self._activated)

    @Slot(int)
    def _activated(self, index: int) -> None:
        if self.itemText(index) == _FROM_FILE:
            path, _ = QFileDialog.getOpenFileName(self, "Input from file", "", _FILES)
            self.setEditText(path or self._last)
        self._last = self.currentText()


def plain_label(text: str, role: str = "", tip: str = "") -> QLabel:
    """A label whose text may come from a model: shown as it is, never as markup."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    if role:
        label.setProperty("role", role)
    if tip:
        label.setToolTip(plain_tip(tip))
    return label
