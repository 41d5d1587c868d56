"""Files that are no model or a broken one, in the real window: told, and what was open stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.models.problems import ProblemRow
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.window_panes import SAMPLE, Panes, node_of


def test_clicking_a_problem_selects_its_place(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, shared: Path
) -> None:
    open_model(shared / "models/broken/missing_input.onnx")
    assert window.docks["problems"].windowTitle().startswith("Problems  ")
    rows = [row for row in panes.problems.model.rows if row.item is not None]
    assert rows
    row: ProblemRow = rows[0]
    window.docks["problems"].raise_()
    index = panes.problems.model.index(panes.problems.model.place_of(row), 0)
    qtbot.mouseClick(
        panes.problems.view.viewport(), Qt.MouseButton.LeftButton, pos=panes.problems.view.visualRect(index).center()
    )
    assert window.document.selection is row.item
    window.document.select(None)
    window.document.select(row.item)
    assert panes.problems.view.current_row() is row


def test_a_model_that_opens_with_errors_shows_them_first(
    qtbot: QtBot, window: MainWindow, open_model: Opener, shared: Path
) -> None:
    told, pane = window.status.problems, window.docks["problems"].widget()

    def in_front() -> bool:
        return not pane.visibleRegion().isEmpty()

    open_model(SAMPLE)
    assert not told.isVisible()
    open_model(shared / "models/broken/cycle.onnx")
    qtbot.waitUntil(in_front)
    assert told.text() == "1 error, 1 warning"
    window.docks["shapes"].raise_()
    qtbot.waitUntil(lambda: not in_front())
    with qtbot.waitSignal(pane.count_changed):
        window.document.reload()
    assert not in_front()  # these errors were shown
    qtbot.mouseClick(told, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(in_front)
    open_model(SAMPLE)
    qtbot.waitUntil(lambda: not told.isVisible())


def broken_files() -> list[str]:
    return ["empty", "git_lfs_pointer", "not_protobuf", "truncated"]


@pytest.mark.parametrize("name", broken_files())
def test_a_file_that_is_no_model_leaves_the_one_before(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, shared: Path, name: str
) -> None:
    open_model(SAMPLE)
    conv = node_of(window, "Conv")
    window.document.select(conv)
    with qtbot.waitSignal(window.document.failed):
        window.document.open(shared / f"models/broken/{name}.onnx")
    assert window.message.isVisible()
    assert f"{name}.onnx" in window.message.title.text()
    assert len(window.message.text.text()) > 20
    assert "Unexpected" not in window.message.text.text()
    assert window.document.selection is conv
    assert panes.shown(panes.order) == conv.name
    assert "sample_cnn" in window.windowTitle()


@pytest.mark.parametrize("what", ["missing", "folder", "unreadable"])
def test_a_path_that_cannot_be_read(qtbot: QtBot, window: MainWindow, tmp_path: Path, what: str) -> None:
    path = tmp_path / "model.onnx"
    if what == "folder":
        path.mkdir()
    elif what == "unreadable":
        path.write_bytes(b"x")
        path.chmod(0)
        if path.stat().st_uid == 0:
            pytest.skip("root may read everything")
    with qtbot.waitSignal(window.document.failed):
        window.document.open(path)
    assert window.message.isVisible()
    assert "model.onnx" in window.message.title.text()
    assert "Unexpected" not in window.message.text.text()


def every_broken_model() -> list[str]:
    return [
        "cycle", "dtype_clash", "duplicate_output", "external_path_escape", "future_ir", "future_opset",
        "init_shape_vs_input", "init_size_lie", "missing_external", "missing_input", "output_not_produced", "self_loop",
        "shape_clash", "two_cycles", "unknown_op", "wrong_value_info",
    ]  # fmt: skip


@pytest.mark.parametrize("name", every_broken_model())
def test_a_broken_model_opens_and_names_its_problem(
    window: MainWindow, panes: Panes, open_model: Opener, shared: Path, name: str
) -> None:
    open_model(shared / f"models/broken/{name}.onnx")
    assert panes.problems.model.rowCount() > 0
    assert panes.order.model.rowCount() == len(window.document.graph.nodes)
