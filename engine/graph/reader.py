"""From a path to a parsed ModelProto, whatever form the file has, with its weights left where they are."""
from __future__ import annotations

import os
from dataclasses import dataclass, field

import onnx
from google.protobuf.message import DecodeError

from engine.diagnostics import Diagnostic, Severity
from engine.errors import DataError, ModelFormatError
from engine.graph.faults import find_fault
from engine.graph.forms.archives import GZIP, ZIP, unpack_gzip, unpack_zip
from engine.graph.forms.beside import model_beside
from engine.graph.forms.foreign import foreign_file, foreign_message, head_of, is_tensor
from engine.graph.forms.graphs import parse_bare_graph, parse_bare_tensor
from engine.graph.forms.ort import MAGIC as ORT_MAGIC
from engine.graph.forms.ort import parse_ort
from engine.graph.forms.texts import looks_like_text, parse_text
from engine.graph.marks import Marks
from engine.graph.storage import FileStorage, MemoryStorage, Storage, open_regular
from engine.graph.wire import GRAPH, OPSET_IMPORT, LiftedModel, Payload, TooLargeError, WireError


@dataclass(slots=True)
class ModelFile:
    """A parsed model file: the message without its weights, and where those lie.

    `folders` are the resolved folders that external data may come from: the one that holds the file, and where the file
    is a link, the one that holds what it leads to. None in memory. `findings` are those about the file as a whole.
    `form` says in words what the file is, such as ``zip, protobuf JSON``; empty for a binary model, as most are.
    """

    proto: onnx.ModelProto
    payloads: Marks[Payload]
    findings: list[Diagnostic] = field(default_factory=list)
    path: str | None = None
    folders: tuple[str, ...] = ()
    allow_links: bool = False
    form: str = ""


def read_file(path: str | os.PathLike[str], allow_links: bool = False) -> ModelFile:
    """Parse everything but the weights of a model file; of a file of weights, the model beside it that uses them.

    Parameters
    ----------
    allow_links: take weights through links that lead out of the model's folder.

    Raises
    ------
    ModelFormatError: the path cannot be read or is not an ONNX model; the message says why, what to do and, for
        damaged files, at which byte and in which field.
    """
    path = os.fspath(path)
    try:
        file = _parse(_open(path), path)
    except ModelFormatError:
        model = model_beside(path)
        if model is None:
            raise
        message = f"{os.path.basename(path)!r} holds weights of {os.path.basename(model)!r}: that model was opened"
        file, path = _parse(_open(model), model), model
        file.findings.append(Diagnostic("opened-beside", Severity.INFO, message))
    folders = os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.dirname(os.path.realpath(path))
    file.path, file.folders, file.allow_links = path, tuple(dict.fromkeys(folders)), allow_links
    return file


def read_bytes(data: bytes, folder: str | None = None) -> ModelFile:
    """Parse a serialised ModelProto held in memory; external data is looked for in `folder`, if given.

    Raises
    ------
    ModelFormatError: as for `read_file`.
    """
    file = _parse_binary(MemoryStorage(data), "the data")
    file.folders = (os.path.realpath(folder),) if folder else ()
    return file


def _open(path: str) -> Storage:
    try:
        if os.path.isdir(path):
            raise ModelFormatError(f"{path} is a folder: {_models_in(path)}")
        storage = FileStorage(open_regular(path), path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelFormatError(f"cannot open {path}: {reason.lower()}") from error
    if storage.size == 0:
        raise ModelFormatError(f"{path} is empty (0 bytes): copy or download it again", 0)
    return storage


def _models_in(folder: str) -> str:
    models = sorted(name for name in os.listdir(folder) if name.lower().endswith(".onnx"))
    if not models:
        return "it holds no .onnx file"
    return "open one of the models in it: " + ", ".join(models[:5]) + (" …" if len(models) > 5 else "")


def _parse(storage: Storage, name: str, packed: bool = False) -> ModelFile:
    """Parse a file by what its content is. `packed`: it comes out of an archive, and is not unpacked again."""
    try:
        head = head_of(storage)
        if head.startswith((GZIP, ZIP)):
            if packed:
                raise ModelFormatError(f"{name} is packed twice: unpack it and open the model inside")
            if head.startswith(GZIP):
                return _in_form("gzip", _parse(unpack_gzip(storage, name), name, packed=True))
            content, member = unpack_zip(storage, name)
            return _in_form("zip", _parse(content, f"{name} ({member})", packed=True))
        if head[4:8] == ORT_MAGIC:
            proto, payloads, finding, form = parse_ort(storage, name)
            return ModelFile(proto, payloads, [finding], form=form)
        what = foreign_file(head, storage.size)
        if what:
            raise ModelFormatError(f"{name} is {what}", 0)
        if looks_like_text(head):
            proto, form = parse_text(storage.read(0, storage.size), name)
            return _in_form(form, _parse_binary(MemoryStorage(proto.SerializeToString()), name))
        return _parse_binary(storage, name)
    except DataError as error:
        raise ModelFormatError(f"cannot read {name}: {error}") from error


def _in_form(form: str, file: ModelFile) -> ModelFile:
    """The same file, said to be in a form around the one that it has."""
    file.form = ", ".join(filter(None, (form, file.form)))
    return file


def _parse_binary(storage: Storage, name: str) -> ModelFile:
    lifted, findings = _scan(storage, name)
    keys = {key for key, _ in lifted.fields}
    if GRAPH not in keys:
        return _parse_bare(storage, name, keys, findings)
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(lifted.slim)
    except DecodeError as error:
        raise _refusal(storage, name) from error
    graph = proto.graph
    library = bool(proto.functions) and not (graph.node or graph.initializer or graph.input or graph.output)
    form = "functions without a graph" if library else ""
    return ModelFile(proto, lifted.payloads, findings + _several_graphs(lifted), form=form)


def _parse_bare(storage: Storage, name: str, keys: set[int], findings: list[Diagnostic]) -> ModelFile:
    """What has no model around it."""
    graph = parse_bare_graph(storage)
    if graph is not None:
        proto, payloads, finding = graph
        return ModelFile(proto, payloads, [*findings, finding], form="graph without a model")
    tensor = parse_bare_tensor(storage) if is_tensor(keys) else None
    if tensor is not None:
        proto, finding = tensor
        return ModelFile(proto, Marks(), [*findings, finding], form="tensor without a model")
    what = foreign_message(keys)
    raise ModelFormatError(f"{name} is {what or 'not an ONNX model: it holds no graph'}", 0)


def _scan(storage: Storage, name: str) -> tuple[LiftedModel, list[Diagnostic]]:
    """The model that a file holds or starts with, and what follows it."""
    try:
        return LiftedModel(storage), []
    except TooLargeError as error:
        message = "it holds over 1 GiB that belongs to no tensor"
        raise ModelFormatError(f"{name} is not an ONNX model, or damaged: {message}") from error
    except WireError as error:
        fault = find_fault(storage)
        if fault is None or fault.path or fault.offset == 0:
            raise _refusal(storage, name) from error
        lifted = LiftedModel(storage, fault.offset)
        if not {GRAPH, OPSET_IMPORT} <= {key for key, _ in lifted.fields}:
            raise _refusal(storage, name) from error
        message = (
            f"{storage.size - fault.offset:,} bytes follow the model, from byte {fault.offset:,} on, that are no part "
            "of one: left out"
        )
        return lifted, [Diagnostic("trailing-bytes", Severity.WARNING, message)]


def _several_graphs(lifted: LiftedModel) -> list[Diagnostic]:
    graphs = [offset for key, offset in lifted.fields if key == GRAPH]
    if len(graphs) < 2:
        return []
    message = (
        f"the file holds {len(graphs)} graphs, the second from byte {graphs[1]:,} on: probably models written one "
        "after the other; they are shown as one, which is what the format says"
    )
    return [Diagnostic("repeated-graph", Severity.ERROR, message)]


def _refusal(storage: Storage, name: str) -> ModelFormatError:
    fault = find_fault(storage)
    if fault is None:
        return ModelFormatError(f"{name} is not an ONNX model, or damaged: the protobuf parser refuses it")
    return ModelFormatError(f"{name} is not an ONNX model, or damaged: {fault}", fault.offset, fault.path)
