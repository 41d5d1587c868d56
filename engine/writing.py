"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO


class _Device(io.FileIO):
    """A device or a pipe, written to from the beginning to the end.

    /dev/null says that it can be sought in and always stands at 0, which archives would take for a place in the file.
    """

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        raise io.UnsupportedOperation("a device has no places")


class _Stoppable(io.FileIO):
    """A new file that asks before each piece whether to go on."""

    def __init__(self, path: str, go_on: Callable[[], object]) -> None:
        super().__init__(path, "xb")
        self._go_on = go_on

    def write(self, data: Any, /) -> int:
        self._go_on()
        return super().write(data)


@contextmanager
def replacing(path: str | os.PathLike[str], go_on: Callable[[], object] = lambda: None) -> Iterator[BinaryIO]:
    """A file for writing that takes the place of `path` once it is complete; if writing fails, what was there stays.

    A link stays a link, as what it leads to is replaced; a device or a pipe is written to as it is. `go_on` is called
    before each piece is written and may raise to stop.

    Raises
    ------
    OSError: the file cannot be written.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with io.BufferedWriter(_Device(path, "wb")) as file:
            yield file
        return
    target = os.path.realpath(path)
    # To replace a file takes rights on its folder alone; those on the file itself say whether it may be.
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)
    # Not named after the target, whose name may be as long as a name can be.
    part = os.path.join(os.path.dirname(target), f".oinfer-{secrets.token_hex(8)}.part")
    try:
        with io.BufferedWriter(_Stoppable(part, go_on)) as file:
            yield file
        if os.path.exists(target):
            shutil.copymode(target, part)
        os.replace(part, target)
    except BaseException:
        if os.path.exists(part):
            os.remove(part)
        raise
