"""Where and why a serialised message breaks, by byte offset and field path.

The parser says only that it failed. This walk, made after it has, follows the message's descriptor through every field
down to the first byte that makes no sense.
"""
from __future__ import annotations

from dataclasses import dataclass

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from onnx import ModelProto

from engine.graph.storage import Storage
from engine.graph.wire import FIXED32, FIXED64, LENGTH, MAX_DEPTH, VARINT, WireError, decode_varint

MOST_FIELDS = 2_000_000  # looked at before the search gives up: a few seconds

_LONGEST_HEADER = 20
_VARINTS = {
    FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_ENUM, FieldDescriptor.TYPE_BOOL,
}  # fmt: skip
_FIXED_SIZES = {FieldDescriptor.TYPE_FLOAT: 4, FieldDescriptor.TYPE_DOUBLE: 8}


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing wrong with a message: at which byte, in which field (``graph.node[12].attribute[0]``), and what.

    `path` is empty at the top level.
    """

    offset: int
    path: str
    reason: str

    def __str__(self) -> str:
        where = f" in {self.path}" if self.path else ""
        return f"{self.reason} at byte {self.offset}{where}"


class _Found(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def find_fault(storage: Storage) -> Fault | None:
    """The first fault of a serialised ModelProto; None if there is none, or it lies very far inside."""
    try:
        _Walk(storage).message(0, storage.size, ModelProto.DESCRIPTOR, "", 0)
    except _Found as found:
        return found.fault
    except StopIteration:
        pass
    return None


class _Walk:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._left = MOST_FIELDS

    def message(self, start: int, end: int, descriptor: Descriptor, path: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise _Found(Fault(start, path, f"messages nested deeper than {MAX_DEPTH} levels"))
        counts: dict[int, int] = {}
        position = start
        while position < end:
            self._left -= 1
            if self._left < 0:
                raise StopIteration
            number, wire_type, payload, after = self._field(position, end, path)
            field = descriptor.fields_by_number.get(number)
            if field is not None and wire_type == LENGTH:
                index = counts.get(number, 0)
                counts[number] = index + 1
                name = f"{path}.{field.name}".lstrip(".") + (f"[{index}]" if _is_repeated(field) else "")
                if after > end:
                    reason = f"{after - payload} bytes are announced and {end - payload} are left,"
                    raise _Found(self._deepest(payload, end, field, name, depth, Fault(position, name, reason)))
                self._payload(payload, after, field, name, depth)
            elif after > end:
                raise _Found(Fault(position, path, "a field is cut off"))
            position = after

    def _payload(self, start: int, end: int, field: FieldDescriptor, name: str, depth: int) -> None:
        if field.message_type is not None:
            self.message(start, end, field.message_type, name, depth + 1)
        elif not _is_repeated(field):
            pass  # a single number is never packed: to the parser this is a field it does not know
        elif field.type in _VARINTS and end > start and self._storage.read(end - 1, 1)[0] >= 0x80:
            raise _Found(Fault(start, name, "a list of numbers ends within a number"))
        elif field.type in _FIXED_SIZES and (end - start) % _FIXED_SIZES[field.type]:
            size = _FIXED_SIZES[field.type]
            raise _Found(Fault(start, name, f"{end - start} bytes, no multiple of {size}, for a list of numbers"))

    def _deepest(self, start: int, end: int, field: FieldDescriptor, name: str, depth: int, fault: Fault) -> Fault:
        """In a message that is cut short, where the cut itself falls; `fault` if what is there makes sense."""
        if field.message_type is None:
            return fault
        try:
            self.message(start, end, field.message_type, name, depth + 1)
        except _Found as found:
            return found.fault
        return fault

    def _field(self, position: int, end: int, path: str) -> tuple[int, int, int, int]:
        """Number and wire type of the field at `position`, and where its payload starts and ends."""
        header = self._storage.read(position, min(_LONGEST_HEADER, end - position))
        try:
            key, at = decode_varint(header, 0)
            number, wire_type, after = key >> 3, key & 7, at
            if number == 0 or number >= 1 << 29 or wire_type not in (VARINT, FIXED64, LENGTH, FIXED32):
                raise _Found(Fault(position, path, f"{header[0]:#04x}, which starts no field,"))
            if wire_type == LENGTH:
                length, at = decode_varint(header, at)
                after = at + length
            elif wire_type == VARINT:
                _, after = decode_varint(header, at)
            else:
                after = at + (8 if wire_type == FIXED64 else 4)
        except IndexError:
            raise _Found(Fault(position, path, "a field is cut off")) from None
        except WireError:
            raise _Found(Fault(position, path, "a number of more than ten bytes")) from None
        return number, wire_type, position + at, position + after


def _is_repeated(field: FieldDescriptor) -> bool:
    # `is_repeated` came with protobuf 6.31, which deprecates `label`.
    known: bool | None = getattr(field, "is_repeated", None)
    return field.label == FieldDescriptor.LABEL_REPEATED if known is None else known
