"""Layout off the GUI thread: inline when small, else in a process of its own, which waits for the next one.

A layout is plain Python work. In a thread it would take the interpreter from the window while the user pans
(95th percentile of a frame 70 ms against 17 ms), so a large one gets a process, which can also be ended at once.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import threading
from collections.abc import Callable

from gui.canvas.layout import Layout, LayoutInput, layout

INLINE_BOXES = 1500
POLL_SECONDS = 0.02


class LayoutCancelled(Exception):
    """The layout was cancelled before it was done."""


class LayoutFailed(Exception):
    """The layout could not be made; the message says why."""


def lay_out(data: LayoutInput, cancelled: Callable[[], bool] = lambda: False) -> Layout:
    """Make a layout, asking `cancelled` again and again meanwhile; for a worker thread.

    Raises
    ------
    LayoutCancelled
        If `cancelled` became true.
    LayoutFailed
        If the process ended early, or the layout raised an error there.
    """
    if cancelled():
        raise LayoutCancelled
    if len(data.width) <= INLINE_BOXES:
        return layout(data)
    try:
        worker = _take()
    except (OSError, RuntimeError):  # no more processes, or an unguarded main script: slower, but it works
        return layout(data)
    try:
        result = worker.lay_out(data, cancelled)
    except BaseException:
        worker.end()
        raise
    _give_back(worker)
    return result


def warm() -> None:
    """Start the process now, where none waits, so that it is there when a layout is; in the background."""
    threading.Thread(target=_warm, name="oinfer-warm", daemon=True).start()


def shut_down() -> None:
    """End the waiting process."""
    worker = _idle.pop() if _idle else None
    if worker is not None:
        worker.end()


class _Worker:
    """One process that makes layouts, one after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, child = context.Pipe(duplex=True)
        self._process = context.Process(target=_work, args=(child,), name="oinfer-layout", daemon=True)
        self._process.start()
        child.close()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def lay_out(self, data: LayoutInput, cancelled: Callable[[], bool]) -> Layout:
        try:
            self._pipe.send(data)
            while not self._pipe.poll(POLL_SECONDS):
                if cancelled():
                    raise LayoutCancelled
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise LayoutFailed("The layout process ended without a result, perhaps for lack of memory.") from error
        if not isinstance(answer, Layout):
            raise LayoutFailed(str(answer))
        return answer

    def end(self) -> None:
        self._process.terminate()
        self._process.join()
        self._pipe.close()


_idle: list[_Worker] = []
_lock = threading.Lock()


def _take() -> _Worker:
    with _lock:
        while _idle:
            worker = _idle.pop()
            if worker.alive:
                return worker
    return _Worker()


def _give_back(worker: _Worker) -> None:
    with _lock:
        if not _idle:
            _idle.append(worker)
            return
    worker.end()


def _warm() -> None:
    with _lock:
        if not _idle:
            try:
                _idle.append(_Worker())
            except (OSError, RuntimeError):
                return  # the layout itself will manage without


def _work(pipe: multiprocessing.connection.Connection) -> None:
    """What the process does: read an input, answer with the layout, or with a sentence that says what failed."""
    while True:
        try:
            data = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: Layout | str = layout(data)
        except Exception as error:  # noqa: BLE001  the parent reports it
            answer = f"The layout failed: {type(error).__name__}: {error}"
        pipe.send(answer)
