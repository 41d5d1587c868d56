"""CUDA on a stand-in for CuPy: what is offered, where arrays live, and how errors of the device come out."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.errors import DeviceError
from engine.kernels.registry import KernelRegistry
from engine.providers import Availability, CUDAProvider
from engine.providers.cuda import probe
from engine.session import Session
from tests.engine.providers.fake_cupy import FakeArray, FakeCuPy
from tests.engine.providers.nodes import Context, make_node
from tests.engine.session.models import chain


@pytest.fixture
def cupy() -> FakeCuPy:
    return FakeCuPy()


def registry(cupy: FakeCuPy) -> KernelRegistry:
    kernels = KernelRegistry()
    CUDAProvider(cupy).register_kernels(kernels)
    return kernels


def call(cupy: FakeCuPy, op_type: str, *inputs: Any, **attributes: Any) -> Any:
    node = make_node(op_type, *("float32" for _ in inputs), **attributes)
    found, refusal = registry(cupy).find(node)
    assert found, refusal
    return found.function(Context(node, cupy), *inputs, **found.bind_attributes(node))


def driver(count: int, status: int = 0) -> Any:
    def device_count(pointer: Any) -> int:
        pointer._obj.value = count
        return status

    return SimpleNamespace(cuInit=lambda flags: status, cuDeviceGetCount=device_count)


@pytest.mark.parametrize(
    ("loaded", "cupy_found", "reason"),
    [
        (None, True, "no NVIDIA driver on this machine"),
        (driver(0), True, "the NVIDIA driver finds no GPU"),
        (driver(1, status=100), True, "the NVIDIA driver finds no GPU"),
        (driver(1), False, "CuPy is not installed: pip install 'oinfer[cuda]'"),
        (driver(1), True, ""),
    ],
)
def test_availability(monkeypatch: pytest.MonkeyPatch, loaded: Any, cupy_found: bool, reason: str) -> None:
    def load(name: str) -> Any:
        if loaded is None:
            raise OSError(name)
        return loaded

    imported = "cupy" in sys.modules
    monkeypatch.setattr(ctypes, "CDLL", load)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if cupy_found else None)
    probe.cuda_availability.cache_clear()
    try:
        answer = CUDAProvider().available()
    finally:
        probe.cuda_availability.cache_clear()
    assert answer.reason == reason
    assert bool(answer) == (not reason)
    assert ("cupy" in sys.modules) == imported


def test_a_broken_cupy_is_a_device_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    provider = CUDAProvider()
    with pytest.raises(DeviceError, match="CuPy cannot be imported"):
        _ = provider.xp
    assert "CuPy cannot be imported" in provider.available().reason


def test_with_a_broken_cupy_everything_runs_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr("engine.providers.cuda.cuda_availability", lambda: Availability(True))
    session = Session(chain("Abs", "Neg"), [CUDAProvider()])
    for placement in session.placements.values():
        assert placement.provider is session.providers[1]
        assert "CuPy cannot be imported" in placement.refusals[0].reason
    assert session.run({"x": np.float32([1, -2])}).outputs["y"].tolist() == [-1, -2]


def test_values_travel(cupy: FakeCuPy) -> None:
    provider = CUDAProvider(cupy)
    host = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = provider.to_device([host, None])
    assert isinstance(there[0], FakeArray)
    assert there[1] is None
    assert (cupy.uploads, cupy.uploaded_bytes) == (1, 24)
    assert provider.to_device(there[0]) is there[0]
    back = provider.to_host(there)
    np.testing.assert_array_equal(back[0], host)
    assert (cupy.uploads, cupy.downloads) == (1, 1)
    assert provider.to_host(host) is host
    provider.synchronize()
    assert cupy.calls["synchronize"] == 1


def test_what_cupy_cannot_hold_is_a_device_error(cupy: FakeCuPy) -> None:
    with pytest.raises(DeviceError, match="Unsupported dtype"):
        CUDAProvider(cupy).to_device(np.array(["a"], object))


def test_a_generic_kernel_stays_on_the_device(cupy: FakeCuPy) -> None:
    a, b = np.array([[1, 2]], np.float32), np.array([[3], [4]], np.float32)
    there = [cupy.asarray(a), cupy.asarray(b)]
    result = call(cupy, "MatMul", *there)
    assert isinstance(result, FakeArray)
    assert cupy.downloads == 0
    np.testing.assert_array_equal(result.get(), [[11]])


def test_host_arrays_are_refused_by_the_stand_in(cupy: FakeCuPy) -> None:
    with pytest.raises(DeviceError, match=r"Unsupported type <class 'numpy.ndarray'>"):
        call(cupy, "MatMul", cupy.asarray(np.ones((2, 2), np.float32)), np.ones((2, 2), np.float32))


def test_device_errors_come_out_as_such(cupy: FakeCuPy) -> None:
    x = cupy.asarray(np.ones((2, 2), np.float32))
    cupy.fail("matmul")
    with pytest.raises(DeviceError, match="CUDARuntimeError: cudaErrorIllegalAddress"):
        call(cupy, "MatMul", x, x)
    np.testing.assert_array_equal(call(cupy, "MatMul", x, x).get(), [[2, 2], [2, 2]])


def test_out_of_memory() -> None:
    cupy = FakeCuPy(memory_limit=1000)
    provider = CUDAProvider(cupy)
    allocator = provider.create_allocator()
    held = allocator.allocate((10, 10), np.dtype(np.float32))
    assert allocator.allocated_bytes() == 400
    with pytest.raises(DeviceError, match="the GPU is out of memory"):
        provider.to_device(np.zeros(200, np.float32))
    with pytest.raises(DeviceError, match="the GPU is out of memory"):
        allocator.allocate((200,), np.dtype(np.float32))
    del held
    assert allocator.allocated_bytes() == 0


@pytest.mark.parametrize(
    ("op_type", "inputs", "reason"),
    [("MatMul", ("bfloat16", "bfloat16"), "no bfloat16 MatMul kernel"),
     ("Equal", ("string", "string"), "no string Equal kernel"),
     ("NonSense", ("float32",), "no kernel for NonSense")],
)  # fmt: skip
def test_refusals(cupy: FakeCuPy, op_type: str, inputs: tuple[str, ...], reason: str) -> None:
    found, refusal = registry(cupy).find(make_node(op_type, *inputs, version=13))
    assert found is None
    assert refusal == reason


def test_kernels_that_need_numpy_are_not_offered(cupy: FakeCuPy) -> None:
    from engine.kernels import library

    needing_numpy = {(k.domain, k.op_type) for k in library() if not k.generic} - {
        (k.domain, k.op_type) for k in library() if k.generic
    }
    for domain, op_type in needing_numpy:
        found, refusal = registry(cupy).find(make_node(op_type, "float32", domain=domain, version=1))
        assert found is None
        assert "no kernel for" in refusal


@pytest.mark.gpu
def test_the_real_device() -> None:
    provider = CUDAProvider()
    assert provider.available()
    kernels = KernelRegistry()
    provider.register_kernels(kernels)
    a, b = (np.random.default_rng(i).standard_normal((64, 64)).astype(np.float32) for i in (0, 1))
    node = make_node("MatMul", "float32", "float32")
    found, _ = kernels.find(node)
    assert found
    result = found.function(Context(node, provider.xp), provider.to_device(a), provider.to_device(b))
    np.testing.assert_allclose(provider.to_host(result), a @ b, rtol=1e-2, atol=1e-2)
