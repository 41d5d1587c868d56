"""Every model of the corpus opens in the window and is shown in every pane."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

FOLDERS = ("real", "gen", "ml", "ops")


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_opens_and_shows(window: MainWindow, open_model: Opener, shared: Path, folder: str) -> None:
    paths = sorted((shared / "models" / folder).glob("*.onnx"))
    assert paths
    document = window.document
    for path in paths:
        open_model(path)
        assert document.path == str(path)
        assert window.canvas.canvas.scene.graph is document.model.graph
        for item in (document.graph.nodes[0], document.graph.nodes[-1], document.graph.outputs[0]):
            document.select(item)
            assert window.docks["properties"].widget().list.lines
        assert window.docks["order"].widget().model.rowCount() == len(document.graph.nodes)
        assert window.docks["shapes"].widget().model.rowCount() == len(document.graph.tensors)
        window.grab()
