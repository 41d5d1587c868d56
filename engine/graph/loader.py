"""From a parsed file to a `Model`: read, build and link, sort. Loading never executes and never infers."""
from __future__ import annotations

import os
import time
from collections.abc import Callable

import onnx
from google.protobuf.message import EncodeError

from engine.diagnostics import Diagnostic, Severity, in_function
from engine.errors import ModelFormatError
from engine.graph.builder import ModelBuilder
from engine.graph.ir import Model
from engine.graph.message_rules import message_findings
from engine.graph.order import sort_graph
from engine.graph.reader import ModelFile, read_bytes, read_file
from engine.graph.schemas import NEWEST_OPSETS


def load(
    path: str | os.PathLike[str], allow_external: bool = False, on_read: Callable[[ModelFile], object] | None = None,
    go_on: Callable[[], object] = lambda: None,
) -> Model:  # fmt: skip
    """Open an ONNX file: its graph linked, initializers fused with inputs, nodes in run order.

    What is wrong with the model stands in `Model.diagnostics`; weights stay in the file until they are asked for.
    `timings_ms` gets "read" and "link".

    Parameters
    ----------
    allow_external: take weights through links that lead out of the model's folder too, which are refused otherwise
        (finding "external-link", with the place the link leads to).
    on_read: is given the file once it has been read, before anything is linked, and may raise to stop.
    go_on: is called again and again and may raise to stop.

    Raises
    ------
    ModelFormatError: the file cannot be read or is not an ONNX model.
    """
    start = time.perf_counter()
    file = read_file(path, allow_external)
    read = time.perf_counter()
    if on_read is not None:
        on_read(file)
    return _link(file, read - start, go_on)


def load_model_proto(proto: onnx.ModelProto, folder: str | None = None) -> Model:
    """The `Model` of a message in memory; external data is looked for in `folder`.

    Raises
    ------
    ModelFormatError: the message holds no graph, or more than protobuf can write (2 GiB).
    """
    start = time.perf_counter()
    try:
        data = proto.SerializeToString()
    except (ValueError, EncodeError) as error:
        raise ModelFormatError(f"the message cannot be written: {error}") from error
    file = read_bytes(data, folder)
    return _link(file, time.perf_counter() - start)


def _link(file: ModelFile, read_seconds: float, go_on: Callable[[], object] = lambda: None) -> Model:
    start = time.perf_counter()
    model = ModelBuilder(file, go_on).build()
    model.diagnostics += message_findings(file.proto, model)
    model.diagnostics += sort_graph(model.graph)
    called = {(n.domain, n.op_type, n.overload) for n in model.nodes() if "function" in n.subgraphs}
    for key, function in model.functions.items():
        found = sort_graph(function.body)
        if key not in called:  # else it has been told at the calls
            model.diagnostics += in_function(found, function.name)
    _check_versions(model)
    model.timings_ms = {"read": read_seconds * 1e3, "link": (time.perf_counter() - start) * 1e3}
    return model


def _check_versions(model: Model) -> None:
    newest_ir = onnx.IR_VERSION
    if model.ir_version > newest_ir:
        message = (
            f"IR version {model.ir_version} is newer than {newest_ir}, the newest that this program knows; "
            "what it added is not shown"
        )
        model.diagnostics.append(Diagnostic("future-ir", Severity.ERROR, message))
    if model.ir_version < 1:
        model.diagnostics.append(Diagnostic("no-ir-version", Severity.WARNING, "the file states no IR version"))
    for domain, version in model.opset_imports.items():
        newest = NEWEST_OPSETS.get(domain)
        if newest and version > newest:
            message = (
                f"opset {version} of {domain or 'ai.onnx'} is newer than {newest}, the newest that this program "
                "knows; operators are read by their newest known meaning"
            )
            model.diagnostics.append(Diagnostic("future-opset", Severity.ERROR, message))
