"""Make the sample models that the program ships. Seeded: running it again gives the same files.

    python resources/models/make_samples.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = Path(__file__).parent
IR_VERSION = 8
OPSET = 17


class GraphWriter:
    """Collects nodes and weights under module paths, as the exporters of training frameworks name them."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def weight(self, name: str, values: np.ndarray) -> str:
        self.initializers.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, op_type: str, inputs: list[str], path: str, **attributes: Any) -> str:
        """Append one node with one output; return the output's name."""
        name = f"/{path}/{op_type}" if path else f"/{op_type}"
        output = f"{name}_output_0"
        self.nodes.append(helper.make_node(op_type, inputs, [output], name=name, **attributes))
        return output

    def conv_bn(self, x: str, path: str, part: str, channels: tuple[int, int], kernel: int, stride: int = 1) -> str:
        """Convolution without bias, then batch normalisation, as two nodes."""
        c_in, c_out = channels
        module = path.replace("/", ".") + "." if path else ""
        conv, bn = f"{module}conv{part}", f"{module}bn{part}"
        scale = np.sqrt(2.0 / (c_in * kernel * kernel))
        weight = self.random.normal(0, scale, (c_out, c_in, kernel, kernel)).astype(np.float32)
        pad = kernel // 2
        prefix = f"{path}/" if path else ""
        y = self.node(
            "Conv", [x, self.weight(f"{conv}.weight", weight)], f"{prefix}conv{part}",
            dilations=[1, 1], group=1, kernel_shape=[kernel, kernel], pads=[pad] * 4, strides=[stride, stride],
        )  # fmt: skip
        statistics = {
            "weight": self.random.uniform(0.8, 1.2, c_out),
            "bias": self.random.normal(0, 0.1, c_out),
            "running_mean": self.random.normal(0, 0.1, c_out),
            "running_var": self.random.uniform(0.5, 1.5, c_out),
        }
        names = [self.weight(f"{bn}.{key}", value.astype(np.float32)) for key, value in statistics.items()]
        return self.node("BatchNormalization", [y, *names], f"{prefix}bn{part}", epsilon=1e-5, momentum=0.9)

    def residual_block(self, x: str, path: str, channels: tuple[int, int], stride: int) -> str:
        """Basic block of a residual network (He et al. 2016); a 1×1 convolution where the shape changes."""
        c_in, c_out = channels
        y = self.conv_bn(x, path, "1", channels, 3, stride)
        y = self.node("Relu", [y], f"{path}/relu")
        y = self.conv_bn(y, path, "2", (c_out, c_out), 3)
        shortcut = x if c_in == c_out else self.conv_bn(x, path, "_down", channels, 1, stride)
        y = self.node("Add", [y, shortcut], path)
        return self.node("Relu", [y], f"{path}/relu_out")


def value(name: str, dtype: int, shape: list[int | str] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def finish(graph: onnx.GraphProto, description: str) -> onnx.ModelProto:
    model = helper.make_model(
        graph,
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="oinfer.make_samples",
        producer_version="1",
        doc_string=description,
    )
    helper.set_model_props(model, {"licence": "Apache-2.0", "weights": "random, seeded; the outputs mean nothing"})
    onnx.checker.check_model(model, full_check=True)
    return model


def sample_cnn() -> onnx.ModelProto:
    """Image classifier: stem, three residual stages, pooling, linear head; dynamic batch."""
    g = GraphWriter(seed=17)
    x = g.conv_bn("image", "stem", "", (3, 16), 3)
    x = g.node("Relu", [x], "stem/relu")
    x = g.node("MaxPool", [x], "stem/pool", kernel_shape=[2, 2], strides=[2, 2])
    x = g.residual_block(x, "layer1", (16, 16), 1)
    x = g.residual_block(x, "layer2", (16, 32), 2)
    x = g.residual_block(x, "layer3", (32, 48), 2)
    x = g.node("GlobalAveragePool", [x], "pool")
    x = g.node("Flatten", [x], "", axis=1)
    head = g.random.normal(0, 0.2, (10, 48)).astype(np.float32)
    x = g.node(
        "Gemm", [x, g.weight("fc.weight", head), g.weight("fc.bias", np.zeros(10, np.float32))], "fc",
        alpha=1.0, beta=1.0, transB=1,
    )  # fmt: skip
    g.nodes.append(helper.make_node("Softmax", [x], ["probabilities"], name="/Softmax", axis=1))
    graph = helper.make_graph(
        g.nodes,
        "sample_cnn",
        [value("image", TensorProto.FLOAT, ["N", 3, 32, 32])],
        [value("probabilities", TensorProto.FLOAT, ["N", 10])],
        initializer=g.initializers,
    )
    return finish(graph, "A small residual classifier of 32×32 images, shipped with OInfer to try it on.")


def loop_body() -> onnx.GraphProto:
    """One step: state = tanh(state·W + x), go on while the mean change is above the tolerance (W, x, tol captured)."""
    nodes = [
        helper.make_node("MatMul", ["state", "cell.weight"], ["projected"], name="/loop/body/MatMul"),
        helper.make_node("Add", ["projected", "features"], ["pre_activation"], name="/loop/body/Add"),
        helper.make_node("Tanh", ["pre_activation"], ["state_out"], name="/loop/body/Tanh"),
        helper.make_node("Sub", ["state_out", "state"], ["difference"], name="/loop/body/Sub"),
        helper.make_node("Abs", ["difference"], ["distance"], name="/loop/body/Abs"),
        helper.make_node("ReduceMean", ["distance"], ["change"], name="/loop/body/ReduceMean", keepdims=0),
        helper.make_node("Greater", ["change", "tolerance"], ["go_on_out"], name="/loop/body/Greater"),
    ]
    return helper.make_graph(
        nodes,
        "loop_body",
        [
            value("iteration", TensorProto.INT64, []),
            value("go_on", TensorProto.BOOL, []),
            value("state", TensorProto.FLOAT, None),
        ],
        [
            value("go_on_out", TensorProto.BOOL, []),
            value("state_out", TensorProto.FLOAT, None),
            value("change", TensorProto.FLOAT, []),
        ],
    )


def branch(name: str, activation: str, bias: float) -> onnx.GraphProto:
    """One branch of the If; the settled state and the head's weight are captured from outside."""
    nodes = [
        helper.make_node("MatMul", ["settled", "head.weight"], [f"{name}_scores"], name=f"/head/{name}/MatMul"),
        helper.make_node("Add", [f"{name}_scores", f"head.{name}.bias"], [f"{name}_biased"], name=f"/head/{name}/Add"),
        helper.make_node(activation, [f"{name}_biased"], [f"{name}_result"], name=f"/head/{name}/{activation}"),
    ]
    offset = numpy_helper.from_array(np.full(4, bias, np.float32), f"head.{name}.bias")
    return helper.make_graph(nodes, name, [], [value(f"{name}_result", TensorProto.FLOAT, None)], initializer=[offset])


def sample_control_flow() -> onnx.ModelProto:
    """Loop until a recurrent state settles, then one of two heads by If; dynamic batch."""
    g = GraphWriter(seed=18)
    g.weight("encoder.weight", g.random.normal(0, 0.4, (8, 6)).astype(np.float32))
    g.weight("cell.weight", g.random.normal(0, 0.2, (6, 6)).astype(np.float32))
    g.weight("head.weight", g.random.normal(0, 0.6, (6, 4)).astype(np.float32))
    for name, array in {
        "tolerance": np.float32(1e-3),
        "max_steps": np.int64(20),
        "true": np.bool_(True),
        "zero": np.float32(0),
    }.items():
        g.weight(name, np.asarray(array))
    nodes = [
        helper.make_node("MatMul", ["x", "encoder.weight"], ["features"], name="/encoder/MatMul"),
        helper.make_node("Mul", ["features", "zero"], ["initial"], name="/encoder/Mul"),
        helper.make_node(
            "Loop", ["max_steps", "true", "initial"], ["settled", "changes"], name="/loop/Loop", body=loop_body()
        ),
        helper.make_node("ReduceMean", ["settled"], ["level"], name="/head/ReduceMean", keepdims=0),
        helper.make_node("Greater", ["level", "zero"], ["is_positive"], name="/head/Greater"),
        helper.make_node(
            "If", ["is_positive"], ["y"], name="/head/If",
            then_branch=branch("positive", "Sigmoid", 0.1), else_branch=branch("negative", "Softplus", -0.1),
        ),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "sample_control_flow",
        [value("x", TensorProto.FLOAT, ["N", 8])],
        [value("y", TensorProto.FLOAT, ["N", 4]), value("changes", TensorProto.FLOAT, ["steps"])],
        initializer=g.initializers,
    )
    return finish(graph, "A recurrent state that settles in a Loop, read by one of two heads in an If.")


if __name__ == "__main__":
    for make in (sample_cnn, sample_control_flow):
        path = FOLDER / f"{make.__name__}.onnx"
        onnx.save(make(), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")
