"""The query language of the search box, on the bundled sample."""

from __future__ import annotations

import pytest

import gui.finding.fields
import resources
from engine.graph.ir import Model, Node, Tensor
from engine.opening import open_model
from gui.finding.fields import QueryError
from gui.finding.search import find, parse
from gui.running.state import RunState


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


def names(items: list[Node | Tensor]) -> set[str]:
    return {item.name for item in items}


def test_negation_keeps_to_what_the_field_applies_to(model: Model) -> None:
    rest = find("-op:Conv", model)
    assert ops(rest) == [n.op_type for n in model.graph.order if n.op_type != "Conv"]
    assert len(rest) == len(ops(rest))  # tensors have no operator
    assert names(find("layer1 -relu", model)) == {i.name for i in find("layer1", model) if "relu" not in i.name.lower()
                                                  and not (isinstance(i, Node) and i.op_type == "Relu")}  # fmt: skip


def test_either_of_several(model: Model) -> None:
    assert set(ops(find("op:Softmax|*pool", model))) == {"Softmax", "MaxPool", "GlobalAveragePool"}


def test_regular_expressions(model: Model) -> None:
    found = find("/^.layer[12]/ is:node", model)
    assert found
    assert all(item.name.startswith(("/layer1", "/layer2")) for item in found)
    assert ops(find("op:/^(Soft|Glob)/", model)) == ["GlobalAveragePool", "Softmax"]
    assert parse("/(/").error.startswith("/(/: not a regular expression")
    assert find("/(/", model) == []


def test_a_path_is_no_regular_expression(model: Model) -> None:
    assert find("/a/b", model) == []
    assert not parse("/layers/[0").error


def test_a_tensor_and_the_nodes_that_touch_it(model: Model) -> None:
    conv = next(n for n in model.graph.order if n.op_type == "Conv")
    weight = conv.inputs[1]
    assert weight is not None
    assert names(find(f'tensor:"{weight.name}"', model)) == {weight.name, conv.name}


def test_attributes(model: Model) -> None:
    softmax = next(n for n in model.graph.order if n.op_type == "Softmax")
    assert softmax in find(f"attr:axis={softmax.attributes['axis']}", model)
    assert softmax not in find("attr:axis=7", model)
    strided = [n for n in model.graph.order if n.op_type == "Conv" and n.attributes.get("strides") == [2, 2]]
    assert strided
    assert find("op:Conv attr:strides=2x2", model) == strided
    assert find("op:Conv attr:strides=[2,2]", model) == strided
    assert find("op:Conv attr:strides=2x*", model) == strided
    assert ops(find("attr:group>=1", model)) == ["Conv"] * 9  # at its default, which the file leaves out
    assert find("attr:group>1", model) == []
    assert parse("attr:axis=").error


def test_kinds(model: Model) -> None:
    assert names(find("is:input", model)) == {t.name for t in model.graph.inputs}
    assert all(isinstance(i, Tensor) and i.data is not None for i in find("is:constant", model))
    assert find("is:constant is:computed", model) == []
    assert "wants one of node" in parse("is:nothing").error


def test_sizes_of_constants(model: Model) -> None:
    large = find("size:>16KiB", model)
    assert large
    assert names(large) == {t.name for t in model.graph.tensors.values() if t.data and t.data.nbytes > 16384}
    assert parse("size:big").error == "size:big: wants a number, such as size:>1MiB"


def test_the_last_run(model: Model) -> None:
    first, second, third = model.graph.order[:3]
    run = RunState(node_ms={first: 0.5, second: 2.0, third: 7.0}, disagreement={first: 1e-6, second: 5e-3})
    assert find(parse("time:>1ms", run), model) == [second, third]
    assert find(parse("time:<=500us", run), model) == [first]
    assert find(parse("err:>1e-3", run), model) == [second]
    assert find(parse("-err:>1e-3", run), model) == [first]  # the third was not compared
    assert find("time:>1ms", model) == []
    assert parse("time:>1ms").needs_run
    assert parse("time:fast").error


def test_everything_about_a_nested_model() -> None:
    model = open_model(str(resources.path(resources.CONTROL_FLOW_MODEL)))
    inner = find("is:inner is:node", model)
    assert inner
    assert all(item.graph.parent is not None for item in inner)
    assert all(node.subgraphs for node in find("is:branching", model))


def test_a_regular_expression_that_would_take_for_ever_is_told(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gui.finding.fields, "MATCH_LIMIT", 0.01)
    monkeypatch.setattr(model.graph.order[0], "name", "a" * 60 + "!")
    with pytest.raises(QueryError, match="takes too long to match 'aaaa"):
        find("/(a|aa)+$/", model)
