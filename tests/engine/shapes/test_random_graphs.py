"""Random small graphs: inferred with symbols, run at random sizes, every value compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from engine import load_model_proto
from engine.graph.types import TensorType
from engine.session import Session
from engine.shapes.bind import Binder
from engine.shapes.infer import infer_shapes

Draw = Callable[[st.SearchStrategy[Any]], Any]
RANK = 4


class Builder:
    """Grows a graph over tensors [N, 4, H, W]-like, all of rank 4, so that any can feed any."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.tensors = ["x"]

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def node(self, op: str, *inputs: str, count: int = 1, **attributes: Any) -> list[str]:
        made = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, made, name=f"{op}_{len(self.nodes)}", **attributes))
        return made

    def any(self) -> str:
        return str(self.draw(st.sampled_from(self.tensors)))

    def axis(self) -> int:
        return int(self.draw(st.integers(-RANK, RANK - 1)))

    def step(self) -> None:
        grow = self.draw(st.sampled_from([
            self.slice, self.pad, self.concat, self.pool, self.conv, self.reduce, self.tile, self.split, self.transpose,
            self.reshape, self.expand, self.resize, self.gather, self.add, self.range,
        ]))  # fmt: skip
        self.tensors += grow(self.any())

    def slice(self, x: str) -> list[str]:
        start, end = self.draw(st.integers(-2, 1)), self.draw(st.sampled_from([-1, 3, 5, 1 << 62]))
        if start < 0 and end == -1:
            end = 1 << 62
        step = self.draw(st.integers(1, 3))
        return self.node("Slice", x, *map(self.ints, (start, end, self.axis(), step)))

    def pad(self, x: str) -> list[str]:
        return self.node("Pad", x, self.ints(*self.draw(st.lists(st.integers(0, 2), min_size=8, max_size=8))))

    def concat(self, x: str) -> list[str]:
        other = self.node("Relu", x)[0]
        return self.node("Concat", x, other, axis=self.axis())

    def pool(self, x: str) -> list[str]:
        kernel, stride = self.draw(st.integers(1, 3)), self.draw(st.integers(1, 3))
        pads = [self.draw(st.integers(0, kernel - 1)) for _ in range(4)]
        padded = self.node("Pad", x, self.ints(0, 0, 2, 2, 0, 0, 2, 2))[0]
        return self.node("MaxPool", padded, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads,
                         ceil_mode=self.draw(st.integers(0, 1)))  # fmt: skip

    def conv(self, x: str) -> list[str]:
        one = self.node("ReduceMean", x, self.ints(1))[0]
        weights = self.constant(np.ones((2, 1, 2, 2), np.float32))
        return self.node("Conv", one, weights, strides=[self.draw(st.integers(1, 3))] * 2,
                         auto_pad=self.draw(st.sampled_from(["SAME_UPPER", "SAME_LOWER"])))  # fmt: skip

    def reduce(self, x: str) -> list[str]:
        return self.node("ReduceMax", x, self.ints(self.axis()))

    def tile(self, x: str) -> list[str]:
        return self.node("Tile", x, self.ints(*(self.draw(st.integers(1, 2)) for _ in range(RANK))))

    def split(self, x: str) -> list[str]:
        return self.node("Split", x, count=2, num_outputs=2, axis=self.axis())

    def transpose(self, x: str) -> list[str]:
        return self.node("Transpose", x, perm=self.draw(st.permutations(range(RANK))))

    def reshape(self, x: str) -> list[str]:
        """Two axes merged by arithmetic on Shape, as exporters write it. No axis is empty: a 0 would mean a copy."""
        x = self.node("Pad", x, self.ints(*[1] * RANK, *[0] * RANK))[0]
        shape = self.node("Shape", x)[0]
        first, second, third, last = (self.node("Gather", shape, self.ints(i))[0] for i in range(RANK))
        merged = self.node("Mul", first, second)[0]
        target = self.node("Concat", self.ints(1), merged, *self.draw(st.sampled_from([
            (third, last), (self.ints(-1), last), (third, self.ints(-1)), (self.ints(-1), self.ints(1)),
        ])), axis=0)[0]  # fmt: skip
        return self.node("Reshape", x, target)

    def expand(self, x: str) -> list[str]:
        one = self.node("ReduceMin", x)[0]
        shape = self.node("Shape", self.any())[0]
        grown = self.node("Add", shape, self.ints(1))[0]
        return self.node("Expand", one, grown)

    def resize(self, x: str) -> list[str]:
        scales = self.constant(np.array([1, 1, *(self.draw(st.sampled_from([0.5, 1.0, 1.5, 2.0])) for _ in range(2))],
                                        np.float32))  # fmt: skip
        padded = self.node("Pad", x, self.ints(0, 0, 1, 1, 0, 0, 1, 1))[0]
        return self.node("Resize", padded, "", scales, mode="nearest")

    def gather(self, x: str) -> list[str]:
        padded = self.node("Pad", x, self.ints(0, 0, 1, 1, 0, 0, 1, 1))[0]
        return self.node("Gather", padded, self.ints(0, -1, 0), axis=self.draw(st.integers(2, 3)))

    def add(self, x: str) -> list[str]:
        one = self.node("ReduceSum", self.any(), self.ints(*range(RANK)))[0]
        return self.node("Add", x, one)

    def range(self, x: str) -> list[str]:
        size = self.node("Size", x)[0]
        count = self.node("Range", self.constant(np.array(0)), size, self.constant(np.array(3)))[0]
        floats = self.node("Cast", count, to=TensorProto.FLOAT)[0]
        return self.node("Unsqueeze", floats, self.ints(0, 1, 3))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data(), st.lists(st.integers(1, 7), min_size=4, max_size=4))
def test_what_is_inferred_is_what_runs(data: st.DataObject, sizes: list[int]) -> None:
    builder = Builder(data.draw)
    for _ in range(data.draw(st.integers(1, 5))):
        builder.step()
    names = ["N", "C", "H", "W"]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, names)
    out = helper.make_empty_tensor_value_info(builder.nodes[-1].output[0])
    graph = helper.make_graph(builder.nodes, "g", [x], [out], builder.constants)
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8))
    infer_shapes(model)
    assert [d.message for d in model.diagnostics] == []
    run = Session(model).run({"x": np.ones(sizes, np.float32)})
    binder = Binder(dict(zip(names, sizes)))
    for tensor, array in run.values.items():
        type_ = binder.type(tensor.inferred_type)
        assert isinstance(type_, TensorType)
        assert type_.shape == array.shape, f"{tensor.name} {tensor.inferred_type} at {sizes}"
        assert type_.dtype is not None
        assert type_.dtype.numpy == array.dtype
