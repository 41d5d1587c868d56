"""Bytes of weights on their way into a file: known by a mark until they are written."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.graph.data import TensorData
from engine.graph.marks import Marks
from engine.graph.packing import pack
from engine.graph.storage import Range
from engine.graph.wire import SMALLEST_LIFTED


@dataclass(frozen=True, slots=True)
class Packed:
    """The `raw_data` of a tensor that is not stored as such, made when it is written and not kept."""

    data: TensorData

    @property
    def length(self) -> int:
        return self.data.nbytes

    def chunks(self) -> Iterator[bytes]:
        yield pack(self.data.fetch(), self.data.dtype)


Payload = Range | Packed


class Payloads:
    """The large payloads of one export; a mark stands for each in `raw_data`."""

    __slots__ = ("_marks",)

    def __init__(self) -> None:
        self._marks: Marks[Payload] = Marks()

    @property
    def key(self) -> bytes:
        """What every mark starts with."""
        return self._marks.key

    def raw_data(self, data: TensorData) -> bytes:
        """What stands in `raw_data` for a tensor that is no string: a mark, or the bytes themselves where they are few.

        Raises
        ------
        DataError: they cannot be read.
        """
        payload = data.raw or Packed(data)
        return b"".join(payload.chunks()) if payload.length < SMALLEST_LIFTED else self._marks.add(payload)

    def of(self, raw_data: bytes) -> Payload | None:
        """The payload that a mark stands for; None if `raw_data` is no mark."""
        return self._marks.find(raw_data)

    def total(self) -> int:
        """Bytes of all payloads."""
        return sum(payload.length for payload in self._marks)
