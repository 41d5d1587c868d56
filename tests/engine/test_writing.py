"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from engine.errors import ExportError
from engine.feeds import load_arrays, save_arrays
from engine.writing import replacing


def test_what_was_there_stays_until_the_file_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replacing(target) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with suppress(KeyboardInterrupt), replacing(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_stopped_on_the_way_nothing_is_left(tmp_path: Path) -> None:
    target, pieces = tmp_path / "a.txt", [b"x" * 100_000] * 3
    target.write_text("old")
    asked = 0

    def go_on() -> None:
        nonlocal asked
        asked += 1
        if asked >= 3:
            raise InterruptedError

    with suppress(InterruptedError), replacing(target, go_on) as file:
        for piece in pieces:
            file.write(piece)
    assert asked >= 3
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    real, link = tmp_path / "inner" / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    """As ``--outputs >(cat)`` and ``/dev/null`` need it: root would replace the device itself."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    save_arrays(pipe, {"x": np.arange(3)})
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "copy.npz").write_bytes(got[0])
    assert load_arrays(tmp_path / "copy.npz")["x"].tolist() == [0, 1, 2]


def test_arrays_go_into_the_null_device() -> None:
    """Which says that it can be sought in, and always stands at 0."""
    assert save_arrays(os.devnull, {"x": np.arange(3), "y": np.zeros(100_000)}) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    link = tmp_path / "full.npz"
    link.symlink_to("/dev/full")
    with pytest.raises(ExportError, match="No space left"):
        save_arrays(link, {"x": np.zeros(100_000)})


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(PermissionError), replacing(target):
        pass
    assert target.read_text() == "old"


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    target = tmp_path / ("n" * 251 + ".txt")
    with replacing(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"


def test_names_that_no_archive_can_hold_are_left_out(tmp_path: Path) -> None:
    arrays = {"n" * 65_531: np.ones(1), "n" * 65_532: np.ones(1), "\udcff": np.ones(1), "x": np.ones(1)}
    assert save_arrays(tmp_path / "a.npz", arrays) == ["n" * 65_532, "\udcff"]
    assert list(load_arrays(tmp_path / "a.npz")) == ["n" * 65_531, "x"]
