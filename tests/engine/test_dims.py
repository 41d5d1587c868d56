"""Symbolic dims: laws on random expressions, canonical forms and texts worked out by hand."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dims
from engine.dims import Dim, DimTooComplex, Expr, ceil_div, is_at_least, lower_bound, maximum, minimum, product, symbol

N, H, W, S = (symbol(name) for name in "NHWS")
BINDINGS = st.fixed_dictionaries({name: st.integers(0, 60) for name in "NHWS"})
LEAVES = st.one_of(st.integers(-9, 9), st.sampled_from([N, H, W, S]))


def _grow(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    def apply(f: Callable[..., Dim], *more: st.SearchStrategy[int]) -> st.SearchStrategy[Dim]:
        return st.builds(f, inner, *(more or (inner,)))

    divisor = st.integers(1, 12)
    return st.one_of(
        apply(lambda a, b: a + b), apply(lambda a, b: a - b), apply(lambda a, b: a * b), apply(minimum), apply(maximum),
        apply(lambda a, n: a // n, divisor), apply(lambda a, n: a % n, divisor), apply(ceil_div, divisor),
        apply(lambda a, n: a // -n, divisor),
    )  # fmt: skip


DIMS = st.recursive(LEAVES, _grow, max_leaves=6)


def value(dim: Dim, bindings: dict[str, int]) -> int:
    return dim if isinstance(dim, int) else dim.evaluate(bindings)


@given(DIMS, DIMS, BINDINGS)
def test_operations_mean_what_they_do_on_ints(a: Dim, b: Dim, at: dict[str, int]) -> None:
    x, y = value(a, at), value(b, at)
    assert value(a + b, at) == x + y
    assert value(a - b, at) == x - y
    assert value(a * b, at) == x * y
    assert value(minimum(a, b), at) == min(x, y)
    assert value(maximum(a, b), at) == max(x, y)
    if y:
        assert value(a // b, at) == x // y
        assert value(a % b, at) == x % y
        assert value(ceil_div(a, b), at) == -(-x // y)


@given(DIMS, DIMS, DIMS)
def test_equal_sums_and_products_are_one_object(a: Dim, b: Dim, c: Dim) -> None:
    assert a + b is b + a or a + b == b + a
    for left, right in ((a + (b + c), (a + b) + c), (a * b, b * a), (a * (b + c), a * b + a * c), ((a + b) - b, a)):
        assert left is right if isinstance(left, Expr) else left == right


@given(DIMS, DIMS, st.integers(1, 20))
def test_multiples_leave_a_division(q: Dim, r: Dim, n: int) -> None:
    left, right = (n * q + r) // n, q + r // n
    assert left is right or left == right
    left, right = (n * q + r) % n, r % n
    assert left is right or left == right


@given(DIMS, DIMS)
def test_exact_products_divide(a: Dim, b: Dim) -> None:
    if b != 0:
        assert (a * b) // b is a or (a * b) // b == a


@given(st.integers(-9, 9), st.integers(1, 9), st.integers(1, 9), st.integers(-20, 20))
def test_division_of_a_division_is_one(k: int, m: int, n: int, c: int) -> None:
    a = H + k  # what a chain of windows makes; (2*H//3)//2 is more than one form can catch
    left, right = (a // m + c) // n, (a + c * m) // (m * n)
    assert left is right or left == right


@given(DIMS, BINDINGS)
def test_text_is_python(dim: Dim, at: dict[str, int]) -> None:
    assert eval(str(dim), {"min": min, "max": max}, at) == value(dim, at)
    assert dims.parse(str(dim)) is dim or dims.parse(str(dim)) == dim


@given(DIMS, DIMS, BINDINGS)
def test_what_is_proved_holds(a: Dim, b: Dim, at: dict[str, int]) -> None:
    if is_at_least(a, b):
        assert value(a, at) >= value(b, at)
    bound = lower_bound(a)
    assert bound is None or value(a, at) >= bound


@given(DIMS, BINDINGS)
def test_partial_substitution_then_the_rest(dim: Dim, at: dict[str, int]) -> None:
    if isinstance(dim, Expr):
        half = dim.substitute({"N": at["N"], "H": at["H"]})
        assert value(half, at) == dim.evaluate(at)
        assert dim.substitute({"N": N + 1, "S": 2 * H}) == dims.parse(str(dim)).substitute({"N": N + 1, "S": 2 * H})
        assert copy.deepcopy(dim) is dim
        assert pickle.loads(pickle.dumps(dim)) is dim
        assert set("NHWS").issuperset(dim.symbols() or "?")


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (N + 5, "N + 5"),
        (5 - N, "5 - N"),
        (2 * N, "2*N"),
        ((H - 1) // 2 + 1, "(H + 1)//2"),
        ((H - 3) // 8, "(H - 3)//8"),
        (2 * N + (H - 3) // 8, "2*N + (H - 3)//8"),
        (H // 8 - 1, "H//8 - 1"),
        (((H + 1) // 2 + 1) // 2, "(H + 3)//4"),
        (2 * (H // 2), "2*(H//2)"),
        (5 - H // 2, "5 - H//2"),
        (-(H // 2), "-(H//2)"),
        (H % 8, "H % 8"),
        ((H + 3) % 8 + N, "N + (H + 3) % 8"),
        (H * H * W, "H**2*W"),
        (H + (-H) % 8, "8*((H + 7)//8)"),
        ((N * H * W * 64) // (N * 64), "H*W"),
        ((N * H + H) // (N + 1), "H"),
        ((N * H + 3) // N, "H + 3//N"),
        ((N * 8) // (N * 4 * S), "2//S"),
        (minimum(5, N), "min(5, N)"),
        (minimum(N, 5, N + 1), "min(5, N)"),
        (maximum(N, N - 2), "N"),
        (maximum(maximum(N, H), N), "max(H, N)"),
        (maximum(H, 2 * ((H + 1) // 2)), "2*((H + 1)//2)"),
        (maximum(2 * ((H + 31) // 32), (H + 15) // 16), "2*((H + 31)//32)"),
        (minimum(S, maximum(S, minimum(S, 512))), "S"),
    ],
)
def test_texts(dim: Dim, text: str) -> None:
    assert str(dim) == text


def test_constants_are_ints() -> None:
    assert [type(d) for d in (N - N, N // N, (4 * N + 3) // 4 - N)] == [int] * 3
    assert (4 * N + 3) // 4 - N == 0


def test_missing_binding_and_zero_divisor() -> None:
    with pytest.raises(KeyError, match="W"):
        (H + W).evaluate({"H": 1})
    with pytest.raises(ZeroDivisionError):
        (H // W).evaluate({"H": 1, "W": 0})
    with pytest.raises(ZeroDivisionError):
        _ = H // 0


def test_runaway_expressions_are_refused() -> None:
    power = product([N] * 16)
    with pytest.raises(DimTooComplex):
        power * N
    with pytest.raises(DimTooComplex):
        (N + 1) * (1 << 256)
    for extremum in (minimum, maximum):
        with pytest.raises(DimTooComplex):
            extremum(*(symbol(f"n{i}") for i in range(40)))


@pytest.mark.parametrize("text", ["a b", "f(x)", "__import__('os')", "1.5", "", "N // 0", "2**N", "N**99", "N**-1"])
def test_parse_refuses(text: str) -> None:
    assert dims.parse(text) is None
