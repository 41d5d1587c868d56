"""The query language of the search box, on the bundled sample."""

from __future__ import annotations

import pytest

import resources
from engine.graph.ir import Model, Node, Tensor
from engine.opening import open_model
from gui.search import find


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model(str(resources.path(resources.SAMPLE_MODEL)))


def ops(items: list[Node | Tensor]) -> list[str]:
    return [item.op_type for item in items if isinstance(item, Node)]


@pytest.mark.parametrize("query", ["op:Conv", "op:conv", "OP:CONV", 'op:"Conv"'])
def test_operator_as_a_whole(model: Model, query: str) -> None:
    assert ops(find(query, model)) == ["Conv"] * 9
    assert len(find(query, model)) == 9


def test_stars_stand_for_anything(model: Model) -> None:
    assert set(ops(find("op:*pool*", model))) == {"MaxPool", "GlobalAveragePool"}


def test_all_terms_must_match(model: Model) -> None:
    found = find("op:Conv name:layer2", model)
    assert [item.name for item in found] == [n.name for n in model.graph.order if n.op_type == "Conv"][3:6]
    assert find("op:Conv op:Relu", model) == []


def test_plain_words_look_in_names_and_operators(model: Model) -> None:
    found = find("softmax", model)
    assert ops(found) == ["Softmax"]
    assert find("stem relu", model)
    assert find('"stem relu"', model) == []


def test_nodes_come_before_tensors(model: Model) -> None:
    kinds = [isinstance(item, Node) for item in find("layer1", model)]
    assert kinds == sorted(kinds, reverse=True)
    assert set(kinds) == {True, False}


def test_shapes(model: Model) -> None:
    conv = next(n for n in model.graph.order if n.op_type == "Conv")
    found = find("shape:N×16×*", model)
    assert conv in found
    assert all(item.name != "image" for item in found)
    assert find("shape:Nx16x*", model) == found
    assert [item.name for item in find("shape:N×3×32×32", model)] == ["image"]


def test_dtype(model: Model) -> None:
    assert find("dtype:f32 op:Softmax", model)
    assert find("dtype:i64 op:Softmax", model) == []


@pytest.mark.parametrize("query", ["", "   ", "op:", '""'])
def test_an_empty_query_finds_nothing(model: Model, query: str) -> None:
    assert find(query, model) == []


@pytest.mark.parametrize("query", ["[", "op:[", "shape:(", "a:b:c", '"unclosed', "*?[!]"])
def test_any_text_is_a_query(model: Model, query: str) -> None:
    assert find(query, model) == []


def test_other_graphs_come_after_the_one_shown() -> None:
    model = open_model(str(resources.path(resources.CONTROL_FLOW_MODEL)))
    inner = next(g for g in model.graph.walk() if g.parent is not None and g.nodes)
    found = find(f"op:{inner.nodes[0].op_type}", model, inner)
    assert found[0].graph is inner
