"""Counts, sizes and names as sentences for people hold them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 200  # characters of a name: finding near ones costs the product of the lengths
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def counted(count: int, noun: str) -> str:
    """A number with its noun, such as ``1 node``, ``2,000 nodes``, ``2 copies`` and ``2 matches``."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}{'es' if noun.endswith(('ch', 'sh', 's', 'x')) else 's'}"


def bytes_text(count: float) -> str:
    """A number of bytes in powers of 1024, such as ``72 KiB``; one that no machine has is only said to be huge."""
    if count >= 1 << 60:
        return "more than 1024 PiB"
    unit = 0
    while count >= 1024:
        count /= 1024
        unit += 1
    return f"{count:.0f} {_UNITS[unit]}" if count >= 999.5 or not unit else f"{count:.3g} {_UNITS[unit]}"


def quoted(names: Iterable[str], limit: int = 8) -> str:
    """Names as a list in a sentence, the first `limit` of them; ``none`` where there is none."""
    listed = [repr(name) for name in names]
    if not listed:
        return "none"
    return ", ".join(listed[:limit]) + (f" and {len(listed) - limit} more" if len(listed) > limit else "")


def meant(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'input_ids'?`` where `name` is nearly one of the `known` names, case aside, else nothing."""
    by_folded = {other.casefold(): other for other in known if len(other) <= _LONGEST}
    close = get_close_matches(name[:_LONGEST].casefold(), by_folded, 1)
    return f"; did you mean {by_folded[close[0]]!r}?" if close else ""
