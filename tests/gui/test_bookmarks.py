"""Bookmarks in the real window: set, listed, walked, noted, kept through reloads and moves, drawn."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest
from onnx import helper
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.canvas.groups import Group
from gui.panes.bookmarks import BookmarksPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

CONTROL = Qt.KeyboardModifier.ControlModifier


def save_chain(path: Path, names: list[str]) -> Path:
    """Relus of these names, one after another; the sixth one is in a branch of an If."""
    tensors = ["x", *(f"t{i}" for i in range(1, len(names))), "y"]
    nodes = [helper.make_node("Relu", [tensors[i]], [tensors[i + 1]], name=name) for i, name in enumerate(names)]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    return save_chain(tmp_path / "chain.onnx", [f"/net/layers.{i // 3}/n{i}" for i in range(12)])


def pane_of(window: MainWindow) -> BookmarksPane:
    pane = window.docks["bookmarks"].widget()
    assert isinstance(pane, BookmarksPane)
    return pane


def shown(window: MainWindow) -> list[list[str]]:
    model = pane_of(window).model
    return [[column.text(row) for column in model.columns] for row in model.shown]


def press_bookmark(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_B, CONTROL)


def test_keys_set_walk_and_take_away(qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path) -> None:
    open_model(chain)
    document = window.document
    press_bookmark(qtbot, window)
    assert shown(window) == []
    assert window.canvas.notice == "Select a node, a tensor or a module first"
    node, tensor = document.graph.nodes[2], document.graph.tensors["t8"]
    for item in (node, tensor):
        document.select(item)
        press_bookmark(qtbot, window)
    assert shown(window) == [["/net/layers.0/n2", "Relu", ""], ["t8", "tensor", ""]]
    assert pane_of(window).summary.text() == "2 bookmarks"
    document.select(None)
    for modifier, expected in ((Qt.KeyboardModifier.NoModifier, node), (Qt.KeyboardModifier.NoModifier, tensor),
                               (Qt.KeyboardModifier.NoModifier, node), (Qt.KeyboardModifier.ShiftModifier, tensor)):
        qtbot.keyClick(window, Qt.Key.Key_F2, modifier)
        assert document.selection is expected
    press_bookmark(qtbot, window)
    assert [row[0] for row in shown(window)] == ["/net/layers.0/n2"]


def test_a_module_is_bookmarked_and_opened_again(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path
) -> None:
    """Going there shows its box, though modules were not shown at all meanwhile."""
    open_model(chain)
    with qtbot.waitSignal(window.canvas.drawn):
        window.canvas.modules.set_shown(True)
    canvas = window.canvas.canvas
    group = next(box.item for box in canvas.scene.boxes if getattr(box.item, "name", "") == "layers.2")
    canvas.group_clicked.emit(group)
    press_bookmark(qtbot, window)
    assert shown(window) == [["net/layers.2", "module", ""]]
    assert len(canvas._emphasis.marked) == 1
    with qtbot.waitSignal(window.canvas.drawn):
        window.canvas.modules.set_shown(False)
    window.document.select(window.document.graph.nodes[0])
    with qtbot.waitSignal(window.canvas.drawn):
        qtbot.keyClick(window, Qt.Key.Key_F2)
    assert isinstance(canvas.selected, Group)
    assert canvas.selected.name == "layers.2"
    assert canvas.rect().contains(canvas.node_rect(canvas.selected).center().toPoint())


def test_clicking_a_row_goes_there_and_a_note_is_kept(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path
) -> None:
    open_model(chain)
    document, pane = window.document, pane_of(window)
    window.docks["bookmarks"].raise_()
    node = document.graph.nodes[7]
    document.select(node)
    press_bookmark(qtbot, window)
    document.select(None)
    document.turns.finish()
    assert not pane.note.isEnabled()
    where = pane.view.visualRect(pane.model.index(0, 0)).center()
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert document.selection is node
    qtbot.keyClicks(pane.note, "too <b>slow</b>")
    qtbot.keyClick(pane.note, Qt.Key.Key_Return)
    assert shown(window) == [["/net/layers.2/n7", "Relu", "too <b>slow</b>"]]
    open_model(chain)
    assert shown(window) == [["/net/layers.2/n7", "Relu", "too <b>slow</b>"]]
    pane.view.setCurrentIndex(pane.model.index(0, 0))
    qtbot.keyClick(pane.view, Qt.Key.Key_Delete)
    assert shown(window) == []
    open_model(chain)
    assert shown(window) == []


def test_one_that_a_new_file_lacks_comes_back_with_it(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path
) -> None:
    open_model(chain)
    for i in (3, 4):
        window.document.select(window.document.graph.nodes[i])
        press_bookmark(qtbot, window)
    first = chain.read_bytes()
    save_chain(chain, ["a", "b", "/net/layers.1/n4"])
    open_model(chain)
    assert shown(window) == [["/net/layers.1/n3", "not here", ""], ["/net/layers.1/n4", "Relu", ""]]
    qtbot.keyClick(window, Qt.Key.Key_F2)
    assert window.document.selection.name == "/net/layers.1/n4"
    chain.write_bytes(first)
    open_model(chain)
    assert [row[1] for row in shown(window)] == ["Relu", "Relu"]


def test_a_copy_elsewhere_has_the_same_bookmarks(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path, tmp_path: Path
) -> None:
    open_model(chain)
    window.document.select(window.document.graph.nodes[3])
    press_bookmark(qtbot, window)
    (tmp_path / "copy").mkdir()
    open_model(shutil.copy(chain, tmp_path / "copy" / "moved.onnx"))
    assert [row[0] for row in shown(window)] == ["/net/layers.1/n3"]
    open_model(save_chain(tmp_path / "other.onnx", ["/net/layers.1/n3"]))
    assert shown(window) == []


def test_names_of_a_hostile_model_are_plain_text(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path
) -> None:
    name = "<img src=x>\n" + "y" * 5000
    open_model(save_chain(tmp_path / "odd.onnx", [name, "b"]))
    window.document.select(window.document.graph.nodes[0])
    press_bookmark(qtbot, window)
    (row,) = shown(window)
    assert row[0].startswith("<img src=x> yyy")
    assert len(row[0]) <= 400
    open_model(tmp_path / "odd.onnx")
    assert window.document.bookmarks.all[0].item is window.document.graph.nodes[0]
