"""What is not needed."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, helper, numpy_helper

from tests.engine.checks.faults.making import X, Y, fault, graph


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
