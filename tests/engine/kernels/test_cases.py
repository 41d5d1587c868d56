"""Cases from the field, by the numbers of `shared/cases/cases.md`: what each computes, worked out by hand.

Whole models run through the session, as a user runs them. Where peers are wrong the comment says which.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

from engine.errors import NodeError
from engine.graph.loader import load_model_proto
from engine.session import Session
from engine.shapes.infer import infer_shapes
from tests.engine.kernels.oracle import check, run

E4M3 = ml_dtypes.float8_e4m3fn


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def f16(*values: Any) -> np.ndarray:
    return np.array(values, np.float16)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def run_text(text: str, opset: int = 17, **feeds: np.ndarray) -> list[Any]:
    """Outputs of a model in ONNX's text syntax."""
    session = prepared(parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}'))
    return list(session.run(feeds).outputs.values())


def prepared(proto: onnx.ModelProto) -> Session:
    model = load_model_proto(proto)
    infer_shapes(model)
    return Session(model)


def plane(*rows: Any) -> np.ndarray:
    """[1, 1, rows, columns] of float32."""
    return np.array(rows, np.float32)[None, None]


# --- shapes at run time


@pytest.mark.parametrize(("shape", "target", "result"), [
    ((3, 3, 4), [0, -1], (3, 12)), ((6, 4), [-1, 2], (12, 2)),
])  # fmt: skip
def test_11_reshape_0_and_minus_1(shape: tuple[int, ...], target: list[int], result: tuple[int, ...]) -> None:
    assert run("Reshape", np.zeros(shape, np.float32), ints(*target)).shape == result


def test_11_reshape_allowing_zero() -> None:
    x = np.zeros((1, 32, 5, 5), np.float32)
    assert run("Reshape", x, ints(-1, 2, 4, 4, 5, 5), opset=14, allowzero=1).shape == (1, 2, 4, 4, 5, 5)
    with pytest.raises(Exception, match="0"):
        run("Reshape", np.zeros((0, 3), np.float32), ints(0, -1), opset=14, allowzero=1)
    with pytest.raises(Exception, match="-1"):
        run("Reshape", np.zeros((0, 10), np.float32), ints(0, 1, -1), opset=14)


def test_12_slice_backwards() -> None:
    x, lowest, highest = f32(1, 2, 3, 4), np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert run("Slice", x, ints(-1), ints(lowest), ints(0), ints(-1)).tolist() == [4, 3, 2, 1]
    # ONNX Runtime gives four values here; the specification clamps the end to 3, where the start is.
    assert run("Slice", x, ints(-1), ints(highest), ints(0), ints(-1)).tolist() == []
    empty = np.zeros((0, 4), np.float32)
    assert run("Slice", empty, ints(-1), ints(lowest), ints(0), ints(-1)).shape == (0, 4)


def test_14_ceil_mode_leaves_out_windows_that_start_in_the_padding() -> None:
    x, how = plane([1, 2], [3, 4]), {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1] * 4, "ceil_mode": 1}
    assert run("MaxPool", x, opset=22, **how).tolist() == [[[[4]]]]
    assert run("AveragePool", x, opset=22, **how).tolist() == [[[[2.5]]]]
    deep = np.zeros((1, 2, 3, 6, 5), np.float32)
    how = {"kernel_shape": [3] * 3, "strides": [3] * 3, "pads": [1] * 6, "ceil_mode": 1}
    assert run("MaxPool", deep, opset=22, **how).shape == (1, 2, 2, 3, 2)


def test_15_conv_transpose_same_with_output_padding() -> None:
    x, w = np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 3, 3), np.float32)
    y = check("ConvTranspose", x, w, auto_pad="SAME_UPPER", strides=[2, 2], output_padding=[1, 1])
    assert y.shape == (1, 1, 6, 6)


LOOP = """
g (int64 m, float[2, 3] x) => (float[T, 2, 3] seen) {{
  go = Constant <value = bool {{1}}> ()
  last, seen = Loop <body = step (int64 i, bool c, float[2, 3] s) => (bool c2, float[2, 3] s2, float[2, 3] out) {{
    c2 = Identity(c)
    s2 = Add(s, s)
    out = Identity(s)
  }}> (m, {go}, x)
}}"""


@pytest.mark.parametrize("go", ["go", '""'])
def test_16_loop_stacks_its_scan_output(go: str) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for trips in (0, 3):
        (seen,) = run_text(LOOP.format(go=go), m=np.array(trips), x=x)
        assert seen.shape == (trips, 2, 3)
        assert all((seen[t] == x * 2**t).all() for t in range(trips))


def test_17_if_branches_of_different_shape() -> None:
    text = """
    g (bool c, float[N, 4] x) => (float[A, B] y) {
      y = If (c) <then_branch = t () => (float[N, 4] a) { a = Identity(x) },
                  else_branch = e () => (float[1, M] a) { a = Flatten <axis = 0> (x) }>
    }"""
    (y,) = run_text(text, c=np.array(False), x=np.zeros((3, 4), np.float32))
    assert y.shape == (1, 12)


def test_18_a_batch_baked_into_reshape_names_node_and_numbers() -> None:
    text = "g (float[N, 9, 4] x) => (float[N, 36] y) { [Flat] y = Reshape(x, s) }"
    proto = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\n{text}')
    proto.graph.initializer.append(onnx.numpy_helper.from_array(ints(1, 36), "s"))
    session = prepared(proto)
    assert session.run({"x": np.zeros((1, 9, 4), np.float32)}).outputs["y"].shape == (1, 36)
    with pytest.raises(NodeError, match=r"(?s)Reshape 'Flat'.*72.*36"):
        session.run({"x": np.zeros((2, 9, 4), np.float32)})


def test_19_resize_by_a_scale_just_below() -> None:
    x, scale = np.zeros((1, 1, 1, 706), np.float32), f32(1, 1, 1, 224 / 706)
    assert run("Resize", x, None, scale, opset=13).shape[-1] == 223
    above = np.nextafter(scale, np.float32(2))  # one ulp more gives 224
    assert run("Resize", x, None, above, opset=13).shape[-1] == 224


# --- execution semantics


@pytest.mark.parametrize(("how", "shape", "row"), [
    ({"auto_pad": "SAME_UPPER"}, (10, 10), [0, 0, 1, 1]),
    ({"auto_pad": "SAME_LOWER"}, (10, 10), [0, 1, 1, 3]),
    ({"output_shape": [10, 10]}, (10, 10), [0, 1, 1, 3]),  # the reference evaluator raises
    ({"output_shape": [9, 9]}, (9, 9), [0, 1, 1, 3]),
])  # fmt: skip
def test_20_conv_transpose(how: dict[str, Any], shape: tuple[int, int], row: list[float]) -> None:
    x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    y = check("ConvTranspose", x, np.ones((1, 1, 3, 3), np.float32), strides=[2, 2], **how)
    assert y.shape[2:] == shape
    assert y[0, 0, 0, :4].tolist() == row


@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_21_average_pool_ceil_mode_does_not_count_the_overhang(count_include_pad: int) -> None:
    x = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    y = run("AveragePool", x, opset=19, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1,
            count_include_pad=count_include_pad)  # fmt: skip
    assert y.tolist() == [[[[6, 7.5], [12, 13.5]]]]


def test_22_integer_division() -> None:
    a, b = ints(8, -8, 7, -7), ints(-3, 3, -2, 2)
    assert run("Div", a, b).tolist() == [-2, -2, -3, -3]
    assert run("Mod", a, b).tolist() == [-1, 1, -1, 1]
    assert run("Mod", a, b, fmod=1).tolist() == [2, -2, 1, -1]
    large = np.array([777777777, 1111111111, 1900000000, -1999999999], np.int32)
    assert run("Div", large, np.array([11], np.int32)).tolist() == [70707070, 101010101, 172727272, -181818181]


def test_22_integer_powers() -> None:
    assert run("Pow", np.array([3], np.int32), np.array([1], np.int32)).tolist() == [3]
    root = run("Pow", np.array([4, 9], np.int32), f32(0.5, 0.5))
    assert root.tolist() == [2, 3]
    assert root.dtype == np.int32


def test_23_lrn_of_more_than_one_sample() -> None:
    """The reference evaluator loops over the batch where it should over the channels."""
    x = np.random.default_rng(0).normal(size=(2, 5, 2, 2)).astype(np.float32)
    y = check("LRN", x, size=3, alpha=0.5, beta=0.75, bias=1.0, rtol=1e-5)
    total = (x[1, 1:4] ** 2).sum(0)  # channels 1 to 3 are the neighbours of channel 2
    np.testing.assert_allclose(y[1, 2], x[1, 2] / (1 + 0.5 / 3 * total) ** 0.75, rtol=1e-5)


def test_24_softmax_before_opset_13_flattens() -> None:
    """The reference evaluator normalises the last axis alone."""
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    y = check("Softmax", x, opset=11)
    np.testing.assert_allclose(y.reshape(2, 6).sum(1), [1, 1], rtol=1e-6)


@pytest.mark.parametrize(("op", "result"), [
    ("ReduceSum", [1, -2]), ("ReduceSumSquare", [1, 4]), ("ReduceL1", [1, 2]), ("ReduceL2", [1, 2]),
    ("ReduceLogSum", [0, np.nan]), ("ReduceMax", [1, -2]), ("ReduceMean", [1, -2]), ("ReduceProd", [1, -2]),
])  # fmt: skip
@pytest.mark.parametrize("axes", [None, ints()])
def test_25_reduce_noop_with_empty_axes(op: str, result: list[float], axes: np.ndarray | None) -> None:
    y = run(op, f32(1, -2), axes, opset=18, noop_with_empty_axes=1)
    np.testing.assert_allclose(y, result, rtol=1e-6)


@pytest.mark.parametrize(("op", "result"), [
    ("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -np.inf), ("ReduceMin", np.inf), ("ReduceL1", 0),
    ("ReduceSumSquare", 0), ("ReduceLogSum", -np.inf), ("ReduceLogSumExp", -np.inf),
])  # fmt: skip
def test_25_empty_reductions(op: str, result: float) -> None:
    assert run(op, np.zeros((0, 3), np.float32), ints(0), opset=20, keepdims=0).tolist() == [result] * 3


def test_26_non_max_suppression() -> None:
    boxes = np.array([[[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [0, 10.1, 1, 11.1],
                       [0, 100, 1, 101]]], np.float32)  # fmt: skip
    scores = np.array([[[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]]], np.float32)
    none = run("NonMaxSuppression", boxes, scores)  # the reference evaluator raises a TypeError
    assert none.shape == (0, 3)
    assert none.dtype == np.int64
    kept = check("NonMaxSuppression", boxes, scores, ints(3), f32(0.5))
    assert kept.tolist() == [[0, 0, 3], [0, 0, 0], [0, 0, 5]]


def test_27_casts_to_float8_saturate() -> None:
    x = f32(1.8131605, 464, 465, 3e10, np.inf, np.nan)
    y = run("Cast", x, opset=19, to=TensorProto.FLOAT8E4M3FN).astype(np.float32)
    np.testing.assert_array_equal(y, f32(1.875, 448, 448, 448, 448, np.nan))
    open_ended = run("Cast", x, opset=19, to=TensorProto.FLOAT8E4M3FN, saturate=0).astype(np.float32)
    np.testing.assert_array_equal(open_ended, f32(1.875, 448, np.nan, np.nan, np.nan, np.nan))


def test_27_bfloat16_ties_to_even() -> None:
    y = run("Cast", f32(1.00390625, 1.01171875), to=TensorProto.BFLOAT16)
    assert y.astype(np.float32).tolist() == [1.0, 1.015625]


def test_27_quantisation_ties_to_even() -> None:
    y = run("QuantizeLinear", f32(1, 3, 5, -1, -3), f32(2)[0], np.array(128, np.uint8))
    assert y.tolist() == [128, 130, 130, 128, 126]


def test_28_casts_out_of_range_are_the_same_on_every_run() -> None:
    x = np.tile(f32(-1.5, 255.9, 300, np.nan, np.inf, -np.inf), 50)
    runs = [run("Cast", x, to=TensorProto.UINT8) for _ in range(3)]
    assert all((y == runs[0]).all() for y in runs)
    assert (runs[0].reshape(50, 6) == runs[0][:6]).all()  # and wherever in the tensor they stand
    assert runs[0][1] == 255


SCAN = """
g (float[2] start, float[A, B] x) => (float[2] last, float[C, D] y) {{
  last, y = Scan <num_scan_inputs = 1 {attributes}, body = step (float[2] s, float[2] e) => (float[2] n, float[2] o) {{
    n = Add(s, e)
    o = Identity(n)
  }}> (start, x)
}}"""


@pytest.mark.parametrize(("attributes", "x", "last", "y"), [
    ("", [[1, 2], [3, 4], [5, 6]], [9, 12], [[1, 2], [4, 6], [9, 12]]),
    (", scan_input_directions = [1], scan_output_directions = [1]", [[1, 2], [3, 4], [5, 6]], [9, 12],
     [[9, 12], [8, 10], [5, 6]]),  # the reference evaluator raises
    (", scan_input_axes = [1], scan_output_axes = [1]", [[1, 3, 5], [2, 4, 6]], [9, 12], [[1, 4, 9], [2, 6, 12]]),
    ("", np.zeros((0, 2)), [0, 0], np.zeros((0, 2))),  # both peers raise
])  # fmt: skip
def test_29_scan(attributes: str, x: Any, last: list[float], y: Any) -> None:
    text = SCAN.format(attributes=attributes)
    outputs = run_text(text, start=f32(0, 0), x=np.array(x, np.float32))
    assert outputs[0].tolist() == last
    assert outputs[1].shape == np.shape(y)
    assert outputs[1].tolist() == np.asarray(y).tolist()


def test_29_scan_with_two_outputs_and_a_captured_value() -> None:
    text = """
    g (float[2] k, float[3, 2] x) => (float[3, 2] a, float[3, 2] b) {
      a, b = Scan <num_scan_inputs = 1, body = step (float[2] e) => (float[2] p, float[2] q) {
        p = Add(e, k)
        q = Mul(e, k)
      }> (x)
    }"""
    x = f32(1, 2, 3, 4, 5, 6).reshape(3, 2)
    a, b = run_text(text, k=f32(10, 100), x=x)
    assert a.tolist() == [[11, 102], [13, 104], [15, 106]]
    assert b.tolist() == [[10, 200], [30, 400], [50, 600]]


@pytest.mark.parametrize("opset", [13, 18, 21])
def test_30_quantised_resize(opset: int) -> None:
    """The reference evaluator has no DequantizeLinear below opset 19."""
    text = """
    g (float[1, 1, 1, 3] x, float s, int8 z) => (float[1, 1, 1, 6] y) {
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      scales = Constant <value = float[4] {1, 1, 1, 2}> ()
      r = Resize <mode = "linear"> (d, "", scales)
      q2 = QuantizeLinear(r, s, z)
      y = DequantizeLinear(q2, s, z)
    }"""
    (y,) = run_text(text, opset, x=plane([2, 6, 4]), s=f32(1)[0], z=np.array(0, np.int8))
    assert y.reshape(-1).tolist() == [2, 3, 5, 6, 4, 4]  # 5.5 and 4.5 go to even


def test_31_float16_overflow() -> None:
    """ONNX Runtime gives 0, since it keeps float32 between the nodes."""
    text = "g (float16[1, 64] x, float16[64, 1] w) => (float16[1, 1] y) { a = MatMul(x, w) y = Sub(a, a) }"
    x, w = np.full((1, 64), 64, np.float16), np.full((64, 1), 64, np.float16)
    (y,) = run_text(text, x=x, w=w)
    assert np.isnan(y).all()
    assert np.isposinf(run("MatMul", x, w)).all()


def test_31_float16_sums_in_float32() -> None:
    """The reference evaluator overflows on the way."""
    assert run("ReduceMean", np.full((1, 4096), 100, np.float16), opset=13, axes=[1]).tolist() == [[100]]


def test_32_empty_tensors() -> None:
    assert run("Softmax", np.zeros((5, 0), np.float32)).shape == (5, 0)
    x, w = np.zeros((0, 3, 4, 4), np.float32), np.zeros((2, 3, 3, 3), np.float32)
    assert run("Conv", x, w).shape == (0, 2, 2, 2)
    y = run("MatMul", np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32))
    assert y.tolist() == [[0, 0, 0], [0, 0, 0]]


# --- what ONNX's reference evaluator gets wrong besides


@pytest.mark.parametrize("opset", [7, 9, 14])
def test_batch_normalization_for_inference(opset: int) -> None:
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 4)
    y = check("BatchNormalization", x, f32(2, 3), f32(1, -1), f32(1, 5), f32(4, 1), opset=opset, epsilon=0.0)
    np.testing.assert_allclose(y[0, 0], (x[0, 0] - 1) / 2 * 2 + 1, rtol=1e-6)
    np.testing.assert_allclose(y[0, 1], (x[0, 1] - 5) * 3 - 1, rtol=1e-6)


def test_cubic_resize_to_one_element() -> None:
    x = plane([1, 2, 3, 4])
    y = check("Resize", x, None, None, ints(1, 1, 1, 1), constants=(3,), opset=19, mode="cubic")
    # The source coordinate is 1.5: weights -0.09375, 0.59375, 0.59375, -0.09375 with a = -0.75.
    np.testing.assert_allclose(y, 2.5, rtol=1e-6)


def test_a_failing_node_keeps_what_was_computed() -> None:
    info = helper.make_tensor_value_info
    nodes = [helper.make_node("Neg", ["x"], ["a"], "first"), helper.make_node("MatMul", ["a", "w"], ["y"], "bad")]
    graph = helper.make_graph(
        nodes, "g", [info("x", 1, ["M", "K"]), info("w", 1, ["L", "N"])], [info("y", 1, ["M", "N"])]
    )  # fmt: skip
    model = load_model_proto(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    with pytest.raises(NodeError, match=r"MatMul 'bad' .*float32\[2, 3\].*float32\[4, 5\]") as caught:
        Session(model).run({"x": np.ones((2, 3), np.float32), "w": np.ones((4, 5), np.float32)})
    kept = {tensor.name: value for tensor, value in caught.value.partial.values.items()}
    assert kept["a"].tolist() == [[-1] * 3] * 2
