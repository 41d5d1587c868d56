"""How sentences for people hold counts, sizes and names."""

from __future__ import annotations

import pytest

from engine.words import bytes_text, counted, meant, quoted


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [(1, "node", "1 node"), (0, "node", "0 nodes"), (12_000, "tensor", "12,000 tensors"), (2, "entry", "2 entries"),
     (2, "key", "2 keys"), (3, "match", "3 matches")],
)  # fmt: skip
def test_numbers_agree_with_their_nouns(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (73728, "72 KiB"), (1023 * 1024, "1023 KiB"),
     (int(12.6 * 2**20), "12.6 MiB"), (1.5 * 2**30, "1.5 GiB"), (2**50 * 3, "3 PiB"), (10**40, "more than 1024 PiB")],
)  # fmt: skip
def test_sizes(count: float, text: str) -> None:
    assert bytes_text(count) == text


def test_names_are_listed_up_to_a_limit() -> None:
    assert quoted([]) == "none"
    assert quoted(["a", "b\n"]) == r"'a', 'b\n'"
    assert quoted("abcde", 3) == "'a', 'b', 'c' and 2 more"


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    assert meant("input_id", ["attention_mask", "input_ids"]) == "; did you mean 'input_ids'?"
    assert meant("mask", ["x", "y"]) == ""
    assert meant("a" * 10**6, ["a" * 10**6 + "b"]) == ""  # comparing costs the product of the lengths
