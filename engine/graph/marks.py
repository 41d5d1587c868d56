"""Marks: short bytes that stand in a message for payloads which are elsewhere."""
from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Generic, TypeVar

Payload = TypeVar("Payload")


class Marks(Generic[Payload]):
    """The payloads of one file. Their marks carry a random key, so that no content of a file can pass for one."""

    __slots__ = ("_payloads", "key")

    def __init__(self) -> None:
        self.key = secrets.token_bytes(16)
        self._payloads: list[Payload] = []

    def add(self, payload: Payload) -> bytes:
        """The mark that stands for a payload from now on."""
        self._payloads.append(payload)
        return self.key + (len(self._payloads) - 1).to_bytes(8, "little")

    def find(self, data: bytes) -> Payload | None:
        """The payload that `data` stands for; None if it is no mark."""
        if len(data) == len(self.key) + 8 and data.startswith(self.key):
            return self._payloads[int.from_bytes(data[-8:], "little")]
        return None

    def __iter__(self) -> Iterator[Payload]:
        return iter(self._payloads)
