"""The catalogue of providers, and the CPU provider."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import DeviceError, InputError
from engine.kernels import library
from engine.kernels.registry import KernelRegistry
from engine.providers import CPUProvider, all_providers, default_providers, provider_named


def test_default_order() -> None:
    assert [p.name for p in all_providers()] == ["CUDA", "Accelerate", "CPU", "ORT"]
    defaults = default_providers()
    assert defaults[-1].name == "CPU"
    assert all(p.available() for p in defaults)
    for provider in all_providers():
        assert bool(provider.available().reason) == (not provider.available())
        assert (provider in defaults) == (bool(provider.available()) and provider.by_default)


def test_names() -> None:
    assert provider_named(" cpu").name == "CPU"
    with pytest.raises(InputError, match=r"'TPU'; there are CUDA, Accelerate, CPU, ORT"):
        provider_named("TPU")


def test_cpu_has_every_kernel() -> None:
    registry = KernelRegistry()
    CPUProvider().register_kernels(registry)
    assert len(registry) == len({(k.domain, k.op_type, v) for k in library() for v in k.since_versions}) > 0


def test_host_memory_is_counted_while_it_lives() -> None:
    allocator = CPUProvider().create_allocator()
    array = allocator.allocate((4, 8), np.dtype(np.float32))
    assert array.shape == (4, 8)
    assert allocator.allocated_bytes() == 128
    view = array[0]
    del array
    assert allocator.allocated_bytes() == 128  # a view holds the memory
    del view
    assert allocator.allocated_bytes() == 0
    with pytest.raises(DeviceError, match="no memory for"):
        allocator.allocate((1 << 60,), np.dtype(np.float64))
