"""A plane of numbers as a picture: one colour scale over all of it, what is not finite in colours of its own."""

from __future__ import annotations

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Signal, Slot
from PySide6.QtGui import QColor

from gui.look.theme import Theme, on_theme
from gui.models.values import value_text
from gui.widgets.plot import Plot

LARGEST = 2048  # pixels a side; larger planes are thinned out
MOST_STRETCH = 8  # longer planes than this fill the widget instead of keeping square pixels

# Stops of the scales, dark to light: from black over one hue to white, and from one hue over white to another.
_ONE_SIDED = ("#0d1330", "#263a7a", "#2f7f9e", "#63bf8a", "#f2ee9a")
_TWO_SIDED = ("#2a4d9b", "#8fb0dc", "#f4f4f2", "#e3a08b", "#9c2f2f")


def colour_table(two_sided: bool) -> np.ndarray:
    """256 colours [256, 3], for values from the lowest to the highest, or from -most over 0 to most."""
    stops = _TWO_SIDED if two_sided else _ONE_SIDED
    colours = np.array([_rgb(QColor(stop)) for stop in stops], float)
    at, steps = np.linspace(0, len(stops) - 1, 256), np.arange(len(stops))
    return np.stack([np.interp(at, steps, channel) for channel in colours.T], 1).round().astype(np.uint8)


def coloured(plane: np.ndarray, low: float, high: float, odd: QColor) -> np.ndarray:
    """The picture [H, W, 3] of a plane; values of both signs are coloured around 0, NaN and infinities `odd`."""
    numbers = np.asarray(plane).astype(np.float64)
    two_sided = low < 0 < high
    if two_sided:
        high = max(-low, high)
        low = -high
    with np.errstate(invalid="ignore", over="ignore"):
        places = np.nan_to_num((numbers / 2 - low / 2) / ((high / 2 - low / 2) or 1.0) * 255).clip(0, 255)
    picture = colour_table(two_sided)[places.astype(np.uint8)]
    picture[~np.isfinite(numbers)] = _rgb(odd)
    return picture


def _rgb(colour: QColor) -> tuple[int, int, int]:
    return colour.red(), colour.green(), colour.blue()


class HeatMap(Plot):
    """Shows a plane or an image. `pointed(text)` says what lies under the pointer, "" for nothing."""

    pointed = Signal(str)

    def __init__(self) -> None:
        super().__init__("Picture of the values", mouse=True)
        self.getViewBox().invertY(True)
        for axis in ("left", "bottom"):
            self.getAxis(axis).hide()
        self._item = pyqtgraph.ImageItem(axisOrder="row-major")
        self.addItem(self._item)
        self._plane: np.ndarray | None = None
        self._odd = QColor("magenta")
        self.scene().sigMouseMoved.connect(self._point)
        on_theme(self._set_theme)

    def set_plane(self, plane: np.ndarray, low: float, high: float) -> None:
        """Show a plane [H, W] of numbers on the scale from `low` to `high`."""
        step = max(1, -(-max(plane.shape) // LARGEST))
        self._show(plane, coloured(plane[::step, ::step], low, high, self._odd))

    def set_image(self, image: np.ndarray) -> None:
        """Show an image [H, W, 3] of bytes."""
        self._show(image, image)

    def _show(self, plane: np.ndarray, picture: np.ndarray) -> None:
        self._plane = plane
        self._item.setImage(np.ascontiguousarray(picture), levels=(0, 255))
        height, width = plane.shape[:2]
        self._item.setRect(0, 0, width, height)
        box = self.getViewBox()
        box.setAspectLocked(max(height, width) <= MOST_STRETCH * min(height, width))
        box.setRange(xRange=(0, width), yRange=(0, height), padding=0)

    @property
    def picture(self) -> np.ndarray | None:
        """What is shown, as colours [H, W, 3]."""
        picture: np.ndarray | None = self._item.image
        return picture

    def text_at(self, row: int, column: int) -> str:
        """What stands at a place of the plane; empty outside."""
        plane = self._plane
        if plane is None or not (0 <= row < plane.shape[0] and 0 <= column < plane.shape[1]):
            return ""
        value = plane[row, column]
        text = ", ".join(map(value_text, value)) if np.ndim(value) else value_text(value)
        return f"[{row}, {column}] = {text}"

    @Slot(object)
    def _point(self, position: QPointF) -> None:
        at = self.getViewBox().mapSceneToView(position)
        self.pointed.emit(self.text_at(int(np.floor(at.y())), int(np.floor(at.x()))))

    @Slot(object)
    def _set_theme(self, theme: Theme) -> None:
        self.style_axes(theme)
