"""FlatBuffers read by range: the tables of a file, without the large vectors in it.

Every offset of a file may lie, so each read is held against the file's size. What is shared is read again, so that a
small file may describe a huge tree: what is read in all is bounded. (The `flatbuffers` package needs the whole file in
memory.) Source: FlatBuffers, "Internals": little-endian; a table starts with the way back to its vtable, which says
where in the table each field is; offsets to texts, vectors and tables lead forward.
"""
from __future__ import annotations

import struct
from typing import Any

from engine.graph.storage import Range, Storage

BLOCK = 1 << 12  # bytes read at a time: few of the weights between the tables come with them
LEAST_TABLE = 8  # bytes of a table that is not shared, with what leads to it
READ_COST = 32  # bytes that reading anything counts for, however short
MOST_READ = 16  # times the size of the file: honest files share names, and come to a quarter of it

_OVERLAP = 8  # so that no scalar lies across the end of its block
_UINT32, _INT32, _UINT16 = struct.Struct("<I"), struct.Struct("<i"), struct.Struct("<H")


class FlatbufferError(Exception):
    """The bytes are not what the format allows; the message says at which byte."""


class Flatbuffer:
    """A buffer, read by blocks that are kept for as long as it lives."""

    __slots__ = ("_blocks", "_bytes_left", "_tables_left", "storage")

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._blocks: dict[int, bytes] = {}
        self._bytes_left = storage.size * MOST_READ + (1 << 20)
        self._tables_left = storage.size // LEAST_TABLE

    def root(self) -> Table:
        """The table that the buffer starts with."""
        return self.table_at(0)

    def scalar(self, kind: struct.Struct, at: int) -> Any:
        """The number at a byte."""
        if not 0 <= at <= self.storage.size - kind.size:
            raise FlatbufferError(f"byte {at:,} is outside of the file")
        number, within = divmod(at, BLOCK)
        block = self._blocks.get(number)
        if block is None:
            start = number * BLOCK
            block = self.storage.read(start, min(BLOCK + _OVERLAP, self.storage.size - start))
            self._blocks[number] = block
        return kind.unpack_from(block, within)[0]

    def follow(self, at: int) -> int:
        """Where the offset at a byte leads."""
        target: int = at + self.scalar(_UINT32, at)
        return target

    def vector_at(self, at: int, size: int) -> Range:
        """The elements, of `size` bytes each, of the vector that the offset at a byte leads to."""
        start = self.follow(at)
        length = self.scalar(_UINT32, start) * size
        if length > self.storage.size - start - 4:
            raise FlatbufferError(f"the vector at byte {start:,} is longer than the file")
        return Range(self.storage, start + 4, length)

    def read(self, place: Range) -> bytes:
        """The bytes of a vector."""
        self._bytes_left -= place.length + READ_COST
        if self._bytes_left < 0:
            raise FlatbufferError(f"it names the same things again and again, to over {MOST_READ} times its size")
        number, within = divmod(place.offset, BLOCK)
        if number in self._blocks and within + place.length <= BLOCK:
            return self._blocks[number][within : within + place.length]
        return place.read()

    def table_at(self, at: int) -> Table:
        """The table that the offset at a byte leads to."""
        self._tables_left -= 1
        if self._tables_left < 0:
            raise FlatbufferError("it describes more things than it can hold")
        return Table(self, self.follow(at))


class Table:
    """A table, whose fields are asked for by slot: their number in the schema, from 0 on. Absent fields are empty."""

    __slots__ = ("_at", "_buffer", "_fields", "_vtable")

    def __init__(self, buffer: Flatbuffer, at: int) -> None:
        self._buffer, self._at = buffer, at
        self._vtable = at - buffer.scalar(_INT32, at)
        self._fields = (buffer.scalar(_UINT16, self._vtable) - 4) // 2

    def number(self, slot: int, kind: struct.Struct, default: Any = 0) -> Any:
        """A scalar."""
        at = self._field(slot)
        return self._buffer.scalar(kind, at) if at else default

    def text(self, slot: int) -> bytes:
        """A string as its bytes, which should be UTF-8."""
        at = self._field(slot)
        return self._text_at(at) if at else b""

    def texts(self, slot: int) -> list[bytes]:
        """A vector of strings."""
        return [self._text_at(at) for at in self._places(slot)]

    def table(self, slot: int) -> Table | None:
        """A table, or a union whose kind is known."""
        at = self._field(slot)
        return self._buffer.table_at(at) if at else None

    def tables(self, slot: int) -> list[Table]:
        """A vector of tables."""
        return [self._buffer.table_at(at) for at in self._places(slot)]

    def numbers(self, slot: int, kind: struct.Struct) -> list[Any]:
        """A vector of scalars."""
        place = self.vector(slot, kind.size)
        return [number for (number,) in kind.iter_unpack(self._buffer.read(place))] if place else []

    def vector(self, slot: int, size: int = 1) -> Range | None:
        """Where the elements of a vector lie, unread; `size`: bytes of each. None where there is no vector."""
        at = self._field(slot)
        return self._buffer.vector_at(at, size) if at else None

    def _field(self, slot: int) -> int:
        """Where a field is; 0 if the table does not have it."""
        if slot >= self._fields:
            return 0
        offset: int = self._buffer.scalar(_UINT16, self._vtable + 4 + 2 * slot)
        return self._at + offset if offset else 0

    def _text_at(self, at: int) -> bytes:
        return self._buffer.read(self._buffer.vector_at(at, 1))

    def _places(self, slot: int) -> range:
        place = self.vector(slot, 4)
        return range(place.offset, place.offset + place.length, 4) if place else range(0)
