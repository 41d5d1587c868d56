"""The value of a tensor as arrays with their statistics, planes through them, and files of them. Knows no Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.feeds import save_arrays
from engine.feeds.files import storable
from engine.writing import replacing
from gui.facts.statistics import NumberStatistics, TextStatistics, is_numeric, summarise, summarise_text

if TYPE_CHECKING:
    from gui.background.jobs import Task

Figures = NumberStatistics | TextStatistics


@dataclass(slots=True)
class Loaded:
    """The value of a tensor as arrays: one, or one for each element of a sequence; `note` says so in words."""

    arrays: list[np.ndarray] = field(default_factory=list)
    statistics: list[Figures | None] = field(default_factory=list)
    note: str = ""


def load_value(value: Any, task: Task) -> Loaded:
    """Read a stored value, or take one from a run, and summarise it. Runs away from the GUI thread."""
    elements, note = _elements(value)
    loaded = Loaded(note=note)
    for element in elements:
        task.check()
        array = to_numpy(element)
        loaded.arrays.append(array)
        loaded.statistics.append(_summary(array, task))
    return loaded


def _summary(array: np.ndarray, task: Task) -> Figures | None:
    if not array.size:
        return None
    return summarise(array, task.check) if is_numeric(array) else summarise_text(array, task.check)


def _elements(value: Any) -> tuple[list[Any], str]:
    """A value as a list of arrays, with a word about what it is unless it is a plain tensor."""
    if isinstance(value, dict):
        return [list(value), list(value.values())], "Map: keys at 0, values at 1."
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], dict):
            keys = list(value[0])
            return [np.array([[element.get(k) for k in keys] for element in value])], f"Maps over {len(keys)} keys."
        return list(value), f"Sequence of {len(value)}."
    return [value], ""


def to_numpy(value: Any) -> np.ndarray:
    """A stored or computed value as an array of the host."""
    if hasattr(value, "array"):
        value = value.array()
    if hasattr(value, "get") and not isinstance(value, np.ndarray):  # a device array of CuPy
        value = value.get()
    return np.asarray(value)


@dataclass(frozen=True, slots=True)
class Plane:
    """A two-dimensional slice: which axes run down and across, and where the others are held, in their order."""

    rows: int
    columns: int
    fixed: tuple[int, ...] = ()

    def of(self, array: np.ndarray) -> np.ndarray:
        """The slice as a view; arrays of fewer than two axes come as they are.

        Raises
        ------
        IndexError: the array has other axes, or is too short along one.
        """
        if array.ndim < 2:
            return array
        rest = [axis for axis in range(array.ndim) if axis not in (self.rows, self.columns)]
        if self.rows >= array.ndim or self.columns >= array.ndim or len(rest) != len(self.fixed):
            raise IndexError("the array has other axes")
        plane: np.ndarray = array.transpose([*rest, self.rows, self.columns])[self.fixed]
        return plane


def channel_axis(shape: Sequence[int]) -> int | None:
    """The axis of the three colours of an image, as [.., 3, H, W] or [.., H, W, 3]; None where there is none."""
    if len(shape) < 3 or min(shape[-3:]) < 3:
        return None
    if shape[-3] == 3:
        return len(shape) - 3
    return len(shape) - 1 if shape[-1] == 3 else None


def image_of(array: np.ndarray, fixed: Sequence[int], low: float, high: float) -> np.ndarray:
    """The image [H, W, 3] of bytes that lies at `fixed` of the axes before its three, `low` black and `high` white."""
    channels = channel_axis(array.shape)
    image = np.asarray(array[tuple(fixed)[: array.ndim - 3]]).astype(np.float64)
    if channels == array.ndim - 3:
        image = np.moveaxis(image, 0, -1)
    scaled = (image - low) / ((high - low) or 1.0) * 255
    return np.nan_to_num(scaled, nan=0.0, posinf=255.0, neginf=0.0).clip(0, 255).astype(np.uint8)


def save_value(
    path: str, name: str, arrays: Sequence[np.ndarray], go_on: Callable[[], object] = lambda: None
) -> None:
    """Write a value as .npy, or as .npz with an entry for each element of a sequence; for that, a path that ends
    otherwise gets the ending too, so that nothing is replaced that was not asked for. Where `go_on` raises to stop,
    nothing is left.

    Raises
    ------
    OSError: the file cannot be written.
    """
    target = Path(path)
    if target.suffix == ".npz" or len(arrays) != 1:
        keys = [name] if len(arrays) == 1 else [f"{name}[{place}]" for place in range(len(arrays))]
        save_arrays(path if target.suffix == ".npz" else f"{path}.npz", dict(zip(keys, arrays)), go_on)
        return
    with replacing(target, go_on) as file:
        np.save(file, storable(arrays[0]), allow_pickle=False)  # in one piece, past the file's own check
        go_on()


def figures_text(figures: Figures) -> str:
    """The statistics in one line."""
    if isinstance(figures, TextStatistics):
        return f"{figures.distinct:,} distinct · {figures.empty:,} empty · longest {figures.longest:,} characters"
    s = figures
    share = s.zeros / s.size if s.size else 0
    what = "|x| " if s.magnitudes else ""
    parts = [
        f"{what}min {number_text(s.minimum)}", f"max {number_text(s.maximum)}", f"mean {s.mean:.4g}",
        f"std {s.deviation:.4g}", f"zeros {s.zeros:,} ({share:.1%})", f"negative {s.negatives:,}",
        f"NaN {s.nans:,}", f"Inf {s.infinities:,}", f"denormal {s.subnormals:,}",
    ]  # fmt: skip
    return " · ".join(parts)


def number_text(value: float) -> str:
    """A figure: whole numbers in full, others to four digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
