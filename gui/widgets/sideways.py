"""Room for what is wider than the window: it scrolls sideways, and is as high as it wants to be."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QLayout, QScrollArea, QWidget


class SidewaysScroll(QScrollArea):
    """Shows a layout as wide as there is room; where that is less than it needs, the rest is scrolled to."""

    def __init__(self, content: QLayout) -> None:
        super().__init__()
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it takes the keyboard, and comes into sight then
        self.setWidgetResizable(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        content.setContentsMargins(0, 0, 0, 0)
        page.setLayout(content)
        page.installEventFilter(self)
        self.setWidget(page)
        self._page = page

    def minimumSizeHint(self) -> QSize:
        least = self._page.minimumSizeHint()
        bar = self.horizontalScrollBar().sizeHint().height() if self.width() < least.width() else 0
        return QSize(0, least.height() + bar)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)
