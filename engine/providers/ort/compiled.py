"""A group of nodes as a session of ONNX Runtime."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DeviceError, EngineError
from engine.export.messages import MessageMaker
from engine.export.payloads import Payloads
from engine.export.region import Region
from engine.export.writer import write_model
from engine.graph.ir import Model, Tensor
from engine.kernels.parallel import workers
from engine.kernels.registry import Value
from engine.providers.groups import Group, is_constant_node
from engine.providers.ort.support import ENDING, ERRORS_ONLY, first_line, runtime


def compile_group(
    model: Model, group: Group, outputs: Sequence[Tensor], execution_provider: str
) -> Callable[..., Sequence[Value]]:
    """A function of the group's inputs that gives `outputs`.

    Where more is asked for than others read, the graph is run as it stands, without ONNX Runtime's own changes to it;
    with products of integers but for one change (see `_level`).

    Raises
    ------
    DeviceError: the nodes cannot be written as a model, or ONNX Runtime refuses it.
    """
    traced = len(outputs) > len(group.outputs)
    integers = any(node.op_type in _INTEGER_PRODUCTS for node in group.nodes)
    try:
        with tempfile.TemporaryDirectory(prefix="oinfer-") as folder:
            path = Path(folder) / "group.onnx"
            _write(model, group, outputs, path)
            session = _session(path, execution_provider, _level(traced, integers))
    except EngineError as error:
        raise DeviceError(f"the nodes cannot be handed to ONNX Runtime: {error}") from error
    except Exception as error:  # it raises classes of its own, derived from RuntimeError and Exception
        raise DeviceError(f"ONNX Runtime refuses the nodes: {first_line(error)}") from error
    wanted = [tensor.name for tensor in outputs]
    given = [tensor.name for tensor in group.inputs]

    def call(*inputs: Value) -> Sequence[Value]:
        feeds = {name: _handed(value) for name, value in zip(given, inputs) if value is not None}
        try:
            return list(session.run(wanted, feeds))
        except Exception as error:
            raise DeviceError(f"ONNX Runtime: {first_line(error)}") from error

    return call


def _write(model: Model, group: Group, outputs: Sequence[Tensor], path: Path) -> None:
    nodes = tuple(node for node in group.nodes if not is_constant_node(node))
    read = dict.fromkeys(tensor for node in nodes for tensor in node.read_tensors())
    constants = tuple(tensor for tensor in read if tensor.is_constant)
    payloads = Payloads()
    region = Region(nodes[0].graph, nodes, group.inputs, constants, tuple(outputs))
    write_model(MessageMaker(model, payloads).region(region), payloads, str(path))


_INTEGER_PRODUCTS = frozenset({
    "MatMulInteger", "QLinearMatMul", "ConvInteger", "QLinearConv", "QGemm", "MatMulIntegerToFloat",
    "DynamicQuantizeMatMul", "DynamicQuantizeLSTM", "QAttention",
})  # fmt: skip


def _level(traced: bool, integers: bool) -> str:
    """How far ONNX Runtime may change the graph: where every tensor is asked for, not at all.

    On x86 without VNNI it adds two products of uint8 and int8 in 16 bits and saturates. To spare it that it has to turn
    weights into uint8 first, which it does in a pass of its extended level. That can fuse nothing here, since every
    tensor is an output.
    """
    if not traced:
        return "ORT_ENABLE_ALL"
    return "ORT_ENABLE_EXTENDED" if integers else "ORT_DISABLE_ALL"


def _session(path: Path, execution_provider: str, level: str) -> Any:
    onnxruntime = runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = workers()  # as many as the CPU's side has
    options.log_severity_level = ERRORS_ONLY
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.x64quantprecision", "1")  # weights to uint8, where it would saturate
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    providers = list(dict.fromkeys([execution_provider + ENDING, "CPU" + ENDING]))
    return onnxruntime.InferenceSession(str(path), options, providers=providers)


def _handed(value: Value) -> Value:
    return np.ascontiguousarray(value).reshape(value.shape) if isinstance(value, np.ndarray) else value
