"""From a TensorProto to `TensorData`: sizes checked first, bytes read on demand (onnx.proto, `TensorProto`)."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx

from engine import dtypes
from engine.dtypes import DType
from engine.errors import DataError
from engine.graph.data import MOST_ELEMENTS, SparseData, TensorData
from engine.graph.external import ExternalFiles
from engine.graph.packing import (
    WORD_TYPES,
    count_words,
    decode_words,
    from_words,
    typed_field,
    unpack,
    words_needed,
)
from engine.graph.reader import ModelFile
from engine.graph.storage import MemoryStorage, Range
from engine.graph.text import entries, text
from engine.graph.wire import RAW_DATA, TYPED_DATA, Payload

_UNKNOWN = DType("undefined", 0, np.dtype(np.void), 0, "unknown")


class TensorDecoder:
    """Turns the TensorProtos of one model file into `TensorData`."""

    __slots__ = ("_external", "_file")

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self._external = ExternalFiles(file.folders, file.allow_links)

    @property
    def data_paths(self) -> list[str]:
        """The files beside the model that its values have been found in so far."""
        return self._external.paths

    def dense(self, proto: onnx.TensorProto) -> TensorData:
        """The value of a TensorProto. What is wrong with it stands in its `problem` and `problem_code`."""
        name, dims = text(proto.name), tuple(proto.dims)
        dtype = dtypes.from_code(proto.data_type)
        data = TensorData(name, dtype or _UNKNOWN, dims, "in the model file", 0, _nothing)
        try:
            if dtype is None:
                raise DataError(f"its element type {proto.data_type} is not one of ONNX's")
            if min(dims, default=0) < 0:
                raise DataError(f"its shape {_shown(dims)} has a negative dimension")
            if data.size == MOST_ELEMENTS:
                raise DataError(f"its shape {_shown(dims)} asks for more elements than there can be")
            data.nbytes = (data.size * dtype.bits + 7) // 8
            self._place(proto, data)
        except DataError as error:
            data.problem, data.problem_code = f"tensor {name!r}: {error}", error.code
        return data

    def sparse(self, proto: onnx.SparseTensorProto) -> SparseData:
        """The value of a SparseTensorProto; its name is that of its values."""
        name, dims = text(proto.values.name), tuple(proto.dims)
        return SparseData(name, self.dense(proto.values), self.dense(proto.indices), dims)

    def _place(self, proto: onnx.TensorProto, data: TensorData) -> None:
        """Find where the bytes are, check their number, and give `data` its way to read them."""
        dtype = data.dtype
        raw = proto.raw_data
        payload = self._file.payloads.find(raw)
        if proto.data_location == onnx.TensorProto.EXTERNAL:
            where = entries(proto.external_data)
            data.location = f"in {where.get('location', '')!r}"
            if dtype is dtypes.STRING:
                raise DataError("its strings are stored in another file, which ONNX does not allow")
            place = self._external.locate(where, data.nbytes)
            data.location = f"{data.location}, byte {place.offset}"
            _read_raw(data, place)
        elif payload is not None and payload.field != RAW_DATA:
            _read_typed(data, payload)
        elif not proto.HasField("raw_data"):
            _take_values(data, proto)
        elif dtype is dtypes.STRING:
            raise DataError("its strings are stored as raw bytes, which ONNX does not allow")
        elif payload is not None:
            data.location = f"in the model file, byte {payload.place.offset}"
            _read_raw(data, payload.place)
        else:
            _read_raw(data, Range(MemoryStorage(raw), 0, len(raw)))


def _read_raw(data: TensorData, place: Range) -> None:
    if place.length != data.nbytes:
        raise DataError(
            f"its shape {_shown(data.dims)} of {data.dtype} needs {data.nbytes} bytes, and {place.length} are stored"
        )
    dtype, dims = data.dtype, data.dims
    data.raw = place
    data.read = lambda: unpack(place.read(), dtype, dims)


def _read_typed(data: TensorData, payload: Payload) -> None:
    """Values of a typed field that the scan has left in the file."""
    place, field, dtype, dims = payload.place, payload.field, data.dtype, data.dims
    data.location = f"in the model file, byte {place.offset}"
    if field != typed_field(dtype) or dtype is dtypes.STRING:
        raise DataError(f"its values of {dtype} are stored in {TYPED_DATA[field]}, where they cannot be")
    _check_count(data, sum(count_words(chunk, field) for chunk in place.chunks()))
    data.read = lambda: from_words(decode_words(place.read(), field), dtype, dims)


def _take_values(data: TensorData, proto: onnx.TensorProto) -> None:
    """Values of a typed field that the parser has read."""
    dtype, dims = data.dtype, data.dims
    if dtype is dtypes.STRING:
        texts = list(proto.string_data)
        _check_count(data, len(texts))
        data.read = lambda: _string_array(texts, dims)
        return
    field = typed_field(dtype)
    words = np.array(getattr(proto, TYPED_DATA[field]), WORD_TYPES[field])
    _check_count(data, words.size)
    data.read = lambda: from_words(words, dtype, dims)


def _check_count(data: TensorData, stored: int) -> None:
    needed = words_needed(data.dtype, data.size)
    if stored != needed:
        raise DataError(f"its shape {_shown(data.dims)} needs {needed} values, and {stored} are stored")


def _string_array(texts: list[bytes], dims: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(texts), object)
    array[:] = [text.decode("utf-8", "surrogateescape") for text in texts]
    return array.reshape(dims)


def _shown(dims: tuple[int, ...]) -> str:
    """A shape for a message; a file can claim a million dims."""
    return str(list(dims)) if len(dims) <= 8 else f"[{', '.join(map(str, dims[:8]))}, … {len(dims)} dims]"


def _nothing() -> np.ndarray:
    raise DataError("its data has not been found")


def constant_data(name: str, array: np.ndarray) -> TensorData:
    """`TensorData` for a value that an attribute spells out (Constant's `value_ints` and its like).

    Callers give arrays whose dtype ONNX has.
    """
    dtype = dtypes.from_numpy(array.dtype)
    if dtype is None:
        raise TypeError(f"{array.dtype} is not an ONNX element type")
    read: Callable[[], np.ndarray] = lambda: array  # noqa: E731
    return TensorData(name, dtype, array.shape, "in the node's attribute", array.nbytes, read)
