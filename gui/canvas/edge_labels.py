"""The texts beside the lines of a scene: as the scene has them, or with the sizes that symbolic dims have been given.

Texts with sizes are made when they come into sight, since a large graph has thousands of them and a frame shows few.
"""

from __future__ import annotations

import numpy as np

from engine.shapes.bind import Binder
from gui.canvas.geometry import Geometry, StringTable
from gui.canvas.labels import net_label, shortened
from gui.canvas.layout.types import Ints
from gui.canvas.scene import Measure, Net, Scene, TextStyle

STYLES = (TextStyle.LABEL, TextStyle.LABEL_INFERRED, TextStyle.LABEL_BOUND, TextStyle.LABEL_BOUND_INFERRED)


class EdgeLabels:
    """The labels of a geometry, by their place in `Geometry.labels`; `strings` grows as they are asked for."""

    def __init__(self, scene: Scene, geometry: Geometry, measure: Measure, binder: Binder | None = None) -> None:
        self.strings = StringTable()
        self._nets, self._net = scene.nets, geometry.label_net
        self._room = scene.layout_input.label_width
        self._what = scene.options.label
        self._measure = measure
        self._binder = binder
        self._text = np.full(len(self._net), -1, np.int64)
        self._style = np.zeros(len(self._net), np.int64)

    def look_up(self, which: Ints) -> tuple[Ints, Ints]:
        """Numbers of the texts of some labels, and of their styles in `STYLES`."""
        for label in which[self._text[which] < 0].tolist():
            net = int(self._net[label])
            text, style = self._label(self._nets[net], float(self._room[net]))
            self._text[label], self._style[label] = self.strings.number(text), STYLES.index(style)
        return self._text[which], self._style[which]

    def _label(self, net: Net, room: float) -> tuple[str, TextStyle]:
        """What stands beside a net, no wider than the layout left room for."""
        if self._binder is not None:
            text, inferred = net_label(net.tensor, self._what, self._binder)
            if text != net_label(net.tensor, self._what)[0]:
                style = TextStyle.LABEL_BOUND_INFERRED if inferred else TextStyle.LABEL_BOUND
                return shortened(text, room, style, self._measure), style
        return net.label, TextStyle.LABEL_INFERRED if net.inferred else TextStyle.LABEL
