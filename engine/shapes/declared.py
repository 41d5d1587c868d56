"""What inference finds of a tensor, held against what the file declares of it."""

from __future__ import annotations

from dataclasses import replace

from engine.diagnostics import Severity
from engine.dims import Dim, Expr, is_at_least
from engine.graph.ir import Node, Tensor
from engine.graph.types import TensorType, Type, format_shape
from engine.shapes.facts import Fact, first_unknown, public_type
from engine.shapes.findings import Findings, title
from engine.shapes.inputs import Inputs, with_identifiers
from engine.shapes.requirements import Requirements
from engine.shapes.unknowns import Unknowns


class Declarations:
    """The declared types of one model: they fill what inference leaves open, and what contradicts them is reported."""

    def __init__(self, inputs: Inputs, requirements: Requirements, unknowns: Unknowns, findings: Findings) -> None:
        self._inputs, self._requirements = inputs, requirements
        self._unknowns, self._findings = unknowns, findings
        self._contradicted: set[tuple[Expr, Expr]] = set()  # (declared, inferred) dims that have been told

    def settled(self, tensor: Tensor, fact: Fact, node: Node) -> Fact:
        """The fact of a tensor that a node makes, with what is declared of it."""
        declared = self._renamed(tensor.stored_type)
        if tensor.data is not None or not isinstance(declared, TensorType):
            return fact if fact.type is not None or declared is None else replace(fact, type=declared)
        inferred = fact.type
        if inferred is None:
            because = _as_declared(fact.because) if declared.shape is not None else fact.because
            return Fact(self._unknowns.fill(declared, tensor, fact.because), None, because)
        if not isinstance(inferred, TensorType):
            return fact
        self._compare(tensor, declared, inferred, node)
        filled = inferred if inferred.dtype else replace(inferred, dtype=declared.dtype)
        if declared.shape is None:
            return replace(fact, type=filled)
        if filled.shape is None:
            opened = self._unknowns.fill(replace(filled, shape=declared.shape), tensor, fact.because)
            return Fact(opened, fact.value, _as_declared(fact.because))
        unknown = first_unknown(filled)
        if unknown and len(declared.shape) == len(filled.shape):
            pairs = zip(filled.shape, declared.shape, strict=True)
            shape = tuple(d if isinstance(d, int) and first_unknown(TensorType(None, (i,))) else i for i, d in pairs)
            if shape != filled.shape:
                return Fact(filled.with_shape(shape), fact.value, _as_declared(self._unknowns.reason(Fact(filled))))
        return fact if filled is inferred else replace(fact, type=filled)

    def _renamed(self, declared: Type | None) -> Type | None:
        """A declared type with the names that inference knows its dims by."""
        if not isinstance(declared, TensorType) or all(isinstance(d, int) for d in declared.shape or ()):
            return declared
        assert declared.shape is not None
        return declared.with_shape(with_identifiers(declared.shape, self._inputs.names, self._inputs.symbols))

    def _compare(self, tensor: Tensor, declared: TensorType, inferred: TensorType, node: Node) -> None:
        if declared.dtype and inferred.dtype and declared.dtype is not inferred.dtype:
            message = (
                f"the file declares {tensor.name!r} as {declared.dtype}, but {title(node)} makes {inferred.dtype}"
            )
            self._findings.report("dtype-mismatch", Severity.WARNING, message, node, tensor)
        if declared.shape is None or inferred.shape is None or declared.shape is inferred.shape:
            return
        pairs = list(zip(declared.shape, inferred.shape))
        differ = [self._differ(d, i) for d, i in pairs]
        if len(declared.shape) != len(inferred.shape) or any(differ):
            shown = public_type(inferred)
            shape = shown.shape if isinstance(shown, TensorType) else None
            message = (
                f"the file declares {tensor.name!r} as {format_shape(declared.shape)}, "
                f"but {title(node)} makes {format_shape(shape)}"
            )
            self._findings.report("shape-mismatch", Severity.WARNING, message, node, tensor)
            return
        for declared_dim, dim in pairs:
            if isinstance(declared_dim, Expr) and isinstance(dim, int):
                self._compare_baked(tensor, declared_dim, dim, node)

    def _differ(self, declared: Dim | None, inferred: Dim | None) -> bool:
        """Whether a declared dim contradicts the inferred one, whatever the symbols stand for; each pair counts once.

        A name declared where a number is made is another finding (`_compare_baked`).
        """
        if declared is None or inferred is None or declared is inferred:
            return False
        if isinstance(declared, int):
            return _never(declared, inferred)
        if isinstance(inferred, int) or (declared, inferred) in self._contradicted:
            return False
        contradict = self._requirements.contradict(declared, inferred)
        if contradict:
            self._contradicted.add((declared, inferred))
        return contradict

    def _compare_baked(self, tensor: Tensor, declared: Expr, size: int, node: Node) -> None:
        """Report a dim declared to follow an input that is one number whatever the input; each name once."""
        if self._requirements.is_open(declared) and self._requirements.known(declared) != size:
            message = f"the file declares a dim of {tensor.name!r} as {declared}, but {title(node)} always makes {size}"
            key = "baked-dim", str(declared), str(size)
            self._findings.report_once(key, "baked-dim", Severity.WARNING, message, node, tensor)


def _never(declared: int, inferred: Dim) -> bool:
    """Whether a dim can never have the declared length."""
    if isinstance(inferred, int):
        return declared != inferred
    return is_at_least(inferred, declared + 1) or is_at_least(declared - 1, inferred)


def _as_declared(because: str) -> str:
    """The reason why a type is what the file declares, and not what was inferred."""
    prefix = "as the file declares it: "
    return because if because.startswith(prefix) else prefix + because
