"""The search of one window: its query, what it found, and where among it the user is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from engine.graph.ir import Node, Tensor
from gui.background.jobs import LatestJob, Task
from gui.finding.fields import QueryError
from gui.finding.search import Query, find, parse

if TYPE_CHECKING:
    from gui.document import Document


class Finder(QObject):
    """Searches the document's model in a job.

    `found()` says that `items` and `error` are those of `query`; `moved()` that `place`, the number of the match where
    the user is, or -1, has changed.
    """

    found = Signal()
    moved = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.query = ""
        self.error = ""
        self.items: list[Node | Tensor] = []
        self.place = -1
        self._places: dict[Node | Tensor, int] = {}
        self._needs_run = False
        self._job = LatestJob()
        self._steps = 0  # asked for while the job was still looking
        document.model_changed.connect(self.refresh)
        document.run_changed.connect(self._run_changed)
        document.selection_changed.connect(self._follow)

    @property
    def busy(self) -> bool:
        """Whether the answer to the query is still on its way."""
        return self._job.running

    @Slot(str)
    def search(self, text: str) -> None:
        """Look for what a query asks (see `gui.finding.search`); ends in `found`."""
        self.query = text
        self._steps = 0
        self._job.cancel()
        model, graph = self._document.model, self._document.graph
        query = parse(text, self._document.run)
        self._needs_run = query.needs_run
        if model is None or not query.tests:
            self._arrived(query, [], {})
            return

        def work(task: Task) -> tuple[Query, list[Node | Tensor], dict[Node | Tensor, int]]:
            try:
                items = find(query, model, graph, task.check)
            except QueryError as error:
                return replace(query, error=str(error)), [], {}
            return query, items, {item: place for place, item in enumerate(items)}

        self._job.replace(self._document.jobs.start(work, lambda found: self._arrived(*found)))

    @Slot()
    def refresh(self) -> None:
        """Ask again, of another model or after another run."""
        self.items, self._places, self.place = [], {}, -1
        self.search(self.query)

    def _arrived(self, query: Query, items: list[Node | Tensor], places: dict[Node | Tensor, int]) -> None:
        self.error, self.items, self._places = query.error, items, places
        self.place = -1
        self.found.emit()
        steps, self._steps = self._steps, 0
        if steps:
            self.step(steps)

    @Slot(int)
    def step(self, by: int) -> None:
        """Go on by so many matches, from the last to the first and back; before any, to the first or the last."""
        if self._job.running:
            self._steps += by
        elif self.items:
            start = self.place if self.place >= 0 else (-1 if by > 0 else 0)
            self.place = (start + by) % len(self.items)
            self._document.select(self.items[self.place])
            self.moved.emit()

    @Slot(object)
    def _follow(self, item: Node | Tensor | None) -> None:
        """Where the user selects a match, stepping goes on from there."""
        place = self._places.get(item, -1) if item is not None else -1
        if place not in (-1, self.place):
            self.place = place
            self.moved.emit()

    @Slot()
    def _run_changed(self) -> None:
        if self._needs_run:
            self.refresh()
