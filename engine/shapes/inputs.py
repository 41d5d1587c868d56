"""Types of a model's inputs, with a symbol for every dim that the file leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from engine.dims import Dim, Expr, Shape, parse, symbol, symbols_of
from engine.graph.ir import Model, Tensor, ValueSource
from engine.graph.types import OptionalType, SequenceType, TensorType, Type
from engine.shapes.naming import SymbolNames


@dataclass(slots=True)
class Inputs:
    """Types of the inputs that are fed, the names given to their symbols, and the symbols there are in the end."""

    types: dict[Tensor, Type | None]
    names: SymbolNames
    symbols: frozenset[str]


def open_inputs(model: Model) -> Inputs:
    """The inputs with every dim a size or a symbol.

    Declared sizes and names stay, but for names that are no Python identifiers, which become such: batch_size for
    "batch-size". A dim that is unset, "?", negative or 0 becomes a symbol of its own, such as ``x_dim0``. A name that
    is a sum or product of other inputs' names ("past + sequence") is taken by its word.
    """
    tensors = [t for t in model.graph.inputs if t.source is not ValueSource.CONSTANT]
    declared = {name for t in tensors for dim in _dims(t.stored_type) for name in symbols_of(dim)}
    names = SymbolNames(declared)
    plain = frozenset(name for name in declared if names.is_plain(name))
    types = {t: _opened(t.stored_type, t, plain, names) for t in tensors}
    return Inputs(types, names, frozenset(name for t in types.values() for dim in _dims(t) for name in symbols_of(dim)))


def _dims(type_: Type | None) -> Shape:
    if isinstance(type_, TensorType):
        return type_.shape or ()
    if isinstance(type_, (SequenceType, OptionalType)):
        return _dims(type_.element)
    return ()


def _opened(type_: Type | None, tensor: Tensor, plain: frozenset[str], names: SymbolNames) -> Type | None:
    if isinstance(type_, TensorType) and type_.shape is not None:
        dims = (_open_dim(dim, tensor, axis, plain, names) for axis, dim in enumerate(type_.shape))
        return type_.with_shape(tuple(dims))
    if isinstance(type_, OptionalType):
        return OptionalType(_opened(type_.element, tensor, plain, names))
    return type_  # the elements of a sequence may differ in shape: their open dims stay open


def _open_dim(dim: Dim | None, tensor: Tensor, axis: int, plain: frozenset[str], names: SymbolNames) -> Dim:
    if dim is None or dim == 0:
        return symbol(names.name((tensor, axis), f"{tensor.name}_dim{axis}"))
    return as_identifiers(dim, names, plain)


def as_identifiers(dim: Dim, names: SymbolNames, plain: frozenset[str]) -> Dim:
    """A declared dim whose name is an identifier, or a sum or product of those in `plain`."""
    if isinstance(dim, int) or names.is_plain(str(dim)):
        return dim
    meant = parse(str(dim)) if len(str(dim)) < 200 else None
    if isinstance(meant, Expr) and plain.issuperset(meant.symbols()):
        return meant
    return symbol(names.declared(str(dim)))


def with_identifiers(shape: Shape, names: SymbolNames, plain: frozenset[str]) -> Shape:
    """A declared shape with every name an identifier."""
    rename = partial(as_identifiers, names=names, plain=plain)
    return tuple(None if dim is None else rename(dim) for dim in shape)
