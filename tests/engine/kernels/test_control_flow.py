"""If, Loop, Scan: bodies written in ONNX's text syntax, values by hand."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from tests.engine.kernels.oracle import assert_same, run_model, run_model_ort


def model(text: str, opset: int = 17) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')


def f32(*values: object) -> np.ndarray:
    return np.array(values[0] if len(values) == 1 else values, np.float32)


LOOP = """
g (int64 m, bool go, float[2] x, float[2] outer) => (float[2] last, float[n, 2] history) {
  last, history = Loop <body = step (int64 i, bool c, float[2] s) => (bool more, float[2] next, float[2] seen) {
    next = Add(s, outer)
    limit = Constant <value = float {10.0}> ()
    zero = Constant <value_int = 0> ()
    first = Gather(next, zero)
    more = Less(first, limit)
    seen = Identity(s)
  }> (m, go, x)
}"""


@pytest.mark.parametrize(("trips", "go", "last", "history"), [
    (3, True, [7, 10], [[1, 1], [3, 4], [5, 7]]),
    (100, True, [11, 16], [[1, 1], [3, 4], [5, 7], [7, 10], [9, 13]]),
    (0, True, [1, 1], []), (5, False, [1, 1], []),
])  # fmt: skip
def test_loop(trips: int, go: bool, last: list[float], history: list[list[float]]) -> None:
    feeds = {"m": np.array(trips), "go": np.array(go), "x": f32(1, 1), "outer": f32(2, 3)}
    ours = run_model(model(LOOP), feeds)
    assert ours[0].tolist() == last
    assert ours[1].shape == (len(history), 2)  # dims of no trips come from the body's declaration
    assert ours[1].tolist() == history
    assert_same(ours, run_model_ort(model(LOOP), feeds))


def test_loop_without_trip_count_or_condition() -> None:
    feeds = {"m": np.array(2), "go": np.array(True), "x": f32(1, 1), "outer": f32(4, 3)}
    assert run_model(model(LOOP.replace("(m, go, x)", '("", go, x)')), feeds)[0].tolist() == [13, 10]
    assert run_model(model(LOOP.replace("(m, go, x)", '(m, "", x)')), feeds)[0].tolist() == [9, 7]


def test_inner_name_hides_the_outer_one() -> None:
    text = """
    g (int64 m, float b) => (float y) {
      go = Constant <value = bool {1}> ()
      y = Loop <body = step (int64 i, bool c, float b) => (bool c2, float b2) {
        one = Constant <value = float {1.0}> ()
        b2 = Add(b, one)
        c2 = Identity(c)
      }> (m, go, b)
    }"""
    assert run_model(model(text), {"m": np.array(3), "b": f32(10)})[0].tolist() == 13


def test_if_chooses_and_captures() -> None:
    text = """
    g (bool c, float[N, 4] x) => (float[A, B] y) {
      y = If (c) <
        then_branch = t () => (float[N, 4] a) { a = Identity(x) },
        else_branch = e () => (float[1, M] a) { a = Flatten <axis = 0> (x) }
      >
    }"""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for condition, shape in ((True, (3, 4)), (False, (1, 12))):
        assert run_model(model(text), {"c": np.array(condition), "x": x})[0].shape == shape
        assert run_model(model(text), {"c": np.array([condition]), "x": x})[0].shape == shape


def scan(attributes: str = "") -> onnx.ModelProto:
    text = f"""
    g (float[2] s, float[T, 2] x) => (float[2] sf, float[K, 2] y) {{
      sf, y = Scan <num_scan_inputs = 1, {attributes}
        body = b (float[2] si, float[2] xi) => (float[2] so, float[2] yo) {{
        so = Add(si, xi)
        yo = Identity(so)
      }}> (s, x)
    }}"""
    return model(text)


ROWS = f32([[1, 2], [3, 4], [5, 6]])


@pytest.mark.parametrize(("attributes", "x", "y"), [
    ("", ROWS, [[1, 2], [4, 6], [9, 12]]),
    ("scan_input_directions = [1], scan_output_directions = [1],", ROWS, [[9, 12], [8, 10], [5, 6]]),
    ("scan_input_directions = [1],", ROWS, [[5, 6], [8, 10], [9, 12]]),
    ("scan_input_axes = [1], scan_output_axes = [1],", ROWS.T.copy(), [[1, 4, 9], [2, 6, 12]]),
    ("scan_input_axes = [-1], scan_output_axes = [-1],", ROWS.T.copy(), [[1, 4, 9], [2, 6, 12]]),
])  # fmt: skip
def test_scan(attributes: str, x: np.ndarray, y: list[list[float]]) -> None:
    ours = run_model(scan(attributes), {"s": f32(0, 0), "x": x})
    assert ours[0].tolist() == [9, 12]
    assert ours[1].tolist() == y


def test_scan_of_no_steps() -> None:
    final, y = run_model(scan(), {"s": f32(7, 8), "x": np.zeros((0, 2), np.float32)})
    assert final.tolist() == [7, 8]
    assert (y.shape, y.dtype) == ((0, 2), np.float32)


def test_scan_with_two_outputs_and_a_captured_value() -> None:
    text = """
    g (float[2] s, float[3, 2] x, float k) => (float[2] sf, float[3, 2] y, float[3, 2] z) {
      sf, y, z = Scan <num_scan_inputs = 1,
        body = b (float[2] si, float[2] xi) => (float[2] so, float[2] yo, float[2] zo) {
        so = Add(si, xi)
        yo = Mul(xi, k)
        zo = Sub(so, k)
      }> (s, x)
    }"""
    feeds = {"s": f32(0, 0), "x": ROWS, "k": f32(10)}
    ours = run_model(model(text), feeds)
    assert ours[1].tolist() == [[10, 20], [30, 40], [50, 60]]
    assert ours[2].tolist() == [[-9, -8], [-6, -4], [-1, 2]]
    assert_same(ours, run_model_ort(model(text), feeds))


def test_scan_8_runs_each_batch_to_its_length() -> None:
    text = """
    g (int64[2] lens, float[2, 1] s, float[2, 3, 1] x) => (float[2, 1] sf, float[2, 3, 1] y) {
      sf, y = Scan <num_scan_inputs = 1, body = b (float[1] si, float[1] xi) => (float[1] so, float[1] yo) {
        so = Add(si, xi)
        yo = Identity(so)
      }> (lens, s, x)
    }"""
    x = f32([[[1], [2], [3]], [[4], [5], [6]]])
    final, y = run_model(model(text, opset=8), {"lens": np.array([2, 3]), "s": f32([[0], [10]]), "x": x})
    assert final.tolist() == [[3], [25]]
    assert y[..., 0].tolist() == [[1, 3, 0], [14, 19, 25]]


def test_sequence_map() -> None:
    text = """
    g (float[2] a, float[3] b, float k) => (seq(float[N]) y) {
      s = SequenceConstruct(a, b)
      y = SequenceMap (s, k) <body = m (float[M] e, float f) => (float[M] o) { o = Mul(e, f) }>
    }"""
    out = run_model(model(text), {"a": f32(1, 2), "b": f32(1, 2, 3), "k": f32(2)})[0]
    assert [v.tolist() for v in out] == [[2, 4], [2, 4, 6]]
