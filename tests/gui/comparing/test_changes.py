"""Two models in the real window: the list of differences, and what picking one does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import resources
from gui.canvas.groups import Group
from gui.canvas.palette import CHANGE_COLOURS
from gui.canvas.scene import BoxKind
from gui.comparing import weight_values
from gui.comparing.changes import GAP
from gui.panes.changes import ChangesPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

SAMPLE = resources.path(resources.SAMPLE_MODEL)


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """The sample without its first Relu, with another weight of `fc`."""
    proto = onnx.load(str(SAMPLE))
    relu = next(n for n in proto.graph.node if n.op_type == "Relu")
    for node in proto.graph.node:
        for slot, name in enumerate(node.input):
            if name == relu.output[0]:
                node.input[slot] = relu.input[0]
    proto.graph.node.remove(relu)
    weight = next(t for t in proto.graph.initializer if t.name == "fc.weight")
    values = numpy_helper.to_array(weight).copy()
    values[0, 0] += np.float32(0.5)
    weight.CopyFrom(numpy_helper.from_array(values, "fc.weight"))
    onnx.save(proto, tmp_path / "edited.onnx")
    return tmp_path / "edited.onnx"


def pane_of(window: MainWindow) -> ChangesPane:
    pane = window.docks["changes"].widget()
    assert isinstance(pane, ChangesPane)
    return pane


def compare(qtbot: QtBot, window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> ChangesPane:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    with qtbot.waitSignal(window.document.differ.changed):
        qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    return pane_of(window)


def test_what_differs_is_listed_and_leads_there(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    assert not window.docks["changes"].isVisible()
    pane = compare(qtbot, window, edited, monkeypatch)
    assert pane.isVisible()
    assert [(row.kind, row.name, row.what) for row in pane.model.shown] == [
        ("added", "/stem/relu/Relu", "Relu"), ("weights", "fc.weight", "values"),
    ]  # fmt: skip
    assert pane.summary.text() == f"against {edited.name}: 31 nodes the same"  # one is new, one reads other weights
    assert pane.model.shown[1].after.startswith("1 of 480 elements differ, by 0.5 at most")
    index = pane.model.index(0, 1)
    qtbot.mouseClick(pane.view.viewport(), Qt.MouseButton.LeftButton, pos=pane.view.visualRect(index).center())
    assert window.document.selection is window.document.index.nodes["/stem/relu/Relu"]
    pane.kind.setCurrentIndex(pane.kind.findData("weights"))
    assert [row.name for row in pane.model.shown] == ["fc.weight"]


def test_a_removed_node_leads_to_what_stood_before_it(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(edited)
    pane = compare(qtbot, window, SAMPLE, monkeypatch)
    (row,) = [row for row in pane.model.rows if row.kind == "removed"]
    assert row.name == "/stem/relu/Relu"
    pane.view.picked.emit(row)
    assert window.document.selection is window.document.index.nodes["/stem/bn/BatchNormalization"]


def test_the_same_model(
    qtbot: QtBot, window: MainWindow, open_model: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    pane = compare(qtbot, window, SAMPLE, monkeypatch)
    assert pane.model.shown == []
    assert pane.summary.text() == "The same as sample_cnn.onnx"


def test_what_is_no_model_is_said(
    qtbot: QtBot, window: MainWindow, open_model: Opener, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    with qtbot.waitSignal(window.document.failed):
        window.document.differ.compare_with(shared / "models/broken/not_protobuf.onnx")
    assert window.document.differ.found is None
    assert "Could not compare" in window.message.title.text()


def test_another_model_forgets_what_was_found(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    pane = compare(qtbot, window, edited, monkeypatch)
    open_model(resources.path(resources.CONTROL_FLOW_MODEL))
    assert window.document.differ.found is None
    assert pane.model.rows == []


def test_reloading_compares_again(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    pane = compare(qtbot, window, edited, monkeypatch)
    first = window.document.differ.found
    window.document.reload()
    qtbot.waitUntil(lambda: window.document.differ.found not in (None, first))
    assert window.document.differ.found.after is window.document.model
    assert len(pane.model.rows) == 2


def test_the_canvas_is_coloured_by_what_differs_until_the_comparison_ends(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(edited)
    assert not window.actions_by_name["next_change"].isEnabled()
    compare(qtbot, window, SAMPLE, monkeypatch)
    legend = window.canvas.canvas.colouring.legend
    assert [text for _, text in legend.entries] == ["Other weights  1", "Removed here  1", "The same  30"]
    assert window.toolbar.colours.current == "change"
    window.actions_by_name["end_comparison"].trigger()
    assert window.document.differ.changes is None
    assert window.toolbar.colours.current == "category"
    assert window.canvas.canvas.colouring.legend is None


def test_keys_go_from_change_to_change_and_say_what_it_is(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(edited)
    compare(qtbot, window, SAMPLE, monkeypatch)
    nodes = window.document.index.nodes
    first, second = nodes["/stem/bn/BatchNormalization"], nodes["/fc/Gemm"]
    for modifier, expected, words in (
        (Qt.KeyboardModifier.NoModifier, first, "Change 1 of 2: removed here: Relu /stem/relu/Relu"),
        (Qt.KeyboardModifier.NoModifier, second, "Change 2 of 2: other weights"),
        (Qt.KeyboardModifier.ShiftModifier, first, "Change 1 of 2: removed here: Relu /stem/relu/Relu"),
    ):
        qtbot.keyClick(window, Qt.Key.Key_F7, modifier)
        assert window.document.selection is expected
        assert window.canvas.notice == words


def test_what_is_the_same_can_be_dimmed(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(edited)
    compare(qtbot, window, SAMPLE, monkeypatch)
    qtbot.keyClick(window, Qt.Key.Key_F7, Qt.KeyboardModifier.AltModifier)
    canvas = window.canvas.canvas
    lit = [box.item.name for box, shown in zip(canvas.scene.boxes, canvas.lit.boxes) if shown]
    assert lit == ["/stem/bn/BatchNormalization", "/fc/Gemm"]
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.lit is None


def test_a_closed_module_shows_that_it_holds_changes(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(edited)
    compare(qtbot, window, SAMPLE, monkeypatch)
    with qtbot.waitSignal(window.canvas.drawn):
        window.canvas.modules.set_shown(True)
    canvas = window.canvas.canvas
    colours = {
        box.item.name: canvas.colouring.colours[i]
        for box, i in zip(canvas.scene.boxes, canvas.colouring.index) if isinstance(box.item, Group)
    }  # fmt: skip
    assert colours["stem"] == CHANGE_COLOURS[GAP]
    assert colours["layer1"] == canvas.colours.quiet
    opened = window.canvas.modules.grouping.tree.root.members[0]
    with qtbot.waitSignal(window.canvas.drawn):
        window.canvas.modules.toggle(opened)
    at = canvas.scene.box_of[id(opened)]
    assert canvas.scene.boxes[at].kind is BoxKind.FRAME
    assert canvas.colouring.colours[canvas.colouring.index[at]] == canvas.colours.quiet


def test_a_weight_is_shown_beside_the_other_models(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first element differs, by what the fixture added; the table goes there."""
    open_model(edited)
    pane = compare(qtbot, window, SAMPLE, monkeypatch)
    assert not pane.pair.isVisible()
    place = next(i for i, row in enumerate(pane.model.shown) if row.kind == "weights")
    pane.view.setCurrentIndex(pane.model.index(place, 1))
    qtbot.waitUntil(lambda: bool(pane.pair.histogram.counts.size))
    assert pane.pair.isVisible()
    assert pane.pair.note.text().startswith("fc.weight · float32 10×48 · 1 of 480 elements differ, by 0.5 at most")
    assert pane.pair.histogram.getAxis("bottom").labelText == "this model − the other"
    assert pane.pair.histogram.counts[-1] == 1
    assert pane.pair.histogram.counts.sum() == 480
    difference = pane.pair.pictures.pictures[2].image.image
    assert difference[0, 0] == pytest.approx(0.5)
    assert np.count_nonzero(difference) == 1
    removed = next(i for i, row in enumerate(pane.model.shown) if row.kind == "removed")
    pane.view.setCurrentIndex(pane.model.index(removed, 1))
    assert not pane.pair.isVisible()


def test_a_weight_that_is_too_large_to_show_says_so(
    qtbot: QtBot, window: MainWindow, open_model: Opener, edited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weight_values, "MAX_BYTES", 1000)
    open_model(edited)
    pane = compare(qtbot, window, SAMPLE, monkeypatch)
    place = next(i for i, row in enumerate(pane.model.shown) if row.kind == "weights")
    pane.view.setCurrentIndex(pane.model.index(place, 1))
    qtbot.waitUntil(lambda: "too much to show" in pane.pair.note.text())
