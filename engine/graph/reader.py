"""From a path to a parsed ModelProto, with its weights left in the mapped file."""
from __future__ import annotations

import mmap
import os
import stat
from dataclasses import dataclass

import onnx
from google.protobuf.message import DecodeError

from engine.errors import ModelFormatError
from engine.graph.wire import Buffer, LiftedModel

# What people open by mistake: the first bytes, and what it is in words. Checked before anything is parsed.
_KNOWN_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"version https://git-lfs", "a Git LFS pointer, not the model itself: run `git lfs pull` where it came from"),
    (b"<!doctype", "a web page, probably a download error page"),
    (b"<html", "a web page, probably a download error page"),
    (b"PK\x03\x04", "a zip archive (PyTorch checkpoints are zip files too): unpack it, or export the model to ONNX"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"\x80\x02", "a Python pickle, not an ONNX model: export the model to ONNX"),
    (b"\x80\x04", "a Python pickle, not an ONNX model: export the model to ONNX"),
    (b"\x89HDF", "an HDF5 file (Keras), not an ONNX model: export the model to ONNX"),
)
_KNOWN_AT_4 = {
    b"ORTM": "an ONNX Runtime .ort file: open the .onnx it was made from",
    b"TFL3": "a TensorFlow Lite model, not an ONNX model",
}


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A parsed model file: the message without its weights, and where those lie.

    `folder` is the resolved folder of the file, the only place external data may come from; None in memory.
    """

    proto: onnx.ModelProto
    lifted: LiftedModel
    buffer: Buffer
    path: str | None
    folder: str | None


def read_file(path: str | os.PathLike[str]) -> ModelFile:
    """Map a model file and parse everything but its weights.

    Raises
    ------
    ModelFormatError: the path cannot be read or is not an ONNX model; the message says why, what to do and, for
        damaged files, at which byte.
    """
    path = os.fspath(path)
    buffer = _map(path)
    return _parse(buffer, path, os.path.dirname(os.path.realpath(path)))


def read_bytes(data: bytes, folder: str | None = None) -> ModelFile:
    """Parse a serialised ModelProto held in memory; external data is looked for in `folder`, if given.

    Raises
    ------
    ModelFormatError: as for `read_file`.
    """
    return _parse(data, None, os.path.realpath(folder) if folder else None)


def _map(path: str) -> Buffer:
    try:
        # O_NONBLOCK: opening a named pipe must not wait for a writer.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise ModelFormatError(f"cannot open {path}: {(error.strerror or str(error)).lower()}") from error
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise ModelFormatError(f"{path} is a folder: open the .onnx file in it")
        if not stat.S_ISREG(status.st_mode):
            raise ModelFormatError(f"{path} is not a regular file")
        if status.st_size == 0:
            raise ModelFormatError(f"{path} is empty (0 bytes): copy or download it again", 0)
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise ModelFormatError(f"cannot read {path}: {error.strerror or error}") from error
    finally:
        os.close(handle)


def _parse(buffer: Buffer, path: str | None, folder: str | None) -> ModelFile:
    name = path or "the data"
    other = _other_format(bytes(buffer[:64]))
    if other:
        raise ModelFormatError(f"{name} is {other}", 0)
    try:
        lifted = LiftedModel(buffer)
        proto = onnx.ModelProto()
        proto.ParseFromString(lifted.slim)
    except ModelFormatError as error:
        raise ModelFormatError(f"{name} is not an ONNX model, or damaged: {error}", error.offset) from error
    except (DecodeError, RecursionError) as error:
        raise ModelFormatError(f"{name} is not an ONNX model, or damaged: {error}") from error
    if not proto.HasField("graph"):
        raise ModelFormatError(f"{name} is not an ONNX model: it holds no graph", 0)
    return ModelFile(proto, lifted, buffer, path, folder)


def _other_format(head: bytes) -> str:
    lowered = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic, what in _KNOWN_OTHERS:
        if head.startswith(magic) or lowered.startswith(magic.lower()):
            return what
    return _KNOWN_AT_4.get(head[4:8], "")
