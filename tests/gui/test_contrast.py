"""Contrast as WCAG 2 defines it: text at least 4.5 to 1, what carries meaning without text at least 3 to 1."""

from __future__ import annotations

import pytest

from gui.canvas.painter import NOTE_COLOUR
from gui.canvas.palette import CHANGE_COLOURS, NO_VALUE, PROVIDER_COLOURS, RAMP, SERIES, Category, canvas_colours
from gui.look.theme import DARK, LIGHT, Theme

TEXT, MEANING = 4.5, 3.0
INKS = ("text", "muted", "faint", "accent", "good", "warning", "error")
GROUNDS = ("window", "canvas", "field", "raised", "selection", "hover")
HEADERS = {*(c.colour for c in Category), *SERIES, *PROVIDER_COLOURS.values(), *CHANGE_COLOURS.values()}
both_themes = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
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
    colours = canvas_colours(theme)
    assert contrast(theme.on_accent, theme.accent) >= TEXT
    for ink in (colours.text, colours.muted, colours.accent):
        for ground in (colours.background, colours.body, colours.frame, colours.pill, colours.chip):
            assert contrast(ink, ground) >= TEXT
    assert contrast(colours.copied, colours.background) >= TEXT
    for line in (colours.copied, colours.edge, colours.accent, colours.found, colours.error):
        assert contrast(line, colours.background) >= MEANING
        assert contrast(line, colours.frame) >= MEANING


@pytest.mark.parametrize("header", sorted(HEADERS))
def test_headers_hold_white_text_and_notes(header: str) -> None:
    assert contrast("#ffffff", header) >= TEXT
    assert contrast(NOTE_COLOUR, header) >= TEXT


@pytest.mark.parametrize("header", [*RAMP, NO_VALUE])
def test_headers_coloured_by_values_hold_white_text(header: str) -> None:
    assert contrast("#ffffff", header) >= TEXT
