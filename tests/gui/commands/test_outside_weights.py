"""Weights behind a link out of the folder are read only after a yes that shows the real place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

import resources
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener


@pytest.fixture
def linked_model(tmp_path: Path) -> Path:
    """A model whose weights are a link to a file elsewhere."""
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "real.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").symlink_to(tmp_path / "blobs" / "real.bin")
    weight = numpy_helper.from_array(np.zeros(4, np.float32), "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="w.bin")
    graph = helper.make_graph([helper.make_node("Identity", ["w"], ["y"])], "g", [],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])], [weight])  # fmt: skip
    path = folder / "m.onnx"
    path.write_bytes(helper.make_model(graph, ir_version=8).SerializeToString())
    return path


@pytest.mark.parametrize("answer", [QMessageBox.StandardButton.Yes, QMessageBox.StandardButton.No])
def test_the_question_names_the_place_and_is_heeded(
    qtbot: QtBot, window: MainWindow, open_model: Opener, linked_model: Path, answer: QMessageBox.StandardButton
) -> None:
    open_model(linked_model)
    action = window.actions_by_name["outside_weights"]
    assert action.isEnabled()
    action.trigger()
    (box,) = window.findChildren(QMessageBox)
    assert "real.bin" in box.text()
    yes = answer == QMessageBox.StandardButton.Yes
    before = window.document.model
    qtbot.mouseClick(box.button(answer), Qt.MouseButton.LeftButton)
    if yes:
        qtbot.waitUntil(lambda: window.document.model is not before)
    qtbot.waitUntil(lambda: not window.document.busy)
    weight = window.document.model.graph.tensors["w"].data
    assert bool(weight.problem) is not yes
    if yes:
        assert weight.array().tolist() == [0, 1, 2, 3]
        assert not action.isEnabled()


def test_other_models_do_not_ask(window: MainWindow, open_model: Opener) -> None:
    open_model(resources.path(resources.SAMPLE_MODEL))
    assert not window.actions_by_name["outside_weights"].isEnabled()
