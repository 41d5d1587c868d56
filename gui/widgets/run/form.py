"""Forms of the Run pane: a size for each symbolic dim, a generator for each input."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QLineEdit, QScrollArea, QSpacerItem, QVBoxLayout, QWidget

from engine.errors import InputError
from engine.feeds import InputSpec, SymbolUse
from engine.graph.ir import Tensor
from gui.look.theme import mono_font
from gui.text import one_line, type_text
from gui.widgets.run.spec_field import NUMERIC, STRINGS, SpecField
from gui.widgets.tips import set_tip

_LABEL_WIDTH = 14  # characters; the whole name is in the tooltip
_MOST_NEEDED = 215  # pixels that a form asks for at most
_MOST_FIELDS = 100  # a file can ask for any number, and every field costs the window's thread some milliseconds
_AT_ONCE, _A_TURN = 6, 3  # fields that are made before the form is shown, and then in each turn of the event loop
_AHEAD = 160  # pixels below what is in sight that have their fields already, for the wheel and the Tab key

_Row: TypeAlias = "tuple[str, str, str, QLineEdit]"
Fit: TypeAlias = "Callable[[Mapping[str, int]], dict[str, int]]"


class FormGrid(QScrollArea):
    """Rows of a label and a field, scrolling where they do not fit. `changed` tells of any edit.

    Fields are made as far as is in sight, the others when they are scrolled to: each takes milliseconds to make and to
    dress, and a model may have thousands of inputs.
    """

    changed = Signal()

    def __init__(self, name: str, empty: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._empty = empty
        self._fields: dict[str, QLineEdit] = {}
        self._errors: dict[str, QLabel] = {}
        self._rows: Iterator[_Row] = iter(())
        self._count, self._more = 0, 0
        self._grid = QGridLayout()
        self._room = QSpacerItem(0, 0)  # of the rows that are not made yet
        self._later = QTimer(self, interval=0)
        self._later.timeout.connect(self._add_some)
        self.verticalScrollBar().valueChanged.connect(self._go_on)

    def _rebuild(self, rows: Iterator[_Row], count: int) -> None:
        """Show so many rows of (key, label text, remark for the tooltips, field); those beyond a limit have no field.

        The first come at once, others that are in sight a few in each turn of the event loop.
        """
        page = QWidget()
        outer = QVBoxLayout(page)
        outer.setContentsMargins(0, 0, 6, 0)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        outer.addLayout(self._grid)
        self._room = QSpacerItem(0, 0)
        outer.addItem(self._room)
        outer.addStretch(1)
        self._fields, self._errors, self._rows = {}, {}, rows
        self._count = min(count, _MOST_FIELDS)
        self._more = count - self._count
        self.setWidget(page)
        self._add(_AT_ONCE)
        self._go_on()

    @property
    def _left(self) -> int:
        """Rows that are not made yet."""
        return self._count - len(self._fields)

    @Slot()
    def _go_on(self) -> None:
        """Make the rows that are in sight now."""
        if self._left:
            self._later.start()

    @Slot()
    def _add_some(self) -> None:
        seen = self.verticalScrollBar().value() + self.viewport().height()
        if self._left and self._grid.sizeHint().height() < seen + _AHEAD:
            self._add(_A_TURN)
            self._mark()
        else:
            self._later.stop()

    def _add_up_to(self, key: str) -> None:
        """Make the row of a key, if it has one, and those before it."""
        if key not in self._fields and self._left:
            while key not in self._fields and self._left:
                self._add(_A_TURN)
            self._mark()

    def _add(self, count: int) -> None:
        """Add up to so many rows; after the last one what there is to say of all."""
        for row in islice(self._rows, min(count, self._left)):
            self._add_row(*row)
        made, height = len(self._fields), self._grid.sizeHint().height()
        if not made:
            self._add_note(self._empty)
        if self._more and not self._left:
            self._add_note(f"and {self._more:,} more, left as they are; the command line sets any of them")
        page, bar = self.widget(), self.verticalScrollBar().sizeHint().width()
        assert page is not None  # `_rebuild` has set it
        self._room.changeSize(0, self._left * height // max(made, 1))
        page.updateGeometry()
        self.setMinimumWidth(min(page.minimumSizeHint().width() + bar, _MOST_NEEDED))  # it never scrolls sideways

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._go_on()

    def _add_row(self, key: str, text: str, remark: str, field: QLineEdit) -> None:
        label = plain_label(text, tip=f"{key}\n{remark}")
        label.setBuddy(field)
        field.setAccessibleName(text)
        set_tip(field, "\n".join(filter(None, [remark, field.toolTip()])))
        row = len(self._fields)
        self._grid.addWidget(label, 2 * row, 0)
        self._grid.addWidget(field, 2 * row, 1)
        if self._fields:
            QWidget.setTabOrder(next(reversed(self._fields.values())), field)
        for widget in (label, field):
            widget.show()  # at once, else Qt counts neither in the width that the form asks for below
        self._fields[key] = field

    def _add_note(self, text: str) -> None:
        note = plain_label(text, role="muted")
        note.setWordWrap(True)
        self._grid.addWidget(note, 2 * len(self._fields), 0, 1, 2)

    @Slot()
    def _check(self) -> None:
        """After an edit."""
        self._mark()
        self.changed.emit()

    def _mark(self) -> None:
        """Say at each field what is wrong with it."""
        raise NotImplementedError

    def set_error(self, key: str, text: str) -> None:
        """Say at a field what is wrong with it; an empty text takes it back."""
        if text:
            self._add_up_to(key)
        field, label = self._fields.get(key), self._errors.get(key)
        if field is None or (label is None and not text):
            return
        label = label or self._add_error(key)
        label.setText(text.partition(";")[0])  # what could be done instead is in the tooltips
        set_tip(label, text)
        label.setVisible(bool(text))
        mark = "true" if text else "false"
        if field.property("invalid") != mark:
            field.setProperty("invalid", mark)
            field.style().polish(field)

    def _add_error(self, key: str) -> QLabel:
        """The label under a field that says what is wrong with it: few fields ever need one."""
        label = self._errors[key] = plain_label("", role="error")
        label.setWordWrap(True)
        self._grid.addWidget(label, 2 * list(self._fields).index(key) + 1, 0, 1, 2)
        return label

    def error(self, key: str) -> str:
        """What is said to be wrong with a field."""
        label = self._errors.get(key)
        return label.text() if label is not None else ""

    def focus(self, key: str) -> None:
        """Put the cursor into the field of `key`, where an error is to be mended."""
        self._add_up_to(key)
        field = self._fields.get(key)
        if field is not None:
            self.ensureWidgetVisible(field)
            field.setFocus()


class DimsForm(FormGrid):
    """A number for each symbolic dim. An empty field leaves it at the default, which stands there in grey and follows
    from the sizes that are typed into others where these ask for it."""

    def __init__(self) -> None:
        super().__init__("Dims", "All dims of the inputs are fixed")
        self._fit: Fit = dict
        self._defaults: dict[str, int] = {}
        self._unshown: dict[str, int] = {}

    def set_dims(self, uses: Mapping[str, list[SymbolUse]], dims: Mapping[str, int], fit: Fit) -> None:
        """Show a field for each symbol, with the places that use it; those at their default are empty.

        `fit(sizes)` tells the sizes of all symbols where some are given.
        """
        self._fit, self._defaults = fit, fit({})
        chosen = {name: size for name, size in dims.items() if size != self._defaults.get(name)}
        for name in reversed(list(chosen)):  # what follows from the others was not typed
            if fit({other: size for other, size in chosen.items() if other != name}).get(name) == chosen[name]:
                del chosen[name]
        self._unshown = {name: chosen[name] for name in uses if name in chosen}
        self._rebuild(self._fields_for(uses), len(uses))
        self._check()

    def _fields_for(self, uses: Mapping[str, list[SymbolUse]]) -> Iterator[_Row]:
        for name in uses:
            size = self._unshown.pop(name, "")
            field = QLineEdit(str(size))
            field.setMinimumWidth(56)
            field.setMaximumWidth(110)
            field.setFont(mono_font())
            field.textChanged.connect(self._check)
            where = "used by " + ", ".join(f"axis {use.axis} of {one_line(use.input, 40)}" for use in uses[name][:20])
            yield name, one_line(name, _LABEL_WIDTH), where, field

    def _mark(self) -> None:
        self._defaults = self._fit(self.chosen())
        for name, field in self._fields.items():
            field.setPlaceholderText(str(self._defaults.get(name, "size")))
            self.set_error(name, "" if self._holds(name) else "a whole number from 0 up")

    def dims(self) -> dict[str, int]:
        """The sizes of all symbols, chosen or by default; those whose field holds no whole number are left out."""
        sizes = self._defaults | self.chosen()
        return {name: size for name, size in sizes.items() if name not in self._fields or self._holds(name)}

    def chosen(self) -> dict[str, int]:
        """The sizes typed in."""
        texts = {name: self._text(name) for name in self._fields}
        return {name: int(text) for name, text in texts.items() if _is_size(text)} | self._unshown

    def invalid(self) -> str | None:
        """The first symbol whose field holds something else than a size."""
        return next((name for name in self._fields if not self._holds(name)), None)

    def _text(self, name: str) -> str:
        return self._fields[name].text().strip()

    def _holds(self, name: str) -> bool:
        """Whether a field holds a size, or leaves it to the default."""
        text = self._text(name)
        return _is_size(text) if text else name in self._defaults


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18  # an int64


class InputsForm(FormGrid):
    """A generator for each input, in the text form of `InputSpec`, picked from a list or typed."""

    def __init__(self) -> None:
        super().__init__("Inputs", "The model has no inputs to feed")
        self._unshown: dict[str, str] = {}

    def set_inputs(self, tensors: Iterable[Tensor], specs: Mapping[str, str]) -> None:
        """Show a field for each input with its type."""
        inputs = list(tensors)
        self._unshown = {t.name: specs[t.name] for t in inputs if t.name in specs}
        self._rebuild(self._fields_for(inputs), len(inputs))
        self._check()

    def _fields_for(self, inputs: Sequence[Tensor]) -> Iterator[_Row]:
        for tensor in inputs:
            is_text = tensor.dtype is not None and tensor.dtype.kind == "string"
            field = SpecField(self._unshown.pop(tensor.name, ""), STRINGS if is_text else NUMERIC)
            field.textChanged.connect(self._check)
            kind = type_text(tensor.inferred_type or tensor.stored_type)
            yield tensor.name, one_line(tensor.name, _LABEL_WIDTH), kind, field

    def _mark(self) -> None:
        texts = self.specs()
        for name in self._fields:
            self.set_error(name, spec_problem(texts[name]) if name in texts else "")

    def invalid(self) -> str | None:
        """The first input whose field, made or not, says no way to make it."""
        made = (name for name in self._fields if self.error(name))
        return next(made, None) or next((name for name, text in self._unshown.items() if spec_problem(text)), None)

    def specs(self) -> dict[str, str]:
        """The generators as typed; empty fields are left to their default."""
        texts = {name: field.text().strip() for name, field in self._fields.items()}
        return {name: text for name, text in texts.items() if text} | self._unshown


def spec_problem(text: str) -> str:
    """What is wrong with the text form of a generator, as far as can be told without making the input."""
    try:
        spec = InputSpec.parse(text)
    except InputError as error:
        return str(error)
    return f"{spec.path} does not exist" if spec.path and not os.path.exists(spec.path) else ""


def plain_label(text: str, role: str = "", tip: str = "") -> QLabel:
    """A label whose text may come from a model: shown as it is, never as markup."""
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    if role:
        label.setProperty("role", role)
    if tip:
        set_tip(label, tip)
    return label
