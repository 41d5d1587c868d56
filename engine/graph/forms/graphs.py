"""A serialised GraphProto without a model around it."""
from __future__ import annotations

import onnx
from google.protobuf.message import DecodeError

from engine.diagnostics import Diagnostic, Severity
from engine.graph.marks import Marks
from engine.graph.storage import Storage
from engine.graph.wire import LENGTH, LiftedModel, Payload, TooLargeError, WireError


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
