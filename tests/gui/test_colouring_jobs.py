"""Colouring a large graph does not stop the window: a job makes the colours, and the last that was asked for shows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from pytestqt.qtbot import QtBot

import gui.canvas.picture
from gui.canvas.colouring import Colouring, make_colouring
from gui.canvas.palette import ColourBy
from gui.canvas.scene import Scene
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

NODES = 40


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A chain of nodes; the test calls it large."""
    names = ["x", *(f"t{i}" for i in range(1, NODES)), "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]]) for i in range(NODES)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    path = tmp_path / "chain.onnx"
    onnx.save(helper.make_model(helper.make_graph(nodes, "g", ends[:1], ends[1:])), path)
    return path


def title(window: MainWindow) -> str:
    colouring = window.canvas.canvas.colouring
    return colouring.legend.title if colouring is not None and colouring.legend is not None else ""


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[ColourBy, threading.Event]]:
    """Holds a colouring until its event is set; those without an event go on."""
    held: dict[ColourBy, threading.Event] = {}

    def make(scene: Scene, by: ColourBy, *arguments: object, **named: object) -> Colouring:
        if by in held:
            held[by].wait()
        return make_colouring(scene, by, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(gui.canvas.picture, "FEW_COLOURED", NODES - 1)
    monkeypatch.setattr(gui.canvas.picture, "make_colouring", make)
    yield held
    for event in held.values():  # a test that fails must not leave the window waiting
        event.set()


def test_the_window_goes_on_while_a_job_makes_the_colours(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path, slow: dict[ColourBy, threading.Event]
) -> None:
    open_model(chain)
    slow[ColourBy.DTYPE] = threading.Event()
    before = window.canvas.canvas.colouring
    window.actions_by_name["colour_dtype"].trigger()
    assert window.canvas.canvas.colouring is before
    slow[ColourBy.DTYPE].set()
    qtbot.waitUntil(lambda: title(window) == "Element type")


def test_what_was_asked_for_last_is_shown(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path, slow: dict[ColourBy, threading.Event]
) -> None:
    open_model(chain)
    slow[ColourBy.DTYPE] = threading.Event()
    window.actions_by_name["colour_dtype"].trigger()
    window.actions_by_name["colour_error"].trigger()
    qtbot.waitUntil(lambda: title(window).startswith("Relative difference"))
    slow[ColourBy.DTYPE].set()
    qtbot.waitUntil(lambda: window.document.jobs.idle)
    assert title(window).startswith("Relative difference")


def test_another_drawing_does_not_take_colours_of_the_one_before(
    qtbot: QtBot, window: MainWindow, open_model: Opener, chain: Path, slow: dict[ColourBy, threading.Event]
) -> None:
    open_model(chain)
    slow[ColourBy.DTYPE] = threading.Event()
    window.actions_by_name["colour_dtype"].trigger()
    with qtbot.waitSignal(window.canvas.drawn):
        window.canvas.set_options(horizontal=True)
    slow[ColourBy.DTYPE].set()
    qtbot.waitUntil(lambda: title(window) == "Element type")
    canvas = window.canvas.canvas
    assert len(canvas.colouring.index) == len(canvas.scene.boxes)  # type: ignore[union-attr]
