"""Tables as text: what a model names its nodes neither runs in a spreadsheet nor breaks its lines."""

from __future__ import annotations

import csv
import io

import pytest

from gui.output.spreadsheet import csv_text, tsv_text


@pytest.mark.parametrize("name", [
    '=HYPERLINK("http://x")', "@SUM(A1)", "+cmd|' /C calc'!A0", "-Sheet2!A1", "\t=1", "\r=1", "-\n(1)",
])  # fmt: skip
def test_a_name_that_is_a_formula_is_text(name: str) -> None:
    assert list(csv.reader(io.StringIO(csv_text(["name"], [[name]]), newline=""))) == [["name"], [f"'{name}"]]


@pytest.mark.parametrize("cell", ["-1.5", "+12 %", "-0.5 ms", "-", "relu/=x", "a@b", 'with "quotes", and\nlines', -1.5])
def test_other_cells_are_what_they_are(cell: object) -> None:
    assert list(csv.reader(io.StringIO(csv_text(["name"], [[cell]]), newline=""))) == [["name"], [str(cell)]]


def test_a_cell_with_breaks_stays_one_cell() -> None:
    assert tsv_text(["a", "b"], [["x\ty\nz", "1"], ["\u2028", "2"]]) == "a\tb\nx y z\t1\n \t2"
