"""Fuzzy matching: what matches, in which order, and that no text makes it slow."""

from __future__ import annotations

import pytest

from gui.background.jobs import Cancelled
from gui.finding.fuzzy import best


def order(pattern: str, *texts: str) -> list[str]:
    return best(pattern, [(text.casefold(), text) for text in texts], 10)


def test_letters_in_order() -> None:
    assert order("cv2", "conv2", "Conv1", "vc2") == ["conv2"]
    assert order("CONV", "conv2", "relu") == ["conv2"]


def test_words_as_they_stand_come_first() -> None:
    assert order("attn", "a_t_t_n", "layer/attn/q", "battn") == ["layer/attn/q", "battn", "a_t_t_n"]


def test_beginnings_of_words_count() -> None:
    assert order("lq", "alphaxq", "layer/query") == ["layer/query", "alphaxq"]


def test_spaces_part_the_pattern() -> None:
    assert order("layer 0 conv", "layers.0/conv", "layers.1/conv") == ["layers.0/conv"]


def test_nothing_typed_lists_the_first() -> None:
    assert best("", [(str(i), i) for i in range(50)], 3) == [0, 1, 2]


def test_ties_keep_their_order() -> None:
    assert order("a", "ab", "ac", "ad") == ["ab", "ac", "ad"]


def test_hostile_text_is_no_slower() -> None:
    """With back-tracking this would take longer than any limit on tests."""
    assert order("aaaaaaaaaaaaaaaaaaaaaaaaab", "a" * 200_000) == []


def test_can_be_stopped() -> None:
    def check() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        best("a", [("a", 1)], 1, check)
