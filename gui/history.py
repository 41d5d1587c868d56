"""Where the user has been: places in order, with a cursor that Back and Forward move."""

from __future__ import annotations

from dataclasses import dataclass

from engine.graph.ir import Graph, Node, Tensor

LIMIT = 500


@dataclass(frozen=True, slots=True)
class Place:
    """A graph and what is selected in it."""

    graph: Graph | None
    item: Node | Tensor | None


class History:
    """Visited places; a new visit drops what lay ahead, as in a browser."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    def clear(self) -> None:
        self._places.clear()
        self._at = -1

    def visit(self, place: Place) -> None:
        """Go to a new place; staying where one is adds nothing."""
        if place == self.current:
            return
        del self._places[self._at + 1 :]
        self._places.append(place)
        del self._places[:-LIMIT]
        self._at = len(self._places) - 1

    @property
    def current(self) -> Place | None:
        return self._places[self._at] if self._places else None

    @property
    def can_go_back(self) -> bool:
        return self._at > 0

    @property
    def can_go_forward(self) -> bool:
        return self._at + 1 < len(self._places)

    def back(self) -> Place | None:
        """The place before, or None at the first."""
        return self._move(-1) if self.can_go_back else None

    def forward(self) -> Place | None:
        """The place after, or None at the last."""
        return self._move(1) if self.can_go_forward else None

    def _move(self, step: int) -> Place:
        self._at += step
        return self._places[self._at]
