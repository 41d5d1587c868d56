"""Between stored bytes and arrays (onnx.proto, `TensorProto`): packed little-endian bytes, and the typed fields."""
from __future__ import annotations

from math import prod

import numpy as np

from engine.dtypes import DType
from engine.errors import DataError


def unpack(raw: bytes, dtype: DType, dims: tuple[int, ...]) -> np.ndarray:
    """The array of shape `dims` that `raw_data` holds; a view of `raw` for types of whole bytes.

    Source: onnx.proto, `TensorProto.raw_data`: elements of less than a byte follow each other from the low bits up.
    """
    if dtype.bits >= 8:
        return np.frombuffer(raw, dtype.numpy).reshape(dims)
    return _from_codes(_bit_fields(np.frombuffer(raw, np.uint8), dtype.bits, prod(dims)), dtype).reshape(dims)


def pack(array: np.ndarray, dtype: DType) -> bytes:
    """The `raw_data` that stands for an array; the inverse of `unpack`."""
    if dtype.bits >= 8:
        return array.tobytes()
    codes = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    bits = np.unpackbits(codes[:, None], axis=1, bitorder="little")[:, : dtype.bits]
    return np.packbits(bits.reshape(-1), bitorder="little").tobytes()


def _bit_fields(packed: np.ndarray, bits: int, count: int) -> np.ndarray:
    """The first `count` fields of `bits` bits each, one per uint8."""
    if 8 % bits == 0:
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        return (packed[:, None] >> shifts & (1 << bits) - 1).reshape(-1)[:count]
    stream = np.unpackbits(packed, bitorder="little")[: count * bits].reshape(count, bits)
    return np.packbits(stream, axis=1, bitorder="little").reshape(-1)


def _from_codes(codes: np.ndarray, dtype: DType) -> np.ndarray:
    """Elements of a type of less than a byte from their bit patterns, one per uint8."""
    if dtype.kind == "float":
        return codes.view(dtype.numpy)
    if dtype.kind == "int":  # sign bit up to the top of the byte and, arithmetically, down again
        shift = 8 - dtype.bits
        return ((codes << shift).view(np.int8) >> shift).astype(dtype.numpy)
    return codes.astype(dtype.numpy)


# --- typed fields

FLOAT_DATA, INT32_DATA, INT64_DATA, DOUBLE_DATA, UINT64_DATA = 4, 5, 7, 10, 11  # fields of TensorProto

WORD_TYPES: dict[int, np.dtype] = {
    FLOAT_DATA: np.dtype("<f4"), INT32_DATA: np.dtype(np.int32), INT64_DATA: np.dtype(np.int64),
    DOUBLE_DATA: np.dtype("<f8"), UINT64_DATA: np.dtype(np.uint64),
}  # fmt: skip
_FIELD_OF_TYPE = {
    "float32": FLOAT_DATA, "complex64": FLOAT_DATA, "float64": DOUBLE_DATA, "complex128": DOUBLE_DATA,
    "int64": INT64_DATA, "uint32": UINT64_DATA, "uint64": UINT64_DATA,
}  # fmt: skip


def typed_field(dtype: DType) -> int:
    """The number of the typed field that holds elements of `dtype`."""
    return _FIELD_OF_TYPE.get(dtype.name, INT32_DATA)


def words_needed(dtype: DType, count: int) -> int:
    """How many entries of its typed field `count` elements take."""
    if dtype.kind == "complex":
        return 2 * count
    if dtype.bits in (2, 4):
        return (count * dtype.bits + 7) // 8
    return count


def from_words(words: np.ndarray, dtype: DType, dims: tuple[int, ...]) -> np.ndarray:
    """The array of shape `dims` from the entries of its typed field.

    Source: onnx.proto, `TensorProto.int32_data`: small integers as they are, floats under 32 bits as bit patterns
    (6-bit ones too, one an entry), 2- and 4-bit elements packed into bytes.
    """
    if dtype.bits in (2, 4):
        return unpack(words.astype(np.uint8).tobytes(), dtype, dims)
    if dtype.kind == "complex":
        return words.view(dtype.numpy).reshape(dims)
    if dtype.kind == "float" and dtype.bits < 32:
        codes = words & 0x3F if dtype.bits == 6 else words
        return codes.astype(np.uint16 if dtype.bits == 16 else np.uint8).view(dtype.numpy).reshape(dims)
    return words.astype(dtype.numpy, copy=False).reshape(dims)


def count_words(raw: bytes, field: int) -> int:
    """How many entries a packed typed field, or a piece of it, holds."""
    if field in (FLOAT_DATA, DOUBLE_DATA):
        return len(raw) // WORD_TYPES[field].itemsize
    return int(np.count_nonzero(np.frombuffer(raw, np.int8) >= 0))


def decode_words(raw: bytes, field: int) -> np.ndarray:
    """The entries of a packed typed field, flat.

    Raises
    ------
    DataError: they are no well-formed numbers.
    """
    if field in (FLOAT_DATA, DOUBLE_DATA):
        if len(raw) % WORD_TYPES[field].itemsize:
            raise DataError(f"its {len(raw)} bytes are no whole number of values")
        return np.frombuffer(raw, WORD_TYPES[field])
    return _decode_varints(np.frombuffer(raw, np.uint8)).view(np.int64).astype(WORD_TYPES[field])


def _decode_varints(stream: np.ndarray) -> np.ndarray:
    """Numbers in base 128, low bits first, of at most ten bytes each, as uint64."""
    if stream.size == 0:
        return np.empty(0, np.uint64)
    ends = np.flatnonzero(stream < 0x80) + 1
    starts = np.concatenate(([0], ends[:-1]))
    longest = int((ends - starts).max(initial=0))
    if longest > 10 or stream[-1] >= 0x80:
        raise DataError("its list of numbers is damaged")
    values = np.zeros(len(ends), np.uint64)
    for k in range(longest):
        reaches = np.flatnonzero(ends - starts > k)
        part = (stream[starts[reaches] + k] & 0x7F).astype(np.uint64)
        values[reaches] |= part << np.uint64(7 * k)
    return values
