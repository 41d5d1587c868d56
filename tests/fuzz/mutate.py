"""Mutants of real models: changed bytes, changed structure, changed text, and folders that lead outside."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from google.protobuf import json_format, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

INTEGERS = (0, 1, -1, 2, 127, 128, 255, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))
TEXTS = ("", " ", "x", "\0", "../secret.bin", "/etc/passwd", "link.bin", "pipe", "weights.bin", "?", "N", "N*M+1",
         "a/b", "\u202eabc", "x" * 3000, "ai.onnx", "ai.onnx.ml", "If", "Loop", "Constant", "Reshape",
         "location")  # fmt: skip
LARGEST_TREE = 400_000  # bytes; larger models are changed by bytes only, which is faster


def mutant(rng: random.Random, corpus: list[Path]) -> tuple[bytes, str]:
    """The content of a mutated model file, and how it was made."""
    source = rng.choice(corpus)
    data = source.read_bytes()
    kinds: list[Callable[[random.Random, bytes, list[Path]], bytes]] = [change_bytes]
    if len(data) <= LARGEST_TREE:
        kinds += [change_structure, change_structure, change_structure, change_text, pack]
    kind = rng.choice(kinds)
    return kind(rng, data, corpus), f"{kind.__name__} of {source.parent.name}/{source.name}"


# --- bytes


def change_bytes(rng: random.Random, data: bytes, corpus: list[Path]) -> bytes:
    """A few edits of the bytes, most of them near the start, where the structure is."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        reach = len(content) if rng.random() < 0.5 else min(len(content), 2000)
        at = rng.randrange(reach) if reach else 0
        size = rng.choice((1, 1, 1, 2, 4, 10, 100, 1000))
        edit = rng.randrange(8)
        if edit == 0:
            content[at : at + 1] = bytes([rng.randrange(256)])
        elif edit == 1 and content:
            content[at] ^= 1 << rng.randrange(8)
        elif edit == 2:
            del content[at : at + size]
        elif edit == 3:
            content[at:at] = rng.randbytes(size)
        elif edit == 4:
            content[at : at + size] = bytes([rng.choice((0, 0xFF, 0x80, 0x7F))]) * size
        elif edit == 5:
            content[at:at] = content[at : at + size]
        elif edit == 6:
            del content[at:]
        else:
            other = rng.choice(corpus).read_bytes()
            start = rng.randrange(len(other) or 1)
            content[at:at] = other[start : start + size]
    return bytes(content)


# --- structure


def change_structure(rng: random.Random, data: bytes, corpus: list[Path]) -> bytes:
    """A few edits of the parsed message, written out again."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
        for _ in range(rng.choice((1, 1, 2, 4))):
            edit_message(rng, model)
        return bytes(model.SerializePartialToString())
    except Exception:  # the source is broken, or the edits cannot be written
        return change_bytes(rng, data, corpus)


def edit_message(rng: random.Random, root: Message) -> None:
    """Change one field somewhere below `root`."""
    message = _descend(rng, root)
    field = rng.choice(message.DESCRIPTOR.fields)
    if _is_repeated(field):
        _edit_repeated(rng, getattr(message, field.name), field, root)
    elif field.message_type is not None:
        if rng.random() < 0.5:
            message.ClearField(field.name)
        else:
            _copy_from_elsewhere(rng, getattr(message, field.name), root)
    elif rng.random() < 0.2:
        message.ClearField(field.name)
    else:
        setattr(message, field.name, _scalar(rng, field, root))


def _descend(rng: random.Random, message: Message) -> Message:
    """A message below `message`, deep ones more often than their number says."""
    while True:
        below = [(f, v) for f, v in message.ListFields() if f.message_type is not None]
        if not below or rng.random() < 0.15:
            return message
        field, value = rng.choice(below)
        message = rng.choice(value) if _is_repeated(field) else value


def _edit_repeated(rng: random.Random, items: Any, field: FieldDescriptor, root: Message) -> None:
    edit = rng.randrange(4)
    if edit == 0 and items:
        del items[rng.randrange(len(items))]
    elif field.message_type is not None:
        if edit == 1 and items:
            items.add().CopyFrom(rng.choice(items))
        elif edit == 2 and len(items) > 1:
            a, b = rng.sample(range(len(items)), 2)
            kept = type(items[a]).FromString(items[a].SerializeToString())
            items[a].CopyFrom(items[b])
            items[b].CopyFrom(kept)
        else:
            _copy_from_elsewhere(rng, items.add(), root)
    else:
        value = _scalar(rng, field, root)
        if edit == 1 and items:
            items[rng.randrange(len(items))] = value
        else:
            items.extend([value] * rng.choice((1, 1, 2, 70, 5000)))


def _copy_from_elsewhere(rng: random.Random, target: Message, root: Message) -> None:
    """Fill a message with another of its type in the model, found by chance: graphs end up within graphs."""
    for _ in range(10):
        found = _descend(rng, root)
        if found.DESCRIPTOR is target.DESCRIPTOR and found is not target and found.ByteSize() < 20_000:
            target.CopyFrom(type(found).FromString(found.SerializeToString()))
            return
    edit_message(rng, target)


def _scalar(rng: random.Random, field: FieldDescriptor, root: Message) -> Any:
    kind = field.type
    if kind in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        text = _text_from(rng, root) if rng.random() < 0.6 else rng.choice(TEXTS)
        if kind == FieldDescriptor.TYPE_STRING:
            return text
        return text.encode(errors="replace") if rng.random() < 0.7 else rng.randbytes(rng.choice((1, 4, 5, 2000)))
    if kind in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return rng.choice((0.0, 1.0, -1.0, 1e30, float("inf"), float("nan")))
    if kind == FieldDescriptor.TYPE_ENUM:
        return rng.choice(field.enum_type.values).number
    value = rng.choice(INTEGERS) if rng.random() < 0.5 else rng.randrange(-3, 40)
    if kind == FieldDescriptor.TYPE_INT32:
        return (value + 2**31) % 2**32 - 2**31
    return value if kind == FieldDescriptor.TYPE_INT64 else value % 2**64


def _text_from(rng: random.Random, root: Message) -> str:
    """A name that the model uses somewhere."""
    for _ in range(10):
        message = _descend(rng, root)
        for field, value in message.ListFields():
            if field.type == FieldDescriptor.TYPE_STRING:
                found = rng.choice(value) if _is_repeated(field) else value
                return found if isinstance(found, str) else "x"
    return "x"


def _is_repeated(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


# --- other forms


def change_text(rng: random.Random, data: bytes, corpus: list[Path]) -> bytes:
    """A text form of a model that may be mutated itself, with edits of its characters."""
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data if rng.random() < 0.5 else change_structure(rng, data, corpus))
        if model.ByteSize() > 50_000:
            return change_bytes(rng, data, corpus)
        form = rng.randrange(3)
        if form == 0:
            text = json_format.MessageToJson(model)
        elif form == 1:
            text = text_format.MessageToString(model)
        else:
            text = onnx.printer.to_text(model)
    except Exception:
        return change_bytes(rng, data, corpus)
    return change_bytes(rng, text.encode(errors="replace"), corpus) if rng.random() < 0.8 else text.encode()


def pack(rng: random.Random, data: bytes, corpus: list[Path]) -> bytes:
    """A mutant in an archive, which may be damaged too."""
    inner = rng.choice((change_bytes, change_structure))(rng, data, corpus)
    if rng.random() < 0.5:
        packed = gzip.compress(inner, 1)
    else:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(rng.choice(("m.onnx", "data.pkl", "../m.onnx", "a/b")), inner)
        packed = out.getvalue()
    return packed if rng.random() < 0.5 else change_bytes(rng, packed, corpus)
