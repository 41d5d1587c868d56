"""Model-local functions, and small files that ask for very much."""

from __future__ import annotations

import onnx
import pytest
from onnx import TensorProto, helper

from engine import load_model_proto
from engine.graph.ir import Model
from tests.counting import calls
from tests.engine.graph.making import codes, value


class TestFunctions:
    def test_a_call_gets_the_body_with_its_attributes(self) -> None:
        body = helper.make_node("LeakyRelu", ["a"], ["b"])
        attribute = body.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT)
        attribute.ref_attr_name = "slope"
        function = helper.make_function(
            "local", "Leaky", ["a"], ["b"], [body], [helper.make_opsetid("", 17)], ["slope"]
        )
        graph = helper.make_graph(
            [helper.make_node("Leaky", ["x"], ["y"], domain="local", name="call", slope=0.25)], "g",
            [value("x", shape=[2])], [value("y", shape=[2])],
        )  # fmt: skip
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        model = load_model_proto(helper.make_model(graph, functions=[function], opset_imports=imports))
        (call,) = model.graph.nodes
        inside = call.subgraphs["function"].nodes[0]
        assert inside.attributes == {"alpha": 0.25}
        assert inside.qualified_name == "call/function/LeakyRelu_0"
        assert codes(model) == []

    @staticmethod
    def chain(*callees: tuple[str, ...]) -> onnx.ModelProto:
        """Functions f0, f1, … where fi calls the names in callees[i]; the graph calls the last."""
        functions = []
        for i, names in enumerate(callees):
            nodes = [helper.make_node(name, ["a"], [f"b{k}"], domain="local") for k, name in enumerate(names)]
            nodes.append(helper.make_node("Relu", ["a"], ["y"]))
            imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
            functions.append(helper.make_function("local", f"f{i}", ["a"], ["y"], nodes, imports))
        graph = helper.make_graph(
            [helper.make_node(f"f{len(callees) - 1}", ["x"], ["y"], domain="local")], "g",
            [value("x", shape=[1])], [value("y", shape=[1])],
        )  # fmt: skip
        return helper.make_model(graph, functions=functions, opset_imports=imports)

    def test_a_function_bomb_is_counted_and_not_expanded(self) -> None:
        model = load_model_proto(self.chain((), *(((f"f{i}", f"f{i}")) for i in range(26))))
        assert sum(len(graph.nodes) for graph in model.graph.walk()) == 1
        assert codes(model) == ["function-too-large"]
        assert "268,435,453" in model.diagnostics[0].message  # s(0) = 1, s(i) = 2 s(i-1) + 3

    def test_a_long_chain_of_calls_is_not_expanded(self) -> None:
        model = load_model_proto(self.chain((), *((f"f{i}",) for i in range(3000))))
        assert codes(model) == ["function-too-large"]
        assert "3,002 levels deep" in model.diagnostics[0].message

    def test_nodes_of_subgraphs_count(self) -> None:
        inner = helper.make_graph([helper.make_node("Relu", ["a"], [f"t{i}"]) for i in range(200)], "b", [],
                                  [value("t0")])  # fmt: skip
        branch = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
        proto = self.chain((), *(((f"f{i}", f"f{i}")) for i in range(8)))
        proto.functions[0].node.append(branch)
        model = load_model_proto(proto)
        assert "function-too-large" in codes(model)

    def test_attributes_reach_the_subgraphs_of_a_body(self) -> None:
        relu = helper.make_node("LeakyRelu", ["a"], ["t"])
        relu.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT, ref_attr_name="slope")
        inner = helper.make_graph([relu], "branch", [], [value("t")])
        body = helper.make_node("If", ["c"], ["b"], then_branch=inner, else_branch=inner)
        opset = [helper.make_opsetid("", 17)]
        function = helper.make_function("local", "F", ["c", "a"], ["b"], [body], opset, ["slope"])
        graph = helper.make_graph(
            [helper.make_node("F", ["c", "x"], ["y"], domain="local", slope=0.5)], "g",
            [value("c", TensorProto.BOOL, []), value("x", shape=[2])], [value("y", shape=[2])],
        )  # fmt: skip
        imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        model = load_model_proto(helper.make_model(graph, functions=[function], opset_imports=imports))
        branch = model.graph.nodes[0].subgraphs["function"].nodes[0].subgraphs["then_branch"]
        assert branch.nodes[0].attributes == {"alpha": 0.5}

    def test_recursive_functions_are_named_as_a_cycle(self) -> None:
        model = load_model_proto(self.chain(("f1",), ("f0",)))
        assert codes(model) == ["recursive-function"]
        assert "f0 → f1 → f0" in model.diagnostics[0].message


class TestBombs:
    """What a small file can ask for costs calls in proportion to the file, however it is tangled."""

    COUNT = 5_000

    def relus(self, reads: str, writes: str, domain: str = "") -> list[onnx.NodeProto]:
        domains = (domain.format(i) for i in range(self.COUNT))
        return [helper.make_node("Relu", [reads.format(i)], [writes.format(i)], name="n", domain=d)
                for i, d in enumerate(domains)]  # fmt: skip

    def captures(self) -> list[onnx.NodeProto]:
        inner = helper.make_graph(self.relus("o{}", "t{}"), "b", [], [value("t0")])
        return [*self.relus("x", "o{}"), helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)]

    @pytest.mark.parametrize(
        ("kind", "code"),
        [("captures", None), ("one name", "duplicate-output"), ("domains", "undeclared-opset"),
         ("nothing", "missing-tensor"), ("cycle", "cycle"), ("loops", "cycle")],
    )  # fmt: skip
    def test_is_linear(self, kind: str, code: str | None) -> None:
        last = self.COUNT - 1
        nodes = {
            "captures": self.captures,
            "one name": lambda: self.relus("x", "y"),
            "domains": lambda: self.relus("x", "y{}", "d{}"),
            "nothing": lambda: self.relus("m{}", "y{}"),
            "cycle": lambda: [helper.make_node("Relu", [f"y{i or last}"], [f"y{i + 1}"]) for i in range(last)],
            "loops": lambda: self.relus("y{}", "y{}"),
        }[kind]()
        proto = helper.make_model(helper.make_graph(nodes, "g", [value("x")], [value("x")]))
        models: list[Model] = []
        assert calls(lambda: models.append(load_model_proto(proto))) < 300 * self.COUNT  # 57 to 166 a node
        assert code is None or code in codes(models[0])
