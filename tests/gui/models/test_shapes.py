"""When stored, inferred and observed types contradict each other."""

from __future__ import annotations

import pytest

from engine.dims import symbol
from engine.dtypes import FLOAT32, INT64
from engine.graph.ir import Graph, Tensor
from engine.graph.types import SequenceType, TensorType, Type
from gui.models.shapes import ShapeRow, bind_rows, contradiction

N = symbol("N")


def tensor(stored: Type | None, inferred: Type | None) -> Tensor:
    made = Tensor("t", Graph("g"))
    made.stored_type, made.inferred_type = stored, inferred
    return made


def f32(*shape: object) -> TensorType:
    return TensorType(FLOAT32, shape)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stored", "inferred", "observed", "dims", "words"),
    [
        (f32(2, 3), f32(2, 3), None, {}, ""),
        (f32(9, 9), f32(2, 4), None, {}, "stored and inferred"),
        (f32(2, 3), f32(2, 3, 1), None, {}, "stored and inferred"),
        (f32(N, 3), f32(4, 3), None, {}, ""),
        (f32(None, 3), f32(4, 3), None, {}, ""),
        (TensorType(FLOAT32, None), f32(4), None, {}, ""),
        (None, f32(4), None, {}, ""),
        (f32(N), TensorType(INT64, (N,)), None, {}, "stored and inferred"),
        (f32(N), f32(N), f32(4), {"N": 4}, ""),
        (f32(N), f32(N * 2), f32(4), {"N": 4}, "stored and inferred"),
        (None, f32(N * 2), f32(4), {"N": 4}, "inferred and observed"),
        (None, f32(N * 2), f32(4), {}, ""),
        (None, f32((N - 1) // 2 + 1), f32(3), {"N": 5}, ""),
        (None, f32((N - 1) // 2 + 1), f32(2), {"N": 5}, "inferred and observed"),
        (SequenceType(None), SequenceType(f32(1)), None, {}, ""),
        (SequenceType(None), f32(1), None, {}, "stored and inferred"),
    ],
)
def test_contradiction(
    stored: Type | None, inferred: Type | None, observed: Type | None, dims: dict[str, int], words: str
) -> None:
    found = contradiction(tensor(stored, inferred), observed, dims)
    assert found.startswith(words) if words else found == ""


def test_dims_are_bound_without_inferring_again() -> None:
    row = ShapeRow(tensor(None, f32(N, N * 2, 3)))
    bind_rows([row], {"N": 4})
    assert (str(row.bound), row.nbytes, row.is_dynamic) == ("float32[4, 8, 3]", 4 * 4 * 8 * 3, True)
    bind_rows([row], {})
    assert (row.bound, row.nbytes) == (None, None)
    fixed = ShapeRow(tensor(None, f32(2, 3)))
    bind_rows([fixed], {})
    assert (fixed.nbytes, fixed.is_dynamic) == (24, False)
