"""A serialised GraphProto or TensorProto without a model around it."""
from __future__ import annotations

import onnx
from google.protobuf.message import DecodeError

from engine.diagnostics import Diagnostic, Severity
from engine.graph.marks import Marks
from engine.graph.storage import Storage
from engine.graph.wire import LENGTH, MAX_SLIM, LiftedModel, Payload, TooLargeError, WireError


def parse_bare_graph(storage: Storage) -> tuple[onnx.ModelProto, Marks[Payload], Diagnostic] | None:
    """The model that stands for a bare graph, with every domain it uses at its newest opset; None if it is none."""
    try:
        lifted = LiftedModel(storage, message="GraphProto")
        model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
        model.graph.ParseFromString(lifted.slim)
    except (WireError, TooLargeError, DecodeError):
        return None
    keys = {key for key, _ in lifted.fields}
    if 1 << 3 | LENGTH not in keys or not all(isinstance(n.op_type, str) and n.op_type for n in model.graph.node):
        return None
    newest = {"": onnx.defs.onnx_opset_version(), "ai.onnx.ml": onnx.defs.onnx_ml_opset_version()}
    for domain in dict.fromkeys(["", *(n.domain for n in model.graph.node)]):
        model.opset_import.append(onnx.helper.make_opsetid(domain, newest.get(domain, 1)))
    message = f"the file holds a graph without a model around it; it is read with opset {newest['']}"
    return model, lifted.payloads, Diagnostic("bare-graph", Severity.WARNING, message)


def parse_bare_tensor(storage: Storage) -> tuple[onnx.ModelProto, Diagnostic] | None:
    """The model that stands for a single tensor: a constant that is its output. None if it is none."""
    if storage.size > MAX_SLIM:
        return None
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION, graph=onnx.GraphProto(name="tensor"))
    tensor = model.graph.initializer.add()
    try:
        tensor.ParseFromString(storage.read(0, storage.size))
    except DecodeError:
        return None
    if tensor.data_type not in onnx.TensorProto.DataType.values()[1:]:
        return None
    tensor.name = tensor.name or "tensor"
    model.graph.output.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    model.opset_import.append(onnx.helper.make_opsetid("", onnx.defs.onnx_opset_version()))
    message = f"the file holds the tensor {tensor.name!r} alone, as test data does: it is shown as a constant"
    return model, Diagnostic("bare-tensor", Severity.INFO, message)
