"""Drawings: how they are let go of."""

from __future__ import annotations

import sys

from pytestqt.qtbot import QtBot

from gui.canvas.drawing import draw, let_go
from gui.canvas.scene import SceneOptions
from gui.canvas.text import TextMeasure
from tests.gui.canvas.models import conv_net


def test_what_nobody_shows_is_freed_part_by_part(qtbot: QtBot) -> None:
    drawing = draw(conv_net().graph, None, SceneOptions(), TextMeasure())
    parts = len(drawing.scene.boxes) + len(drawing.scene.nets)
    first, last = drawing.scene.boxes[0], drawing.scene.nets[-1]
    drawings, held = [drawing], []
    del drawing
    let_go(drawings, lambda: held.append((sys.getrefcount(first), sys.getrefcount(last))))
    assert not drawings
    alone = sys.getrefcount(object())
    assert len(held) == parts
    assert held[0] == (alone + 2, alone + 1)  # the last has been taken from the list, the first is still in it
    assert held[-1] == (alone + 1, alone + 1)


def test_who_still_shows_a_drawing_keeps_it_whole(qtbot: QtBot) -> None:
    drawing = draw(conv_net().graph, None, SceneOptions(), TextMeasure())
    boxes, nets = list(drawing.scene.boxes), list(drawing.scene.nets)
    let_go([drawing], lambda: None)
    assert drawing.scene.boxes == boxes
    assert drawing.scene.nets == nets
