"""Work parted over turns of the event loop, so that the window answers in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QObject, QTimer, Slot

Piece: TypeAlias = "Callable[[], object]"


class Turns(QObject):
    """Pieces of work, one in each turn of the event loop, in the order they were asked for.

    A piece reads what is so when its turn comes: asked for again before that, it is done once. What one piece has
    changed is painted before the next.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._due: deque[Piece] = deque()
        # A timer, since Qt sends what `QTimer.singleShot(0, …)` posts in the same go as what was posted before it; one
        # that starts anew for each piece, or it would stand still in the event loop of a dialog that a piece opens.
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._take)

    def ask(self, piece: Piece) -> None:
        """Do a piece, a function or a bound method, in a turn of its own, unless it waits for that already."""
        if piece not in self._due:
            self._due.append(piece)
            self._timer.start()

    def waits(self, piece: Piece) -> bool:
        """Whether a piece was asked for and is not done yet."""
        return piece in self._due

    def now(self, piece: Piece) -> None:
        """Do a piece at once if it waits, for who needs what it does."""
        if piece in self._due:
            self._due.remove(piece)
            piece()

    def finish(self) -> None:
        """Do at once whatever waits, and what that asks for."""
        while self._due:
            self._due.popleft()()

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not self._due

    @Slot()
    def _take(self) -> None:
        if not self._due:
            return
        try:
            self._due.popleft()()
        finally:
            if self._due:
                self._timer.start()
