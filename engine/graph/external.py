"""Weights in files beside the model (onnx.proto, `TensorProto.external_data`), read only inside the model's folder."""
from __future__ import annotations

import mmap
import os
import stat
from dataclasses import dataclass

from engine.errors import DataError


@dataclass(frozen=True, slots=True)
class ExternalRange:
    """Where a tensor's bytes lie: a file inside the model's folder, an offset and a length in bytes."""

    location: str
    path: str
    offset: int
    length: int


class ExternalFiles:
    """The data files of one model, each mapped once, on first use."""

    __slots__ = ("_folder", "_maps")

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._maps: dict[str, mmap.mmap] = {}

    def locate(self, entries: dict[str, str], needed: int) -> ExternalRange:
        """Check a tensor's external_data entries against the files that are there; reads no data.

        Parameters
        ----------
        needed: the number of bytes that dims and dtype ask for.

        Raises
        ------
        DataError: with code "external-path" (outside the model's folder), "external-missing" or "external-range".
        """
        location = entries.get("location", "")
        path = self._resolve(location)
        offset, length = _number(entries, "offset", 0), _number(entries, "length", needed)
        size = os.stat(path).st_size
        if length != needed:
            raise DataError(f"{location!r} gives it {length} bytes where its shape needs {needed}", "external-range")
        if offset + length > size:
            raise DataError(
                f"bytes {offset} to {offset + length} of {location!r} are asked for, which has {size}", "external-range"
            )
        return ExternalRange(location, path, offset, length)

    def view(self, place: ExternalRange) -> memoryview:
        """The bytes of a located range, as a view of the mapped file.

        Raises
        ------
        DataError: the file has been removed or shortened since it was located.
        """
        try:
            if place.path not in self._maps:
                with open(place.path, "rb") as file:
                    self._maps[place.path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise DataError(f"cannot read {place.location!r}: {error}", "external-missing") from error
        view = memoryview(self._maps[place.path])[place.offset : place.offset + place.length]
        if len(view) != place.length:
            raise DataError(f"{place.location!r} has become shorter since the model was opened", "external-range")
        return view

    def _resolve(self, location: str) -> str:
        if self._folder is None:
            raise DataError(f"it is stored in {location!r}, and a model in memory has no folder", "external-missing")
        parts = location.replace("\\", "/").split("/")
        if not location or os.path.isabs(location) or ".." in parts or "\0" in location:
            raise DataError(f"its location {location!r} is not inside the model's folder: refused", "external-path")
        path = os.path.realpath(os.path.join(self._folder, location))
        if os.path.commonpath([self._folder, path]) != self._folder:
            raise DataError(f"{location!r} is a link to {path!r}, outside the model's folder: refused", "external-path")
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            raise DataError(f"{location!r} is not in the model's folder", "external-missing") from error
        if not stat.S_ISREG(mode):
            raise DataError(f"{location!r} is not a regular file: refused", "external-path")
        return path


def _number(entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        raise DataError(f"its external {key} is {text[:30]!r}, not a byte count", "external-range")
    return int(text)
