"""Faulty models, one fault each: what is found is exactly that fault, and what onnx.checker refuses is found here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, ModelProto, SparseTensorProto, TensorProto, helper, numpy_helper, parser

from engine.checks import check_model
from engine.diagnostics import CATALOGUE, Diagnostic
from engine.graph.ir import Model
from engine.graph.loader import load_model_proto
from engine.shapes.infer import infer_shapes

X = "float[2,3] x"
Y = "float[2,3] y"
HEAD = 'ir_version: 8, opset_import: ["" : 17]'


def graph(body: str, inputs: str = X, outputs: str = Y, head: str = HEAD) -> ModelProto:
    """A model of the ONNX text syntax, with one graph named g."""
    return parser.parse_model(f"<{head}> g ({inputs}) => ({outputs}) {{ {body} }}")


def checked(proto: ModelProto, folder: Path | None = None) -> Model:
    model = load_model_proto(proto, str(folder) if folder else None)
    infer_shapes(model)
    check_model(model)
    return model


def findings(proto: ModelProto, folder: Path | None = None) -> list[Diagnostic]:
    return checked(proto, folder).diagnostics


@dataclass(slots=True)
class Fault:
    """A faulty model: the codes that tell of it, whether onnx.checker refuses it, and a word of the message."""

    make: Callable[[], ModelProto]
    codes: tuple[str, ...]
    refused: bool
    says: str


FAULTS: dict[str, Fault] = {}


def fault(
    *codes: str, refused: bool = True, says: str = ""
) -> Callable[[Callable[[], ModelProto]], Callable[[], ModelProto]]:
    def register(make: Callable[[], ModelProto]) -> Callable[[], ModelProto]:
        assert make.__name__ not in FAULTS
        FAULTS[make.__name__] = Fault(make, codes, refused, says)
        return make

    return register


# --- calls of operators


@fault("wrong-arity", says="has 1 input, and version 11 takes 2 to 3")
def too_few_inputs() -> ModelProto:
    return graph("y = Conv(x)", "float[1,3,4,4] x", "float[1,3,4,4] y")


@fault("wrong-arity", says="has 2 inputs, and version 14 takes 1")
def too_many_inputs() -> ModelProto:
    return graph("y = Relu(x, x)")


@fault("wrong-arity", says="has 0 inputs, and version 13 takes at least 1")
def no_inputs_at_all() -> ModelProto:
    return graph("y = Concat<axis=0>()", "")


@fault("wrong-arity", says="has 2 outputs, and version 14 makes 1")
def too_many_outputs() -> ModelProto:
    return graph("y, z = Relu(x)")


@fault("wrong-arity", "unused-node", says="has 0 outputs")
def no_outputs_at_all() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.node.append(helper.make_node("Relu", ["x"], []))
    return proto


@fault("wrong-arity", "wrong-arity", "unused-node")
def neither_inputs_nor_outputs() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.node.append(helper.make_node("Relu", [], []))
    return proto


@fault("wrong-arity", says="leaves out its input 0 (A), which is required")
def required_input_left_out() -> ModelProto:
    proto = graph("y = Add(x, x)")
    proto.graph.node[0].input[0] = ""
    return proto


@fault("unnamed-output", says="leaves out its output 0 (Values)")
def required_output_left_out() -> ModelProto:
    proto = graph("v, y = TopK(x, k)", f"{X}, int64[1] k", "int64[2,k] y")
    proto.graph.node[0].output[0] = ""
    return proto


@fault("unknown-attribute", says="'beta'")
def unknown_attribute() -> ModelProto:
    return graph("y = Relu<beta = 1.0>(x)")


@fault("missing-attribute", says="'to'")
def missing_attribute() -> ModelProto:
    return graph("y = Cast(x)")


@fault("missing-attribute", says="'else_branch'")
def branch_missing() -> ModelProto:
    return graph("y = If(c) <then_branch = t () => (float[2,3] a) { a = Relu(x) }>", f"{X}, bool c")


@fault("attribute-type", says="is INT, and FLOAT is asked for")
def attribute_of_another_kind() -> ModelProto:
    return graph("y = LeakyRelu<alpha = 1>(x)")


@fault("attribute-type", says="is INT, and INTS is asked for")
def attribute_that_should_be_a_list() -> ModelProto:
    return graph("y = Transpose<perm = 1>(x)", outputs="float[a,b] y")


@fault("attribute-type", says="is FLOATS, and INTS is asked for")
def list_of_another_kind() -> ModelProto:
    return graph("y = Transpose<perm = [1.0, 0.0]>(x)", outputs="float[a,b] y")


@fault("attribute-type", says="is TENSOR, and GRAPH is asked for")
def tensor_for_a_body() -> ModelProto:
    return graph(
        "y = If(c) <then_branch = t () => (float[2,3] a) { a = Relu(x) }, else_branch: tensor = float[1] {1.0}>",
        f"{X}, bool c",
    )


@fault("attribute-form", says="more than once")
def attribute_twice() -> ModelProto:
    proto = graph("y = LeakyRelu<alpha = 0.5>(x)")
    proto.graph.node[0].attribute.append(proto.graph.node[0].attribute[0])
    return proto


@fault("attribute-form", says="has no type, and holds f")
def attribute_without_type() -> ModelProto:
    proto = graph("y = LeakyRelu<alpha = 0.5>(x)")
    proto.graph.node[0].attribute[0].ClearField("type")
    return proto


@fault("attribute-form", says="is of type FLOAT, and holds f and i")
def attribute_with_two_values() -> ModelProto:
    proto = graph("y = LeakyRelu<alpha = 0.5>(x)")
    proto.graph.node[0].attribute[0].i = 1
    return proto


@fault("attribute-form", says="is of type FLOAT, and holds floats")
def attribute_type_and_field_differ() -> ModelProto:
    proto = graph("y = LeakyRelu<alpha = 0.5>(x)")
    attribute = proto.graph.node[0].attribute[0]
    attribute.ClearField("f")
    attribute.floats.append(0.5)
    return proto


@fault("unknown-attribute", "attribute-form", says="has no name")
def attribute_without_name() -> ModelProto:
    proto = graph("y = LeakyRelu<alpha = 0.5>(x)")
    proto.graph.node[0].attribute[0].name = ""
    return proto


@fault("attribute-reference", refused=False, says="is in no function")
def reference_outside_functions() -> ModelProto:
    proto = graph("y = LeakyRelu(x)")
    proto.graph.node[0].attribute.add(name="alpha", type=AttributeProto.FLOAT, ref_attr_name="slope")
    return proto


@fault("not-utf8", refused=False)
def bytes_in_a_string() -> ModelProto:
    proto = graph("y = Conv<auto_pad = \"VALID\">(x, x)", "float[1,1,1,1] x", "float[1,1,1,1] y")
    proto.graph.node[0].attribute.append(helper.make_attribute("__note", b"\xff\xfe"))
    return proto


@fault("deprecated-op", says="Upsample was removed from ai.onnx with opset 10: 1 node uses it")
def removed_operator() -> ModelProto:
    return graph("y = Upsample(x, s)", "float[1,1,2,2] x, float[4] s", "float[a,b,c,d] y",
                 'ir_version: 8, opset_import: ["" : 10]')  # fmt: skip


@fault("unknown-op", says="has no operator 'RELU': is 'Relu' meant?")
def misspelt_operator() -> ModelProto:
    return graph("y = RELU(x)")


@fault("unknown-op", says="opset 15 of ai.onnx has no operator 'GridSample': it came with opset 16")
def operator_newer_than_the_opset() -> ModelProto:
    return graph("y = GridSample(x, g)", "float[1,1,2,2] x, float[1,2,2,2] g", "float[1,1,2,2] y",
                 'ir_version: 8, opset_import: ["" : 15]')  # fmt: skip


@fault("unknown-op")
def operator_without_name() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.node[0].op_type = ""
    return proto


@fault("constant-without-value", "wrong-arity", refused=True, says="has 1 input")
def constant_with_input_and_no_value() -> ModelProto:
    return graph("y = Constant(x)")


@fault("constant-without-value", refused=False)
def constant_without_value() -> ModelProto:
    return graph("c = Constant() y = Add(x, c)")


@fault("dtype-not-allowed", refused=False, says="its input X is int64, and version 6 takes")
def element_type_outside_the_schema() -> ModelProto:
    return graph("y = Relu(x)", "int64[2] x", "int64[2] y", 'ir_version: 8, opset_import: ["" : 9]')


@fault("dtype-not-allowed", refused=False, says="its output output is bfloat16, and version 9 makes")
def made_type_outside_the_schema() -> ModelProto:
    return graph("y = Cast<to = 16>(x)", outputs="bfloat16[2,3] y", head='ir_version: 8, opset_import: ["" : 9]')


@fault("dtype-not-allowed", refused=False, says="is seq(tensor(float))")
def sequence_for_a_tensor() -> ModelProto:
    return graph("s = SequenceConstruct(x) y = Relu(s)", outputs="float[a,b] y")


@fault("dtype-clash", refused=False)
def types_that_contradict_each_other() -> ModelProto:
    return graph("y = Add(x, i)", f"{X}, int64[2,3] i")


# --- bodies


@fault("body-mismatch", refused=False, says="then_branch of If 'choose' has 1 output, and the node needs 2")
def branch_with_too_few_outputs() -> ModelProto:
    return graph(
        "[choose] y, z = If(c) <then_branch = t () => (float[2,3] a) { a = Relu(x) },"
        "else_branch = e () => (float[2,3] d, float[2,3] b) { d = Neg(x) b = Abs(x) }>",
        f"{X}, bool c", f"{Y}, float[2,3] z",
    )  # fmt: skip


@fault("body-mismatch", refused=False, says="has 2 inputs, and the node needs 3")
def loop_body_without_its_state() -> ModelProto:
    return graph(
        "y = Loop(n, c, x) <body = b (int64 i, bool k) => (bool l, float[2,3] w) { l = Identity(k) w = Relu(x) }>",
        f"{X}, int64 n, bool c",
    )


@fault("captured-output", says="returns 'x', a value of the graph")
def branch_that_returns_an_outer_value() -> ModelProto:
    return graph(
        "y = If(c) <then_branch = t () => (float[2,3] x) {}, else_branch = e () => (float[2,3] b) { b = Neg(x) }>",
        f"{X}, bool c",
    )


# --- versions


@fault("undeclared-opset", says="'acme'")
def domain_without_import() -> ModelProto:
    return graph("y = acme.Fancy(x)")


@fault("undeclared-opset")
def no_imports() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.ClearField("opset_import")
    return proto


@fault("duplicate-opset", refused=False, says="versions 17, 13")
def imports_that_differ() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.opset_import.append(helper.make_opsetid("ai.onnx", 13))
    return proto


@fault("no-ir-version")
def no_ir_version() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.ClearField("ir_version")
    return proto


@fault("future-ir")
def newer_ir() -> ModelProto:
    return graph("y = Relu(x)", head='ir_version: 99, opset_import: ["" : 17]')


@fault("newer-than-ir", says="opset imports, which came with IR 3")
def imports_before_there_were_any() -> ModelProto:
    return graph("y = Relu(x)", head='ir_version: 2, opset_import: ["" : 7]')


@fault("newer-than-ir", refused=False, says="the element type int4, which came with IR 10")
def type_newer_than_the_ir() -> ModelProto:
    proto = graph("q = Identity(w) y = Cast<to = 1>(q)", "", "float[2] y", 'ir_version: 9, opset_import: ["" : 21]')
    proto.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [2], [1, 2]))
    return proto


@fault("duplicate-metadata", says="'k'")
def metadata_twice() -> ModelProto:
    proto = graph("y = Relu(x)")
    for text in ("a", "b"):
        proto.metadata_props.add(key="k", value=text)
    return proto


# --- names, links, order


@fault("no-name")
def graph_without_name() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.name = ""
    return proto


@fault("no-name", "unused-initializer")
def initializer_without_name() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros(2, np.float32), ""))
    return proto


@fault("control-characters", refused=False, says=r"'a\x00b'")
def nul_in_a_tensor_name() -> ModelProto:
    proto = graph("t = Relu(x) y = Neg(t)")
    proto.graph.node[0].output[0] = proto.graph.node[1].input[0] = "a\0b"
    return proto


@fault("control-characters", refused=False, says="'\\u202ecod'")
def direction_mark_in_a_node_name() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.node[0].name = "\u202ecod"
    return proto


@fault("duplicate-node-name", refused=False, says="3 nodes of the graph are named 'n'; here 'n', 'n#1', 'n#2'")
def node_names_thrice() -> ModelProto:
    return graph("[n] a = Relu(x) [n] b = Neg(a) [n] y = Abs(b)")


@fault("duplicate-input")
def input_twice() -> ModelProto:
    return graph("y = Relu(x)", f"{X}, {X}")


@fault("duplicate-output")
def name_written_twice() -> ModelProto:
    return graph("y = Relu(x) y = Neg(x)")


@fault("duplicate-output")
def input_written() -> ModelProto:
    return graph("x = Relu(w) y = Neg(x)", f"{X}, float[2,3] w")


@fault("duplicate-initializer")
def initializer_twice() -> ModelProto:
    proto = graph("y = Add(x, w)")
    proto.graph.initializer.extend([numpy_helper.from_array(np.zeros(3, np.float32), "w")] * 2)
    return proto


@fault("initializer-not-in-inputs")
def old_initializer_that_is_no_input() -> ModelProto:
    proto = graph("y = Add(x, w)", head='ir_version: 3, opset_import: ["" : 7]')
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.float32), "w"))
    return proto


@fault("missing-tensor", says="'nowhere'")
def input_that_nothing_defines() -> ModelProto:
    return graph("y = Add(x, nowhere)")


@fault("output-not-produced")
def output_that_nothing_computes() -> ModelProto:
    return graph("z = Relu(x)")


@fault("unsorted")
def nodes_backwards() -> ModelProto:
    return graph("y = Relu(t) t = Neg(x)")


@fault("cycle", says="A → B → A")
def two_nodes_in_a_cycle() -> ModelProto:
    return graph("[A] a = Add(x, b) [B] b = Neg(a) y = Relu(x)")


@fault("shadowed-name", says="(output of Neg 'inner') hides the value of that name in the graph (output of Relu")
def branch_that_writes_an_outer_name() -> ModelProto:
    return graph(
        "a = Relu(x) y = If(c) <then_branch = t () => (float[2,3] a) { [inner] a = Neg(x) },"
        "else_branch = e () => (float[2,3] d) { d = Abs(a) }>",
        f"{X}, bool c",
    )


@fault("missing-type", "missing-type")
def values_without_type() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.input[0].ClearField("type")
    proto.graph.output[0].ClearField("type")
    return proto


@fault("missing-rank", "missing-rank")
def values_without_shape() -> ModelProto:
    proto = graph("y = Relu(x)")
    for value in (proto.graph.input[0], proto.graph.output[0]):
        value.type.tensor_type.ClearField("shape")
    return proto


# --- stored data


def with_weight(change: Callable[[TensorProto], object], dims: str = "3") -> ModelProto:
    """y = x + w, where `change` spoils the float32 [3] w."""
    proto = graph("y = Add(x, w)")
    weight = numpy_helper.from_array(np.arange(3, dtype=np.float32), "w")
    change(weight)
    proto.graph.initializer.append(weight)
    return proto


def external(weight: TensorProto, **entries: str) -> None:
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        weight.external_data.add(key=key, value=value)


@fault("bad-data", says="its element type 0")
def weight_without_type() -> ModelProto:
    return with_weight(lambda w: setattr(w, "data_type", 0))


@fault("bad-data", says="needs 12 bytes, and 8 are stored")
def weight_cut_short() -> ModelProto:
    return with_weight(lambda w: setattr(w, "raw_data", bytes(8)))


@fault("bad-data", refused=False, says="needs 12 bytes, and 16 are stored")
def weight_too_long() -> ModelProto:
    return with_weight(lambda w: setattr(w, "raw_data", bytes(16)))


@fault("bad-data", says="0 are stored")
def weight_without_values() -> ModelProto:
    return with_weight(lambda w: w.ClearField("raw_data"))


@fault("ambiguous-data", says="are in raw_data and float_data")
def weight_stored_twice() -> ModelProto:
    return with_weight(lambda w: w.float_data.extend([1, 2, 3]))


@fault("bad-data")
def weight_in_the_wrong_field() -> ModelProto:
    def change(weight: TensorProto) -> None:
        weight.ClearField("raw_data")
        weight.int32_data.extend([1, 2, 3])

    return with_weight(change)


@fault("bad-data", says="negative")
def weight_with_a_negative_length() -> ModelProto:
    def change(weight: TensorProto) -> None:
        weight.dims[0] = -3

    return with_weight(change)


@fault("bad-data")
def empty_weight_with_values() -> ModelProto:
    def change(weight: TensorProto) -> None:
        weight.dims[0] = 0

    return with_weight(change)


@fault("bad-data", says="raw bytes")
def strings_in_raw_data() -> ModelProto:
    proto = graph("y = Identity(w)", "", "string[1] y")
    proto.graph.initializer.append(TensorProto(name="w", data_type=TensorProto.STRING, dims=[1], raw_data=b"abc"))
    return proto


@fault("bad-data", says="attribute 'value'")
def constant_cut_short() -> ModelProto:
    proto = graph("c = Constant<value = float[3] {1.0, 2.0, 3.0}>() y = Add(x, c)")
    proto.graph.node[0].attribute[0].t.float_data.pop()
    return proto


@fault("external-path")
def external_without_location() -> ModelProto:
    return with_weight(external)


@fault("external-path", says="'../w.bin'")
def external_outside() -> ModelProto:
    return with_weight(lambda w: external(w, location="../w.bin"))


@fault("external-missing")
def external_that_is_not_there() -> ModelProto:
    return with_weight(lambda w: external(w, location="gone.bin"))


@fault("ambiguous-data", says="are in raw_data and another file")
def external_and_inside() -> ModelProto:
    def change(weight: TensorProto) -> None:
        external(weight, location="w.bin")
        weight.raw_data = bytes(12)

    return with_weight(change)


def with_sparse(
    values: np.ndarray, indices: np.ndarray, dims: tuple[int, ...] = (2, 3), outputs: str = Y
) -> ModelProto:
    """y = x + w with a sparse w."""
    proto = graph("y = Add(x, w)", outputs=outputs)
    parts = numpy_helper.from_array(values.astype(np.float32), "w"), numpy_helper.from_array(indices, "")
    proto.graph.sparse_initializer.append(SparseTensorProto(values=parts[0], indices=parts[1], dims=dims))
    return proto


ONES = np.ones(2)


@fault("sparse-form", says="values of shape [1, 2]")
def sparse_values_of_two_dims() -> ModelProto:
    return with_sparse(np.ones((1, 2)), np.array([0, 4]))


@fault("sparse-form", says="the shape []")
def sparse_scalar() -> ModelProto:
    return with_sparse(ONES, np.array([0, 4]), ())


@fault("sparse-form", says="the shape [0, 3]")
def sparse_of_no_elements() -> ModelProto:
    return with_sparse(ONES, np.array([0, 4]), (0, 3), "float[a,b] y")


@fault("sparse-form", says="not int64")
def sparse_indices_of_another_type() -> ModelProto:
    return with_sparse(ONES, np.array([0, 4], np.int32))


@fault("sparse-form", says="indices of shape [3], where [2] or [2, 2] is needed")
def sparse_indices_of_another_length() -> ModelProto:
    return with_sparse(ONES, np.array([0, 2, 4]))


@fault("sparse-form", says="indices of shape [2, 3]")
def sparse_indices_of_another_rank() -> ModelProto:
    return with_sparse(ONES, np.array([[0, 0, 0], [1, 1, 1]]))


@fault("sparse-indices", says="has a value at [6], which is outside")
def sparse_index_out_of_range() -> ModelProto:
    return with_sparse(ONES, np.array([0, 6]))


@fault("sparse-indices", says="has a value at [1, 3], which is outside")
def sparse_coordinate_out_of_range() -> ModelProto:
    return with_sparse(ONES, np.array([[0, 0], [1, 3]]))


@fault("sparse-indices", says="do not ascend from [4] on")
def sparse_indices_that_fall() -> ModelProto:
    return with_sparse(ONES, np.array([4, 1]))


@fault("sparse-indices", says="do not ascend from [0, 1] on")
def sparse_coordinate_twice() -> ModelProto:
    return with_sparse(ONES, np.array([[0, 1], [0, 1]]))


@fault("sparse-indices", "shape-clash", says="do not ascend")
def sparse_shape_beyond_all_memory() -> ModelProto:
    return with_sparse(ONES, np.array([[1, 5], [1, 2]]), (2**62, 2**62), "float[a,b] y")


# --- functions


def with_function(function: str, call: str = "y = local.F(x)", more: str = "", head: str = "") -> ModelProto:
    """A model that imports `local` and calls one of its functions."""
    head = head or 'ir_version: 9, opset_import: ["" : 17, "local" : 1]'
    return parser.parse_model(f"<{head}> g ({X}) => ({Y}) {{ {call} }} {function} {more}")


LOCAL = '<domain: "local", opset_import: ["" : 17]>'


@fault("function-form", says="the input 'a' stands there more than once")
def function_with_an_input_twice() -> ModelProto:
    return with_function(f"{LOCAL} F (a, a) => (b) {{ b = Relu(a) }}")


@fault("function-form", says="the output 'b' stands there more than once")
def function_with_an_output_twice() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b, b) {{ b = Relu(a) }}")


@fault("function-form", says="the attribute 'k' stands there more than once")
def function_with_an_attribute_twice() -> ModelProto:
    return with_function(f"{LOCAL} F <k, k> (a) => (b) {{ b = LeakyRelu<alpha: float = @k>(a) }}")


@fault("function-form", says="is defined more than once")
def function_defined_twice() -> ModelProto:
    body = f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}"
    return with_function(body, more=body)


@fault("attribute-reference", refused=False, says="'slope', which the function does not declare")
def function_that_refers_to_nothing() -> ModelProto:
    proto = with_function(f"{LOCAL} F <k> (a) => (b) {{ b = LeakyRelu<alpha: float = @k>(a) }}")
    proto.functions[0].node[0].attribute[0].ref_attr_name = "slope"
    return proto


@fault("attribute-form", refused=False, says="refers to 'k' of the call, and holds f as well")
def reference_with_a_value() -> ModelProto:
    proto = with_function(f"{LOCAL} F <k> (a) => (b) {{ b = LeakyRelu<alpha: float = @k>(a) }}")
    proto.functions[0].node[0].attribute[0].f = 1
    return proto


@fault("missing-tensor")
def function_that_reads_an_outer_value() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Add(a, x) }}")


@fault("recursive-function", refused=True)
def functions_that_call_each_other() -> ModelProto:
    local = '<domain: "local", opset_import: ["" : 17, "local" : 1]>'
    f, g = (f"{local} {name} (a) => (b) {{ b = local.{other}(a) }}" for name, other in ("FG", "GF"))
    return with_function(f, more=g)


@fault("undeclared-opset")
def function_without_its_import() -> ModelProto:
    return with_function('<domain: "local", opset_import: ["acme" : 1]> F (a) => (b) { b = Relu(a) }')


@fault("function-opset", says="imports opset 12 of ai.onnx, the model 17, and Softmax")
def function_of_another_opset() -> ModelProto:
    return with_function('<domain: "local", opset_import: ["" : 12]> F (a) => (b) { b = Softmax(a) }')


@fault("unused-node", refused=False, says="nothing that Abs")
def function_with_a_dead_node() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) c = Abs(a) }}")


@fault("wrong-arity", refused=False, says="has 2 inputs, and the function has 1")
def call_with_too_many_inputs() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}", "y = local.F(x, x)")


@fault("unknown-attribute", refused=False, says="'k', which the function does not declare")
def call_with_an_attribute_of_its_own() -> ModelProto:
    return with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}", "y = local.F<k = 1>(x)")


@fault("newer-than-ir", refused=False, says="model-local functions, which came with IR 8")
def functions_before_there_were_any() -> ModelProto:
    proto = with_function(f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}")
    proto.ir_version = 7
    return proto


@fault("missing-attribute", "unused-function", says="in the function 'Unused': Cast")
def fault_in_a_function_that_nobody_calls() -> ModelProto:
    return with_function(
        f"{LOCAL} F (a) => (b) {{ b = Relu(a) }}", more=f"{LOCAL} Unused (a) => (b) {{ b = Cast(a) }}"
    )


# --- what is not needed


@fault("unused-node", "unused-node", refused=False, says="Neg 'b'")
def two_dead_nodes() -> ModelProto:
    return graph("y = Relu(x) [b] a = Neg(x) [c] z = Abs(a)")


@fault("unused-initializer", refused=False, says="'w' is never read (12 bytes)")
def weight_that_nobody_reads() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.float32), "w"))
    return proto


@fault("unused-input", refused=False)
def input_that_nobody_reads() -> ModelProto:
    return graph("y = Relu(x)", f"{X}, float[2] z")


@fault("unused-output", refused=False, says="'mask' (mask), which nobody reads")
def mask_that_nobody_reads() -> ModelProto:
    return graph("y, mask = Dropout(x)")


@fault("unused-value-info", refused=False, says="1 entry of value_info describes a tensor")
def stale_value_info() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.value_info.append(helper.make_tensor_value_info("gone", 1, [2]))
    return proto


@fault("passthrough-output", refused=False, says="the output 'x' is an input")
def output_that_is_an_input() -> ModelProto:
    return graph("y = Relu(x)", outputs=f"{Y}, float[2,3] x")


@fault("empty-graph", "passthrough-output", refused=False)
def graph_of_no_nodes() -> ModelProto:
    return graph("", outputs=X)


@fault("no-outputs", refused=False)
def graph_of_no_outputs() -> ModelProto:
    return graph("y = Relu(x)", outputs="")


@fault("large-doc-string", refused=False, says="100,000 characters")
def novel_in_a_doc_string() -> ModelProto:
    proto = graph("y = Relu(x)")
    proto.graph.node[0].doc_string = "n" * 100_000
    return proto


# --- all of them


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.bin").write_bytes(np.arange(3, dtype=np.float32).tobytes())
    return tmp_path


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_told_and_nothing_else(name: str, folder: Path) -> None:
    expected = FAULTS[name]
    found = findings(expected.make(), folder)
    assert sorted(d.code for d in found) == sorted(expected.codes), [d.message for d in found]
    assert any(expected.says in d.message for d in found)
    for finding in found:
        assert finding.hint
        assert finding.severity is CATALOGUE[finding.code].severity or finding.code in ("no-name", "dtype-clash")


@pytest.mark.parametrize("name", FAULTS)
def test_onnx_checker_refuses_what_it_is_said_to_refuse(name: str, folder: Path) -> None:
    """So that "refused" above is the checker's word, and every refusal has a finding of ours beside it."""
    proto = FAULTS[name].make()
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    try:
        onnx.checker.check_model(str(path))
        refused = False
    except (onnx.checker.ValidationError, ValueError):
        refused = True
    assert refused == FAULTS[name].refused


def test_places_are_names_that_the_model_has(folder: Path) -> None:
    for fault_ in FAULTS.values():
        model = checked(fault_.make(), folder)
        nodes = {node.qualified_name for node in model.nodes()}
        tensors = {tensor.qualified_name for g in model.graph.walk() for tensor in g.tensors.values()}
        for finding in model.diagnostics:
            assert not finding.node or finding.node in nodes, finding
            assert not finding.tensor or finding.tensor in tensors, finding


def test_a_second_check_finds_the_same(folder: Path) -> None:
    for fault_ in FAULTS.values():
        model = checked(fault_.make(), folder)
        before = model.diagnostics
        check_model(model)
        assert model.diagnostics == before
