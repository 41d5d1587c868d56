"""The search line of the toolbar: a query, how many it finds, and steps from one to the next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from gui.finding.finder import Finder
from gui.look.icons import ButtonIcon
from gui.widgets.filter_line import FilterLine
from gui.widgets.tips import set_tip

HELP = """Words, "in quotes" or /a regex/, that names or
operators hold; and, of what is asked:

op:Conv   op:*pool*|relu
name:attn   tensor:mask   module:layers.0
shape:1x64x*   dtype:f16   size:>1MiB
attr:axis=-1   is:constant
provider:CPU   time:>1ms   err:>1e-3
-op:Constant   anything but

Enter or F3 goes on, Shift+F3 back,
Ctrl+Shift+F lists all."""


class SearchBox(QWidget):
    """A line over a `Finder`. `list_wanted()` says that the user wants to see all matches."""

    list_wanted = Signal()

    def __init__(self, finder: Finder) -> None:
        super().__init__()
        self._finder = finder
        self.edit = FilterLine("Find nodes and tensors", "Find: words, op:Conv, shape:1x64x*")
        set_tip(self.edit, HELP)
        self.count = QToolButton(toolTip="List all matches (Ctrl+Shift+F)", accessibleName="List all matches")
        self.count.setProperty("flat", "true")
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance("0000 of 0000") + 8)
        self.count.clicked.connect(self.list_wanted)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.edit, 1)
        steps = (("up", "Previous match (Shift+F3)", self.previous), ("down", "Next match (F3)", self.next))
        for icon, name, step in steps:
            button = QToolButton(accessibleName=name.partition(" (")[0], toolTip=name)
            ButtonIcon(button, icon, "muted")
            button.setProperty("flat", "true")
            button.clicked.connect(step)
            layout.addWidget(button)
        layout.addWidget(self.count)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaximumWidth(560)
        self._delay = QTimer(self, singleShot=True, interval=120)
        self._delay.timeout.connect(self._search)
        self.edit.textChanged.connect(self._delay.start)
        self.edit.installEventFilter(self)
        finder.found.connect(self._show)
        finder.moved.connect(self._show)
        self._show()

    def sizeHint(self) -> QSize:
        return QSize(520, super().sizeHint().height())

    @Slot()
    def start(self) -> None:
        """Put the cursor into the line, everything in it selected."""
        self.window().activateWindow()  # the keys may come from a floating pane
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    @Slot()
    def next(self) -> None:
        self._step(1)

    @Slot()
    def previous(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        if self._delay.isActive():  # Enter right after typing means what has been typed
            self._delay.stop()
            self._search()
        self._finder.step(by)

    @Slot()
    def _search(self) -> None:
        self._finder.search(self.edit.text())

    @Slot()
    def _show(self) -> None:
        """How many there are, or what is wrong with the query."""
        finder = self._finder
        total = len(finder.items)
        if finder.error:
            text = "?"
        elif not finder.query.strip():
            text = ""
        elif not total:
            text = "no match"
        else:
            text = f"{total:,} found" if finder.place < 0 else f"{finder.place + 1:,} of {total:,}"
        self.count.setText(text)
        self.count.setEnabled(bool(total))
        set_tip(self.edit, f"{finder.error}\n\n{HELP}" if finder.error else HELP)
        if self.edit.property("invalid") != bool(finder.error):
            self.edit.setProperty("invalid", bool(finder.error))
            self.edit.style().polish(self.edit)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                self._step(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.edit.clear()
                self.edit.clearFocus()
                return True
        return super().eventFilter(watched, event)
