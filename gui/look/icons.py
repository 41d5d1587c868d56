"""Icons of buttons: line drawings in the theme's colours, sharp at every scale of the screen."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, Slot
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton

import resources
from gui.look.theme import Theme, on_theme, theme_manager

SIZE = 16  # px
SCALES = (1.0, 1.25, 1.5, 1.75, 2.0, 3.0)  # of screens; Qt takes the nearest


@cache
def icon(name: str, colour: str, disabled: str) -> QIcon:
    """The drawing ``resources/icons/lines/NAME.svg`` in a colour, and in another where its button is disabled."""
    drawing = resources.path(f"icons/lines/{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for mode, ink in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled)):
        renderer = QSvgRenderer(QByteArray(drawing.replace("currentColor", ink).encode()))
        for scale in SCALES:
            pixmap = QPixmap(round(SIZE * scale), round(SIZE * scale))
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            renderer.render(painter)
            painter.end()
            pixmap.setDevicePixelRatio(scale)
            result.addPixmap(pixmap, mode)
    return result


class ButtonIcon(QObject):
    """Keeps a button's icon in the colours of the theme: `role` is the theme's for its ink."""

    def __init__(self, button: QAbstractButton, name: str, role: str = "text") -> None:
        super().__init__(button)
        self._button, self._name, self._role = button, name, role
        button.setIconSize(QSize(SIZE, SIZE))
        on_theme(self._apply)

    def set_name(self, name: str) -> None:
        """Show another drawing."""
        self._name = name
        self._apply(theme_manager().theme)

    @Slot(object)
    def _apply(self, theme: Theme) -> None:
        self._button.setIcon(icon(self._name, getattr(theme, self._role), theme.faint))
