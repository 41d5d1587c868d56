"""The required inputs of a model and the symbolic dims that need a value before it can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.dims import DimEquation, Expr, Shape
from engine.graph.ir import Model, Tensor


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """One place where a symbolic dim stands: the input's name and the axis."""

    input: str
    axis: int


def required_inputs(model: Model) -> list[Tensor]:
    """The inputs that must be fed, in the file's order."""
    return model.graph.feeds


def input_shape(tensor: Tensor) -> Shape | None:
    """Shape of a graph input, symbols in place of unknown dims; None where the rank is unknown too."""
    inferred = tensor.inferred_shape
    return inferred if inferred is not None else tensor.stored_shape


def symbols(model: Model) -> dict[str, list[SymbolUse]]:
    """The symbolic dims of the required inputs, in order of appearance, each with the places that use it."""
    uses: dict[str, list[SymbolUse]] = {}
    for tensor in required_inputs(model):
        for axis, dim in enumerate(input_shape(tensor) or ()):
            if isinstance(dim, Expr):
                for name in dim.symbols():
                    uses.setdefault(name, []).append(SymbolUse(tensor.name, axis))
    return uses


def declared_names(model: Model) -> dict[str, str]:
    """The symbols of dims that the file calls otherwise, by the file's name: batch_size for "batch-size"."""
    pairs = [p for t in required_inputs(model) for p in zip(t.stored_shape or (), input_shape(t) or ())]
    return {str(stored): str(dim) for stored, dim in pairs if isinstance(stored, Expr) and stored is not dim}


def default_dims(model: Model) -> dict[str, int]:
    """A small sensible size for each symbolic dim, from its name and the places where it stands, such that they fit."""
    tensors = {t.name: t for t in required_inputs(model)}
    sizes = {name: _default_dim(name, uses, tensors) for name, uses in symbols(model).items()}
    return fit_dims(model, sizes, {})


def fit_dims(model: Model, dims: Mapping[str, int], given: Mapping[str, int]) -> dict[str, int]:
    """All `dims` with the sizes `given`, and the others changed where the model's equations ask for it.

    A mask of past + seq elements follows seq, for one. What no size of another dim can solve is left: the run will say
    what does not fit.
    """
    sizes = {**dims, **given}
    free = [name for name in dims if name not in given]
    for equation in model.dim_equations:
        if not equation.holds(sizes):
            for name in _totals_first(equation, free):
                size = equation.solution(name, sizes)
                if size is not None:
                    sizes[name] = size
                    break
        free = [name for name in free if name not in equation.symbols()]
    return sizes


def _totals_first(equation: DimEquation, free: list[str]) -> list[str]:
    """The free symbols of an equation: first what stands alone on a side, as a total of others does, and late ones."""
    sides = (str(equation.left), str(equation.right))
    return sorted(set(free).intersection(equation.symbols()), key=lambda name: (name not in sides, -free.index(name)))


def _default_dim(name: str, uses: list[SymbolUse], tensors: Mapping[str, Tensor]) -> int:
    use = uses[0]
    tensor = tensors[use.input]
    shape = input_shape(tensor) or ()
    is_float = tensor.dtype is not None and tensor.dtype.kind == "float"
    lowered = name.lower()
    if "past" in lowered or "cache" in lowered:
        return 0  # nothing cached yet: the first call of a decoder
    if use.axis == 0 or "batch" in lowered or "state" in tensor.name.lower():
        return 1
    if len(shape) == 4 and is_float:
        return 3 if use.axis == 1 else 224
    if len(shape) == 2 and is_float:
        return 512  # features or samples of sound
    return 16


def bound_dims(model: Model, feeds: Mapping[str, Any]) -> dict[str, int]:
    """Sizes of the symbolic dims that the fed arrays show; where two inputs disagree, the first one counts."""
    found: dict[str, int] = {}
    for tensor in model.graph.inputs:
        array = feeds.get(tensor.name)
        for dim, size in zip(input_shape(tensor) or (), getattr(array, "shape", ())):
            if isinstance(dim, Expr) and str(dim) in dim.symbols():
                found.setdefault(str(dim), int(size))
    return found
