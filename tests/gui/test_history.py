"""Back and Forward."""

from __future__ import annotations

from engine.graph.ir import Graph
from gui.history import LIMIT, History, Place


def places(count: int) -> list[Place]:
    return [Place(Graph(str(i)), None) for i in range(count)]


def test_back_and_forward_walk_what_was_visited() -> None:
    history = History()
    a, b, c = places(3)
    for place in (a, b, c):
        history.visit(place)
    assert history.back() == b
    assert history.back() == a
    assert history.back() is None
    assert not history.can_go_back
    assert history.forward() == b
    assert history.current == b


def test_a_new_visit_drops_what_lay_ahead() -> None:
    history = History()
    a, b, c = places(3)
    history.visit(a)
    history.visit(b)
    history.back()
    history.visit(c)
    assert not history.can_go_forward
    assert history.back() == a


def test_staying_adds_nothing() -> None:
    history = History()
    (a,) = places(1)
    history.visit(a)
    history.visit(Place(a.graph, None))
    assert not history.can_go_back


def test_length_is_bounded() -> None:
    history = History()
    for place in places(LIMIT + 10):
        history.visit(place)
    steps = 0
    while history.back():
        steps += 1
    assert steps == LIMIT - 1
