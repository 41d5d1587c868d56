"""Gradient against differences of the function itself."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from engine.errors import UnsupportedError
from tests.engine.kernels.oracle import run_model

BODY = """
g (double[2, 3] a, double[3, 2] b, double[2] c) => (double[2, 2] y) {
  m = MatMul(a, b)
  s = Sigmoid(m)
  t = Tanh(c)
  e = Exp(t)
  p = Mul(s, e)
  n = Transpose(p)
  d = Div(n, e)
  q = Sqrt(e)
  u = Sub(d, q)
  r = Relu(u)
  v = Add(r, p)
  w = Neg(v)
  y = Sum(w, m, v)
}"""


def body() -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>\n{BODY}')


def derived(model: onnx.ModelProto, xs: list[str], y: str = "y") -> onnx.ModelProto:
    """The model, giving the derivatives of y by xs instead of y."""
    names = [f"d{x}" for x in xs]
    rest = [i.name for i in model.graph.input if i.name not in xs]
    node = helper.make_node("Gradient", [*xs, *rest], names, domain="ai.onnx.preview.training", xs=xs, y=y)
    if rest:
        node.attribute.append(helper.make_attribute("zs", rest))
    model.graph.node.append(node)
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return model


def test_derivatives_are_the_limits_of_differences() -> None:
    rng = np.random.default_rng(0)
    feeds = {"a": rng.normal(size=(2, 3)), "b": rng.normal(size=(3, 2)), "c": rng.normal(size=2)}
    exact = run_model(derived(body(), ["a", "b", "c"]), feeds)
    for name, derivative in zip("abc", exact):
        for place in np.ndindex(feeds[name].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {**feeds, name: feeds[name].copy()}
                moved[name][place] += step
                ends.append(run_model(body(), moved)[0].sum())
            assert derivative[place] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-8)


def test_what_y_does_not_read_has_derivative_zero() -> None:
    feeds = {"a": np.ones((2, 3)), "b": np.ones((3, 2)), "c": np.ones(2)}
    assert run_model(derived(body(), ["c"], "s"), feeds)[0].tolist() == [0, 0]


def test_operators_without_a_rule_are_named() -> None:
    model = body()
    model.graph.node[1].op_type = "Softplus"
    feeds = {"a": np.ones((2, 3)), "b": np.ones((3, 2)), "c": np.ones(2)}
    with pytest.raises(UnsupportedError, match="no rule for the Gradient of Softplus"):
        run_model(derived(model, ["a"]), feeds)
    with pytest.raises(UnsupportedError, match="names 'nothing'"):
        run_model(derived(body(), ["a"], "nothing"), feeds)
