"""Which rows of a table are shown, and in which order. Knows no Qt, and runs on any thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

STRIDE = 256  # rows looked at between two questions whether to go on


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Rows that `accepts` and that hold all `words` in any of their `texts`, in the order of `key`.

    `words` are casefolded; without a `key` the rows keep their order.
    """

    texts: Sequence[Callable[[Any], str]] = ()
    words: tuple[str, ...] = ()
    accepts: Callable[[Any], bool] | None = None
    key: Callable[[Any], Any] | None = None
    reverse: bool = False

    @property
    def changes_nothing(self) -> bool:
        """Whether all rows are shown as they come."""
        return not self.words and self.accepts is None and self.key is None

    def of(self, rows: Iterable[Any], check: Callable[[], None] = lambda: None) -> list[Any]:
        """The rows so arranged; `check` is called between some of them and may raise."""
        if self.changes_nothing:
            return list(rows)
        shown = []
        for place, row in enumerate(rows):
            if place % STRIDE == 0:
                check()
            if self._passes(row):
                shown.append(row)
        if self.key is not None:
            keys = []
            for place, row in enumerate(shown):
                if place % STRIDE == 0:
                    check()
                keys.append(self.key(row))
            order = sorted(range(len(shown)), key=keys.__getitem__, reverse=self.reverse)
            shown = [shown[place] for place in order]
        return shown

    def _passes(self, row: Any) -> bool:
        if self.accepts is not None and not self.accepts(row):
            return False
        if not self.words:
            return True
        text = " ".join(text(row) for text in self.texts).casefold()
        return all(word in text for word in self.words)
