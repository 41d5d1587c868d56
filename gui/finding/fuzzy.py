"""Fuzzy matching of names: the letters of a pattern in order, with anything between. Knows no Qt."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

LONGEST_PATTERN = 64
CHECK_EVERY = 2048


def best(
    pattern: str,
    entries: Iterable[tuple[str, T]],
    count: int,
    check: Callable[[], None] = lambda: None,
) -> list[T]:
    """The objects of the `count` best matches among (text in lower case, object), best first, ties as they came.

    Spaces part the pattern: each part must be found, after the one before. `check` is called now and then and may
    raise.
    """
    search = _compiled(pattern.casefold())
    scored: list[tuple[float, int, T]] = []
    for place, (text, value) in enumerate(entries):
        if place % CHECK_EVERY == 0:
            check()
        found = search(text)
        if found:
            scored.append((score(found, text), place, value))
    return [value for _cost, _place, value in heapq.nsmallest(count, scored, key=lambda entry: entry[:2])]


def _compiled(pattern: str) -> Callable[[str], re.Match[str] | None]:
    """Each letter with the least between it and the one before, which no text can make slow."""
    letters = [re.escape(letter) for letter in pattern.replace(" ", "")[:LONGEST_PATTERN]]
    steps = "".join(f"[^{letter}]*?({letter})" for letter in letters)
    return re.compile(steps, re.DOTALL).match


def score(found: re.Match[str], text: str) -> float:
    """How bad a match is: gaps cost, less where a word begins after them, and so does the length of the text.

    A pattern that stands in the text as it is beats any with gaps.
    """
    letters = "".join(found.groups())
    if not letters:
        return 0.0
    place = text.find(letters)
    if place >= 0:
        starts_word = place == 0 or not text[place - 1].isalnum()
        ends = place + len(letters) == len(text)
        return -100.0 - 20.0 * starts_word - 10.0 * ends + len(text) / 100
    cost = len(text) / 100
    before = -1
    for group in range(1, len(found.groups()) + 1):
        at = found.start(group)
        if at != before + 1:
            cost += 1.0 if at and not text[at - 1].isalnum() else 3.0
        before = at
    return cost
