"""How much memory a run will take, from inferred shapes, before anything is allocated."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.graph.ir import Model
from engine.memory import available_bytes, estimate_memory
from engine.words import bytes_text


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes that the values of a run take together, those free, and the number of tensors whose size is not known."""

    needed: int
    free: int
    unknown: int = 0

    @property
    def fits(self) -> bool:
        return self.needed <= self.free

    @property
    def words(self) -> str:
        """``needs about 1.2 GiB of 20 GiB``."""
        about = "at least" if self.unknown else "about"
        text = f"needs {about} {bytes_text(self.needed)} of {bytes_text(self.free)}"
        return text if self.fits else f"{text}: choose smaller dims, or do not compare every tensor"


def estimate(model: Model, dims: Mapping[str, int], both_sides: bool) -> Estimate:
    """What the run that keeps every tensor takes, of one side or of both."""
    found = estimate_memory(model.graph, dims)
    return Estimate(found.nbytes * (2 if both_sides else 1), available_bytes(), found.unknown)
