"""Faults of versions, of names, and of what follows what."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tests.engine.checks.faults.making import X, fault, graph


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
