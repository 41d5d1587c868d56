"""A PNG of any size, written band by band: Qt's own writer needs the whole picture in memory, 32,767 px a side at most.

Source: Portable Network Graphics (PNG) Specification, third edition, W3C.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

LEVEL = 6
SIGNATURE = b"\x89PNG\r\n\x1a\n"
RGB = 2
FILTER_UP = 2  # each row as the difference from the one above, which suits pictures with many equal rows
Pixels = NDArray[np.uint8]


def write_png(file: BinaryIO, width: int, height: int, bands: Iterator[Pixels], title: str = "") -> None:
    """Write a picture.

    Parameters
    ----------
    bands
        Rows from top to bottom, arrays of shape (rows, width, 3), `height` rows in all.
    """
    file.write(SIGNATURE)
    _chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, 8, RGB, 0, 0, 0))
    if title:
        _chunk(file, b"iTXt", b"Title\0\0\0\0\0" + title.encode(errors="replace"))
    packer = zlib.compressobj(LEVEL)
    above = np.zeros((1, width * 3), np.uint8)
    for band in bands:
        rows = band.reshape(len(band), width * 3)
        filtered = np.empty((len(rows), 1 + width * 3), np.uint8)
        filtered[:, 0] = FILTER_UP
        filtered[:1, 1:] = rows[:1] - above
        filtered[1:, 1:] = rows[1:] - rows[:-1]
        above = rows[-1:].copy()
        _chunk(file, b"IDAT", packer.compress(filtered.tobytes()))
    _chunk(file, b"IDAT", packer.flush())
    _chunk(file, b"IEND", b"")


def _chunk(file: BinaryIO, kind: bytes, data: bytes) -> None:
    if data or kind == b"IEND":
        file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
