"""Observers: whoever watches a run sees every node before and after, and can stop it between two nodes."""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from engine.graph.ir import Node, Tensor
from engine.kernels.registry import Value


class Observer:
    """Base of observers; every method may be left out. Called on the thread that runs the session."""

    def before_node(self, node: Node) -> None:
        """A node is about to be computed."""

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        """A node has been computed; `inputs` and `outputs` lie where its provider keeps them.

        A node that owns subgraphs comes after the nodes in them. Of a group that runs as one only its last node is
        told.
        """

    def node_time(self, node: Node, seconds: float) -> None:
        """How long a node took, each time it ran: at once, or, for nodes on a device, at the end of the run.

        The time of a node that owns subgraphs includes that of the nodes in them, that of a group's last node all of
        the group's.
        """

    def should_stop(self) -> bool:
        """Whether the run shall stop before the next node."""
        return False


class ObserverGroup(Observer):
    """Several observers as one; any of them can stop the run."""

    def __init__(self, *observers: Observer | None) -> None:
        self._observers = [o for o in observers if o is not None]

    def before_node(self, node: Node) -> None:
        for observer in self._observers:
            observer.before_node(node)

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        for observer in self._observers:
            observer.after_node(node, inputs, outputs)

    def node_time(self, node: Node, seconds: float) -> None:
        for observer in self._observers:
            observer.node_time(node, seconds)

    def should_stop(self) -> bool:
        return any(observer.should_stop() for observer in self._observers)


class CancelToken(Observer):
    """Stops the run it watches once `cancel` has been called, from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()

    def should_stop(self) -> bool:
        return self._event.is_set()


class TimingObserver(Observer):
    """Seconds per node: one entry for each run, summed over the passes of a loop within a run."""

    def __init__(self) -> None:
        self.seconds: dict[Node, list[float]] = {}
        self._current: dict[Node, float] = {}

    def node_time(self, node: Node, seconds: float) -> None:
        self._current[node] = self._current.get(node, 0.0) + seconds

    def end_run(self) -> None:
        """Close the entry of the present run; called by whoever repeats runs."""
        for node, seconds in self._current.items():
            self.seconds.setdefault(node, []).append(seconds)
        self._current = {}


class ShapeObserver(Observer):
    """Type and shape of every tensor that nodes make, without its elements.

    `values` holds for each an array of its dtype and shape that takes no memory; the last one in a loop.
    """

    def __init__(self) -> None:
        self.values: dict[Tensor, Value] = {}

    def after_node(self, node: Node, inputs: Sequence[Value], outputs: Sequence[Value]) -> None:
        for tensor, value in zip(node.outputs, outputs, strict=False):
            if tensor is not None and value is not None:
                self.values[tensor] = _hollow(value)


def _hollow(value: Value) -> Value:
    if isinstance(value, list):
        return [_hollow(v) for v in value]
    if isinstance(value, dict) or not hasattr(value, "shape"):
        return value
    return np.broadcast_to(np.empty((), value.dtype), value.shape)


class ProgressObserver(Observer):
    """Tells `report(done, total, node)` before nodes of the main graph, at most once in `every` seconds."""

    def __init__(self, report: Callable[[int, int, Node], None], every: float = 0.0) -> None:
        self._report = report
        self._every = every
        self._told = float("-inf")

    def before_node(self, node: Node) -> None:
        if node.graph.owner is None:
            now = time.perf_counter()
            if now - self._told >= self._every:
                self._told = now
                self._report(node.index, len(node.graph.order), node)
