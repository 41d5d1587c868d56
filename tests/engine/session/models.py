"""Small models for tests of sessions, and a provider with a device of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from engine import load_model_proto
from engine.errors import DeviceError
from engine.graph.ir import Model, Node
from engine.kernels.registry import Kernel, KernelRegistry, kernel
from engine.providers import Availability, CPUProvider, ExecutionProvider, TensorAllocator
from engine.shapes.infer import infer_shapes


def value(name: str, dtype: int = TensorProto.FLOAT, shape: object = ()) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto],
             initializers: Sequence[TensorProto] = (), opset: int = 17, ir_version: int = 8) -> Model:  # fmt: skip
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    model = load_model_proto(proto)
    infer_shapes(model)
    return model


def chain(*ops: str, shape: Sequence[int | str] = (2,)) -> Model:
    """x → op → op → … → y, one tensor t0, t1, … between them."""
    names = ["x", *(f"t{i}" for i in range(len(ops) - 1)), "y"]
    nodes = [helper.make_node(op, [a], [b], name=f"{op}_{i}") for i, (op, a, b) in
             enumerate(zip(ops, names, names[1:]))]  # fmt: skip
    return model_of(nodes, [value("x", shape=shape)], [value("y", shape=shape)])


def node_named(model: Model, name: str) -> Node:
    return next(node for node in model.nodes() if node.qualified_name == name)


class Remote(np.ndarray):
    """An array that lives on the toy device."""


class ToyProvider(ExecutionProvider):
    """A device of its own that has Neg and a Tanh that always fails."""

    name, device = "Toy", "toy:0"

    def available(self) -> Availability:
        return Availability(True)

    def register_kernels(self, registry: KernelRegistry) -> None:
        kernels: list[Kernel] = []

        @kernel("Neg", 13, into=kernels)
        def neg(ctx: Any, x: Any) -> Any:
            assert isinstance(x, Remote)
            return -x

        @kernel("Tanh", 13, into=kernels)
        def tanh(ctx: Any, x: Any) -> Any:
            raise DeviceError("out of device memory")

        for k in kernels:
            registry.register(k)

    def create_allocator(self) -> TensorAllocator:
        return CPUProvider().create_allocator()

    def to_device(self, value: Any) -> Any:
        return value.view(Remote)

    def to_host(self, value: Any) -> Any:
        return value.view(np.ndarray)
