"""Types of a model's inputs, with a symbol for every dim that the file leaves open."""

from __future__ import annotations

from engine.dims import Dim, Expr, Shape, parse, symbol, symbols_of
from engine.graph.ir import Model, Tensor, ValueSource
from engine.graph.types import OptionalType, SequenceType, TensorType, Type
from engine.shapes.naming import SymbolNames


def input_types(model: Model) -> dict[Tensor, Type | None]:
    """The type of every input that is fed.

    Declared sizes and names stay. A dim that is unset, "?", negative or 0 becomes a symbol of its own, such as
    ``x_dim0``. A name that is a sum or product of other inputs' names ("past + sequence") is taken by its word.
    """
    tensors = [t for t in model.graph.inputs if t.source is not ValueSource.CONSTANT]
    declared = {name for t in tensors for dim in _dims(t.stored_type) for name in symbols_of(dim)}
    plain = {name for name in declared if name.isidentifier()}
    names = SymbolNames(declared)
    return {t: _opened(t.stored_type, t, plain, names) for t in tensors}


def _dims(type_: Type | None) -> Shape:
    if isinstance(type_, TensorType):
        return type_.shape or ()
    if isinstance(type_, (SequenceType, OptionalType)):
        return _dims(type_.element)
    return ()


def _opened(type_: Type | None, tensor: Tensor, plain: set[str], names: SymbolNames) -> Type | None:
    if isinstance(type_, TensorType) and type_.shape is not None:
        dims = (_open_dim(dim, tensor, axis, plain, names) for axis, dim in enumerate(type_.shape))
        return type_.with_shape(tuple(dims))
    if isinstance(type_, OptionalType):
        return OptionalType(_opened(type_.element, tensor, plain, names))
    return type_  # the elements of a sequence may differ in shape: their open dims stay open


def _open_dim(dim: Dim | None, tensor: Tensor, axis: int, plain: set[str], names: SymbolNames) -> Dim:
    if dim is None or dim == 0:
        return symbol(names.name((tensor, axis), f"{tensor.name}_dim{axis}"))
    if isinstance(dim, Expr) and not str(dim).isidentifier():
        meant = parse(str(dim)) if len(str(dim)) < 200 else None
        if isinstance(meant, Expr) and plain.issuperset(meant.symbols()):
            return meant
    return dim
