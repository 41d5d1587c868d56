"""The viewport: scale and offset between scene px and widget px. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

MIN_SCALE = 0.02  # or half of what shows the whole drawing, where that is less
MAX_SCALE = 40.0
MARGIN = 24.0  # widget px around the drawing when it is fitted
READABLE = 0.8  # a graph that fits at this scale or larger opens fitted: letters of 9 px are still read with ease


@dataclass(slots=True)
class View:
    """Maps scene (x, y) to widget (x * scale + dx, y * scale + dy); width and height are the widget's."""

    scale: float = 1.0
    dx: float = 0.0
    dy: float = 0.0
    width: float = 1.0
    height: float = 1.0

    def to_scene(self, x: float, y: float) -> tuple[float, float]:
        return (x - self.dx) / self.scale, (y - self.dy) / self.scale

    def to_widget(self, x: float, y: float) -> tuple[float, float]:
        return x * self.scale + self.dx, y * self.scale + self.dy

    def visible(self) -> tuple[float, float, float, float]:
        """The part of the scene that is seen: x0, y0, x1, y1."""
        return (*self.to_scene(0, 0), *self.to_scene(self.width, self.height))

    def fit_scale(self, size: tuple[float, float]) -> float:
        """Scale at which the whole scene is seen, never magnified."""
        width = max(1.0, self.width - 2 * MARGIN) / max(size[0], 1.0)
        height = max(1.0, self.height - 2 * MARGIN) / max(size[1], 1.0)
        return min(1.0, width, height)

    def fit(self, size: tuple[float, float]) -> None:
        """Show the whole scene, in the middle."""
        self.scale = self.fit_scale(size)
        self.centre_on(size[0] / 2, size[1] / 2)

    def open_at(self, size: tuple[float, float], top_x: float) -> None:
        """First view of a scene: fitted if that is readable, else full size at the top with `top_x` in the middle."""
        if self.fit_scale(size) >= READABLE:
            self.fit(size)
        else:
            self.scale = 1.0
            self.centre_on(top_x, self.height / 2 - MARGIN)

    def centre_on(self, x: float, y: float) -> None:
        """Put a point of the scene in the middle, on whole px so that lines stay crisp."""
        self.dx = float(round(self.width / 2 - x * self.scale))
        self.dy = float(round(self.height / 2 - y * self.scale))

    def cover(self, size: tuple[float, float]) -> None:
        """Leave no more than the margin empty on a side while the drawing goes on at the other."""
        self.dx = _covering(self.dx, size[0] * self.scale, self.width)
        self.dy = _covering(self.dy, size[1] * self.scale, self.height)

    def zoom(self, factor: float, x: float, y: float, size: tuple[float, float]) -> None:
        """Change the scale around a point of the widget, within the limits."""
        lowest = min(MIN_SCALE, self.fit_scale(size) / 2)
        scale = min(MAX_SCALE, max(lowest, self.scale * factor))
        factor = scale / self.scale
        self.dx, self.dy = x - (x - self.dx) * factor, y - (y - self.dy) * factor
        self.scale = scale

    def keep_in_sight(self, size: tuple[float, float]) -> None:
        """Move back just so far that the drawing covers the middle of the widget, or lies within it if smaller."""
        self.dx = _clamped(self.dx, size[0] * self.scale, self.width)
        self.dy = _clamped(self.dy, size[1] * self.scale, self.height)


def _clamped(offset: float, extent: float, room: float) -> float:
    low, high = room / 2 - extent, room / 2
    if extent < room:  # a small drawing may go anywhere inside
        low, high = min(low, 0.0), max(high, room - extent)
    return min(high, max(low, offset))


def _covering(offset: float, extent: float, room: float) -> float:
    if extent + 2 * MARGIN <= room:
        return float(round((room - extent) / 2))
    return min(MARGIN, max(room - MARGIN - extent, offset))
