"""Layout off the GUI thread: inline when small, else in a spawned process.

A layout is plain Python work. In a thread it would take the interpreter from the window while the user pans
(95th percentile of a frame 70 ms against 17 ms), so a large one gets a process, which can also be ended at once.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection

from gui.canvas.layout import Layout, LayoutInput, layout

INLINE_BOXES = 1500
POLL_SECONDS = 0.03


class LayoutCancelled(Exception):
    """The layout was cancelled before it was done."""


class LayoutFailed(Exception):
    """The layout could not be made; the message says why."""


class LayoutTask:
    """One layout, to be waited for by a worker thread. It knows no Qt.

    Examples
    --------
    >>> task = LayoutTask(scene.layout_input)
    >>> result = task.run(cancelled=token.is_set)
    """

    def __init__(self, data: LayoutInput) -> None:
        self._data = data
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None

    def run(self, cancelled: Callable[[], bool] = lambda: False) -> Layout:
        """Make the layout and return it, asking `cancelled` again and again meanwhile.

        Raises
        ------
        LayoutCancelled
            If `cancelled` became true.
        LayoutFailed
            If the layout raised an error or its process ended early.
        """
        if cancelled():
            raise LayoutCancelled
        if len(self._data.width) <= INLINE_BOXES:
            return layout(self._data)
        try:
            self.start()
        except (OSError, RuntimeError):  # no more processes, or an unguarded main script: slower, but it works
            self.cancel()
            return layout(self._data)
        try:
            while not self.wait(POLL_SECONDS):
                if cancelled():
                    raise LayoutCancelled
            return self.result()
        finally:
            self.cancel()

    def start(self) -> None:
        """Start the process.

        Raises
        ------
        OSError, RuntimeError
            It cannot be started.
        """
        context = multiprocessing.get_context("spawn")
        self._pipe, child = context.Pipe(duplex=True)
        process = context.Process(target=_work, args=(child,), name="oinfer-layout", daemon=True)
        process.start()
        self._process = process
        child.close()
        # By the pipe and not as an argument: arguments are written before start() returns.
        self._pipe.send(self._data)

    def wait(self, seconds: float) -> bool:
        """Wait for the result; True when `result` can be called."""
        return self._pipe is not None and self._pipe.poll(seconds)

    def result(self) -> Layout:
        """The layout; call it once, after `wait` said True."""
        if self._pipe is None:
            raise LayoutFailed("The layout was not started.")
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise LayoutFailed("The layout process ended without a result, perhaps for lack of memory.") from error
        if not isinstance(answer, Layout):
            raise LayoutFailed(str(answer))
        return answer

    def cancel(self) -> None:
        """End the process, if it still runs; safe to call at any time."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None


def _work(pipe: Connection) -> None:
    """What the process does: read the input, answer with the layout, or with a sentence that says what failed."""
    try:
        answer: Layout | str = layout(pipe.recv())
    except Exception as error:  # noqa: BLE001  the parent reports it
        answer = f"The layout failed: {type(error).__name__}: {error}"
    pipe.send(answer)
    pipe.close()
