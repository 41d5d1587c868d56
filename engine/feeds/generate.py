"""Feeds made up from generators and dims."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from math import prod

import numpy as np

from engine.dims import Expr
from engine.errors import InputError
from engine.feeds.check import adapt, no_such_input
from engine.feeds.dims import input_shape, required_inputs
from engine.feeds.files import INPUT_PREFIX, UNNAMED, load_arrays
from engine.feeds.images import load_image
from engine.feeds.specs import InputSpec, default_spec, generate, settled
from engine.graph.ir import Model, Tensor, ValueSource
from engine.graph.types import TensorType, format_shape
from engine.memory import available_bytes
from engine.words import bytes_text, quoted

_MAX_RANK = 64  # of NumPy's arrays
_MEMORY_SHARE = 0.5  # of the free memory that generated inputs may take together


def default_specs(model: Model) -> dict[str, InputSpec]:
    """How each required input is generated unless the user says otherwise."""
    return {tensor.name: default_spec(tensor) for tensor in required_inputs(model)}


def make_feeds(
    model: Model,
    dims: Mapping[str, int],
    specs: Mapping[str, InputSpec] | None = None,
    seed: int = 0,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    given: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """Inputs for one run.

    Parameters
    ----------
    dims: a size for every symbolic dim (see `symbols`, `default_dims`).
    specs: how inputs are made, by name; `default_spec` for the rest. Naming an overridable
        initializer feeds it too.
    seed: each input draws from a stream of its own, made of the seed and its name: changing one leaves the others.
    shapes: whole shapes by input name, in place of the declared ones.
    given: inputs that are there already, such as those of a file; they are handed on as they are.

    Raises
    ------
    InputError: a dim without a value, an input that cannot be generated, a file that does not fit.
    """
    specs, shapes, feeds = specs or {}, shapes or {}, dict(given or {})
    asked_for = {*specs, *shapes}
    wanted = required_inputs(model) + [
        t for t in model.graph.inputs if t.source is ValueSource.OVERRIDABLE and t.name in asked_for
    ]
    for name in asked_for - {t.name for t in wanted}:
        raise InputError(no_such_input(model, name), name)
    plans = []
    for tensor in (t for t in wanted if t.name not in feeds):
        spec = settled(specs.get(tensor.name) or default_spec(tensor), tensor)
        shape = None if spec.kind == "file" else _concrete(tensor, dims, shapes)
        plans.append((tensor, spec, shape))
    _guard_memory((t, s) for t, _, s in plans if s is not None)
    for tensor, spec, shape in plans:
        if shape is None:
            feeds[tensor.name] = _from_file(tensor, spec)
        elif spec.kind == "image":
            assert tensor.dtype is not None
            feeds[tensor.name] = load_image(spec.path, spec.key, tensor.name, tensor.dtype, shape)
        else:
            assert tensor.dtype is not None
            rng = np.random.default_rng([seed, zlib.crc32(tensor.name.encode("utf-8", "replace"))])
            feeds[tensor.name] = generate(spec, tensor.name, tensor.dtype, shape, rng)
    return feeds


def _concrete(tensor: Tensor, dims: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The input's shape with every symbol replaced by its size."""
    _require_tensor(tensor)
    if tensor.name in shapes:
        return tuple(shapes[tensor.name])
    shape = input_shape(tensor)
    if shape is None:
        raise InputError(f"input {tensor.name!r} declares no rank: give its whole shape", tensor.name)
    if len(shape) > _MAX_RANK:
        raise InputError(
            f"input {tensor.name!r} declares {len(shape)} dims, and arrays have {_MAX_RANK} at most", tensor.name
        )
    sizes = []
    for axis, dim in enumerate(shape):
        missing = sorted(set(dim.symbols()) - set(dims)) if isinstance(dim, Expr) else []
        if dim is None or missing:
            what = f"dim {missing[0]!r}" if missing else f"dim {axis}"
            raise InputError(f"{what} of input {tensor.name!r} {format_shape(shape)} has no value", tensor.name)
        try:
            size = dim.evaluate(dims) if isinstance(dim, Expr) else dim
        except ZeroDivisionError:
            raise InputError(f"dim {dim} of input {tensor.name!r} divides by zero", tensor.name) from None
        if size < 0:
            raise InputError(f"dim {dim} of input {tensor.name!r} comes to {size}, below zero", tensor.name)
        sizes.append(size)
    return tuple(sizes)


def _require_tensor(tensor: Tensor) -> None:
    declared = tensor.inferred_type or tensor.stored_type
    if not isinstance(declared, TensorType):
        kind = str(declared) if declared else "a value of undeclared type"
        raise InputError(f"input {tensor.name!r} is {kind}, which cannot be generated", tensor.name)
    if tensor.dtype is None:
        raise InputError(f"input {tensor.name!r} declares no element type, so it cannot be generated", tensor.name)


def _guard_memory(wanted: Iterable[tuple[Tensor, tuple[int, ...]]]) -> None:
    limit = _MEMORY_SHARE * available_bytes()
    total = 0
    for tensor, shape in wanted:
        total += prod(shape) * (tensor.dtype.numpy.itemsize if tensor.dtype else 1)
        if total > limit:
            raise InputError(
                f"input {tensor.name!r} of shape {format_shape(shape)} brings the inputs to {bytes_text(total)}, "
                f"more than half of the memory that is free: give smaller dims",
                tensor.name,
            )


def _from_file(tensor: Tensor, spec: InputSpec) -> np.ndarray:
    arrays = load_arrays(spec.path)
    for key in (spec.key,) if spec.key else (tensor.name, INPUT_PREFIX + tensor.name, UNNAMED):
        if key in arrays:
            return adapt(arrays[key], tensor.dtype)
    if not spec.key and len(arrays) == 1:
        return adapt(next(iter(arrays.values())), tensor.dtype)
    raise InputError(f"{spec.path} has no array {spec.key or tensor.name!r}; it has {quoted(arrays)}", tensor.name)
