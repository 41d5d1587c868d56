"""Names of symbols: identifiers, unique in the model."""

from __future__ import annotations

import keyword
import re

_RESERVED = frozenset(keyword.kwlist) | {"min", "max"}


class SymbolNames:
    """Gives each key one name, made from a wish: an identifier that no other key has."""

    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken) | _RESERVED
        self._names: dict[object, str] = {}

    @staticmethod
    def is_plain(name: str) -> bool:
        """Whether a name can stand as it is."""
        return name.isidentifier() and name not in _RESERVED

    def declared(self, name: str) -> str:
        """The identifier for a name that the file declares; the same for the same name."""
        return name if self.is_plain(name) else self.name(("declared", name), name)

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
