"""Matrix products."""

from __future__ import annotations

from engine import dtypes
from engine.dims import Dim
from engine.graph.types import format_shape
from engine.shapes.call import Call
from engine.shapes.facts import KnownShape, Out, ShapeClash
from engine.shapes.registry import rule


def product_shape(call: Call, a: KnownShape, b: KnownShape) -> KnownShape:
    """Shape of ``a @ b`` as numpy.matmul has it. Raises ShapeClash where the inner dims differ."""
    if not a or not b:
        raise ShapeClash(f"{format_shape(a)} times {format_shape(b)}: a scalar has no product")
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    call.equal(left[-1], right[-2], lambda: f"multiplies {format_shape(a)} by {format_shape(b)}")
    batch = call.broadcast(left[:-2], right[:-2])
    return batch + ((left[-2],) if len(a) > 1 else ()) + ((right[-1],) if len(b) > 1 else ())


@rule("MatMul")
def matmul(call: Call) -> Out:
    """``A @ B``."""
    return Out(product_shape(call, call.shape(0), call.shape(1)))


@rule("MatMulInteger")
def matmul_integer(call: Call) -> Out:
    """``A @ B`` of ints, in int32."""
    return Out(product_shape(call, call.shape(0), call.shape(1)), dtypes.INT32)


@rule("QLinearMatMul")
def qlinear_matmul(call: Call) -> Out:
    """``A @ B`` of quantised tensors, in the dtype of the output's zero point."""
    return Out(product_shape(call, call.shape(0), call.shape(3)), call.dtype(7))


@rule("Gemm")
def gemm(call: Call) -> Out:
    """``A' @ B'``, either transposed on demand, plus a bias that broadcasts to it."""
    a, b = call.shape(0), call.shape(1)
    return Out(gemm_shape(call, a, b))


def gemm_shape(call: Call, a: KnownShape, b: KnownShape) -> KnownShape:
    """Shape of a product of matrices transposed as the attributes say."""
    if len(a) != 2 or len(b) != 2:
        raise ShapeClash(f"{format_shape(a)} and {format_shape(b)} are not both matrices")
    rows = a[::-1] if call.attr("transA", 0) else a
    columns = b[::-1] if call.attr("transB", 0) else b
    return product_shape(call, rows, columns)


@rule("Det")
def det(call: Call) -> Out:
    """One determinant for each matrix."""
    return Out(call.rank_at_least(0, 2)[:-2])


@rule("Einsum")
def einsum(call: Call) -> Out:
    """Dims by letter, an ellipsis broadcast."""
    equation = call.attr("equation", "").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(call.node.inputs):
        raise ShapeClash(f"the equation {equation!r} has {len(terms)} terms for {len(call.node.inputs)} inputs")
    dims: dict[str, Dim] = {}
    rest: KnownShape = ()
    for slot, term in enumerate(terms):
        shape = call.shape(slot)
        before, dots, after = term.partition("...")
        if (len(before) + len(after) > len(shape)) if dots else len(term) != len(shape):
            raise ShapeClash(f"{term!r} does not fit {format_shape(shape)}")
        if dots:
            rest = call.broadcast(rest, shape[len(before) : len(shape) - len(after)])
        tail = shape[len(shape) - len(after) :] if after else ()
        for letter, dim in zip(before + after, shape[: len(before)] + tail):
            dims[letter] = _one_letter(call, letter, dims.get(letter, dim), dim)
    if not arrow:
        letters = left.replace(",", "").replace(".", "")
        right = ("..." if "." in left else "") + "".join(sorted(x for x in set(letters) if letters.count(x) == 1))
    before, dots, after = right.partition("...")
    middle = rest if dots else ()
    return Out(tuple(dims[x] for x in before) + middle + tuple(dims[x] for x in after))


def _one_letter(call: Call, letter: str, a: Dim, b: Dim) -> Dim:
    if 1 in (a, b):
        return b if a == 1 else a
    return call.equal(a, b, lambda: f"takes {letter!r} for both {a} and {b}")
