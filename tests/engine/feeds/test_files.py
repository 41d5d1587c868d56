"""Files of tensors that are missing, damaged, of another kind, or dangerous: each is refused in words."""

from __future__ import annotations

import copy
import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from onnx import numpy_helper

from engine import feeds
from engine.errors import InputError


def saved(path: Path, **arrays: np.ndarray) -> bytes:
    np.savez_compressed(path, **arrays)
    return path.read_bytes()


def damaged(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


def zipped(name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def test_files_that_hold_no_inputs_say_why(tmp_path: Path) -> None:
    x, objects = np.arange(1000, dtype=np.float32), np.array([{}], object)
    whole, plain = saved(tmp_path / "whole.npz", x=x), io.BytesIO()
    np.save(plain, x)
    pickled = io.BytesIO()
    np.save(pickled, objects, allow_pickle=True)
    stored = numpy_helper.from_array(x, "x")
    wrong_type, empty = copy.deepcopy(stored), copy.deepcopy(stored)
    wrong_type.data_type = 99
    empty.ClearField("raw_data")
    for name, content, says in (
        ("none.npz", saved(tmp_path / "none.npz"), "none.npz holds no arrays"),
        ("outputs.npz", saved(tmp_path / "o.npz", **{"out:y": x}), "holds no inputs, but outputs alone: 'out:y'"),
        ("empty.npz", b"", "empty.npz is empty"),
        ("text.npz", b"hello world", r"is not an .npz, .npy or .pb file: it begins with b'hello '"),
        ("list.npz", pickle.dumps([]), "is not an .npz, .npy or .pb file"),
        ("cut.npz", whole[:1000], "cut.npz cannot be read"),
        ("head.npz", damaged(whole, 60), "head.npz cannot be read"),
        ("body.npz", damaged(whole, 300), "body.npz cannot be read"),
        ("other.npz", zipped("readme.txt", b"hello"), "is no .npz file: it holds 'readme.txt', which is no array"),
        ("named.npz", zipped("x.npy", b"hello"), "is no .npz file: it holds 'x', which is no array"),
        ("objects.npz", zipped("x.npy", pickled.getvalue()), "pickled objects, which can run code, are refused"),
        ("objects.npy", pickled.getvalue(), "pickled objects, which can run code, are refused"),
        ("cut.npy", plain.getvalue()[:1000], "cut.npy cannot be read"),
        ("head.npy", plain.getvalue()[:50], "head.npy cannot be read"),
        ("text.pb", b"hello world", "does not hold one tensor"),
        ("cut.pb", stored.SerializeToString()[:100], "does not hold one tensor"),
        ("type.pb", wrong_type.SerializeToString(), "there is no element type 99"),
        ("data.pb", empty.SerializeToString(), "does not hold one tensor"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError) as told:
            feeds.load_feeds(path)
        assert says in str(told.value)
        assert str(path) in str(told.value)
        assert "allow_pickle" not in str(told.value)


def test_no_damage_leads_to_another_error(tmp_path: Path) -> None:
    """NumPy's reader of headers fails in many ways; whatever byte is wrong, a file is read or refused."""
    path, refused = tmp_path / "x.npz", 0
    whole = saved(path, x=np.arange(9))
    for at in range(len(whole)):
        path.write_bytes(damaged(whole, at))
        try:
            feeds.load_feeds(path)
        except InputError:
            refused += 1
    assert refused > len(whole) / 2


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"<html>", b"\x93NUMPY\x01\x00garbage"])
@pytest.mark.parametrize("ending", ["npz", "npy", "pb"])
def test_files_that_hold_nothing_are_refused(tmp_path: Path, content: bytes, ending: str) -> None:
    file = tmp_path / f"f.{ending}"
    file.write_bytes(content)
    with pytest.raises(InputError, match="f\\." + ending):
        feeds.load_feeds(file)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        feeds.load_feeds(tmp_path / "none.npz")
    with pytest.raises(InputError, match=r"folder without input_0\.pb"):
        feeds.load_feeds(tmp_path)


def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.npz")
    for path in (tmp_path / "x.npz", "/dev/zero"):
        with pytest.raises(InputError, match="is not a regular file"):
            feeds.load_arrays(path)
    os.mkfifo(tmp_path / "input_0.pb")
    with pytest.raises(InputError, match="is not a regular file"):
        feeds.load_feeds(tmp_path)
