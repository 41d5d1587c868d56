"""The labels of edges, with symbols and with sizes for them, drawn and read back."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip
from pytestqt.qtbot import QtBot

from engine.dims import Expr
from engine.graph.ir import Model, Tensor
from engine.graph.types import TensorType
from engine.shapes.bind import Binder
from engine.shapes.infer import infer_shapes
from gui.canvas.canvas import GraphCanvas
from gui.canvas.edge_labels import STYLES, EdgeLabels
from gui.canvas.geometry import Geometry
from gui.canvas.labels import edge_label
from gui.canvas.layout import layout
from gui.canvas.scene import SceneOptions, TextStyle
from gui.panes.run import RunPane
from gui.window.main_window import MainWindow
from resources import SAMPLE_MODEL, path
from tests.gui.canvas.models import load, scene_of, width
from tests.gui.conftest import Opener


def reshaped() -> Model:
    """x [N, 3, L] -> Transpose t [N, L, 3] -> Relu y."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], name="turn", perm=[0, 2, 1]),
        helper.make_node("Relu", ["t"], ["y"], name="relu"),
    ]
    model = load(nodes, {"x": ["N", 3, "L"]}, ["y"])
    infer_shapes(model)
    return model


def labels_of(model: Model, binder: Binder | None = None, options: SceneOptions | None = None) -> dict[str, tuple]:
    """Text and style by the tensor's name."""
    scene = scene_of(model, options)
    geometry = Geometry.of(scene, layout(scene.layout_input))
    labels = EdgeLabels(scene, geometry, width, binder)
    texts, styles = labels.look_up(np.arange(len(geometry.labels)))
    return {
        scene.nets[net].tensor.name: (labels.strings.texts[text], STYLES[style])
        for net, text, style in zip(geometry.label_net.tolist(), texts.tolist(), styles.tolist(), strict=True)
    }


def test_symbols_stand_there_until_they_have_sizes() -> None:
    assert labels_of(reshaped()) == {
        "x": ("N×3×L", TextStyle.LABEL), "t": ("N×L×3", TextStyle.LABEL_INFERRED),
        "y": ("N×L×3", TextStyle.LABEL_INFERRED),
    }  # fmt: skip


def test_sizes_replace_symbols_and_what_is_left_open_stays() -> None:
    assert labels_of(reshaped(), Binder({"N": 4, "L": 20})) == {
        "x": ("4×3×20", TextStyle.LABEL_BOUND), "t": ("4×20×3", TextStyle.LABEL_BOUND_INFERRED),
        "y": ("4×20×3", TextStyle.LABEL_BOUND_INFERRED),
    }  # fmt: skip
    assert labels_of(reshaped(), Binder({"L": 20}))["t"] == ("N×20×3", TextStyle.LABEL_BOUND_INFERRED)
    assert labels_of(reshaped(), Binder({"M": 2}))["t"] == ("N×L×3", TextStyle.LABEL_INFERRED)


@pytest.mark.parametrize(("label", "text"), [("name", "t"), ("both", "t  4×20×3"), ("dtype", "f32 4×20×3")])
def test_sizes_in_every_kind_of_label(label: str, text: str) -> None:
    assert labels_of(reshaped(), Binder({"N": 4, "L": 20}), SceneOptions(label=label))["t"][0] == text


def test_names_that_the_file_gives_inner_dims_yield_to_what_is_known() -> None:
    """`unk_1` is no input's symbol, so that no size can be given for it; what was inferred says more."""
    model = reshaped()
    tensor = model.graph.tensors["t"]
    unknown = next(dim for dim in load([helper.make_node("Relu", ["q"], ["r"])], {"q": ["unk_1"]}, ["r"]).graph
                   .tensors["q"].stored_type.shape if isinstance(dim, Expr))  # fmt: skip
    tensor.stored_type = TensorType(tensor.dtype, (unknown, 20, 3))
    assert labels_of(model)["t"] == ("unk_1×20×3", TextStyle.LABEL)
    assert labels_of(model, Binder({"N": 4, "L": 20}))["t"] == ("4×20×3", TextStyle.LABEL_BOUND_INFERRED)
    assert edge_label(tensor, Binder({"L": 20})) == ("N×20×3", True)  # as open, but in the inputs' own symbols


def test_sizes_have_room_and_longer_ones_are_cut() -> None:
    model = load(
        [helper.make_node("Split", ["x"], ["a", "b"], name="split"), helper.make_node("Relu", ["a"], ["y"]),
         helper.make_node("Relu", ["b"], ["z"])], {"x": ["N", "M"]}, ["y", "z"],
    )  # fmt: skip
    infer_shapes(model)
    room = scene_of(model).layout_input.label_width
    assert (room >= width("1024×2048", TextStyle.LABEL)).all()
    assert labels_of(model, Binder({"N": 10**12, "M": 10**12}))["x"][0].endswith("…")
    for text, style in labels_of(model, Binder({"N": 10**12, "M": 10**12})).values():
        assert width(text, style) <= room.max()


def tooltip(qtbot: QtBot, canvas: GraphCanvas, pos: QPoint) -> str:
    QApplication.sendEvent(canvas, QHelpEvent(QEvent.Type.ToolTip, pos, canvas.mapToGlobal(pos)))
    qtbot.waitUntil(lambda: QToolTip.text() != "")
    return QToolTip.text()


def test_a_size_typed_in_the_window_is_drawn_at_once_and_taken_back(
    qtbot: QtBot, window: MainWindow, open_model: Opener
) -> None:
    open_model(path(SAMPLE_MODEL))
    run, canvas = window.docks["run"].widget(), window.canvas.canvas
    assert isinstance(run, RunPane)
    window.docks["run"].raise_()
    canvas.settle()
    symbols, drawing = canvas.grab().toImage(), window.canvas.drawing
    (field,) = run.setup.dims.findChildren(QLineEdit)
    qtbot.keyClicks(field, "4")
    assert canvas.grab().toImage() != symbols
    assert window.canvas.drawing is drawing, "no new layout"
    feed = window.document.model.graph.feeds[0]
    assert isinstance(feed, Tensor)
    said = tooltip(qtbot, canvas, canvas.node_rect(feed).center().toPoint())
    assert "N×" in said
    assert "\n= 4×" in said
    assert f"input 0 (X) of {feed.consumers[0][0].name}" in said
    field.clear()
    assert canvas.grab().toImage() == symbols
