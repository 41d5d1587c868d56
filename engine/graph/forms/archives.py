"""Compressed models: gzip, and zip archives around a single model, unpacked within bounds."""
from __future__ import annotations

import gzip
import io
import os
import shutil
import struct
import tempfile
import zipfile
import zlib
from typing import Any, Protocol

from engine.errors import ModelFormatError
from engine.graph.storage import READ_AT_ONCE, FileStorage, MemoryStorage, Storage

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"

ALWAYS_UNPACKED = 1 << 28  # bytes
LARGEST_RATIO = 100  # weights hardly compress; what grows more than this, and is large, is a bomb
KEPT_IN_MEMORY = 1 << 24  # bytes; more goes into a temporary file

# What zipfile raises for archives that are damaged, or of a kind it does not know.
_ZIP_ERRORS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OSError, EOFError, struct.error)
_IGNORED = ("__MACOSX/", ".DS_Store")


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _StorageFile(io.RawIOBase):
    """A storage as a file for the standard library's readers."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = (0, self._position, self._storage.size)[whence]
        self._position = max(start + offset, 0)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        count = max(min(len(buffer), self._storage.size - self._position), 0)
        buffer[:count] = self._storage.read(self._position, count)
        self._position += count
        return count


def unpack_gzip(storage: Storage, name: str) -> Storage:
    """The content of a gzip file.

    Raises
    ------
    ModelFormatError: it is damaged, or grows beyond what a model can.
    """
    with gzip.GzipFile(fileobj=io.BufferedReader(_StorageFile(storage)), mode="rb") as stream:
        return _unpack(stream, storage.size, name)


def unpack_zip(storage: Storage, name: str) -> tuple[Storage, str]:
    """The content of the one model in a zip archive, and its name there.

    Raises
    ------
    ModelFormatError: the archive holds something else, is damaged or encrypted, or grows beyond what a model can.
    """
    try:
        with zipfile.ZipFile(io.BufferedReader(_StorageFile(storage))) as archive:
            member = _only_model(archive.infolist(), name)
            if member.flag_bits & 1:
                raise ModelFormatError(f"{name} is encrypted: unpack it and open {member.filename!r}")
            with archive.open(member) as stream:
                return _unpack(stream, max(member.compress_size, 1), name), member.filename
    except _ZIP_ERRORS as error:
        raise ModelFormatError(f"{name} is a zip archive that cannot be read: {error}") from error


def _only_model(members: list[zipfile.ZipInfo], name: str) -> zipfile.ZipInfo:
    files = [m for m in members if not m.filename.endswith("/") and not m.filename.startswith(_IGNORED)]
    names = [m.filename for m in files]
    what = _foreign_archive(names)
    if what:
        raise ModelFormatError(f"{name} is {what}")
    models = [m for m in files if m.filename.lower().endswith(".onnx")] or files
    if len(models) == 1:
        return models[0]
    shown = ", ".join(map(repr, names[:3])) + (" …" if len(names) > 3 else "")
    raise ModelFormatError(
        f"{name} is a zip archive of {len(files)} files ({shown}), not of one model: unpack it and open the model"
    )


def _foreign_archive(names: list[str]) -> str:
    if any(n.endswith("/constants.pkl") or "/code/" in n for n in names):
        return "a TorchScript archive: export the model to ONNX where it was made (torch.onnx.export)"
    if any(n.endswith("data.pkl") for n in names):
        return "a PyTorch checkpoint: export the model to ONNX where it was made (torch.onnx.export)"
    if any(n.endswith("model.weights.h5") for n in names):
        return "a Keras model: export it to ONNX where it was made (tf2onnx)"
    if names and all(n.endswith(".npy") for n in names):
        return "an archive of NumPy arrays, not a model: give it to `oinfer run --inputs`"
    return ""


def _unpack(stream: _Readable, packed_size: int, name: str) -> Storage:
    """Read all of `stream`, as far as its size is believable."""
    limit = max(ALWAYS_UNPACKED, packed_size * LARGEST_RATIO)
    try:
        start = stream.read(KEPT_IN_MEMORY)
        if len(start) < KEPT_IN_MEMORY:
            return MemoryStorage(start)
        limit = min(limit, shutil.disk_usage(tempfile.gettempdir()).free // 2)
        with tempfile.TemporaryFile() as file:
            size, chunk = 0, start
            while chunk:
                size += len(chunk)
                if size > limit:
                    raise ModelFormatError(
                        f"{name} unpacks to more than {limit:,} bytes, from {packed_size:,}: refused; unpack it "
                        "yourself if it is what you expect"
                    )
                file.write(chunk)
                chunk = stream.read(READ_AT_ONCE)
            file.flush()
            return FileStorage(os.dup(file.fileno()), name)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        raise ModelFormatError(f"{name} cannot be unpacked: it is damaged, or cut short ({error})") from error
