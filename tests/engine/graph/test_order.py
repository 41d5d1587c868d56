"""The run order: stable, complete, and honest about cycles."""
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.diagnostics import Diagnostic
from engine.graph.ir import Graph, Node, Tensor
from engine.graph.order import moved_nodes, sort_graph


def graph_of(edges: list[tuple[int, int]], count: int) -> Graph:
    """A graph of `count` nodes n0, n1, … in file order, with an edge producer → consumer for each pair."""
    graph = Graph("g")
    for i in range(count):
        node = Node(graph, "Op", "", f"n{i}", i)
        output = graph.tensors[f"t{i}"] = Tensor(f"t{i}", graph)
        output.producer = node
        node.outputs.append(output)
        graph.nodes.append(node)
    for producer, consumer in edges:
        graph.nodes[consumer].inputs.append(graph.tensors[f"t{producer}"])
    return graph


def order_of(graph: Graph) -> list[int]:
    return [node.file_index for node in graph.order]


def sort(edges: list[tuple[int, int]], count: int) -> tuple[list[int], list[Diagnostic]]:
    graph = graph_of(edges, count)
    findings = sort_graph(graph)
    return order_of(graph), findings


def test_a_sorted_file_keeps_its_order() -> None:
    assert sort([(0, 3), (1, 2), (2, 4), (3, 4)], 5) == ([0, 1, 2, 3, 4], [])


def test_ready_nodes_leave_in_file_order() -> None:
    order, findings = sort([(3, 0), (3, 2)], 4)
    assert order == [1, 3, 0, 2]
    assert [(f.code, f.node) for f in findings] == [("unsorted", "n0")]


def test_a_cycle_is_told_as_a_path_and_what_hangs_on_it_apart() -> None:
    order, findings = sort([(0, 1), (1, 2), (2, 0), (2, 3)], 5)
    assert order == [4]
    assert [f.code for f in findings] == ["cycle", "after-cycle"]
    assert "n0 → n1 → n2 → n0" in findings[0].message
    assert "'n3'" in findings[1].message


def test_each_cycle_is_told() -> None:
    _, findings = sort([(0, 1), (1, 0), (2, 2), (3, 4), (4, 3)], 5)
    messages = [f.message for f in findings]
    assert [f.code for f in findings] == ["cycle"] * 3
    for path, message in zip(["n0 → n1 → n0", "n2 → n2", "n3 → n4 → n3"], messages, strict=True):
        assert path in message


@given(st.integers(1, 30).flatmap(lambda n: st.tuples(
    st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))))  # fmt: skip
def test_producers_always_come_first(case: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = case
    graph = graph_of(edges, count)
    findings = sort_graph(graph)
    place = {node: i for i, node in enumerate(graph.order)}
    for node in graph.order:
        assert all(t.producer is None or place[t.producer] < place[node] for t in node.read_tensors())
        assert node.index == place[node]
    assert (len(graph.order) == count) == (not any(f.code == "cycle" for f in findings))
    if all(a < b for a, b in edges):
        assert order_of(graph) == list(range(count))
        assert moved_nodes(graph) == []


def test_a_long_chain_stored_backwards() -> None:
    order, _ = sort([(i + 1, i) for i in range(19_999)], 20_000)
    assert order == list(range(19_999, -1, -1))
