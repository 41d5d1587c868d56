"""Who would compute each node in the next run, and what would be copied on the way: for as long as none has run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from engine.errors import EngineError
from engine.graph.ir import Node
from engine.providers import provider_named
from engine.providers.placement import Placement
from engine.session import Observer, ProviderEdge, Session, provider_edges
from gui.background.jobs import LatestJob, Task

if TYPE_CHECKING:
    from gui.document import Document


class Forecast(QObject):
    """Places the nodes of the document's model in a job, once somebody wants to see it.

    `changed()` says that `placements` and `copies` are others. They are empty where nobody wants them, where a run has
    told better, and for a model that cannot run.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._wanted = False
        self._job = LatestJob()
        self.placements: dict[Node, Placement] = {}
        self.copies: list[ProviderEdge] = []
        for signal in (document.model_changed, document.run_changed, document.providers_changed,
                       document.overrides_changed):  # fmt: skip
            signal.connect(self._place)

    def want(self, on: bool) -> None:
        """Say whether it is looked at."""
        if on is not self._wanted:
            self._wanted = on
            self._place()

    @Slot()
    def _place(self) -> None:
        document, model = self._document, self._document.model
        self._job.cancel()
        self._set({}, [])
        if self._wanted and model is not None and document.run is None:
            providers, overrides = list(document.providers), dict(document.overrides)

            def work(task: Task) -> tuple[dict[Node, Placement], list[ProviderEdge]]:
                chosen = [provider_named(name) for name in providers]
                session = Session(model, chosen, overrides=overrides, observer=_Stop(task))
                return session.placements, provider_edges(session.placements, session.planned_copies())

            self._job.replace(document.jobs.start(work, lambda found: self._set(*found), _ignored))

    def _set(self, placements: Mapping[Node, Placement], copies: Sequence[ProviderEdge]) -> None:
        had = bool(self.placements)
        self.placements, self.copies = dict(placements), list(copies)
        if had or self.placements:
            self.changed.emit()


class _Stop(Observer):
    """Stops the making of a session when its job is cancelled."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def should_stop(self) -> bool:
        return self._task.cancelled()


def _ignored(error: Exception) -> None:
    """A model that cannot run: a run says so."""
    if not isinstance(error, EngineError):
        raise error
