"""Apple's Accelerate framework through ctypes: float32 vectors by vDSP and vForce, matrices by BLAS.

Signatures are those of vDSP.h, vForce.h and cblas.h. Two of vDSP's take the right operand first: vsub and vdiv.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.errors import DeviceError

FRAMEWORK = "/System/Library/Frameworks/Accelerate.framework/Accelerate"
LARGEST = 2**31 - 1
"""vForce and BLAS count with a C int."""

_POINTER, _STRIDE, _LENGTH, _INT, _FLOAT = (
    ctypes.c_void_p, ctypes.c_long, ctypes.c_ulong, ctypes.c_int, ctypes.c_float,
)  # fmt: skip
_VECTOR = (_POINTER, _STRIDE)
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    **{f"vDSP_{f}": (*_VECTOR, *_VECTOR, *_VECTOR, _LENGTH) for f in ("vadd", "vsub", "vmul", "vdiv")},
    **{f"vDSP_{f}": (*_VECTOR, _POINTER, *_VECTOR, _LENGTH) for f in ("vsadd", "vsmul", "vsdiv")},
    "vDSP_svdiv": (_POINTER, *_VECTOR, *_VECTOR, _LENGTH),
    "vDSP_vsmsa": (*_VECTOR, _POINTER, _POINTER, *_VECTOR, _LENGTH),
    **dict.fromkeys(("vvexpf", "vvtanhf", "vvlogf", "vvsqrtf", "vvrecf"), (_POINTER, _POINTER, _POINTER)),
    "cblas_sgemm": (
        *(_INT,) * 6, _FLOAT, _POINTER, _INT, _POINTER, _INT, _FLOAT, _POINTER, _INT,
    ),
}  # fmt: skip
_ROW_MAJOR, _NO_TRANS, _TRANS = 101, 111, 112


class VectorLibrary:
    """The framework's functions on C-contiguous float32 arrays. Callers see to layout and sizes; nothing is copied.

    Raises
    ------
    DeviceError: the library cannot be loaded, or lacks a function.
    """

    def __init__(self, path: str) -> None:
        try:
            library = ctypes.CDLL(path)
            self._c: dict[str, Callable[..., None]] = {}
            for name, arguments in _SIGNATURES.items():
                function = getattr(library, name)
                function.argtypes, function.restype = arguments, None
                self._c[name] = function
        except (OSError, AttributeError) as error:
            raise DeviceError(f"the framework cannot be loaded: {error}") from error

    def binary(self, op: str, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        """`out = a op b`, all of one size; `op` is add, sub, mul or div."""
        left, right = (b, a) if op in ("sub", "div") else (a, b)
        self._c[f"vDSP_v{op}"](left.ctypes.data, 1, right.ctypes.data, 1, out.ctypes.data, 1, out.size)

    def vector_scalar(self, op: str, a: np.ndarray, scalar: float, out: np.ndarray) -> None:
        """`out = a op scalar`."""
        if op == "sub":
            op, scalar = "add", -scalar
        value = _FLOAT(scalar)
        self._c[f"vDSP_vs{op}"](a.ctypes.data, 1, ctypes.byref(value), out.ctypes.data, 1, out.size)

    def scalar_vector(self, op: str, scalar: float, b: np.ndarray, out: np.ndarray) -> None:
        """`out = scalar op b`."""
        value = _FLOAT(scalar)
        if op == "div":
            self._c["vDSP_svdiv"](ctypes.byref(value), b.ctypes.data, 1, out.ctypes.data, 1, out.size)
        elif op == "sub":
            minus = _FLOAT(-1.0)
            self._c["vDSP_vsmsa"](
                b.ctypes.data, 1, ctypes.byref(minus), ctypes.byref(value), out.ctypes.data, 1, out.size
            )
        else:
            self.vector_scalar(op, b, scalar, out)

    def unary(self, function: str, x: np.ndarray, out: np.ndarray) -> None:
        """`out = function(x)` by vForce; `function` is exp, tanh, log, sqrt or rec."""
        count = _INT(out.size)
        self._c[f"vv{function}f"](out.ctypes.data, x.ctypes.data, ctypes.byref(count))

    def sgemm(self, a: np.ndarray, b: np.ndarray, out: np.ndarray, alpha: float = 1.0, beta: float = 0.0) -> None:
        """`out = alpha · a @ b + beta · out` for matrices [M, K], [K, N], [M, N], none of them empty.

        `a` and `b` may be C-contiguous or the transpose of such a matrix (see `is_matrix`); the rows of `out` are
        contiguous, and may be parts of longer ones.
        """
        (m, k), n = a.shape, b.shape[1]
        a_trans, lda = _storage(a)
        b_trans, ldb = _storage(b)
        self._c["cblas_sgemm"](
            _ROW_MAJOR, a_trans, b_trans, m, n, k, alpha, a.ctypes.data, lda, b.ctypes.data, ldb, beta,
            out.ctypes.data, out.strides[0] // out.itemsize if m > 1 else n,
        )  # fmt: skip


def is_matrix(matrix: np.ndarray) -> bool:
    """Whether BLAS can read the 2-D array where it lies: C-contiguous, or the transpose of that."""
    return matrix.flags.c_contiguous or matrix.flags.f_contiguous


def _storage(matrix: np.ndarray) -> tuple[int, int]:
    """BLAS's word for how the matrix lies in memory, and its leading dimension."""
    rows, columns = matrix.shape
    return (_NO_TRANS, columns) if matrix.flags.c_contiguous else (_TRANS, rows)
