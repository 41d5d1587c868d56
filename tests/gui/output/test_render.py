"""Pictures of whole graphs: each format, sizes, notes, refusals, and without any display."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from onnx import helper
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from engine.errors import EngineError
from engine.graph.ir import Model
from gui.canvas.palette import Category
from gui.canvas.scene import SceneOptions
from gui.look.theme import DARK
from gui.output.render import ExportCancelled, Picture, render
from tests.gui.canvas.models import control_flow, conv_net, load

ROOT = Path(__file__).resolve().parents[3]


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


def test_sizes_are_written_for_symbols(qtbot: QtBot, tmp_path: Path) -> None:
    render(conv_net(), tmp_path / "g.svg", sizes={"N": 4})
    assert "4×3×8×8" in svg_texts(tmp_path / "g.svg")
    assert "N×3×8×8" not in svg_texts(tmp_path / "g.svg")


def test_hostile_names_stay_text_in_svg(qtbot: QtBot, tmp_path: Path) -> None:
    model = conv_net()
    model.graph.tensors["x"].name = "<script>&x"
    render(model, tmp_path / "g.svg")
    assert "<script>&x" in svg_texts(tmp_path / "g.svg")


def test_png_is_drawn_at_double_size(qtbot: QtBot, tmp_path: Path) -> None:
    render(conv_net(), tmp_path / "g.png")
    image = QImage(str(tmp_path / "g.png"))
    colours = {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert {Category.LAYER.colour, Category.ACTIVATION.colour, Category.ARITHMETIC.colour} <= colours
    assert image.width() > 400


def test_pdf_and_dark_and_subgraph(qtbot: QtBot, tmp_path: Path) -> None:
    model = control_flow()
    assert render(model, tmp_path / "g.pdf") == ""
    assert (tmp_path / "g.pdf").read_bytes().startswith(b"%PDF")
    inner = next(iter(model.graph.nodes[-1].subgraphs.values()))
    render(model, tmp_path / "g.png", graph=inner, dark=True)
    assert QImage(str(tmp_path / "g.png")).pixelColor(0, 0) == QColor(DARK.canvas)


def test_a_huge_graph_is_scaled_down_with_a_note(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gui.output.render.PNG_AREA", 1e6)
    note = render(chain(300), tmp_path / "g.png")
    image = QImage(str(tmp_path / "g.png"))
    assert image.width() * image.height() == pytest.approx(1e6, rel=0.02)
    assert "--scale 1" in note
    assert "%" in note
    assert render(chain(300), tmp_path / "g.png", scale=1.0) == ""
    assert "14,400" in render(chain(1000), tmp_path / "g.pdf")


def test_a_png_may_be_taller_than_any_image_of_qt(qtbot: QtBot, tmp_path: Path) -> None:
    """1,000 nodes in a chain are far beyond 32,767 px; the header of the file says how tall it is."""
    render(chain(1000), tmp_path / "g.png", scale=1.0)
    data = (tmp_path / "g.png").read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    assert height > 40_000
    rows = zlib.decompress(b"".join(chunks(data, b"IDAT")))
    assert len(rows) == height * (1 + 3 * width)


def chunks(png: bytes, kind: bytes) -> list[bytes]:
    found, at = [], 8
    while at < len(png):
        length = struct.unpack(">I", png[at : at + 4])[0]
        body = png[at + 4 : at + 8 + length]
        assert zlib.crc32(body) == struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0]
        if body[:4] == kind:
            found.append(body[4:])
        at += 12 + length
    return found


def test_tiles_join_without_a_seam(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same picture whether it is painted in one piece or in tiles."""
    render(conv_net(), tmp_path / "whole.png")
    monkeypatch.setattr("gui.output.render.TILE", 64)
    render(conv_net(), tmp_path / "tiled.png")
    whole, tiled = (
        QImage(str(tmp_path / name)).convertToFormat(QImage.Format.Format_RGB888) for name in ("whole.png", "tiled.png")
    )
    assert whole.size() == tiled.size()
    a, b = (np.frombuffer(i.constBits(), np.uint8).astype(int) for i in (whole, tiled))
    assert (np.abs(a - b) > 24).mean() < 0.001  # antialiasing at a tile's border may round otherwise


def test_modules_can_be_drawn_closed_and_the_flow_turned(qtbot: QtBot, tmp_path: Path) -> None:
    names = ["x", "a", "b", "c", "y"]
    nodes = [helper.make_node("Relu", [names[i]], [names[i + 1]], name=f"/block.{i // 2}/n{i}") for i in range(4)]
    model = load(nodes, {"x": [4]}, ["y"])
    render(model, tmp_path / "g.svg", grouped=True, options=SceneOptions(horizontal=True))
    texts = svg_texts(tmp_path / "g.svg")
    assert {"block.0", "block.1", "×2", "2 nodes"} <= set(texts)
    assert "Relu" not in texts
    root = ElementTree.parse(tmp_path / "g.svg").getroot()
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    assert width > height


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
        "import sys; from tests.gui.canvas.models import conv_net; from gui.output.render import render;"
        "render(conv_net(), sys.argv[1])"
    )
    target = tmp_path / "g.png"
    subprocess.run([sys.executable, "-c", script, target], cwd=ROOT, env={"PATH": ""}, check=True)
    assert not QImage(str(target)).isNull()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_painter_is_ended_where_drawing_stops_half_way(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """As it does when an export is cancelled or its window closed; Qt ends the program over a painter that lives on."""
    painters = []

    def stop(_picture: Picture, painter: QPainter, *_: object) -> None:
        painters.append(painter)
        raise ExportCancelled

    monkeypatch.setattr(Picture, "paint", stop)
    with pytest.raises(ExportCancelled):
        render(conv_net(), tmp_path / f"g.{ending}")
    assert [painter.isActive() for painter in painters] == [False]
    assert list(tmp_path.iterdir()) == []
