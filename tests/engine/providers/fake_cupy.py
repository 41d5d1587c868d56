"""A stand-in for CuPy over NumPy: as strict about where arrays live, and it can be told to fail.

`FakeCuPy()` takes the place of the module. Its arrays hide a NumPy array: NumPy arrays are refused wherever CuPy
refuses them, names that CuPy 14.2 lacks are missing, scalars stay 0-d arrays, and dtypes that CuPy cannot hold fail.
Uploads and downloads are counted.
"""

from __future__ import annotations

import operator
import time
import weakref
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.engine.providers.cuda_on_host import compile_kernels

# dir(numpy) - dir(cupy), NumPy 2.4.6 and CuPy 14.2.0, as far as a kernel could want them.
MISSING = frozenset({
    "True_", "False_", "block", "bmat", "einsum_path", "errstate", "frompyfunc", "geomspace", "histogram_bin_edges",
    "insert", "longdouble", "matrix", "matvec", "nditer", "ndenumerate", "nested_iters", "object_", "polydiv",
    "spacing", "str_", "bytes_", "strings", "char", "unstack", "vecdot", "vecmat", "seterr", "geterr", "emath", "ma",
    "matrix_norm", "multi_dot", "svdvals", "vector_norm",
})  # fmt: skip
MISSING_METHODS = frozenset({"ctypes", "getfield", "resize", "setfield", "setflags", "to_device"})
BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift",
)  # fmt: skip
HOLDS = "?bBhHiIlLqQefdFD"


class RawKernel:
    """A kernel in CUDA C, compiled for the host and run thread by thread (see cuda_on_host.py)."""

    def __init__(self, module: FakeCuPy, code: str, name: str) -> None:
        self._module, self._name = module, name
        self._launch = compile_kernels(code)[name]

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Any, ...]) -> None:
        self._module.calls[f"RawKernel {self._name}"] += 1
        self._module._check_failure(self._name)
        for value in args:
            if isinstance(value, np.ndarray) or not isinstance(value, FakeArray | np.generic):
                raise TypeError(f"Unsupported type {type(value)}")
        self._launch(grid[0], block[0], [v._host if isinstance(v, FakeArray) else v for v in args])


class FakeStream:
    """A stream, which is the current one of its thread between `__enter__` and `__exit__`."""

    def __init__(self, module: FakeCuPy) -> None:
        self._module = module
        module.calls["Stream"] += 1

    def __enter__(self) -> FakeStream:
        self._module.streams.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._module.streams.pop() is self

    def synchronize(self) -> None:
        self._module.calls["synchronize"] += 1
        self._module._check_failure("synchronize")


class FakeEvent:
    """A moment on a stream. As on a device, its time can be read only after waiting for it."""

    def __init__(self, module: FakeCuPy) -> None:
        self._module = module
        self._recorded: float | None = None
        self._passed = False

    def record(self, stream: Any = None) -> None:
        self._module.calls["Event.record"] += 1
        self._recorded = time.perf_counter()

    def synchronize(self) -> None:
        self._module.calls["Event.synchronize"] += 1
        self._passed = self._recorded is not None

    def until(self, end: FakeEvent) -> float:
        """Milliseconds; what comes before an event that has been waited for has passed too."""
        if self._recorded is None or end._recorded is None or not end._passed:
            raise CUDARuntimeError("cudaErrorNotReady: device not ready")
        return (end._recorded - self._recorded) * 1e3


class OutOfMemoryError(MemoryError):
    """CuPy's own derives from MemoryError too."""


class CUDARuntimeError(RuntimeError):
    """CuPy's own derives from RuntimeError too."""


class FakeArray:
    """What `cupy.ndarray` is to CuPy."""

    __slots__ = ("_host", "_module")

    def __init__(self, host: np.ndarray, module: FakeCuPy) -> None:
        self._host = host
        self._module = module

    def get(self) -> np.ndarray:
        self._module.downloads += 1
        self._module.downloaded_bytes += self._host.nbytes
        return self._host.copy()

    def item(self, *args: int) -> Any:
        self._module.reads += 1
        return self._host.item(*args)

    def tolist(self) -> Any:
        self._module.reads += 1
        return self._host.tolist()

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        target = getattr(self._module, ufunc.__name__)
        return (target if method == "__call__" else getattr(target, method))(*inputs, **kwargs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        return getattr(self._module, function.__name__)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in MISSING_METHODS or name.startswith("__"):
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        value = getattr(self._host, name)
        return self._module.wrapped(value) if callable(value) else self._module.wrap(value)

    def __getitem__(self, index: Any) -> Any:
        return self._module.call("getitem", operator.getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._module.call("setitem", operator.setitem, self, index, value)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        self._module.reads += 1
        return bool(self._host)

    def __int__(self) -> int:
        self._module.reads += 1
        return int(self._host)

    def __float__(self) -> float:
        self._module.reads += 1
        return float(self._host)

    __hash__ = None  # type: ignore[assignment]


def _install_operators() -> None:
    def forward(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, *others: self._module.call(function.__name__, function, self, *others)

    def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: self._module.call(function.__name__, function, other, self)

    for name in BINARY:
        function = getattr(operator, f"__{name}__")
        setattr(FakeArray, f"__{name}__", forward(function))
        setattr(FakeArray, f"__r{name}__", reflected(function))
        if name != "matmul":  # CuPy has no in-place one
            setattr(FakeArray, f"__i{name}__", forward(getattr(operator, f"__i{name}__")))
    for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
        setattr(FakeArray, f"__{name}__", forward(getattr(operator, f"__{name}__")))


_install_operators()


class _Namespace:
    """A module of functions such as `cupy.linalg`."""

    def __init__(self, module: FakeCuPy, source: Any) -> None:
        self._module = module
        self._source = source

    def __getattr__(self, name: str) -> Any:
        return self._module.attribute(self._source, name)


class _Ufunc:
    """A universal function with its methods; only the parameters that CuPy's have."""

    def __init__(self, module: FakeCuPy, ufunc: np.ufunc) -> None:
        self.__name__ = ufunc.__name__
        self._module, self._ufunc = module, ufunc
        for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
            setattr(self, method, module.wrapped(getattr(ufunc, method)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._module.call(self.__name__, self._ufunc, *args, **kwargs)


class FakeCuPy:
    """What the module `cupy` is: `asarray` uploads, `asnumpy` downloads, everything else refuses host arrays.

    Attributes
    ----------
    uploads, downloads: arrays copied to and from the device; `uploaded_bytes`, `downloaded_bytes` their sizes.
    reads: scalars read off the device by `item`, `int`, `bool`, which wait for it too.
    calls: how often each function was called.
    memory_limit: bytes that the device has; None for no limit.
    """

    ndarray = FakeArray
    newaxis, pi, e, inf, nan = None, np.pi, np.e, np.inf, np.nan

    def __init__(self, memory_limit: int | None = None) -> None:
        self.uploads = self.downloads = self.uploaded_bytes = self.downloaded_bytes = self.reads = self.used = 0
        self.calls: Counter[str] = Counter()
        self.memory_limit = memory_limit
        self._failures: dict[str, tuple[int, Exception]] = {}
        self.linalg, self.fft = _Namespace(self, np.linalg), _Namespace(self, np.fft)
        self.random = _Namespace(self, np.random)
        self.lib = SimpleNamespace(stride_tricks=_Namespace(self, np.lib.stride_tricks))
        self.streams: list[FakeStream] = []  # entered and not left, the default stream below them
        self.cuda = SimpleNamespace(
            Stream=lambda non_blocking=False: FakeStream(self),
            Event=lambda: FakeEvent(self),
            get_elapsed_time=lambda start, end: start.until(end),
            get_current_stream=lambda: self.streams[-1] if self.streams else FakeStream(self),
            memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
            runtime=SimpleNamespace(CUDARuntimeError=CUDARuntimeError),
        )

    def fail(self, name: str, error: Exception | None = None, times: int = 1) -> None:
        """Let the next `times` calls of function or operator `name` raise; "*" means any."""
        self._failures[name] = (times, error or CUDARuntimeError("cudaErrorIllegalAddress: an illegal memory access"))

    def asarray(self, value: Any, dtype: Any = None) -> FakeArray:
        if isinstance(value, np.ndarray):
            self._check_failure("asarray")
            self.uploads += 1
            self.uploaded_bytes += value.nbytes
            return self.wrap(np.array(value, dtype=dtype))
        return self.call("asarray", np.asarray, value, dtype=dtype)

    array = asarray

    def asnumpy(self, value: Any) -> np.ndarray:
        return value.get() if isinstance(value, FakeArray) else np.asarray(value)

    def RawKernel(self, code: str, name: str) -> Any:
        return RawKernel(self, code, name)

    def get_default_memory_pool(self) -> Any:
        return SimpleNamespace(used_bytes=lambda: self.used)

    def __getattr__(self, name: str) -> Any:
        return self.attribute(np, name)

    def attribute(self, source: Any, name: str) -> Any:
        """The attribute of a NumPy module, as CuPy's counterpart has it."""
        if name in MISSING or name.startswith("_"):
            raise AttributeError(f"module 'cupy' has no attribute {name!r}")
        value = getattr(source, name)
        if isinstance(value, np.ufunc):
            return _Ufunc(self, value)
        return value if isinstance(value, type) or not callable(value) else self.wrapped(value)

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: self.call(function.__name__, function, *args, **kwargs)

    def call(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a NumPy function on what the fake arrays hide, and hide what it gives."""
        name = name.strip("_")
        self.calls[name] += 1
        self._check_failure(name)
        originals = [*args, *kwargs.values()]
        host_args, host_kwargs = self._bare(args), {k: self._bare(v) for k, v in kwargs.items()}
        result = function(*host_args, **host_kwargs)
        for original in originals:  # in place, or with out=: the same array comes back
            if isinstance(original, FakeArray) and original._host is result:
                return original
        return self.wrap(result)

    def wrap(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.wrap(v) for v in value]
        if isinstance(value, tuple):
            return tuple(self.wrap(v) for v in value)
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        host = np.asarray(value)
        if host.dtype.char not in HOLDS:
            raise TypeError(f"Unsupported dtype {host.dtype}")
        if host.base is None and host.nbytes:
            self._count(host)
        return FakeArray(host, self)

    def _count(self, host: np.ndarray) -> None:
        if self.memory_limit is not None and self.used + host.nbytes > self.memory_limit:
            raise OutOfMemoryError(f"Out of memory allocating {host.nbytes:,} bytes (allocated so far: {self.used:,})")
        self.used += host.nbytes
        weakref.finalize(host, self._release, host.nbytes)

    def _release(self, nbytes: int) -> None:
        self.used -= nbytes

    def _check_failure(self, name: str) -> None:
        for key in (name, "*"):
            times, error = self._failures.get(key, (0, None))
            if times and error:
                self._failures[key] = (times - 1, error)
                raise error

    def _bare(self, value: Any) -> Any:
        if isinstance(value, FakeArray):
            return value._host
        if isinstance(value, np.ndarray):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if isinstance(value, (tuple, list)):
            return type(value)(self._bare(v) for v in value)
        if isinstance(value, dict):
            return {k: self._bare(v) for k, v in value.items()}
        return value
