"""Bytes of weights on their way into a file: known by a mark until they are written."""
from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from engine.graph.data import TensorData
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
    """The large payloads of one export; a mark stands for each in `raw_data`, as in `engine.graph.wire`."""

    __slots__ = ("_all", "key")

    def __init__(self) -> None:
        self.key = secrets.token_bytes(16)
        self._all: list[Payload] = []

    def raw_data(self, data: TensorData) -> bytes:
        """What stands in `raw_data` for a tensor that is no string: a mark, or the bytes themselves where they are few.

        Raises
        ------
        DataError: they cannot be read.
        """
        payload = data.raw or Packed(data)
        if payload.length < SMALLEST_LIFTED:
            return b"".join(payload.chunks())
        self._all.append(payload)
        return self.key + (len(self._all) - 1).to_bytes(8, "little")

    def of(self, raw_data: bytes) -> Payload | None:
        """The payload that a mark stands for; None if `raw_data` is no mark."""
        if len(raw_data) == len(self.key) + 8 and raw_data.startswith(self.key):
            return self._all[int.from_bytes(raw_data[-8:], "little")]
        return None

    def total(self) -> int:
        """Bytes of all payloads."""
        return sum(payload.length for payload in self._all)
