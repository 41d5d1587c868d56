"""One operator, computed by our kernel and by ONNX Runtime: the oracle of the kernel tests.

`run(...)` gives our outputs, `run_ort(...)` those of ONNX Runtime, `check(...)` compares the two. Models run here
through a small evaluator, so that a kernel is tested without the session.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

import engine.kernels
from engine.errors import CannotRunError
from engine.graph.ir import Graph, Model, Node, Tensor
from engine.graph.loader import load_model_proto
from engine.kernels.registry import KernelRegistry

OPSET = 25  # the newest that ONNX Runtime 1.32 runs without a warning
Value = Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """NumPy without floating-point warnings, as the session runs kernels."""
    with np.errstate(all="ignore"):
        yield


@dataclass(slots=True)
class Context:
    """The context a kernel gets here: NumPy, the node, and subgraphs run by the evaluator."""

    node: Node
    evaluator: Evaluator
    xp: Any = np

    @property
    def wanted(self) -> tuple[bool, ...]:
        return tuple(t is not None for t in self.node.outputs)

    def opset(self) -> int:
        return self.evaluator.model.opset(self.node.domain)

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        return self.evaluator.run_graph(graph, inputs)

    def prepared(self, name: str, make: Callable[[], Any], *sources: Value) -> Any:
        return make()


@functools.cache
def registry() -> KernelRegistry:
    """The shared library's kernels."""
    return KernelRegistry(engine.kernels.library())


class Evaluator:
    """Runs the graph of a model node by node with the shared library's kernels."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.registry = registry()
        self.values: dict[Tensor, Value] = {}

    def run(self, feeds: Mapping[str, Value]) -> list[Value]:
        graph = self.model.graph
        with quiet():
            return self.run_graph(graph, [feeds.get(t.name) for t in graph.inputs])

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        for tensor in graph.tensors.values():
            if tensor.data is not None:
                self.values[tensor] = tensor.data.array()
        self.values.update({t: v for t, v in zip(graph.inputs, inputs) if v is not None or t.data is None})
        for node in graph.order:
            self._run_node(node)
        return [self.values[t] for t in graph.outputs]

    def _run_node(self, node: Node) -> None:
        body = node.subgraphs.get("function")
        inputs = [None if t is None else self.values.get(t) for t in node.inputs]
        if body is not None:
            outputs: Any = tuple(self.run_graph(body, inputs))
        else:
            kernel, why = self.registry.find(node)
            if kernel is None:
                raise CannotRunError(why)
            outputs = kernel.function(Context(node, self), *inputs, **kernel.bind_attributes(node))
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        for tensor, value in zip(node.outputs, outputs):
            if tensor is not None:
                self.values[tensor] = np.asarray(value) if isinstance(value, np.generic) else value


def model_of(
    op_type: str,
    inputs: Sequence[np.ndarray | None],
    *,
    opset: int = OPSET,
    domain: str = "",
    domain_opset: int = 1,
    outputs: int = 1,
    constants: Sequence[int] = (),
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node. Inputs are named i0, i1, …, those in `constants` are initializers; None is absent."""
    names = [f"i{k}" if x is not None else "" for k, x in enumerate(inputs)]
    node = helper.make_node(op_type, names, [f"o{k}" for k in range(outputs)], domain=domain, **attributes)
    infos, initializers = [], []
    for k, x in enumerate(inputs):
        if x is None:
            continue
        if k in constants:
            initializers.append(onnx.numpy_helper.from_array(x, names[k]))
        else:
            infos.append(helper.make_tensor_value_info(names[k], helper.np_dtype_to_tensor_dtype(x.dtype), x.shape))
    results = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "one_node", infos, results, initializers)
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, domain_opset)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=min(10, onnx.IR_VERSION))


def run_model(model: onnx.ModelProto, feeds: Mapping[str, Value]) -> list[Value]:
    """The outputs of a model by our kernels."""
    return Evaluator(load_model_proto(model)).run(feeds)


SEVEN_BITS = (-64, 63)
"""The range of int8 operands that ONNX Runtime multiplies exactly with uint8 ones on any processor: on x86 without
VNNI it adds two products at a time in 16 bits, and saturates."""


def run_model_ort(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of a model by ONNX Runtime without optimisations, on one thread."""
    import onnxruntime as ort

    typed = onnx.ModelProto()
    typed.CopyFrom(model)
    typed = onnx.shape_inference.infer_shapes(typed)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(typed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, dict(feeds))


def _feeds(model: onnx.ModelProto, inputs: Sequence[np.ndarray | None]) -> dict[str, np.ndarray]:
    named = {f"i{k}": x for k, x in enumerate(inputs)}
    return {i.name: named[i.name] for i in model.graph.input}


def run(op_type: str, *inputs: np.ndarray | None, **options: Any) -> Any:
    """Our output of one operator: the array, or the list of them where ``outputs=N`` asks for several."""
    model = model_of(op_type, inputs, **options)
    results = run_model(model, _feeds(model, inputs))
    return results if options.get("outputs", 1) > 1 else results[0]


def check(op_type: str, *inputs: np.ndarray | None, rtol: float = 1e-6, atol: float = 1e-7, **options: Any) -> Any:
    """Assert that our outputs have the dtypes, shapes and values that ONNX Runtime gives; return ours."""
    model = model_of(op_type, inputs, **options)
    feeds = _feeds(model, inputs)
    ours, theirs = run_model(model, feeds), run_model_ort(model, feeds)
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b, rtol, atol)
    return ours if options.get("outputs", 1) > 1 else ours[0]


def assert_same(ours: Any, theirs: Any, rtol: float = 1e-6, atol: float = 1e-7) -> None:
    """Assert equal structure and dtype, and values within the tolerances; NaN equals NaN."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            assert_same(a, b, rtol, atol)
        return
    theirs = np.asarray(theirs)
    assert ours.dtype == theirs.dtype or (ours.dtype.kind in "OUS" and theirs.dtype.kind in "OUS")
    assert ours.shape == theirs.shape
    if ours.dtype.kind in "OUSb":
        np.testing.assert_array_equal(ours, theirs)
    else:
        wide = ours.dtype if ours.dtype.kind in "iu" else np.dtype(complex if ours.dtype.kind == "c" else float)
        np.testing.assert_allclose(ours.astype(wide), theirs.astype(wide), rtol=rtol, atol=atol)
