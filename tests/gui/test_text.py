"""How the window writes shapes, sizes and times."""

from __future__ import annotations

import pytest

from engine.dims import symbol
from gui.text import count_text, ms_text, one_line, shape_text

H = symbol("H")


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (None, "…"),
        ((), "scalar"),
        ((1, 3), "1×3"),
        ((None, H), "?×H"),
        ((1, H + 1), "1×(H+1)"),
        ((0,), "0"),
    ],
)
def test_shapes(shape: tuple[object, ...] | None, text: str) -> None:
    assert shape_text(shape) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (9999, "9,999"), (12345, "12.3 k"), (3_160_000, "3.16 M"), (7 * 10**9, "7 G")]
)
def test_counts(count: int, text: str) -> None:
    assert count_text(count) == text


def test_times() -> None:
    assert [ms_text(ms) for ms in (0.004, 4.02, 58.24, 412.7)] == ["0.00", "4.02", "58.2", "413"]


def test_text_of_a_model_becomes_one_bounded_line() -> None:
    assert one_line("a\n  b\tc") == "a b c"
    assert len(one_line("x" * 10**6, 50)) == 50
