"""Fusion of initializers and graph inputs: which one gives a name its value (onnx.proto, `GraphProto.initializer`).

- An initializer with an input of the same name: from IR version 4 on a default that may be overridden, before it a
  constant (there, every initializer had to be listed as an input).
- An initializer without an input: an implicit constant.
- An input without an initializer: a true input, to be fed.

Where the two disagree about dtype or shape, the stored data decides, and a diagnostic says so.
"""
from __future__ import annotations

from engine.diagnostics import Diagnostic, Severity
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Tensor, ValueSource
from engine.graph.types import TensorType, Type, format_shape

FIRST_OVERRIDABLE_IR = 4


def fuse_initializer(
    graph: Graph, name: str, data: TensorData | SparseData, ir_version: int
) -> tuple[Tensor, list[Diagnostic]]:
    """Give the tensor `name` of `graph` its stored value, fused with the input of that name if there is one.

    Returns the tensor and the findings: "duplicate-initializer", "initializer-not-in-inputs",
    "initializer-dtype-mismatch", "initializer-shape-mismatch", and the data's own problem.
    """
    tensor, findings = graph.tensors.get(name), []
    if tensor is not None and tensor.data is not None:
        message = f"the initializer {name!r} is stored twice; the first one counts"
        return tensor, [Diagnostic("duplicate-initializer", Severity.ERROR, message, tensor=tensor.qualified_name)]
    actual = TensorType(data.dtype if data.dtype.code else None, data.dims, sparse=isinstance(data, SparseData))
    if tensor is None:
        tensor = graph.tensors[name] = Tensor(name, graph, ValueSource.IMPLICIT_CONSTANT)
        if ir_version < FIRST_OVERRIDABLE_IR and graph.parent is None:
            message = (
                f"the initializer {name!r} is not listed as an input, which IR version {ir_version} asks for; "
                "it is taken as a constant"
            )
            findings.append(
                Diagnostic("initializer-not-in-inputs", Severity.WARNING, message, tensor=tensor.qualified_name)
            )
        tensor.stored_type = actual
    else:
        overridable = ir_version >= FIRST_OVERRIDABLE_IR
        tensor.source = ValueSource.OVERRIDABLE if overridable else ValueSource.CONSTANT
        findings += _disagreements(tensor, tensor.stored_type, actual)
    tensor.data = data
    if data.problem:
        findings.append(Diagnostic(data.problem_code, Severity.ERROR, data.problem, tensor=tensor.qualified_name))
    return tensor, findings


def data_type(tensor: Tensor) -> TensorType | None:
    """The type of a tensor's stored value; None for tensors without one."""
    data = tensor.data
    if data is None:
        return None
    return TensorType(data.dtype if data.dtype.code else None, data.dims, sparse=isinstance(data, SparseData))


def _disagreements(tensor: Tensor, declared: Type | None, actual: TensorType) -> list[Diagnostic]:
    name = tensor.name
    if not isinstance(declared, TensorType):
        return []
    findings = []
    if declared.dtype and actual.dtype and declared.dtype is not actual.dtype:
        message = f"the input {name!r} is declared {declared.dtype}, its initializer is {actual.dtype}; the data counts"
        findings.append(
            Diagnostic("initializer-dtype-mismatch", Severity.ERROR, message, tensor=tensor.qualified_name)
        )
    if not _fits(declared, actual):
        message = (
            f"the input {name!r} is declared {format_shape(declared.shape)}, its initializer is "
            f"{format_shape(actual.shape)}; the data counts"
        )
        findings.append(
            Diagnostic("initializer-shape-mismatch", Severity.ERROR, message, tensor=tensor.qualified_name)
        )
    return findings


def _fits(declared: TensorType, actual: TensorType) -> bool:
    if declared.shape is None or actual.shape is None:
        return True
    return len(declared.shape) == len(actual.shape) and all(
        not isinstance(d, int) or d == a for d, a in zip(declared.shape, actual.shape, strict=True)
    )
