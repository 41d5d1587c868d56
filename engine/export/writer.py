"""Writing a message whose large payloads are marks: copied in pieces, into the file itself or a second one."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO

from onnx import ModelProto, TensorProto

from engine.errors import ExportError
from engine.export.payloads import Payload, Payloads
from engine.graph.wire import FIELDS, LENGTH, RAW_DATA, decode_field, encode_varint
from engine.writing import replacing

EXTERNAL_ABOVE = 1 << 30  # bytes of payloads; protobuf ends at 2 GiB
DATA_ENDING = ".data"  # of the file that weights go into, after the model's own name
ALIGNMENT = 4096  # bytes, so that a reader may map each tensor by itself

Piece = bytes | Payload


@dataclass(frozen=True, slots=True)
class Written:
    """The files of an export, with their sizes; `data_path` is empty where the weights are in the model's file."""

    path: str
    nbytes: int
    data_path: str = ""
    data_nbytes: int = 0


def write_model(
    proto: ModelProto, payloads: Payloads, path: str, go_on: Callable[[], object] = lambda: None
) -> Written:
    """Write `proto` to `path`, its payloads inline or, where they are many, to `path` + ".data" beside it: both files
    or, where `go_on` raises on the way, none.

    Raises
    ------
    ExportError: a file cannot be written, or payloads outside of initializers are too large.
    DataError: a payload cannot be read.
    """
    data_path, data_nbytes = "", 0
    try:
        with ExitStack() as until_both:
            if payloads.total() > EXTERNAL_ABOVE:
                data_path = path + DATA_ENDING
                data = until_both.enter_context(replacing(data_path, go_on))
                data_nbytes = _move_out(proto, payloads, data, os.path.basename(data_path))
                data.flush()  # so that nothing is left that can fail once the model is there
            pieces = list(_pieces(proto.SerializeToString(), "ModelProto", payloads))
            nbytes = sum(map(_length, pieces))
            if nbytes >= 1 << 31:
                raise ExportError(f"{path} would have more than 2 GiB, which protobuf cannot read")
            with replacing(path, go_on) as file:
                _write(file, pieces)
    except OSError as error:
        raise ExportError(f"cannot write {path}: {error.strerror or error}") from error
    return Written(path, nbytes, data_path, data_nbytes)


def _move_out(proto: ModelProto, payloads: Payloads, file: BinaryIO, name: str) -> int:
    """Write the payloads of initializers to `file`, and refer to it instead; returns the bytes written."""
    position = 0
    for tensor in proto.graph.initializer:
        payload = payloads.of(tensor.raw_data)
        if payload is None:
            continue
        start = -(-position // ALIGNMENT) * ALIGNMENT
        file.write(bytes(start - position))
        _write(file, [payload])
        position = start + payload.length
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", name), ("offset", start), ("length", payload.length)):
            tensor.external_data.add(key=key, value=str(value))
    return position


def _pieces(message: bytes, kind: str, payloads: Payloads) -> Iterator[Piece]:
    """A serialised message with the payloads back in place of their marks; lengths of what holds them grow."""
    kept = position = 0
    while position < len(message):
        key, payload, after = decode_field(message, position)
        if key & 7 == LENGTH and payloads.key in message[payload:after]:
            inner: list[Piece]
            marked = payloads.of(message[payload:after]) if kind == "TensorProto" and key >> 3 == RAW_DATA else None
            inner = [marked] if marked else list(_pieces(message[payload:after], FIELDS[kind][key >> 3], payloads))
            yield message[kept:position] + encode_varint(key) + encode_varint(sum(map(_length, inner)))
            yield from inner
            kept = after
        position = after
    yield message[kept:]


def _length(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else piece.length


def _write(file: BinaryIO, pieces: Iterable[Piece]) -> None:
    for piece in pieces:
        for chunk in [piece] if isinstance(piece, bytes) else piece.chunks():
            file.write(chunk)
