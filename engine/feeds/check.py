"""Feeds against what the model declares: names, dtypes, ranks and fixed dims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.dtypes import DType, from_numpy
from engine.errors import InputError
from engine.feeds.dims import input_shape, required_inputs
from engine.feeds.files import UNNAMED, is_extension_float
from engine.graph.ir import Model, Tensor
from engine.graph.types import format_shape
from engine.words import meant, quoted


def name_feeds(model: Model, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays from `load_feeds` under the model's input names, places ("#0") and the single unnamed array resolved.

    Raises
    ------
    InputError: a name the model has no input for, or an unnamed array where several inputs are wanted.
    """
    required = required_inputs(model)
    inputs = {t.name: t for t in model.graph.inputs}
    feeds = {}
    for key, array in arrays.items():
        tensor = inputs.get(key)
        place = key[1:] if key.startswith("#") else ""
        if tensor is None and place.isdecimal() and int(place) < len(required):
            tensor = required[int(place)]
        if tensor is None and key == UNNAMED:
            if len(required) != 1:
                names = quoted(t.name for t in required)
                raise InputError(f"the array has no name, and the model wants {len(required)} inputs: {names}")
            tensor = required[0]
        if tensor is None:
            raise InputError(no_such_input(model, key), key)
        feeds[tensor.name] = adapt(array, tensor.dtype)
    return feeds


def adapt(array: np.ndarray, wanted: DType | None) -> np.ndarray:
    """Give back the type that a NumPy file cannot name: raw bytes, or a widened value that converts exactly."""
    if wanted is None or array.dtype == wanted.numpy or wanted.numpy.isbuiltin == 1:
        return array
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.numpy.itemsize:
        return array.view(wanted.numpy)
    widened = np.float32 if is_extension_float(wanted.numpy) else np.uint8 if wanted.kind == "uint" else np.int8
    if array.dtype == widened:
        narrowed = array.astype(wanted.numpy)
        if np.array_equal(narrowed.astype(widened), array, equal_nan=is_extension_float(wanted.numpy)):
            return narrowed
    return array


def check_feeds(model: Model, feeds: Mapping[str, Any]) -> None:
    """Hold feeds against the declared inputs: names, dtypes, ranks and fixed dims. Symbolic dims take any size.

    Raises
    ------
    InputError: naming the input, what it declares and what was given.
    """
    inputs = {t.name: t for t in model.graph.inputs}
    for tensor in required_inputs(model):
        if tensor.name not in feeds:
            raise InputError(f"input {tensor.name!r} ({_declared(tensor)}) is not fed", tensor.name)
    for name, value in feeds.items():
        tensor_or_none = inputs.get(name)
        if tensor_or_none is None:
            raise InputError(no_such_input(model, name), name)
        if tensor_or_none.is_constant:
            raise InputError(
                f"{name!r} is a constant of this model (IR version {model.ir_version}) and cannot be fed", name
            )
        if isinstance(value, np.ndarray):
            _check_array(tensor_or_none, value)


def _check_array(tensor: Tensor, array: np.ndarray) -> None:
    given = f"{from_numpy(array.dtype) or array.dtype}{format_shape(array.shape)}"
    if tensor.dtype is not None and from_numpy(array.dtype) is not tensor.dtype and array.dtype != tensor.dtype.numpy:
        raise InputError(f"input {tensor.name!r} wants {_declared(tensor)}, but was given {given}", tensor.name)
    shape = input_shape(tensor)
    if shape is None:
        return
    fits = len(shape) == array.ndim and all(not isinstance(d, int) or d == n for d, n in zip(shape, array.shape))
    if not fits:
        raise InputError(f"input {tensor.name!r} wants {_declared(tensor)}, but was given {given}", tensor.name)


def _declared(tensor: Tensor) -> str:
    return f"{tensor.dtype or '?'}{format_shape(input_shape(tensor))}"


def no_such_input(model: Model, name: str) -> str:
    """Why nothing can be fed under a name, in words."""
    names = [t.name for t in model.graph.inputs if not t.is_constant]
    if any(t.name == name for t in model.graph.inputs):
        return f"{name!r} is a constant of this model (IR version {model.ir_version}) and cannot be fed"
    return f"the model has no input {name!r}; its inputs are {quoted(names)}{meant(name, names)}"
