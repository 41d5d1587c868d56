"""Weights in files beside the model (onnx.proto, `TensorProto.external_data`), read only inside the model's folder."""
from __future__ import annotations

import os
import stat

from engine.errors import DataError
from engine.graph.storage import ClosedFileStorage, Range


class ExternalFiles:
    """The data files of one model.

    A file counts as inside when its real path, all links followed, lies in one of the model's folders: caches lay
    models out as links into a folder of blobs, both the model's and its data's.
    """

    __slots__ = ("_allow_links", "_files", "_folders")

    def __init__(self, folders: tuple[str, ...], allow_links: bool = False) -> None:
        """`folders` are absolute and free of links; `allow_links` admits links that lead out of them."""
        self._folders = folders
        self._allow_links = allow_links
        self._files: dict[str, ClosedFileStorage] = {}

    @property
    def paths(self) -> list[str]:
        """The files that tensors have been located in, free of links."""
        return [file.path for file in self._files.values()]

    def locate(self, entries: dict[str, str], needed: int) -> Range:
        """Check a tensor's external_data entries against the files that are there; reads no data.

        Parameters
        ----------
        needed: the number of bytes that dims and dtype ask for.

        Raises
        ------
        DataError: with code "external-path" (outside the model's folder), "external-link" (a link that leads outside),
            "external-missing" or "external-range".
        """
        location = entries.get("location", "")
        file = self._files.get(location)
        if file is None:
            file = self._files[location] = self._find(location)
        offset, length = _number(entries, "offset", 0), _number(entries, "length", needed)
        if length != needed:
            raise DataError(f"{location!r} gives it {length} bytes where its shape needs {needed}", "external-range")
        if offset + length > file.size:
            raise DataError(
                f"bytes {offset} to {offset + length} of {location!r} are asked for, which has {file.size}",
                "external-range",
            )
        return Range(file, offset, length)

    def _find(self, location: str) -> ClosedFileStorage:
        if not self._folders:
            raise DataError(f"it is stored in {location!r}, and a model in memory has no folder", "external-missing")
        parts = location.replace("\\", "/").split("/")
        if not location or os.path.isabs(location) or ".." in parts or "\0" in location:
            raise DataError(f"its location {location!r} is not inside the model's folder: refused", "external-path")
        for folder in self._folders:
            path = os.path.join(folder, location)
            try:
                mode = os.stat(path).st_mode
            except OSError:
                continue
            if not stat.S_ISREG(mode):
                raise DataError(f"{location!r} is not a regular file: refused", "external-path")
            path = os.path.realpath(path)
            if not self._allow_links and not any(os.path.commonpath([f, path]) == f for f in self._folders):
                message = (
                    f"{location!r} is a link to {path!r}, outside the model's folder: refused, unless links are allowed"
                )
                raise DataError(message, "external-link")
            return ClosedFileStorage(path, location)
        raise DataError(f"{location!r} is not in the model's folder", "external-missing")


def _number(entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        raise DataError(f"its external {key} is {text[:30]!r}, not a byte count", "external-range")
    return int(text)
