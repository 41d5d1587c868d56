"""Conv and ConvTranspose against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from engine.kernels import parallel
from engine.kernels.convolution import convolve
from engine.kernels.windows import windows
from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(20)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def same(op: str, *inputs: np.ndarray | None, **options: object) -> None:
    check(op, *inputs, rtol=1e-4, atol=1e-4, **options)


def test_conv_by_hand() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    ones = np.ones((1, 1, 3, 3), np.float32)
    np.testing.assert_array_equal(run("Conv", x, ones)[0, 0], [[45, 54], [81, 90]])
    np.testing.assert_array_equal(run("Conv", x, ones, pads=[1, 1, 1, 1], strides=[3, 3])[0, 0], [[10, 18], [42, 50]])


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("kernel", [(3, 3), (1, 1), (2, 3)])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
def test_conv_forms(group: int, kernel: tuple[int, int], strides: tuple[int, int]) -> None:
    for dilations, filters, pads in itertools.product([(1, 1), (2, 1)], [4, 8], [(0, 0, 0, 0), (1, 2, 0, 1)]):
        same(
            "Conv", floats(2, 4, 9, 10), floats(filters, 4 // group, *kernel), floats(filters),
            group=group, strides=strides, dilations=dilations, pads=pads,
        )  # fmt: skip


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_conv_auto_pad(auto_pad: str) -> None:
    for strides, kernel, group in itertools.product([(1, 1), (2, 3)], [(3, 3), (2, 4)], [1, 4]):
        w = floats(4, 4 // group, *kernel)
        same("Conv", floats(2, 4, 9, 10), w, auto_pad=auto_pad, strides=strides, group=group)


@pytest.mark.parametrize("kernel", [1, 3])
def test_a_sum_over_no_channels_is_zero(kernel: int) -> None:
    same("Conv", floats(2, 0, 5), floats(3, 0, kernel), floats(3))
    same("ConvTranspose", floats(2, 0, 5), floats(0, 3, kernel), floats(3))


@pytest.mark.parametrize(("size", "kernel"), [((19,), (3,)), ((5, 6, 7), (3, 2, 3))])
@pytest.mark.parametrize("group", [1, 2, 4])
def test_conv_in_one_and_three_dimensions(size: tuple[int, ...], kernel: tuple[int, ...], group: int) -> None:
    pads = [1] * (2 * len(size))
    same("Conv", floats(2, 4, *size), floats(8, 4 // group, *kernel), floats(8), group=group, pads=pads)
    same("Conv", floats(2, 4, *size), floats(8, 4 // group, *kernel), strides=[2] * len(size), group=group)


@pytest.mark.parametrize("group", [1, 16])
def test_conv_large_enough_to_share(group: int) -> None:
    same("Conv", floats(2, 16, 70, 70), floats(32, 16 // group, 3, 3), floats(32), group=group, pads=[1, 1, 1, 1])
    same("Conv", floats(1, 256, 6, 6), floats(256, 256, 3, 3) / 16, floats(256), pads=[1, 1, 1, 1])


@pytest.mark.parametrize(("size", "kernel", "pads"), [
    ((70, 40), (3, 5), [4, 0, 1, 3]), ((30, 60), (5, 1), [9, 0, 30, 0]), ((9, 9, 60), (3, 2, 3), [1, 0, 2, 0, 1, 0]),
    ((3000,), (7,), [3, 9]),
])  # fmt: skip
def test_padding_is_made_band_by_band(size: tuple[int, ...], kernel: tuple[int, ...], pads: list[int]) -> None:
    for strides, dilations in itertools.product([1, 2], [1, 2]):
        same("Conv", floats(2, 16, *size), floats(16, 16, *kernel) / 9, floats(16), pads=pads,
             strides=[strides] * len(size), dilations=[dilations] * len(size))  # fmt: skip


@pytest.mark.parametrize(("size", "kernel"), [((9,), (4,)), ((9, 8), (3, 3)), ((9, 8), (5, 2)), ((4, 5, 6), (2, 3, 2))])
def test_depthwise_of_many_channels(size: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    """Over small planes they lie innermost."""
    x, w, rank = floats(2, 130, *size), floats(130, 1, *kernel), len(size)
    for strides, dilations, pads in itertools.product([1, 2], [1, 2], [0, 1]):
        same("Conv", x, w, floats(130), group=130, strides=[strides] * rank, dilations=[dilations] * rank,
             pads=[pads] * rank + [pads * 2] * rank)  # fmt: skip
    same("Conv", x, w, group=130, auto_pad="SAME_LOWER", strides=[3] * rank)
    same("Conv", x, floats(260, 1, *kernel), group=130)


@pytest.mark.parametrize("versions", [1, 11, 22])
def test_conv_of_each_version(versions: int) -> None:
    same("Conv", floats(1, 2, 5, 5), floats(3, 2, 3, 3), opset=max(versions, 7))


def test_conv_of_nothing() -> None:
    assert run("Conv", np.zeros((0, 4, 4, 4), np.float32), floats(2, 4, 3, 3)).shape == (0, 2, 2, 2)
    assert run("Conv", np.zeros((0, 4, 4, 4), np.float32), floats(4, 1, 3, 3), group=4).shape == (0, 4, 2, 2)
    assert run("Conv", np.zeros((0, 128, 4, 4), np.float32), floats(128, 1, 3, 3), group=128).shape == (0, 128, 2, 2)
    assert run("Conv", np.zeros((1, 128, 0, 4), np.float32), floats(128, 1, 1, 3), group=128).shape == (1, 128, 0, 2)


@pytest.mark.parametrize("half", [np.float16, ml_dtypes.bfloat16])
def test_conv_of_halves_sums_in_float32(half: type) -> None:
    x, w = np.full((1, 4096, 1, 1), 1, half), np.full((1, 4096, 1, 1), 1, half)
    y = run("Conv", x, w, opset=22)
    assert y.dtype == half
    assert float(y[0, 0, 0, 0]) == 4096


def test_conv_rejects_channels_that_do_not_fit() -> None:
    with pytest.raises(Exception, match=r"\[1, 3, 4, 4\] and w \[2, 4, 3, 3\]"):
        run("Conv", floats(1, 3, 4, 4), floats(2, 4, 3, 3))


def test_one_thread_and_many_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = floats(1, 8, 64, 64), floats(16, 8, 3, 3)
    slides = windows((64, 64), (3, 3))
    many = convolve(np, x, w, slides)
    monkeypatch.setattr(parallel, "_crew", lambda: parallel._Crew(1, None))
    np.testing.assert_allclose(convolve(np, x, w, slides), many, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({"auto_pad": "SAME_UPPER"}, [0, 0, 1, 1]),
        ({"auto_pad": "SAME_LOWER"}, [0, 1, 1, 3]),
        ({"output_shape": [10, 10]}, [0, 1, 1, 3]),
        ({"output_shape": [9, 9]}, [0, 1, 1, 3]),
    ],
)
def test_conv_transpose_by_hand(options: dict[str, object], rows: list[int]) -> None:
    """Case 20: which side gets the odd element of padding."""
    x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    y = run("ConvTranspose", x, np.ones((1, 1, 3, 3), np.float32), strides=[2, 2], **options)
    assert y.shape[2:] == ((9, 9) if options.get("output_shape") == [9, 9] else (10, 10))
    np.testing.assert_array_equal(y[0, 0, 0, :4], rows)


@pytest.mark.parametrize("group", [1, 2, 4])
def test_conv_transpose_forms(group: int) -> None:
    cases = itertools.product([(1, 1), (2, 3)], [(1, 1), (2, 1)], [(0, 0, 0, 0), (1, 2, 0, 1)], [(3, 3), (2, 3)])
    for strides, dilations, pads, kernel in cases:
        same(
            "ConvTranspose", floats(2, 4, 5, 6), floats(4, 2, *kernel), floats(2 * group),
            group=group, strides=strides, dilations=dilations, pads=pads,
        )  # fmt: skip


def test_conv_transpose_more() -> None:
    same("ConvTranspose", floats(2, 4, 5, 6), floats(4, 2, 3, 3), strides=[2, 2], output_padding=[1, 1])
    same("ConvTranspose", floats(2, 4, 5), floats(4, 2, 3), strides=[2])
    same("ConvTranspose", floats(2, 4, 5, 3, 4), floats(4, 2, 3, 2, 2), strides=[2, 1, 3], group=2)
