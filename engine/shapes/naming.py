"""Names of the symbols that inference makes up: identifiers, unique in the model."""

from __future__ import annotations

import keyword
import re

_RESERVED = frozenset(keyword.kwlist) | {"min", "max"}


class SymbolNames:
    """Gives each key one name, made from a wish: an identifier that no other key has."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken) | _RESERVED
        self._names: dict[object, str] = {}

    def name(self, key: object, wish: str) -> str:
        """The name of `key`: the wish made an identifier, with a number behind it where that is taken."""
        known = self._names.get(key)
        if known is None:
            base = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_") or "dim"
            base = f"_{base}" if base[0].isdigit() else base
            known, number = base, 1
            while known in self._taken:
                number += 1
                known = f"{base}_{number}"
            self._taken.add(known)
            self._names[key] = known
        return known
