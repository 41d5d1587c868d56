"""The real window: opening, drag and drop, closing, layout, theme, commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QTabBar
from pytestqt.qtbot import QtBot

from engine.errors import ModelFormatError
from engine.graph.ir import Node, Tensor
from gui.errors import explain
from gui.look.theme import theme_manager
from gui.settings import STATE_VERSION, Settings
from gui.window.main_window import MainWindow
from tests.gui.conftest import NewWindow, Opener
from tests.gui.dropping import drag_away, drag_files, drop_files
from tests.gui.window_panes import CONTROL_FLOW, SAMPLE, Panes, node_of


def test_dropping_files(qtbot: QtBot, window: MainWindow) -> None:
    wanted: list[str] = []
    window.window_wanted.connect(wanted.append)
    with qtbot.waitSignal(window.canvas.drawn):
        drop_files(window.empty, SAMPLE, CONTROL_FLOW)
    assert window.document.path == str(SAMPLE)
    assert wanted == [str(CONTROL_FLOW)]


def test_weights_and_figures_dropped_with_a_model_go_with_it(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    model, weights, times = (tmp_path / name for name in ("a.onnx", "a.onnx.data", "times.csv"))
    shutil.copy(SAMPLE, model)
    weights.write_bytes(b"weights")
    times.write_text("node,ms\n/stem/conv/Conv,3\n")
    wanted: list[str] = []
    window.window_wanted.connect(wanted.append)
    with qtbot.waitSignal(window.document.attachment.changed):
        drop_files(window.empty, weights, times, model)
    assert window.document.path == str(model)
    assert list(window.document.attachment.found.numbers) == ["ms"]
    assert wanted == []


def test_where_to_drop_is_marked_while_a_file_is_above_the_window(window: MainWindow) -> None:
    target = window.empty.findChild(QFrame, "dropTarget")
    window.show()
    dragged = drag_files(window.empty, SAMPLE)
    assert target.property("active") == "true"
    drag_away(window.empty)
    assert target.property("active") == "false"
    del dragged


def test_the_recent_files_are_listed_and_can_be_forgotten(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    window.settings.add_recent(str(tmp_path / "gone & lost.onnx"))
    open_model(SAMPLE)
    window.recent_menu.aboutToShow.emit()
    listed = [(action.text(), action.isEnabled()) for action in window.recent_menu.actions() if action.text()]
    assert listed == [(str(SAMPLE), True), (str(tmp_path / "gone && lost.onnx"), False), ("&Clear", True)]
    with qtbot.waitSignal(window.document.model_changed):
        window.recent_menu.actions()[0].trigger()
    window.recent_menu.actions()[-1].trigger()
    assert window.settings.recent == []


def test_the_dialog_opens_what_was_chosen(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *args: (str(SAMPLE), ""))
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    assert window.settings.recent == [str(SAMPLE)]
    assert window.settings.folder == str(SAMPLE.parent)


def test_reload_keeps_the_selection_by_name(
    qtbot: QtBot, window: MainWindow, panes: Panes, open_model: Opener, tmp_path: Path
) -> None:
    path = Path(shutil.copy(SAMPLE, tmp_path))
    open_model(path)
    before = node_of(window, "Conv", 2)
    window.document.select(before)
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    after = window.document.selection
    assert isinstance(after, Node)
    assert after is not before
    assert after.name == before.name
    assert panes.shown(panes.order) == before.name


def test_opening_again_before_the_first_is_done_shows_the_last(qtbot: QtBot, window: MainWindow) -> None:
    window.document.open(CONTROL_FLOW)
    with qtbot.waitSignal(window.document.model_changed):
        window.document.open(SAMPLE)
    qtbot.waitUntil(lambda: not window.document.busy)
    assert window.document.path == str(SAMPLE)


# The window itself


def test_closing_while_loading_leaves_nothing_running(qtbot: QtBot, window: MainWindow, shared: Path) -> None:
    window.document.open(shared / "models/ops/dag_5000.onnx")
    window.close()
    qtbot.waitUntil(lambda: window.document.jobs.active == 0)
    assert window.document.model is None


def test_layout_is_remembered_and_reset(window: MainWindow, new_window: NewWindow) -> None:
    window.docks["problems"].hide()
    window.close()
    other = new_window()
    assert not other.docks["problems"].toggleViewAction().isChecked()
    other.reset_layout()
    assert other.docks["problems"].toggleViewAction().isChecked()


def test_a_window_that_was_never_shown_leaves_the_layout_as_it_was_remembered(
    qtbot: QtBot, window: MainWindow, settings: Settings, new_window: NewWindow
) -> None:
    window.docks["problems"].hide()
    window.close()
    unseen = MainWindow(settings)
    qtbot.addWidget(unseen)
    unseen.close()
    assert not new_window().docks["problems"].toggleViewAction().isChecked()


def test_a_remembered_layout_shows_each_title_once(
    qtbot: QtBot, window: MainWindow, new_window: NewWindow
) -> None:
    window.close()
    other = new_window()
    other.docks["initializers"].raise_()
    qtbot.waitUntil(other.docks["initializers"].widget().isVisible)
    QCoreApplication.processEvents()

    def titles() -> list[str]:
        bars = other.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return [bar.tabText(place) for bar in bars if bar.isVisible() and other.rect().intersects(bar.geometry())
                for place in range(bar.count())]  # fmt: skip

    shown = [dock.windowTitle() for dock in other.docks.values() if dock.toggleViewAction().isChecked()]
    assert sorted(titles()) == sorted(shown)


def test_state_of_another_version_is_ignored(
    window: MainWindow, new_window: NewWindow, settings: Settings
) -> None:
    window.docks["problems"].hide()
    settings.state = window.saveState(STATE_VERSION + 1)
    other = new_window()
    assert other.docks["problems"].toggleViewAction().isChecked()


def test_theme_turns_and_is_remembered(
    qtbot: QtBot, window: MainWindow, open_model: Opener, settings: Settings
) -> None:
    open_model(SAMPLE)
    try:
        window.set_theme_mode("light")
        light = window.grab().toImage().pixelColor(window.width() // 2, 4).lightness()
        with qtbot.waitSignal(theme_manager().changed):
            window.toolbar.theme.click()
        dark = window.grab().toImage().pixelColor(window.width() // 2, 4).lightness()
        assert light > 200 > 100 > dark
        assert settings.theme == "dark"
        assert window.actions_by_name["theme_dark"].isChecked()
    finally:
        theme_manager().set_mode("light")


def test_commands_know_when_they_can_be_used(window: MainWindow, open_model: Opener) -> None:
    names = window.actions_by_name
    assert not any(names[name].isEnabled() for name in ("run", "fit", "reload", "back", "copy_name"))
    open_model(SAMPLE)
    assert all(names[name].isEnabled() for name in ("run", "fit", "reload"))
    window.document.select(node_of(window, "Conv"))
    names["copy_name"].trigger()
    assert QGuiApplication.clipboard().text() == "/stem/conv/Conv"
    assert names["back"].isEnabled()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ModelFormatError("m.onnx is a folder: open one of the models in it: a.onnx …"),
         "m.onnx is a folder: open one of the models in it: a.onnx …"),
        (ModelFormatError("m.onnx is empty (0 bytes): copy or download it again"),
         "m.onnx is empty (0 bytes): copy or download it again."),
        (ModelFormatError("m.onnx is not an ONNX model", 41),
         "m.onnx is not an ONNX model (at byte 41). Get the file again, or choose another one."),
    ],
)  # fmt: skip
def test_what_to_do_is_said_once(error: Exception, told: str) -> None:
    assert explain(error) == told


def test_shortcuts_are_unique(window: MainWindow) -> None:
    sequences = [s.toString() for action in window.actions_by_name.values() for s in action.shortcuts()]
    assert len(sequences) == len(set(sequences))
    assert QKeySequence("F5").toString() in sequences


def test_a_models_own_words_are_never_markup(
    window: MainWindow, panes: Panes, open_model: Opener, tmp_path: Path
) -> None:
    import onnx
    from onnx import TensorProto, helper

    name = "<b>bold</b>&amp;<img src=x>"
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"], name=name)], name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )  # fmt: skip
    path = tmp_path / "markup.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    open_model(path)
    node = window.document.graph.order[0]
    window.document.select(node)
    index = panes.order.model.index(0, 2)
    assert index.data() == name
    assert "<b>" not in index.data(Qt.ItemDataRole.ToolTipRole)
    assert panes.title == name


def test_mouse_events_reach_the_canvas(qtbot: QtBot, window: MainWindow, open_model: Opener) -> None:
    """The filter for the mouse's Back and Forward buttons lets all else pass."""
    open_model(SAMPLE)
    canvas = window.canvas.canvas
    empty = QPointF(canvas.width() - 2, 2)
    window.document.select(node_of(window, "Conv"))
    for kind in (QMouseEvent.Type.MouseButtonPress, QMouseEvent.Type.MouseButtonRelease):
        event = QMouseEvent(kind, empty, canvas.mapToGlobal(empty), Qt.MouseButton.LeftButton,
                            Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)  # fmt: skip
        QGuiApplication.sendEvent(canvas, event)
    assert window.document.selection is None


def test_a_tensor_nobody_reads_can_be_selected(window: MainWindow, panes: Panes, open_model: Opener) -> None:
    open_model(SAMPLE)
    output = window.document.graph.outputs[0]
    assert isinstance(output, Tensor)
    window.document.select(output)
    assert panes.shown(panes.order) == output.producer.name
    assert panes.shown(panes.shapes) == output.name


def test_every_replacement_of_the_file_is_told(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    content = Path(SAMPLE).read_bytes()
    path.write_bytes(content)
    open_model(path)
    for _ in range(2):
        window.message.hide()
        (tmp_path / "new").write_bytes(content)
        (tmp_path / "new").replace(path)
        qtbot.waitUntil(window.message.isVisible)
