"""How much memory a run will take, from inferred shapes, before anything is allocated."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.graph.ir import Model
from engine.memory import available_bytes, needed_bytes
from gui.text import bytes_text

_CHECK_EVERY = 256  # tensors


@dataclass(frozen=True, slots=True)
class Estimate:
    """Bytes that the values of a run take together, those free, and the number of tensors whose size is not known."""

    needed: int
    free: int
    unknown: int = 0

    @property
    def fits(self) -> bool:
        """Whether the machine has that much now."""
        return self.needed <= self.free

    @property
    def words(self) -> str:
        """``needs about 1.2 GiB of 20 GiB``."""
        about = "at least" if self.unknown else "about"
        text = f"needs {about} {bytes_text(self.needed)} of {bytes_text(self.free)}"
        return text if self.fits else f"{text}: choose smaller dims, or do not compare every tensor"


def estimate(
    model: Model, dims: Mapping[str, int], both_sides: bool, check: Callable[[], None] = lambda: None
) -> Estimate:
    """Sum up what nodes compute, subgraphs counted once, for one side or for both; and the inputs."""
    needed = unknown = 0
    feeds = set(model.graph.feeds)
    for graph in model.graph.walk():
        for number, tensor in enumerate(graph.tensors.values()):
            if number % _CHECK_EVERY == 0:
                check()
            if tensor.producer is None and tensor not in feeds:
                continue
            nbytes = needed_bytes(tensor, dims)
            if nbytes is None:
                unknown += 1
            else:
                needed += nbytes * (2 if both_sides and tensor.producer is not None else 1)
    return Estimate(needed, available_bytes(), unknown)
