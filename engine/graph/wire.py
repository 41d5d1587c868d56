"""Lifting weights out of a serialised ModelProto without parsing them.

The protobuf parser copies every byte of a model. Most of those bytes are payloads of tensors, so a walk over the wire
format cuts them out first: what is left is small, and each payload is known by where it lies in the file.
Source: Protocol Buffers encoding, and onnx.proto (IR version 14) for the field numbers.
"""
from __future__ import annotations

from dataclasses import dataclass

from engine.graph.marks import Marks
from engine.graph.storage import Range, Storage

SMALLEST_LIFTED = 1024  # bytes; a message shorter than this holds no payload worth lifting and is not looked into
MAX_DEPTH = 100  # nested messages, as in the protobuf parser

MAX_SLIM = 1 << 30  # bytes outside of payloads; the parser takes 2 GiB at most

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
RAW_DATA = 9
TYPED_DATA = {4: "float_data", 5: "int32_data", 7: "int64_data", 10: "double_data", 11: "uint64_data"}

GRAPH, OPSET_IMPORT = 7 << 3 | LENGTH, 8 << 3 | LENGTH  # keys of fields of ModelProto

_PAYLOADS = {RAW_DATA, *TYPED_DATA}
_PAYLOAD_KEYS = {field << 3 | LENGTH for field in _PAYLOADS}  # one byte each
_UNCLEAR = 7  # no wire type
_PLAIN = bytes(key & 7 if key in range(8, 0x80) and key & 7 in (VARINT, LENGTH) else _UNCLEAR for key in range(256))
"""The wire type by the first byte of a field, for those that `_skip_short` takes."""
_NO_PAYLOAD = bytes(_UNCLEAR if key in _PAYLOAD_KEYS else wire_type for key, wire_type in enumerate(_PLAIN))
_RAW_DATA_KEY = bytes([RAW_DATA << 3 | LENGTH])

# Message → field number → message of that field, for the fields through which tensors are reached.
FIELDS: dict[str, dict[int, str]] = {
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
}  # fmt: skip

_FIRST_WINDOW, _LARGEST_WINDOW = 1 << 12, 1 << 20
_NEAR = 1 << 16  # bytes that cost less to read than another call of the system does
_LONGEST_HEADER = 20  # bytes: two varints of ten


class WireError(Exception):
    """The bytes are not a well-formed message. `engine.graph.faults` finds out where and why."""


class TooLargeError(Exception):
    """The message is larger, without its payloads, than any model."""


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload of one tensor: where it lies, and which field of TensorProto holds it."""

    place: Range
    field: int


class LiftedModel:
    """A ModelProto whose large payloads have been replaced by short marks, and where the originals lie.

    A mark stands in `raw_data`, whichever field it replaces. A tensor with several payloads is left as it is: the
    parser knows what they mean.

    Attributes
    ----------
    slim: the message with its marks.
    payloads: what the marks stand for.
    fields: the keys of the top-level fields in file order, with the offset of each.
    """

    __slots__ = ("_base", "_copied", "_storage", "_window", "_window_size", "fields", "payloads", "slim")

    def __init__(self, storage: Storage, end: int | None = None, message: str = "ModelProto") -> None:
        """Scan `storage` up to `end` (its size) as a `message`.

        Raises
        ------
        WireError: the bytes are not a well-formed message, as far as the scan looks into it.
        TooLargeError: more than `MAX_SLIM` bytes lie outside of tensors.
        """
        self._storage = storage
        self.payloads: Marks[Payload] = Marks()
        self._window, self._base, self._window_size = b"", 0, _FIRST_WINDOW
        self.fields: list[tuple[int, int]] = []
        self._copied = 0
        end = storage.size if end is None else end
        self.slim = b"".join(self._lift(0, end, message, 0) or [self._copy(0, end)])
        self._window = b""

    def _lift(self, start: int, end: int, message: str, depth: int) -> list[bytes] | None:
        """The message of type `message` between two offsets, in pieces, with marks for payloads; None without any."""
        if depth > MAX_DEPTH:
            raise WireError
        children = FIELDS[message]
        parts: list[bytes] = []
        kept = position = start  # everything from `kept` on is still to be copied
        while position < end:
            if depth > 0 and (position := self._skip_short(position, end)) == end:
                break
            key, payload, after = self._field(position, end)
            field = key >> 3
            if depth == 0:
                self.fields.append((key, position))
            if key & 7 == LENGTH and field in children and after - payload >= SMALLEST_LIFTED:
                child = children[field]
                if child == "TensorProto":
                    lifted = self._lift_tensor(payload, after)
                else:
                    lifted = self._lift(payload, after, child, depth + 1)
                if lifted is not None:
                    length = sum(map(len, lifted))
                    parts += (self._copy(kept, position), encode_varint(key), encode_varint(length), *lifted)
                    kept = after
            position = after
        return [*parts, self._copy(kept, end)] if parts else None

    def _lift_tensor(self, start: int, end: int) -> list[bytes] | None:
        """A TensorProto with a mark in place of its payload; None unless it has exactly one and that is large."""
        found: tuple[int, int, int, int] | None = None  # key, and where field, payload and what follows start
        position = start
        while (position := self._skip_short(position, end, _NO_PAYLOAD)) < end:
            key, payload, after = self._field(position, end)
            if key >> 3 in _PAYLOADS:
                if found is not None or key & 7 != LENGTH:
                    return None
                found = key, position, payload, after
            position = after
        if found is None or found[3] - found[2] < SMALLEST_LIFTED:
            return None
        key, before, payload, after = found
        mark = self.payloads.add(Payload(Range(self._storage, payload, after - payload), key >> 3))
        return [self._copy(start, before), _RAW_DATA_KEY, encode_varint(len(mark)), mark, self._copy(after, end)]

    def _skip_short(self, position: int, end: int, plain: bytes = _PLAIN) -> int:
        """Where the first field from `position` on stands that may need a closer look: one that is not `plain`, or a
        long one. Most fields of a model are neither, and pass here at a tenth of what `_field` costs.
        """
        data, base = self._window, self._base
        at, last = position - base, min(end - base, len(data))
        stop = min(last, len(data) - _LONGEST_HEADER) if at >= 0 else at
        while at < stop:
            wire_type, length = plain[data[at]], data[at + 1]
            if wire_type == LENGTH:
                if length < 0x80:
                    after = at + 2 + length
                elif data[at + 2] < SMALLEST_LIFTED >> 7:
                    after = at + 3 + (length & 0x7F | data[at + 2] << 7)
                else:
                    break
            elif wire_type == VARINT and length < 0x80:
                after = at + 2
            else:
                break
            if after > last:
                break
            at = after
        return base + at

    def _field(self, position: int, end: int) -> tuple[int, int, int]:
        """The key of the field at `position`, and where its payload starts and ends."""
        at = position - self._base
        if not 0 <= at <= len(self._window) - _LONGEST_HEADER:
            self._move_window(position)
            at = 0
        try:
            key, payload, after = decode_field(self._window, at)
        except IndexError:
            raise WireError from None
        base = self._base
        if base + after > end or key < 8:
            raise WireError
        return key, base + payload, base + after

    def _move_window(self, position: int) -> None:
        """Read on at `position`: more at a time while fields follow each other closely, little after a jump."""
        beyond = position - self._base - len(self._window)
        follows = -_LONGEST_HEADER <= beyond <= _NEAR
        self._window_size = min(self._window_size * 2, _LARGEST_WINDOW) if follows else _FIRST_WINDOW
        self._base = position
        self._window = self._storage.read(position, min(self._window_size, self._storage.size - position))

    def _copy(self, start: int, end: int) -> bytes:
        self._copied += end - start
        if self._copied > MAX_SLIM:
            raise TooLargeError
        at = start - self._base
        if at >= 0 and end - self._base <= len(self._window):
            return self._window[at : end - self._base]
        return self._storage.read(start, end - start)


def decode_field(data: bytes, at: int) -> tuple[int, int, int]:
    """The key of the field that starts at `at`, and where its payload starts and ends, perhaps beyond `data`.

    Raises
    ------
    IndexError: `data` ends before the payload starts.
    WireError: no field starts there.
    """
    key, at = decode_varint(data, at)
    wire_type = key & 7
    if wire_type == LENGTH:
        length, at = decode_varint(data, at)
        return key, at, at + length
    if wire_type == VARINT:
        return key, at, decode_varint(data, at)[1]
    if wire_type == FIXED64:
        return key, at, at + 8
    if wire_type == FIXED32:
        return key, at, at + 4
    raise WireError


def decode_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that starts at `at`, and where the next field starts.

    Raises
    ------
    IndexError: `data` ends within it.
    WireError: it is longer than the ten bytes that 64 bits need.
    """
    value = data[at]
    at += 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    for shift in range(7, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise WireError


def encode_varint(value: int) -> bytes:
    """A non-negative number in base 128, low bits first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
