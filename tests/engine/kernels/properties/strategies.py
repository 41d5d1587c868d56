"""What the property tests draw: shapes, axes and data; and how our result is held against ONNX Runtime's.

An example that ONNX Runtime has no kernel for is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, reject, settings
from hypothesis import strategies as st

from tests.engine.kernels.oracle import assert_same, model_of, run_model, run_model_ort

Draw = Callable[..., Any]

FLOATS = (np.float32, np.float64)
HALVES = (np.float16,)
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)

examples = settings(
    max_examples=12, phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)  # fmt: skip
many = settings(examples, max_examples=40)

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-30, 100.0])


def shapes(least: int = 0, most: int = 4, smallest: int = 1, largest: int = 5) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of `least` to `most` axes, each `smallest` to `largest` long."""
    return st.lists(st.integers(smallest, largest), min_size=least, max_size=most).map(tuple)


@st.composite
def broadcast_pair(draw: Draw, most: int = 4) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast, either of which may lack axes or have length 1 on some."""
    full = draw(shapes(0, most))
    pair = []
    for _ in range(2):
        kept = draw(st.integers(0, len(full)))
        dims = full[len(full) - kept :]
        pair.append(tuple(1 if draw(st.integers(0, 3)) == 0 else d for d in dims))
    return pair[0], pair[1]


@st.composite
def some_axes(draw: Draw, rank: int, least: int = 1) -> list[int]:
    """Distinct axes of a tensor of `rank`, some counted from the back."""
    chosen = draw(st.lists(st.integers(0, rank - 1), min_size=min(least, rank), max_size=rank, unique=True))
    return [a - rank if draw(st.booleans()) else a for a in chosen]


def axis_of(rank: int) -> st.SearchStrategy[int]:
    return st.integers(-rank, rank - 1)


@st.composite
def data(
    draw: Draw, shape: Sequence[int], dtype: Any = np.float32, low: float = -3, high: float = 3, special: bool = False
) -> np.ndarray:
    """An array of uniform numbers in [low, high), with `special` infinities, NaN and signed zeros strewn in."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.asarray(rng.random(tuple(shape)) < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(max(int(low), int(info.min)), int(high) + 1, tuple(shape), dtype=dtype))
    values = np.asarray(rng.uniform(low, high, tuple(shape)))
    if special and values.size and draw(st.booleans()):
        strewn = rng.random(values.shape) < 0.3
        values[strewn] = rng.choice(SPECIAL, int(strewn.sum()))
    return values.astype(dtype)


def indices(shape: Sequence[int], length: int) -> st.SearchStrategy[np.ndarray]:
    """An array of indices into an axis, negative ones included."""
    return data(shape, np.int64, -length, length - 1)


def optional(draw: Draw, **choices: st.SearchStrategy[Any]) -> dict[str, Any]:
    """A draw of each keyword, each left out half of the time."""
    return {name: draw(choice) for name, choice in choices.items() if draw(st.booleans())}


def agree(op: str, *inputs: np.ndarray | None, rtol: float | None = None, atol: float = 1e-6, **options: Any) -> Any:
    """Assert that our outputs are ONNX Runtime's, by default within what the widest rounding of the inputs allows."""
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernel

    given = [None if x is None else np.asarray(x) for x in inputs]
    while given and given[-1] is None:
        given.pop()
    model = model_of(op, given, **options)
    named = {f"i{k}": x for k, x in enumerate(given)}
    feeds: dict[str, Any] = {i.name: named[i.name] for i in model.graph.input}
    try:
        theirs = run_model_ort(model, feeds)
    except NoKernel:
        reject()
    ours = run_model(model, feeds)
    tolerance = rtol if rtol is not None else 3e-3 if any(is_half(x) for x in inputs) else 2e-5
    for a, b in zip(ours, theirs, strict=True):
        assert_same(a, b, tolerance, max(atol, 1e-3 if is_half(a) else 0))
    return ours if len(ours) > 1 else ours[0]


def is_half(x: Any) -> bool:
    return getattr(x, "dtype", None) == np.float16
