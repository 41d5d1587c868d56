"""Which values of a run are kept to be looked at; all others go as soon as nobody needs them any more."""
from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fnmatch import fnmatchcase

from engine.graph.ir import Tensor


class Keep(StrEnum):
    """What a run keeps beyond its outputs."""

    ALL = "all"  # every tensor
    MATCHING = "matching"  # tensors whose qualified name matches a pattern
    STATISTICS = "statistics"  # of every tensor a few figures, no values
    NONE = "none"


def keeps(keep: Keep, pattern: str) -> Callable[[Tensor], bool]:
    """Whether the value of a tensor is kept; `pattern` has the wildcards ``*``, ``?`` and ``[...]``."""
    if keep is Keep.ALL:
        return lambda tensor: True
    if keep is Keep.MATCHING:
        return lambda tensor: fnmatchcase(tensor.qualified_name, pattern)
    return lambda tensor: False
