"""Values as arrays, planes through them, pictures and files."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from PySide6.QtGui import QColor

from gui.background.jobs import Cancelled, Task
from gui.facts.statistics import NumberStatistics, TextStatistics
from gui.facts.tensor_values import Plane, channel_axis, figures_text, image_of, load_value, save_value
from gui.widgets.heat_map import coloured

TASK = Task(lambda *_: None)
CUBE = np.arange(24).reshape(2, 3, 4)


def test_any_two_axes_make_a_plane() -> None:
    assert np.array_equal(Plane(1, 2, (1,)).of(CUBE), CUBE[1])
    assert np.array_equal(Plane(2, 1, (1,)).of(CUBE), CUBE[1].T)
    assert np.array_equal(Plane(0, 2, (2,)).of(CUBE), CUBE[:, 2])
    assert np.array_equal(Plane(2, 0, (2,)).of(CUBE), CUBE[:, 2].T)
    assert np.shares_memory(Plane(0, 2, (2,)).of(CUBE), CUBE)
    vector = np.arange(5)
    assert Plane(0, 0).of(vector) is vector


@pytest.mark.parametrize(("plane", "shape"), [(Plane(1, 2, (2,)), (2, 3, 4)), (Plane(1, 2, (0,)), (3, 4)),
                                              (Plane(2, 3), (2, 2, 2))])  # fmt: skip
def test_a_plane_of_another_array_is_refused(plane: Plane, shape: tuple[int, ...]) -> None:
    with pytest.raises(IndexError):
        plane.of(np.zeros(shape))


def test_where_the_colours_are() -> None:
    assert channel_axis((1, 3, 8, 8)) == 1
    assert channel_axis((1, 8, 8, 3)) == 3
    assert channel_axis((8, 8)) is None
    assert channel_axis((1, 4, 8, 8)) is None
    assert channel_axis((3, 1, 1)) is None


def test_an_image_by_hand() -> None:
    planes = np.zeros((3, 4, 5), np.float32)
    planes[0, 1, 2], planes[2, 3, 4] = 1.0, np.nan
    image = image_of(planes[None], (0,), 0.0, 1.0)
    assert image.shape == (4, 5, 3)
    assert image[1, 2].tolist() == [255, 0, 0]
    assert image[3, 4].tolist() == [0, 0, 0]
    last = np.ascontiguousarray(np.moveaxis(planes, 0, -1))
    assert np.array_equal(image_of(last[None], (0, 0), 0.0, 1.0), image)


def test_colours_of_a_plane() -> None:
    odd = QColor("magenta")
    picture = coloured(np.array([[-1.0, 0.0, 2.0, np.nan, np.inf]]), -1.0, 2.0, odd)
    assert picture[0, 3].tolist() == picture[0, 4].tolist() == [255, 0, 255]
    red, _, blue = picture[0, 2].tolist()
    assert red > blue  # the largest
    assert picture[0, 0, 2] > picture[0, 0, 0]  # below zero
    assert min(picture[0, 1]) > 235  # zero is white
    assert np.array_equal(coloured(np.zeros((1, 1)), 0.0, 0.0, odd), coloured(np.zeros((1, 1)), 0.0, 1.0, odd))


def test_sequences_and_maps() -> None:
    loaded = load_value([np.zeros(2), np.ones((2, 2))], TASK)
    assert [a.shape for a in loaded.arrays] == [(2,), (2, 2)]
    assert loaded.note == "Sequence of 2."
    loaded = load_value([{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}], TASK)
    assert loaded.arrays[0].tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_statistics_of_every_kind() -> None:
    tiny = np.array([0.0, 1e-40, -1e-40, 1.0, np.inf], np.float32)
    (s,) = load_value(tiny, TASK).statistics
    assert isinstance(s, NumberStatistics)
    assert (s.subnormals, s.zeros, s.negatives, s.infinities) == (2, 1, 1, 1)
    half = np.array([6e-8, 1.0], ml_dtypes.bfloat16)  # far above the smallest of bfloat16
    (s,) = load_value(half, TASK).statistics
    assert isinstance(s, NumberStatistics)
    assert s.subnormals == 0
    (s,) = load_value(np.array([6e-8, 1.0], np.float16), TASK).statistics
    assert isinstance(s, NumberStatistics)
    assert s.subnormals == 1
    (s,) = load_value(np.array([3 + 4j, 0]), TASK).statistics
    assert isinstance(s, NumberStatistics)
    assert (s.magnitudes, s.minimum, s.maximum) == (True, 0, 5)
    (s,) = load_value(np.array([2**62 + 1, 2**62], np.int64), TASK).statistics
    assert isinstance(s, NumberStatistics)
    assert (s.minimum, s.maximum) == (2**62, 2**62 + 1)
    (words,) = load_value(np.array(["a", "", "long", "a"], object), TASK).statistics
    assert words == TextStatistics(size=4, empty=1, distinct=3, longest=4)
    assert figures_text(words) == "3 distinct · 1 empty · longest 4 characters"
    assert load_value(np.zeros((0, 3)), TASK).statistics == [None]


def test_files(tmp_path: Path) -> None:
    save_value(str(tmp_path / "a.npy"), "t", [CUBE])
    assert np.array_equal(np.load(tmp_path / "a.npy"), CUBE)
    save_value(str(tmp_path / "b.npy"), "t", [np.array([1.5, 2], ml_dtypes.bfloat16)])
    assert np.load(tmp_path / "b.npy").tolist() == [1.5, 2.0]
    save_value(str(tmp_path / "c.npz"), "t/x", [CUBE])
    assert np.array_equal(np.load(tmp_path / "c.npz")["t/x"], CUBE)
    np.savez(tmp_path / "d.npz", other=np.ones(1))
    save_value(str(tmp_path / "d.npy"), "t", [np.zeros(1), np.ones(2)])
    assert list(np.load(tmp_path / "d.npz")) == ["other"]
    assert np.load(tmp_path / "d.npy.npz")["t[1]"].tolist() == [1, 1]


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_a_file_that_nobody_wants_any_more_is_not_left(name: str, tmp_path: Path) -> None:
    task = Task(lambda *_: None)
    task.cancel()
    with pytest.raises(Cancelled):
        save_value(str(tmp_path / name), "t", [CUBE], task.check)
    assert not list(tmp_path.iterdir())
