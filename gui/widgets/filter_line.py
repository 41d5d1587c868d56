"""A line to type what to look for, with a button that clears it."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QToolButton


class FilterLine(QLineEdit):
    """Called `name` by screen readers; `hint` stands in it while it is empty."""

    def __init__(self, name: str, hint: str = "Filter") -> None:
        super().__init__(placeholderText=hint, clearButtonEnabled=True)
        self.setAccessibleName(name)
        for button in self.findChildren(QToolButton):  # Qt's own has no name
            button.setAccessibleName("Clear")
