"""Operators on strings, carried as object arrays of `str`."""
from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.axes import Array
from engine.kernels.registry import MICROSOFT, KernelContext, kernel


def _each(function: Callable[[str], Any], x: Array, dtype: Any = object) -> Array:
    """`function` of every string, in an array of the same shape."""
    result = np.empty(x.shape, dtype=dtype)
    result.reshape(-1)[:] = [function(s) for s in x.reshape(-1)]
    return result


@kernel("StringConcat", 20, generic=False)
def string_concat(ctx: KernelContext, a: Array, b: Array) -> Array:
    return np.asarray(np.add(a.astype(object), b.astype(object)), dtype=object)


@kernel("RegexFullMatch", 20, generic=False)
def regex_full_match(ctx: KernelContext, x: Array, *, pattern: str) -> Array:
    """Whether each string matches as a whole."""
    compiled = _compiled(pattern)
    return _each(lambda s: compiled.fullmatch(s) is not None, x, bool)


@kernel("StringSplit", 20, generic=False)
def string_split(
    ctx: KernelContext, x: Array, *, delimiter: str = "", maxsplit: int | None = None
) -> tuple[Array, Array]:
    """Pieces on a new last axis, padded with empty strings, and how many each string has."""
    limit = -1 if maxsplit is None else maxsplit
    pieces = [s.split(delimiter or None, limit) for s in x.reshape(-1)]
    return _on_last_axis(pieces, x, ""), np.array([len(p) for p in pieces], np.int64).reshape(x.shape)


def _on_last_axis(rows: list[list[str]], x: Array, padding: str) -> Array:
    """The words of each element of x along a new last axis, padded to the longest row."""
    result = np.full((len(rows), max(map(len, rows), default=0)), padding, dtype=object)
    for row, words in zip(result, rows):
        row[: len(words)] = words
    return result.reshape((*x.shape, result.shape[1]))


@kernel("Tokenizer", 1, domain=MICROSOFT, generic=False)
def tokenizer(
    ctx: KernelContext, x: Array, *, mark: int, mincharnum: int, pad_value: str, separators: list[str] | None = None,
    tokenexp: str = "",
) -> Array:  # fmt: skip
    """Tokens of each string on a new last axis: what matches `tokenexp`, or lies between matches of `separators`.

    Shorter ones than `mincharnum` are left out; `mark` puts control characters 2 and 3
    around each row, unless all are empty.
    """
    if not tokenexp and separators == [""]:
        tokenexp = "."
    rows = []
    for text in x.reshape(-1):
        if tokenexp:
            words = [match.group() for match in _compiled(tokenexp).finditer(text)]
        else:
            words = [text]
            for separator in separators or ():
                words = [w for word in words for w in _between(_compiled(separator), word) if len(w) >= mincharnum]
        rows.append([w for w in words if w and len(w) >= mincharnum])
    if mark and any(rows):
        rows = [["\x02", *words, "\x03"] for words in rows]
    return _on_last_axis(rows, x, pad_value)


def _between(pattern: re.Pattern[str], text: str) -> list[str]:
    """The parts of a text before, between and after what matches, groups within the pattern left aside."""
    ends = [0, *(end for match in pattern.finditer(text) for end in match.span()), len(text)]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2])]


def _compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression; Python's syntax covers RE2's but for a few escapes."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UnsupportedError(f"the pattern {pattern!r} is not understood: {error}") from error


@kernel("StringNormalizer", 10, generic=False)
def string_normalizer(
    ctx: KernelContext, x: Array, *, case_change_action: str = "NONE", is_case_sensitive: int = 0,
    locale: str = "", stopwords: list[str] | None = None,
) -> Array:  # fmt: skip
    """Strings [C] or [1, C] without the stop words, in one case; at least one (empty) string is left."""
    dropped = set(stopwords or ())
    if not is_case_sensitive:
        dropped = {w.lower() for w in dropped}
    kept = [s for s in x.reshape(-1) if (s if is_case_sensitive else s.lower()) not in dropped]
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(case_change_action, str)
    result = np.array([change(s) for s in kept] or [""], dtype=object)
    return result.reshape((1, -1)) if x.ndim == 2 else result


@kernel("TfIdfVectorizer", 9, generic=False)
def tf_idf_vectorizer(
    ctx: KernelContext, x: Array, *, mode: str, min_gram_length: int, max_gram_length: int, max_skip_count: int,
    ngram_counts: list[int], ngram_indexes: list[int], pool_int64s: list[int] | None = None,
    pool_strings: list[str] | None = None, weights: list[float] | None = None,
) -> Array:  # fmt: skip
    """Counts (TF), weights of those present (IDF), or their product, of the n-grams in each row.

    An n-gram with skip s reads every (s + 1)-th element. `ngram_counts[n - 1]` is where the pool's n-grams begin.
    """
    pool: list[Any] = list(pool_strings if pool_strings else pool_int64s or [])
    places = _pool_places(pool, ngram_counts, ngram_indexes)
    width = max(ngram_indexes) + 1
    rows = x.reshape(prod(x.shape[:-1]), x.shape[-1]) if x.ndim else x.reshape(1, 1)
    counts = np.zeros((len(rows), width), np.float32)
    for row, total in zip(rows.tolist(), counts):
        for n in range(min_gram_length, max_gram_length + 1):
            for skip in range(max_skip_count + 1 if n > 1 else 1):
                span = (n - 1) * (skip + 1)
                for start in range(len(row) - span):
                    place = places.get(tuple(row[start : start + span + 1 : skip + 1]))
                    if place is not None:
                        total[place[0]] += 1
    factors = np.ones(width, np.float32)
    if weights is not None:
        for index, position in places.values():
            factors[index] = weights[position]
    if mode == "IDF":
        counts = (counts > 0).astype(np.float32)
    result = counts if mode == "TF" else counts * factors
    return result.reshape((*x.shape[:-1], width)) if x.ndim else result.reshape(width)


def _pool_places(
    pool: list[Any], starts: list[int], indexes: list[int]
) -> dict[tuple[Any, ...], tuple[int, int]]:
    """For each n-gram of the pool its column in the output and its number within the pool."""
    places: dict[tuple[Any, ...], tuple[int, int]] = {}
    number = 0
    for n, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)]), start=1):
        for begin in range(start, end, n):
            places[tuple(pool[begin : begin + n])] = (indexes[number], number)
            number += 1
    return places
