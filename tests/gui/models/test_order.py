"""Which nodes count as moved between file order and run order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.graph.ir import Graph, Node
from gui.models.order import moved_nodes


def nodes(file_indices: list[int]) -> list[Node]:
    graph = Graph("g")
    return [Node(graph, "Relu", "", f"n{i}", i) for i in file_indices]


@pytest.mark.parametrize(
    ("order", "moved"),
    [
        ([], []),
        ([0, 1, 2, 3], []),
        ([3, 0, 1, 2], [3]),
        ([1, 2, 3, 0], [0]),
        ([0, 3, 1, 2, 4], [3]),
        ([0, 2, 1, 5, 3, 4], [2, 5]),
    ],
)
def test_the_fewest_that_explain_it(order: list[int], moved: list[int]) -> None:
    found = sorted(node.file_index for node in moved_nodes(nodes(order)))
    assert len(found) == len(moved)
    if moved != [2, 5]:  # either neighbour of a swapped pair may count as the one that moved
        assert found == moved


@given(st.permutations(range(9)))
def test_those_that_stay_are_in_order(order: list[int]) -> None:
    every = nodes(order)
    moved = moved_nodes(every)
    stay = [node.file_index for node in every if node not in moved]
    assert stay == sorted(stay)
