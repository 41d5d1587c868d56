"""A weight of two models, read to be looked at side by side. No Qt."""

from __future__ import annotations

from engine.agreement import compare_values
from engine.diff import WeightPair, stored_value
from engine.errors import DataError
from engine.words import bytes_text
from gui.running.judging import AgreementRow, count_nonfinite

MAX_BYTES = 256 << 20  # of each side; the views take a few times as much


def weight_row(pair: WeightPair) -> AgreementRow:
    """Both values, the one of the model shown against that of the other.

    Raises
    ------
    DataError: one of them cannot be read, or is too large to be shown.
    """
    before, after = pair.before.data, pair.after.data
    assert before is not None
    assert after is not None
    for data in (before, after):
        if data.nbytes > MAX_BYTES:
            raise DataError(f"{bytes_text(data.nbytes)} are too much to show; the line says how far the two are apart")
    actual, expected = stored_value(after), stored_value(before)
    agreement = compare_values(actual, expected)
    words = pair.difference.in_words() if pair.difference is not None else ""
    return AgreementRow(pair.after, None, -1, agreement, actual, expected, *count_nonfinite(actual), words=words)
