"""What the document's model costs to run: counted in a job, under the sizes that its symbolic dims have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.costs import CostTable, cost_table
from engine.feeds import default_dims, fit_dims
from engine.graph.ir import Model
from gui.background.jobs import LatestJob

if TYPE_CHECKING:
    from gui.document import Document


class Costing(QObject):
    """Counts anew when the model or its dims change, once nothing is under way that the user waits for.

    `changed()` says that `table` is up to date.
    `dims` are the sizes it was counted for: those of the next run, defaults where that has none yet.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.table: CostTable | None = None
        self.dims: dict[str, int] = {}
        self._job = LatestJob()
        self._due = False
        document.model_changed.connect(self._count_anew)
        document.dims_changed.connect(self._count)
        document.busy_changed.connect(self._start_soon)

    @Slot()
    def _count_anew(self) -> None:
        self.table = None
        self._count()

    @Slot()
    def _count(self) -> None:
        self._job.cancel()
        self._due = True
        self._start_soon()

    @Slot()
    def _start_soon(self) -> None:
        """After whatever else waits for the same moment, such as the layout of a model that has just been read."""
        if self._due and not self._document.busy:
            QTimer.singleShot(0, self, self._start)

    @Slot()
    def _start(self) -> None:
        if not self._due or self._document.busy:
            return
        self._due = False
        model, chosen = self._document.model, dict(self._document.dims)
        if model is not None:
            self._job.replace(self._document.jobs.start(lambda _task: _counted(model, chosen), self._arrived))

    def _arrived(self, result: tuple[CostTable, dict[str, int]]) -> None:
        self.table, self.dims = result
        self.changed.emit()


def _counted(model: Model, chosen: dict[str, int]) -> tuple[CostTable, dict[str, int]]:
    defaults = default_dims(model)
    dims = fit_dims(model, defaults, {name: size for name, size in chosen.items() if name in defaults})
    return cost_table(model, dims or None), dims
