"""From a path to a parsed ModelProto, with its weights left in the mapped file."""
from __future__ import annotations

import os
from dataclasses import dataclass, field

import onnx
from google.protobuf.message import DecodeError

from engine.diagnostics import Diagnostic, Severity
from engine.errors import DataError, ModelFormatError
from engine.graph.faults import Fault, find_fault
from engine.graph.storage import FileStorage, MemoryStorage, Storage, open_regular
from engine.graph.wire import GRAPH, OPSET_IMPORT, LiftedModel, WireError

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


@dataclass(slots=True)
class ModelFile:
    """A parsed model file: the message without its weights, and where those lie.

    `folders` are the resolved folders that external data may come from: the one that holds the file, and where the file
    is a link, the one that holds the link. None in memory. `findings` are those about the file as a whole.
    """

    proto: onnx.ModelProto
    lifted: LiftedModel
    path: str | None
    folders: tuple[str, ...]
    allow_links: bool = False
    findings: list[Diagnostic] = field(default_factory=list)


def read_file(path: str | os.PathLike[str], allow_links: bool = False) -> ModelFile:
    """Parse everything but the weights of a model file.

    `allow_links`: take weights through links that lead out of the model's folder.

    Raises
    ------
    ModelFormatError: the path cannot be read or is not an ONNX model; the message says why, what to do and, for
        damaged files, at which byte and in which field.
    """
    path = os.fspath(path)
    folders = os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.dirname(os.path.realpath(path))
    file = _parse(_open(path), path)
    file.path, file.folders, file.allow_links = path, tuple(dict.fromkeys(folders)), allow_links
    return file


def read_bytes(data: bytes, folder: str | None = None) -> ModelFile:
    """Parse a serialised ModelProto held in memory; external data is looked for in `folder`, if given.

    Raises
    ------
    ModelFormatError: as for `read_file`.
    """
    file = _parse(MemoryStorage(data), "the data")
    file.folders = (os.path.realpath(folder),) if folder else ()
    return file


def _open(path: str) -> Storage:
    try:
        if os.path.isdir(path):
            raise ModelFormatError(f"{path} is a folder: open the .onnx file in it")
        storage = FileStorage(open_regular(path), path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelFormatError(f"cannot open {path}: {reason.lower()}") from error
    if storage.size == 0:
        raise ModelFormatError(f"{path} is empty (0 bytes): copy or download it again", 0)
    return storage


def _parse(storage: Storage, name: str) -> ModelFile:
    other = _other_format(storage.read(0, min(64, storage.size)))
    if other:
        raise ModelFormatError(f"{name} is {other}", 0)
    proto, findings = onnx.ModelProto(), []
    try:
        try:
            lifted = LiftedModel(storage)
        except WireError:
            lifted, tail = _without_tail(storage)
            findings.append(tail)
        proto.ParseFromString(lifted.slim)
    except (WireError, DecodeError) as error:
        fault = find_fault(storage)
        raise _refusal(name, fault, error) from error
    except DataError as error:
        raise ModelFormatError(f"cannot read {name}: {error}") from error
    if not proto.HasField("graph"):
        raise ModelFormatError(f"{name} is not an ONNX model: it holds no graph", 0)
    graphs = [offset for number, offset in lifted.fields if number == GRAPH]
    if len(graphs) > 1:
        message = (
            f"the file holds {len(graphs)} graphs, the second at byte {graphs[1]}: probably model files written one "
            "after the other; they are shown as one, which is what the format says"
        )
        findings.append(Diagnostic("repeated-graph", Severity.ERROR, message))
    return ModelFile(proto, lifted, None, (), findings=findings)


def _without_tail(storage: Storage) -> tuple[LiftedModel, Diagnostic]:
    """The model that a file starts with, and the finding about what follows it.

    Raises
    ------
    WireError: the file does not start with a whole model.
    """
    fault = find_fault(storage)
    if fault is None or fault.path:
        raise WireError
    lifted = LiftedModel(storage, fault.offset)
    if not {GRAPH, OPSET_IMPORT} <= {number for number, _ in lifted.fields}:
        raise WireError
    message = (
        f"{storage.size - fault.offset:,} bytes follow the model, from byte {fault.offset} on, that are not part of "
        "one: left out"
    )
    return lifted, Diagnostic("trailing-bytes", Severity.WARNING, message)


def _refusal(name: str, fault: Fault | None, error: Exception) -> ModelFormatError:
    if fault is None:
        return ModelFormatError(f"{name} is not an ONNX model, or damaged: {error}")
    return ModelFormatError(f"{name} is not an ONNX model, or damaged: {fault}", fault.offset, fault.path)


def _other_format(head: bytes) -> str:
    lowered = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for magic, what in _KNOWN_OTHERS:
        if head.startswith(magic) or lowered.startswith(magic.lower()):
            return what
    return _KNOWN_AT_4.get(head[4:8], "")
