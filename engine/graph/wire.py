"""Lifting weights out of a serialised ModelProto without parsing them.

The protobuf parser copies every byte of a model. Most of those bytes are `raw_data` of tensors, so a walk over the
wire format cuts them out first: what is left is small, and each weight is known by where it lies in the file.
Source: Protocol Buffers encoding, and onnx.proto (IR version 14) for the field numbers.
"""
from __future__ import annotations

import secrets
from dataclasses import dataclass
from mmap import mmap
from typing import TypeAlias

from engine.errors import ModelFormatError

Buffer: TypeAlias = "bytes | mmap"

SMALLEST_LIFTED = 1024  # bytes; a message shorter than this holds no payload worth lifting and is not looked into
MAX_DEPTH = 64  # nested messages; the protobuf parser itself stops at 100

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_RAW_DATA = 9

# Message → field number → message of that field, for the fields through which tensors are reached.
_FIELDS: dict[str, dict[int, str]] = {
    "ModelProto": {7: "GraphProto", 20: "TrainingInfoProto", 25: "FunctionProto"},
    "TrainingInfoProto": {1: "GraphProto", 2: "GraphProto"},
    "GraphProto": {1: "NodeProto", 5: "TensorProto", 15: "SparseTensorProto"},
    "FunctionProto": {7: "NodeProto", 11: "AttributeProto"},
    "NodeProto": {5: "AttributeProto"},
    "AttributeProto": {
        5: "TensorProto", 6: "GraphProto", 10: "TensorProto", 11: "GraphProto", 22: "SparseTensorProto",
        23: "SparseTensorProto",
    },
    "SparseTensorProto": {1: "TensorProto", 2: "TensorProto"},
    "TensorProto": {},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """A range of bytes of the scanned buffer."""

    offset: int
    length: int


class LiftedModel:
    """A ModelProto whose large `raw_data` have been replaced by short marks, and where the originals lie.

    The marks carry a random key of this scan, so that no content of a file can pass for one.
    """

    __slots__ = ("_buffer", "_key", "_spans", "slim")

    def __init__(self, buffer: Buffer) -> None:
        """Scan `buffer`.

        Raises
        ------
        ModelFormatError: the bytes are not a well-formed message; its `offset` says where they stop making sense.
        """
        self._buffer = buffer
        self._key = secrets.token_bytes(16)
        self._spans: list[Span] = []
        self.slim = self._lift(0, len(buffer), "ModelProto", 0)

    def span(self, raw_data: bytes) -> Span | None:
        """Where the payload lies that the mark `raw_data` stands for, or None if `raw_data` is a payload itself."""
        if len(raw_data) == len(self._key) + 8 and raw_data.startswith(self._key):
            return self._spans[int.from_bytes(raw_data[-8:], "little")]
        return None

    def _lift(self, start: int, end: int, message: str, depth: int) -> bytes:
        if depth > MAX_DEPTH:
            raise ModelFormatError(f"messages are nested deeper than {MAX_DEPTH} levels", start)
        buffer, children = self._buffer, _FIELDS[message]
        parts: list[bytes] = []
        kept = position = start  # everything from `kept` on is still to be copied
        while position < end:
            field_start = position
            key, position = self._varint(position, end, message)
            wire_type, field = key & 7, key >> 3
            if wire_type == _LENGTH:
                length, position = self._varint(position, end, message)
                if length > end - position:
                    raise ModelFormatError(
                        f"the file is cut short or damaged: field {field} of {message} at byte {field_start} needs "
                        f"{length} bytes, and {end - position} are left", field_start
                    )  # fmt: skip
                if length >= SMALLEST_LIFTED:
                    replacement: bytes | None = None
                    if field in children:
                        replacement = self._lift(position, position + length, children[field], depth + 1)
                    elif message == "TensorProto" and field == _RAW_DATA:
                        replacement = self._mark(position, length)
                    if replacement is not None:
                        parts += (buffer[kept:field_start], _encode_varint(key), _encode_varint(len(replacement)),
                                  replacement)  # fmt: skip
                        kept = position + length
                position += length
            elif wire_type == _VARINT:
                _, position = self._varint(position, end, message)
            elif wire_type in (_FIXED64, _FIXED32):
                position += 8 if wire_type == _FIXED64 else 4
                if position > end:
                    raise ModelFormatError(f"the file ends inside a field of {message}", field_start)
            else:
                raise ModelFormatError(f"byte {field_start} is no field of {message}", field_start)
        parts.append(buffer[kept:end])
        return b"".join(parts)

    def _mark(self, offset: int, length: int) -> bytes:
        self._spans.append(Span(offset, length))
        return self._key + (len(self._spans) - 1).to_bytes(8, "little")

    def _varint(self, position: int, end: int, message: str) -> tuple[int, int]:
        buffer, value, shift = self._buffer, 0, 0
        start = position
        while position < end and shift < 70:
            byte = buffer[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, position
            shift += 7
        raise ModelFormatError(f"the file is cut short or damaged inside a {message} at byte {start}", start)


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
