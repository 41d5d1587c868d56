"""Stored bytes, read by range: of a file, or of memory.

Files are read, not mapped. A mapped file that somebody writes anew (an export over the same path, while the model is
open) kills the process with SIGBUS; reading finds the change and says so. It also costs no more than what was asked
for, where the kernel maps whole folios around each touched page, and what it gives is aligned.
"""
from __future__ import annotations

import errno
import os
import stat
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from engine.errors import DataError

READ_AT_ONCE = 1 << 24  # bytes; one system call gives at most 2 GiB


class Storage(Protocol):
    """Something of `size` bytes that can be read in ranges, by several threads at a time."""

    @property
    def size(self) -> int: ...

    def read(self, offset: int, length: int) -> bytes:
        """Exactly `length` bytes from `offset` on, aligned for every element type.

        Raises
        ------
        DataError: the bytes are no longer there.
        """
        ...


@dataclass(frozen=True, slots=True)
class Range:
    """A range of stored bytes, to be read when somebody asks."""

    storage: Storage
    offset: int
    length: int

    def read(self) -> bytes:
        """All of its bytes; see `Storage.read`."""
        return self.storage.read(self.offset, self.length)

    def chunks(self) -> Iterator[bytes]:
        """Its bytes in pieces of at most `READ_AT_ONCE`."""
        for start in range(0, self.length, READ_AT_ONCE):
            yield self.storage.read(self.offset + start, min(READ_AT_ONCE, self.length - start))


class MemoryStorage:
    """Bytes in memory."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def size(self) -> int:
        return len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        return self._data[offset : offset + length]


class FileStorage:
    """A file that stays open, so that a new file under its name does not matter; a change of the file itself does."""

    def __init__(self, handle: int, name: str) -> None:
        """Take over the file descriptor `handle`; `name` is the file's name for people."""
        self._handle = handle
        self._name = name
        self._stamp = _stamp(os.fstat(handle))
        weakref.finalize(self, os.close, handle)

    @property
    def size(self) -> int:
        return self._stamp[0]

    def read(self, offset: int, length: int) -> bytes:
        return _read(self._handle, offset, length, self._stamp, self._name)


class ClosedFileStorage:
    """A file that is opened for each reading: a model may have more data files than a process may have open."""

    __slots__ = ("_name", "_stamp", "path")

    def __init__(self, path: str, name: str) -> None:
        """`path` is free of links (`os.path.realpath`), `name` the file's name for people.

        Raises
        ------
        OSError: the file is not there.
        """
        self.path = path
        self._name = name
        self._stamp = _stamp(os.stat(path))

    @property
    def size(self) -> int:
        return self._stamp[0]

    def read(self, offset: int, length: int) -> bytes:
        try:
            handle = open_regular(self.path)
        except OSError as error:
            raise DataError(f"cannot read {self._name!r}: {error.strerror or error}", "external-missing") from error
        try:
            return _read(handle, offset, length, self._stamp, self._name)
        finally:
            os.close(handle)


def open_regular(path: str) -> int:
    """A descriptor of the regular file `path`, for reading; never waits, as a pipe would have it.

    Raises
    ------
    OSError: it cannot be opened, or is a device, a pipe or a folder.
    """
    if stat.S_ISREG(os.stat(path).st_mode):  # looked at first: to open a device can already do something
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
    raise OSError(errno.EINVAL, "it is not a regular file")


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _read(handle: int, offset: int, length: int, stamp: tuple[int, int], name: str) -> bytes:
    try:
        if _stamp(os.fstat(handle)) == stamp:
            data = _read_fully(handle, offset, length)
            if len(data) == length:
                return data
    except OSError as error:
        raise DataError(f"cannot read {name!r}: {error.strerror or error}") from error
    raise DataError(f"{name!r} has changed since the model was opened: open the model again")


def _read_fully(handle: int, offset: int, length: int) -> bytes:
    """Up to `length` bytes; fewer at the file's end. One system call, and no copy, is the usual case."""
    data = os.pread(handle, length, offset)
    if len(data) == length or not data:
        return data
    pieces, have = [data], len(data)
    while have < length:
        data = os.pread(handle, min(length - have, READ_AT_ONCE), offset + have)
        if not data:
            break
        pieces.append(data)
        have += len(data)
    return b"".join(pieces)
