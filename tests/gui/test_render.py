"""Pictures of whole graphs: each format, sizes, notes, refusals, and without any display."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from onnx import helper
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from engine.errors import EngineError
from engine.graph.ir import Model
from gui.canvas.palette import Category
from gui.render import PNG_AREA, PNG_SIDE, render
from gui.theme import DARK
from tests.gui.canvas.models import control_flow, conv_net, load

ROOT = Path(__file__).resolve().parents[2]


def chain(length: int) -> Model:
    names = ["x", *(f"t{i}" for i in range(1, length)), "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"n{i}") for i in range(length)]
    return load(nodes, {"x": [4]}, ["y"])


def svg_texts(path: Path) -> list[str]:
    root = ElementTree.parse(path).getroot()
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_svg_holds_every_node_as_text(qtbot: QtBot, tmp_path: Path) -> None:
    assert render(conv_net(), tmp_path / "g.svg") == ""
    texts = svg_texts(tmp_path / "g.svg")
    for text in ("Conv", "Relu", "Mul", "#6", "4×3×3×3", "N×3×8×8", "x", "y"):
        assert text in texts
    assert texts.count("Add") == 2


def test_hostile_names_stay_text_in_svg(qtbot: QtBot, tmp_path: Path) -> None:
    model = conv_net()
    model.graph.tensors["x"].name = "<script>&x"
    render(model, tmp_path / "g.svg")
    assert "<script>&x" in svg_texts(tmp_path / "g.svg")


def test_png_is_drawn_at_double_size(qtbot: QtBot, tmp_path: Path) -> None:
    render(conv_net(), tmp_path / "g.png")
    image = QImage(str(tmp_path / "g.png"))
    colors = {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert {Category.LAYER.color, Category.ACTIVATION.color, Category.ARITHMETIC.color} <= colors
    assert image.width() > 400


def test_pdf_and_dark_and_subgraph(qtbot: QtBot, tmp_path: Path) -> None:
    model = control_flow()
    assert render(model, tmp_path / "g.pdf") == ""
    assert (tmp_path / "g.pdf").read_bytes().startswith(b"%PDF")
    inner = next(iter(model.graph.nodes[-1].subgraphs.values()))
    render(model, tmp_path / "g.png", graph=inner, dark=True)
    assert QImage(str(tmp_path / "g.png")).pixelColor(0, 0) == QColor(DARK.canvas)


def test_a_huge_graph_is_scaled_down_with_a_note(qtbot: QtBot, tmp_path: Path) -> None:
    note = render(chain(1000), tmp_path / "g.png")
    image = QImage(str(tmp_path / "g.png"))
    assert image.height() == PNG_SIDE
    assert image.width() * image.height() <= PNG_AREA
    assert "16,384" in note
    assert "%" in note
    assert "14,400" in render(chain(1000), tmp_path / "g.pdf")


def test_an_empty_graph_gives_a_picture(qtbot: QtBot, tmp_path: Path) -> None:
    for ending in ("svg", "png", "pdf"):
        render(load([], {}, []), tmp_path / f"g.{ending}")
        assert (tmp_path / f"g.{ending}").stat().st_size > 0


def test_other_endings_and_bad_places_are_refused(qtbot: QtBot, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"must end in \.svg, \.pdf or \.png"):
        render(conv_net(), tmp_path / "g.gif")
    with pytest.raises(FileNotFoundError):
        render(conv_net(), tmp_path / "missing" / "g.svg")


def test_it_needs_no_display(tmp_path: Path) -> None:
    script = (
        "import sys; from tests.gui.canvas.models import conv_net; from gui.render import render;"
        "render(conv_net(), sys.argv[1])"
    )
    target = tmp_path / "g.png"
    subprocess.run([sys.executable, "-c", script, target], cwd=ROOT, env={"PATH": ""}, check=True, timeout=60)
    assert not QImage(str(target)).isNull()
