"""Large models whose weights are holes in their files: they cost no disk, and are as long as any."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MIB = 1 << 20
_ONES = np.ones(4, "<f4").tobytes()  # at the end of each weight, so that reading it can be told from a hole


def layers(count: int, rows: int, columns: int) -> onnx.GraphProto:
    """x → MatMul w0 → Relu → MatMul w1 → …, without the weights."""
    nodes, name = [], "x"
    for i in range(count):
        nodes.append(helper.make_node("MatMul", [name, f"w{i}"], [f"m{i}"]))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"r{i}"]))
        name = f"r{i}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, rows]) for n in ("x", name)]
    return helper.make_graph(nodes, "large", ends[:1], ends[1:])


def write_inline(path: Path, count: int, rows: int, columns: int) -> None:
    """`count` layers with weights of `rows` × `columns` floats, in one file."""
    head = onnx.ModelProto(ir_version=8)
    head.opset_import.append(helper.make_opsetid("", 17))
    size = rows * columns * 4
    pieces = []
    for i in range(count):
        tensor = TensorProto(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[rows, columns]).SerializeToString()
        tensor += b"\x4a" + _varint(size)
        pieces.append(b"\x2a" + _varint(len(tensor) + size) + tensor)
    graph = layers(count, rows, columns).SerializeToString()
    total = len(graph) + sum(map(len, pieces)) + count * size
    with open(path, "wb") as file:
        file.write(head.SerializeToString() + b"\x3a" + _varint(total) + graph)
        for piece in pieces:
            file.write(piece)
            file.seek(size - len(_ONES), 1)
            file.write(_ONES)


def write_external(path: Path, count: int, rows: int, columns: int) -> None:
    """The same with the weights in a second file, large.data."""
    graph, size = layers(count, rows, columns), rows * columns * 4
    for i in range(count):
        tensor = graph.initializer.add(name=f"w{i}", data_type=TensorProto.FLOAT, dims=[rows, columns])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "large.data"), ("offset", i * size), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)
    with open(path.with_name("large.data"), "wb") as file:
        for i in range(count):
            file.seek((i + 1) * size - len(_ONES))
            file.write(_ONES)


def write_many_nodes(path: Path, count: int) -> None:
    """A chain of `count` nodes, every second one with a small initializer of its own."""
    nodes, weights, name = [], [], "x"
    for i in range(count):
        if i % 2:
            nodes.append(helper.make_node("Relu", [name], [f"t{i}"]))
        else:
            weights.append(numpy_helper.from_array(np.float32([i % 7]), f"c{i}"))
            nodes.append(helper.make_node("Mul" if i % 4 else "Add", [name, f"c{i}"], [f"t{i}"]))
        name = f"t{i}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", 8]) for n in ("x", name)]
    graph = helper.make_graph(nodes, "many", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
