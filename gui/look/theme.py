"""How the program looks: two palettes, the style sheet made from them, and the switch between them.

`ThemeManager` follows the system's light or dark setting until the user picks one. Widgets that paint for themselves
read the colours off `Theme` and listen to `ThemeManager.changed`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyqtgraph
from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QToolTip, QWidget
from shiboken6 import isValid

from gui.background.turns import Turns
from gui.look.stylesheet import stylesheet


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours by their role, as ``#rrggbb``."""

    name: str
    dark: bool
    window: str  # panes, bars, menus
    canvas: str  # behind the graph and the plots
    raised: str  # boxes on the canvas, tooltips
    field: str  # line edits, buttons
    line: str  # hairlines
    text: str
    muted: str
    faint: str  # what matters least, such as a default value
    accent: str
    on_accent: str
    selection: str  # behind what is selected
    hover: str
    good: str
    warning: str
    error: str
    neutral: str  # the second series of a plot

    def colour(self, role: str) -> QColor:
        """The colour of a role, such as ``theme.colour("muted")``."""
        return QColor(getattr(self, role))


LIGHT = Theme(
    name="light", dark=False, window="#ffffff", canvas="#fafbfc", raised="#ffffff", field="#f4f5f7", line="#dfe2e8",
    text="#1b1f27", muted="#545d6c", faint="#636b79", accent="#1b62d3", on_accent="#ffffff", selection="#e3edff",
    hover="#f0f3f8", good="#107638", warning="#a84d08", error="#c62828", neutral="#858c9a",
)  # fmt: skip

DARK = Theme(
    name="dark", dark=True, window="#22252b", canvas="#17191d", raised="#2a2e36", field="#1b1d22", line="#343840",
    text="#e6e8ec", muted="#a9b1be", faint="#98a0ae", accent="#6ea8ff", on_accent="#0d1728", selection="#26344e",
    hover="#2a2e36", good="#3fb97a", warning="#e0a33a", error="#f4877f", neutral="#858c9a",
)  # fmt: skip

MODES = ("system", "light", "dark")


def ui_font(scale: float = 1.0) -> QFont:
    """The application's font, scaled."""
    font = QFont(QApplication.font())
    font.setPointSizeF(font.pointSizeF() * scale)
    return font


def mono_font(scale: float = 0.92) -> QFont:
    """The fixed-width face for shapes and numbers, a little smaller since it runs wide."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(QApplication.font().pointSizeF() * scale)
    return font


def palette(theme: Theme) -> QPalette:
    """The Qt palette, for whatever the style sheet doesn't reach."""
    p = QPalette()
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    for target, colour in (
        (role.Window, theme.window), (role.Base, theme.window), (role.AlternateBase, theme.hover),
        (role.Button, theme.field), (role.WindowText, theme.text), (role.Text, theme.text),
        (role.ButtonText, theme.text), (role.PlaceholderText, theme.faint), (role.Highlight, theme.selection),
        (role.HighlightedText, theme.text), (role.Link, theme.accent), (role.LinkVisited, theme.accent),
        (role.ToolTipBase, theme.raised), (role.ToolTipText, theme.text), (role.Light, theme.raised),
        (role.Midlight, theme.hover), (role.Mid, theme.line), (role.Dark, theme.line), (role.Shadow, theme.line),
        (role.BrightText, theme.error), (role.Accent, theme.accent),
    ):  # fmt: skip
        p.setColor(target, QColor(colour))
    for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        p.setColor(group.Disabled, target, QColor(theme.faint))
    return p


class ThemeManager(QObject):
    """The theme in force: `changed(Theme)` in the turn of the event loop after it turns, `mode` one of `MODES`."""

    changed = Signal(object)

    def __init__(self, app: QApplication, mode: str = "system") -> None:
        super().__init__(app)
        self._app = app
        self._turns = Turns(self)
        self.mode = mode if mode in MODES else "system"
        self.theme = self._wanted()
        self._waiting: list[QWidget] = []  # windows that wait to be painted until all in them is dressed
        app.setStyle(QStyleFactory.create("Fusion"))
        QToolTip.setFont(ui_font(0.95))
        self._apply()
        app.styleHints().colorSchemeChanged.connect(self._system_changed)

    def set_mode(self, mode: str) -> None:
        """Follow the system, or stay light or dark.

        Raises
        ------
        ValueError: `mode` is not one of `MODES`.
        """
        if mode not in MODES:
            raise ValueError(f"theme {mode!r} is none of {', '.join(MODES)}")
        self.mode = mode
        self._update()

    @Slot()
    def _system_changed(self) -> None:
        self._update()

    def _wanted(self) -> Theme:
        dark = self.mode == "dark"
        if self.mode == "system":
            dark = self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT

    def _update(self) -> None:
        theme = self._wanted()
        if theme is not self.theme:
            self.theme = theme
            self._hold_painting()
            self._apply()
            self._turns.ask(self._tell)

    def _hold_painting(self) -> None:
        """Have windows wait: Qt dresses now, what paints for itself is told a turn later, and both are seen at once."""
        held = [window for window in self._app.topLevelWidgets() if window.isVisible() and window.updatesEnabled()]
        for window in held:
            window.setUpdatesEnabled(False)
        self._waiting += held

    @Slot()
    def _tell(self) -> None:
        self.changed.emit(self.theme)
        waiting, self._waiting = self._waiting, []
        for window in filter(isValid, waiting):
            window.setUpdatesEnabled(True)

    def _apply(self) -> None:
        # Where one style sheet follows another, Qt (6.11) polishes each widget once for each of its ancestors: 5,100
        # times for the 1,000 widgets of the window, 2.3 times as long as taking the old one away first.
        self._app.setStyleSheet("")
        self._app.setPalette(palette(self.theme))
        self._app.setStyleSheet(stylesheet(self.theme))
        pyqtgraph.setConfigOptions(
            background=self.theme.canvas, foreground=self.theme.muted, antialias=True, useNumba=False
        )


def theme_manager() -> ThemeManager:
    """The application's one theme manager, made at its first use.

    Raises
    ------
    RuntimeError: there is no `QApplication` yet.
    """
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise RuntimeError("the theme needs a QApplication")
    manager = app.findChild(ThemeManager)
    return manager if isinstance(manager, ThemeManager) else ThemeManager(app)


def on_theme(apply: Callable[[Theme], None]) -> None:
    """Call `apply` (a bound method of a QObject) with the theme now and at every change."""
    manager = theme_manager()
    manager.changed.connect(apply)
    apply(manager.theme)
