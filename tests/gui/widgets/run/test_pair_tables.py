"""The two tables of the Compare pane, on slices of every rank."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from engine.agreement import Tolerance
from gui.widgets.run.pair_tables import PairTables


@pytest.mark.parametrize("shape", [(), (1,), (3,), (4,), (9,), (2, 3), (0,), (0, 3)])
def test_every_element_of_a_slice_is_shown_and_judged(qtbot, shape):
    tables = PairTables()
    qtbot.addWidget(tables)
    actual = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    expected = actual.copy()
    if actual.size:
        expected[(0,) * len(shape)] = 99
    tables.set_planes(actual, expected, Tolerance(0.0, 0.0))

    model = tables.models[0]
    cells = [model.index(row, column) for row in range(model.rowCount()) for column in range(model.columnCount())]
    texts = [cell.data() for cell in cells if cell.data() is not None]
    red = [cell.data() for cell in cells if cell.data(Qt.ItemDataRole.ForegroundRole) is not None]

    assert texts == [str(n) for n in range(actual.size)]
    assert red == (["0"] if actual.size else [])
