"""Stored values of tensors, read on demand."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from engine.dtypes import DType
from engine.errors import DataError
from engine.graph.storage import Range

MOST_ELEMENTS = 1 << 62
MOST_DENSE_BYTES = 1 << 32  # of a sparse tensor, which says in a few bytes that it is large


def count_elements(dims: tuple[int, ...]) -> int:
    """The number of elements that dims ask for, between 0 and `MOST_ELEMENTS`: a file can claim any."""
    return min(max(prod(dims), 0), MOST_ELEMENTS)


@dataclass(slots=True, eq=False)
class TensorData:
    """The value of a constant: dims, dtype, where its bytes are, and the array once it has been asked for.

    `read` gives the array of shape `dims`; it raises `DataError` when the bytes are missing or too few. `location`
    says in words where the bytes are ("in the model file, byte 1024", "weights.bin, byte 0").
    `nbytes` is the stored size in bytes, 4- and 2-bit types packed (0 where unknown, as for strings).
    """

    name: str
    dtype: DType
    dims: tuple[int, ...]
    location: str
    nbytes: int
    read: Callable[[], np.ndarray] = field(repr=False)
    problem: str = ""  # why the data can't be read, found while loading; empty when nothing is known against it
    problem_code: str = ""  # the code of the diagnostic that reports it
    raw: Range | None = None  # where its packed little-endian bytes lie, if it is stored as such
    _array: np.ndarray | None = field(default=None, repr=False)

    def array(self) -> np.ndarray:
        """The value, shape `dims`, read-only; read once, then kept.

        Raises
        ------
        DataError: the stored bytes cannot be had; the message names the tensor and the reason.
        """
        if self._array is None:
            array = self.fetch()
            array.flags.writeable = False
            self._array = array
        return self._array

    def fetch(self) -> np.ndarray:
        """The value, read anew and not kept; otherwise as `array`."""
        if self.problem:
            raise DataError(self.problem, self.problem_code)
        try:
            return self.read()
        except ValueError as error:  # dims beyond what NumPy can make: 65 of them, or 0 times 2^62
            raise DataError(f"tensor {self.name!r}: {error}") from error

    @property
    def size(self) -> int:
        """Number of elements; see `count_elements`."""
        return count_elements(self.dims)


@dataclass(slots=True, eq=False)
class SparseData:
    """A sparse constant in COO form: `values` [n], `indices` [n] (linear) or [n, rank], over a dense shape `dims`."""

    name: str
    values: TensorData
    indices: TensorData
    dims: tuple[int, ...]

    @property
    def dtype(self) -> DType:
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.indices.nbytes

    @property
    def problem(self) -> str:
        return self.values.problem or self.indices.problem

    @property
    def problem_code(self) -> str:
        return self.values.problem_code or self.indices.problem_code

    @property
    def location(self) -> str:
        return self.values.location

    @property
    def size(self) -> int:
        return count_elements(self.dims)

    def array(self) -> np.ndarray:
        """The dense value, shape `dims`.

        Raises
        ------
        DataError: values or indices cannot be read or do not fit `dims`, or the dense value would be larger than
            `MOST_DENSE_BYTES`.
        """
        values, indices = self.values.array(), self.indices.array()
        if self.size * self.dtype.numpy.itemsize > MOST_DENSE_BYTES:
            raise DataError(f"sparse tensor {self.name!r}: {self.size:,} elements are too many to be made dense")
        try:
            dense = np.zeros(self.dims, self.dtype.numpy)
            if indices.ndim == 2:
                dense[tuple(indices.T)] = values
            else:
                dense.reshape(-1)[indices] = values
        except (IndexError, ValueError, TypeError) as error:
            raise DataError(f"sparse tensor {self.name!r}: {error}") from error
        return dense
