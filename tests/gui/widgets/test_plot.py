"""The numbers along a plot: apart from each other, however narrow it is."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.widgets.plot import Plot


@pytest.mark.parametrize("high", [0.037, 3.0, 27.0, 215.0, 3703.0, 296_295.0])
@pytest.mark.parametrize("width", [30, 60, 110, 400])
def test_numbers_do_not_overlap(qtbot: QtBot, width: int, high: float) -> None:
    plot = Plot("times")
    qtbot.addWidget(plot)
    axis = plot.getAxis("bottom")
    step = axis.tickSpacing(0, high, width)[0][0]
    marks = [place * step for place in range(1, round(high / step) + 1) if place * step <= high]
    metrics = QFontMetricsF(QApplication.font())
    widest = max((metrics.horizontalAdvance(text) for text in axis.tickStrings(marks, 1, step)), default=0.0)
    assert len(marks) <= 1 or width * step / high > widest
    assert marks or width < 100, "where there is room, there are numbers"
