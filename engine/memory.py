"""How much memory a run may take, and how much the inferred shapes say that it will."""
from __future__ import annotations

import os
from collections.abc import Mapping
from math import prod

from engine.dims import Expr
from engine.errors import CannotRunError
from engine.graph.ir import Graph, Tensor


def available_bytes() -> int:
    """Memory that this machine can still give, in bytes."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(graph: Graph, bindings: Mapping[str, int], limit: int) -> None:
    """Refuse a run that one tensor alone would break, before anything is allocated.

    Parameters
    ----------
    bindings: the values of the symbols in inferred shapes, as far as the feeds fix them.
    limit: bytes.

    Raises
    ------
    CannotRunError: naming the tensor, its shape and size.
    """
    for tensor in graph.tensors.values():
        nbytes = needed_bytes(tensor, bindings)
        if nbytes is not None and nbytes > limit and tensor.producer is not None:
            raise CannotRunError(
                f"the node {tensor.producer.name!r} would compute {tensor.name!r} with {format_bytes(nbytes)}, and "
                f"{format_bytes(limit)} are free: choose smaller dims"
            )


def needed_bytes(tensor: Tensor, bindings: Mapping[str, int]) -> int | None:
    """Bytes of a tensor by its inferred shape under `bindings`; None where they do not fix it."""
    if tensor.inferred_shape is None or tensor.dtype is None:
        return None
    sizes: list[int] = []
    for dim in tensor.inferred_shape:
        if isinstance(dim, Expr):
            if not bindings.keys() >= set(dim.symbols()):
                return None
            try:
                sizes.append(dim.evaluate(bindings))
            except ArithmeticError:
                return None
        elif dim is None:
            return None
        else:
            sizes.append(dim)
    return prod(sizes) * max(tensor.dtype.numpy.itemsize, 1)


def format_bytes(count: float) -> str:
    """A byte count as people read it: ``1.5 GiB``."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024 or unit == "PiB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    raise AssertionError
