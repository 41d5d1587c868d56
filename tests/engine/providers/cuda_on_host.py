"""CUDA C run on the host: a C++ compiler takes the same source, and a loop stands for the threads of a launch."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

_PRELUDE = r"""
#include <cstddef>
#include <utility>
#define __global__
struct Index { unsigned x, y, z; };
static Index blockIdx, threadIdx, blockDim, gridDim;
template <class... A, std::size_t... I>
static void each_thread(void (*f)(A...), unsigned grid, unsigned block, void **args, std::index_sequence<I...>) {
    gridDim = {grid, 1, 1}; blockDim = {block, 1, 1};
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++) f(*static_cast<A *>(args[I])...);
}
template <class... A> static void launch(void (*f)(A...), unsigned grid, unsigned block, void **args) {
    each_thread(f, grid, block, args, std::index_sequence_for<A...>{});
}
"""
_LAUNCHER = 'extern "C" void launch_{0}(unsigned g, unsigned b, void **a) {{ launch(&{0}, g, b, a); }}\n'

Launch = Callable[[int, int, list[np.ndarray | np.generic]], None]


@cache
def compile_kernels(code: str) -> dict[str, Launch]:
    """The kernels of a source by name, each launched with blocks, threads and arguments as `cuLaunchKernel` does."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine to run the CUDA sources")
    names = re.findall(r"__global__ void (\w+)\(", code)
    with tempfile.TemporaryDirectory(prefix="oinfer-cuda-") as folder:
        source, library = Path(folder) / "kernels.cpp", Path(folder) / "kernels.so"
        source.write_text(_PRELUDE + code + "".join(_LAUNCHER.format(name) for name in names))
        options = ["-std=c++17", "-O2", "-Wall", "-Werror", "-shared", "-fPIC"]
        subprocess.run([compiler, *options, str(source), "-o", str(library)], check=True)
        loaded = ctypes.CDLL(str(library))
    return {name: _launcher(getattr(loaded, f"launch_{name}")) for name in names}


def _launcher(function: Callable[..., None]) -> Launch:
    def launch(grid: int, block: int, args: list[np.ndarray | np.generic]) -> None:
        held = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else np.array(a) for a in args]
        places = [ctypes.addressof(h) if isinstance(h, ctypes.c_void_p) else h.ctypes.data for h in held]
        function(ctypes.c_uint(grid), ctypes.c_uint(block), (ctypes.c_void_p * len(places))(*places))

    return launch
