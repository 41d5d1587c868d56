"""Contrast as WCAG 2 defines it: text at least 4.5 to 1, what carries meaning without text at least 3 to 1."""

from __future__ import annotations

import pytest

from gui.canvas.painter import NOTE_COLOR
from gui.canvas.palette import CHANGE_COLORS, NO_VALUE, PROVIDER_COLORS, RAMP, SERIES, Category, canvas_colors
from gui.theme import DARK, LIGHT, Theme

TEXT, MEANING = 4.5, 3.0
INKS = ("text", "muted", "faint", "accent", "good", "warning", "error")
GROUNDS = ("window", "canvas", "field", "raised", "selection", "hover")
HEADERS = {*(c.color for c in Category), *SERIES, *PROVIDER_COLORS.values(), *CHANGE_COLORS.values()}
both_themes = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_formula_gives_what_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@both_themes
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_ink_reads_on_every_ground(theme: Theme, ground: str) -> None:
    low = {ink: round(contrast(getattr(theme, ink), getattr(theme, ground)), 2) for ink in INKS}
    assert {ink: value for ink, value in low.items() if value < TEXT} == {}


@both_themes
def test_the_canvas_reads(theme: Theme) -> None:
    colors = canvas_colors(theme)
    assert contrast(theme.on_accent, theme.accent) >= TEXT
    for ink in (colors.text, colors.muted, colors.accent):
        for ground in (colors.background, colors.body, colors.frame, colors.pill, colors.chip):
            assert contrast(ink, ground) >= TEXT
    assert contrast(colors.copied, colors.background) >= TEXT
    for line in (colors.copied, colors.edge, colors.accent, colors.found, colors.error):
        assert contrast(line, colors.background) >= MEANING
        assert contrast(line, colors.frame) >= MEANING


@pytest.mark.parametrize("header", sorted(HEADERS))
def test_headers_hold_white_text_and_notes(header: str) -> None:
    assert contrast("#ffffff", header) >= TEXT
    assert contrast(NOTE_COLOR, header) >= TEXT


@pytest.mark.parametrize("header", [*RAMP, NO_VALUE])
def test_headers_coloured_by_values_hold_white_text(header: str) -> None:
    assert contrast("#ffffff", header) >= TEXT
