"""From a TensorProto to `TensorData`: sizes checked first, bytes read on demand (onnx.proto, `TensorProto`)."""
from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import onnx

from engine import dtypes
from engine.dtypes import DType
from engine.errors import DataError
from engine.graph.data import SparseData, TensorData
from engine.graph.external import ExternalFiles
from engine.graph.reader import ModelFile

_UNKNOWN = DType("undefined", 0, np.dtype(np.void), 0, "unknown")


class TensorDecoder:
    """Turns the TensorProtos of one model file into `TensorData`."""

    __slots__ = ("_external", "_file")

    def __init__(self, file: ModelFile) -> None:
        self._file = file
        self._external = ExternalFiles(file.folder)

    def dense(self, proto: onnx.TensorProto) -> TensorData:
        """The value of a TensorProto. What is wrong with it stands in its `problem` and `problem_code`."""
        name, dims = proto.name, tuple(proto.dims)
        dtype = dtypes.from_code(proto.data_type)
        data = TensorData(name, dtype or _UNKNOWN, dims, "in the model file", 0, _nothing)
        try:
            if dtype is None:
                raise DataError(f"its element type {proto.data_type} is not one of ONNX's")
            if min(dims, default=0) < 0:
                raise DataError(f"its shape {list(dims)} has a negative dimension")
            data.nbytes = (prod(dims) * dtype.bits + 7) // 8
            self._place(proto, data)
        except DataError as error:
            data.problem, data.problem_code = f"tensor {name!r}: {error}", error.code
        return data

    def sparse(self, proto: onnx.SparseTensorProto) -> SparseData:
        """The value of a SparseTensorProto; its name is that of its values."""
        return SparseData(proto.values.name, self.dense(proto.values), self.dense(proto.indices), tuple(proto.dims))

    def _place(self, proto: onnx.TensorProto, data: TensorData) -> None:
        """Find where the bytes are, check their number, and give `data` its way to read them."""
        dtype, dims, nbytes = data.dtype, data.dims, data.nbytes
        if proto.data_location == onnx.TensorProto.EXTERNAL:
            entries = {entry.key: entry.value for entry in proto.external_data}
            data.location = f"in {entries.get('location', '')!r}"
            place = self._external.locate(entries, nbytes)
            data.location = f"in {place.location!r}, byte {place.offset}"
            external = self._external
            data.read = lambda: unpack(external.view(place), dtype, dims)
            return
        if not proto.HasField("raw_data"):
            values = _typed_values(proto, dtype)
            if values.size != prod(dims):
                raise DataError(f"its shape {list(dims)} needs {prod(dims)} values, and {values.size} are stored")
            data.read = lambda: values.reshape(dims)
            return
        if dtype is dtypes.STRING:
            raise DataError("its strings are stored as raw bytes, which ONNX does not allow")
        raw = proto.raw_data
        span = self._file.lifted.span(raw)
        length = span.length if span else len(raw)
        if length != nbytes:
            raise DataError(f"its shape {list(dims)} of {dtype} needs {nbytes} bytes, and {length} are stored")
        if span is None:
            data.read = lambda: unpack(memoryview(raw), dtype, dims)
        else:
            buffer, start = self._file.buffer, span.offset
            data.location = f"in the model file, byte {start}"
            data.read = lambda: unpack(memoryview(buffer)[start : start + length], dtype, dims)


def unpack(raw: memoryview, dtype: DType, dims: tuple[int, ...]) -> np.ndarray:
    """The array of shape `dims` that little-endian packed bytes hold; a view of `raw` for types of whole bytes.

    Source: onnx.proto, `TensorProto.raw_data`: elements of less than a byte follow each other from the low bits up.
    """
    if dtype.bits >= 8:
        return np.frombuffer(raw, dtype.numpy).reshape(dims)
    return codes_to_array(_bit_fields(np.frombuffer(raw, np.uint8), dtype.bits, prod(dims)), dtype).reshape(dims)


def _bit_fields(packed: np.ndarray, bits: int, count: int) -> np.ndarray:
    """The first `count` fields of `bits` bits each, one per uint8."""
    if 8 % bits == 0:
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        return (packed[:, None] >> shifts & (1 << bits) - 1).reshape(-1)[:count]
    stream = np.unpackbits(packed, bitorder="little")[: count * bits].reshape(count, bits)
    return np.packbits(stream, axis=1, bitorder="little").reshape(-1)


def codes_to_array(codes: np.ndarray, dtype: DType) -> np.ndarray:
    """Elements of a sub-byte dtype from their bit patterns, one per uint8."""
    if dtype.kind == "float":
        return codes.view(dtype.numpy)
    if dtype.kind == "int":  # sign bit up to the top of the byte and, arithmetically, down again
        shift = 8 - dtype.bits
        return ((codes << shift).view(np.int8) >> shift).astype(dtype.numpy)
    return codes.astype(dtype.numpy)


def _typed_values(proto: onnx.TensorProto, dtype: DType) -> np.ndarray:
    """The flat values of a TensorProto that uses one of the typed fields."""
    name = dtype.name
    if name == "string":
        texts = np.empty(len(proto.string_data), object)
        texts[:] = [s.decode("utf-8", "surrogateescape") for s in proto.string_data]
        return texts
    if name in ("float32", "complex64"):
        return np.array(proto.float_data, np.float32).view(dtype.numpy)
    if name in ("float64", "complex128"):
        return np.array(proto.double_data, np.float64).view(dtype.numpy)
    if name == "int64":
        return np.array(proto.int64_data, np.int64)
    if name in ("uint32", "uint64"):
        return np.array(proto.uint64_data, np.uint64).astype(dtype.numpy)
    return _from_int32_data(np.array(proto.int32_data, np.int32), dtype, prod(proto.dims))


def _from_int32_data(words: np.ndarray, dtype: DType, count: int) -> np.ndarray:
    """int32_data holds small integers as they are, floats under 32 bits as bit patterns, sub-byte types packed."""
    if dtype.bits < 8:
        needed = (count * dtype.bits + 7) // 8
        if words.size != needed:
            raise DataError(f"its {count} values need {needed} bytes, and {words.size} are stored")
        return unpack(memoryview(words.astype(np.uint8).tobytes()), dtype, (count,))
    if dtype.kind == "float":
        return words.astype(np.uint16 if dtype.bits == 16 else np.uint8).view(dtype.numpy)
    return words.astype(dtype.numpy)


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
