"""Matrix products, Einsum and integer products against hand-worked values and ONNX Runtime."""
from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from engine.kernels import parallel
from engine.kernels.matmul import integer_matrices, integer_product, product
from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(22)


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 2, 3), (3, 4)), ((2, 1, 2, 3), (5, 3, 4)), ((2, 0), (0, 3)),
    ((1, 0, 1, 0), (0, 3)), ((2, 3, 0), (0, 3)), ((2, 0, 3), (3, 0)),
    ((128, 96), (96, 512)), ((6, 64, 32), (6, 32, 64)), ((1, 512), (512, 700)), ((2, 3, 90, 64), (64, 100)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_matmul(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    check("MatMul", floats(*a), floats(*b), rtol=1e-4, atol=1e-4)
    wide = [rng.integers(-(10**9), 10**9, shape).astype(np.int32) for shape in (a, b)]
    check("MatMul", *wide)


def test_matmul_of_float16_overflows_at_its_own_node() -> None:
    """Case 31: 64 x 64 * 64 is beyond float16."""
    y = run("MatMul", np.full((1, 64), 64, np.float16), np.full((64, 1), 64, np.float16))
    assert y.dtype == np.float16
    assert np.isposinf(y).all()


def test_matmul_of_bfloat16_sums_in_float32() -> None:
    ones = np.ones((1, 1000), ml_dtypes.bfloat16)
    assert float(run("MatMul", ones, ones.T)[0, 0]) == 1000


@pytest.mark.parametrize(
    ("a", "b"),
    [((300, 200), (200, 64)), ((3, 300), (300, 200)), ((12, 64, 64), (12, 64, 64)), ((4, 1, 64, 64), (1, 5, 64, 64))],
)
def test_product_shared_among_threads(a: tuple[int, ...], b: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_WORTH_SHARING", 0)
    left, right = floats(*a), floats(*b)
    np.testing.assert_allclose(product(np, left, right), np.matmul(left, right), rtol=1e-4, atol=1e-4)
    turned = np.ascontiguousarray(right.swapaxes(-1, -2)).swapaxes(-1, -2)
    np.testing.assert_allclose(product(np, left, turned), np.matmul(left, right), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("trans_a", "trans_b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm(trans_a: int, trans_b: int) -> None:
    for alpha, beta, c in itertools.product([1.0, 0.5], [1.0, 2.0], [None, (4,), (3, 1), (3, 4), ()]):
        a, b = floats(*((5, 3) if trans_a else (3, 5))), floats(*((4, 5) if trans_b else (5, 4)))
        bias = None if c is None else np.asarray(floats(*c))
        inputs = [a, b] if bias is None else [a, b, bias]
        check("Gemm", *inputs, transA=trans_a, transB=trans_b, alpha=alpha, beta=beta, rtol=1e-5, atol=1e-5, opset=13)


@pytest.mark.parametrize("version", [7, 9, 11, 13])
def test_gemm_of_each_version(version: int) -> None:
    check("Gemm", floats(2, 3), floats(3, 4), floats(4), opset=version, rtol=1e-5, atol=1e-5)


def test_gemm_leaves_its_inputs_alone() -> None:
    c = floats(2, 4)
    before = c.copy()
    run("Gemm", floats(2, 3), floats(3, 4), c)
    np.testing.assert_array_equal(c, before)


@pytest.mark.parametrize("depth", [3, 257, 5000])
def test_integer_product_is_exact(depth: int) -> None:
    """255 * 255 * 5000 is far beyond the integers that float32 holds exactly."""
    a = np.full((2, depth), 255, np.float32)
    assert (integer_product(np, a, integer_matrices(a.T)) == 255 * 255 * depth).all()
    mixed = rng.integers(-255, 256, (3, depth)).astype(np.float32)
    exact = mixed.astype(np.int64) @ mixed.astype(np.int64).T
    np.testing.assert_array_equal(integer_product(np, mixed, integer_matrices(mixed.T)), exact)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bij, bjk -> bik", [(2, 3, 4), (2, 4, 5)]), ("ii", [(3, 3)]), ("...ij,jk", [(2, 3, 4), (4, 5)]),
        ("ij,ij->", [(2, 3), (2, 3)]), ("...ii->...i", [(2, 3, 3)]), ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ],
)  # fmt: skip
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    check("Einsum", *(floats(*s) for s in shapes), equation=equation, rtol=1e-5, atol=1e-5)


def test_share_raises_what_a_task_raised() -> None:
    def fail(index: int) -> None:
        if index == 3:
            raise ValueError("piece 3")

    with pytest.raises(ValueError, match="piece 3"):
        parallel.share(8, fail)


def test_share_does_every_piece_once() -> None:
    done = np.zeros(100, int)

    def count(index: int) -> None:
        done[index] += 1

    parallel.share(100, count)
    assert (done == 1).all()


@pytest.mark.parametrize(("count", "length"), [(1, 5), (3, 10), (4, 4)])
def test_pieces_cover_a_range(count: int, length: int) -> None:
    covered = [i for index in range(count) for i in range(length)[parallel.piece(index, count, length)]]
    assert covered == list(range(length))
