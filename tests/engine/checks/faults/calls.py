"""Faults of calls: counts of inputs and outputs, attributes, types, and bodies."""

from __future__ import annotations

from onnx import AttributeProto, ModelProto, helper

from tests.engine.checks.faults.making import X, Y, fault, graph


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
