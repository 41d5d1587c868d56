"""Shape inference: one pass over the run order, subgraphs included, from the types of the inputs to every tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from engine.diagnostics import CATALOGUE, Severity
from engine.dims import Dim, DimTooComplex, Expr, symbol, symbols_of
from engine.dims.windows import WindowError
from engine.dtypes import DType
from engine.graph.ir import Graph, Model, Node, Tensor, ValueSource
from engine.graph.types import MapType, OptionalType, SequenceType, TensorType, Type, format_shape
from engine.shapes import registry, rules, values
from engine.shapes.bind import Binder
from engine.shapes.call import Call, Kind
from engine.shapes.declared import Declarations
from engine.shapes.facts import (
    Fact,
    Out,
    ShapeClash,
    Unknown,
    Values,
    concrete,
    is_complete,
    public_type,
)  # fmt: skip
from engine.shapes.findings import Findings, title
from engine.shapes.inputs import open_inputs
from engine.shapes.requirements import Requirements
from engine.shapes.schema_types import signature
from engine.shapes.unknowns import Unknowns

__all__ = ["infer_shapes"]

CODES = frozenset({
    "shape-clash", "dtype-clash", "shape-mismatch", "dtype-mismatch", "forced-dim", "equal-dims", "divisible-dim",
    "baked-dim", "malformed-node",
})  # fmt: skip
"""Codes of the findings made here; those of an earlier inference are replaced."""

_MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a rule raises on a node that breaks its operator's own form: too few inputs, attributes of another kind."""


def infer_shapes(
    model: Model, bindings: Mapping[str, int] | None = None, go_on: Callable[[], object] = lambda: None
) -> None:
    """Set `inferred_type` and `unknown_because` of every tensor of the model, subgraphs included.

    `bindings` gives symbols of the inputs a value beforehand. Shapes without them can be bound more cheaply afterwards
    (`engine.shapes.bind`), but where branches depend on a symbol only this tells which one is taken.

    Findings are added to the model's diagnostics: "shape-clash" and "dtype-clash" (errors: the node cannot run),
    "shape-mismatch" and "dtype-mismatch" (the file declares another type than the graph makes), "forced-dim" (only one
    value of an input's symbol can work). Nothing is run, and nothing raised but by `go_on`, which is called before
    each node and may raise to stop.
    """
    Inference(model, Binder(bindings or {}), go_on).run()


class Inference:
    """One inference of one model. Implements `Scope` for the rules."""

    def __init__(self, model: Model, binder: Binder, go_on: Callable[[], object]) -> None:
        self._model = model
        self._go_on = go_on
        self._binder = binder
        self._facts: dict[Tensor, Fact] = {}
        self._findings, self._unknowns = Findings(), Unknowns()
        self._introduced: dict[str, Node] = {}  # symbols of lengths that only the run decides
        self._inputs = open_inputs(model)
        self._requirements = Requirements(self._inputs.symbols)
        self._declarations = Declarations(self._inputs, self._requirements, self._unknowns, self._findings)
        self._node: Node | None = None
        self._runs: bool | None = True  # whether what is being inferred runs: in an If's branch None, or known
        self._overridden: set[Tensor] = set()  # inputs of subgraphs that have a default, but are given a value
        # A loop is inferred until it settles, and each time the loops in it anew: bounded, however deep they nest.
        self._budget = 10_000 + 20 * sum(len(g.nodes) for g in model.graph.walk())

    def run(self) -> None:
        """Infer everything and write it to the tensors."""
        for tensor, type_ in self._inputs.types.items():
            bound = self._binder.type(type_)
            self._facts[tensor] = Fact(self._unknowns.fill(bound, tensor, f"the input {tensor.name!r} leaves it open"))
        self._infer_nodes(self._model.graph)
        for graph in self._model.graph.walk():
            for tensor in graph.tensors.values():
                self._publish(tensor)
        others = [d for d in self._model.diagnostics if d.code not in CODES]
        self._model.diagnostics = others + self._findings.all()
        self._model.dim_equations = self._requirements.equations

    # --- what rules ask for

    def fact(self, tensor: Tensor) -> Fact:
        """What is known of a tensor."""
        known = self._facts.get(tensor)
        if known is None:
            known = self._facts[tensor] = self._first_fact(tensor)
        return known

    def _first_fact(self, tensor: Tensor) -> Fact:
        if tensor.data is not None:
            dtype = tensor.data.dtype
            return Fact(TensorType(dtype if dtype.code else None, tensor.data.dims))
        if tensor.source is ValueSource.ABSENT:
            return Fact(because=f"nothing in the file defines {tensor.name!r}")
        if tensor.producer is not None and tensor.producer.index < 0:
            return Fact(because=f"the node {tensor.producer.name!r} is part of a cycle or comes after one")
        return Fact(because=f"{tensor.name!r} is not computed before it is read")

    def value(self, tensor: Tensor) -> Values | None:
        """The elements of a small tensor, or None."""
        fact = self.fact(tensor)
        if fact.value is None and tensor.data is not None and tensor not in self._overridden:
            fact.value = values.from_data(tensor.data)
        return fact.value

    def value_origin(self, tensor: Tensor) -> str:
        """Where the value of a tensor stops being known, in words."""
        seen: set[Tensor] = set()
        start = tensor
        while tensor.producer is not None and tensor not in seen:
            seen.add(tensor)
            before = [t for t in tensor.producer.inputs if t is not None and t.data is None]
            followed = [t for t in before if self.value(t) is None and values.is_small(_shape(self.fact(t)))]
            if not followed:
                return f"{start.name!r} is computed at run time by {tensor.producer.name!r}"
            tensor = followed[0]
        return f"{start.name!r} depends on the value of the input {tensor.name!r}"

    def fresh(self, name: str) -> Expr:
        """The symbol of a length that only the run decides; the same for the same name."""
        assert self._node is not None
        known = self._inputs.names.name((self._node, name), name)
        self._introduced[known] = self._node
        return symbol(known)

    def unknown(self, key: object, because: str) -> Expr:
        """The symbol of an unknown dim; the same for the same key."""
        return self._unknowns.symbol(key, because)

    def reason(self, fact: Fact) -> str:
        """Why not all of a type is known; empty where it is, or where nothing says why."""
        return self._unknowns.reason(fact)

    def require(self, node: Node, a: Dim, b: Dim, where: str, kind: Kind) -> None:
        """Note that the node only runs where the symbols of two dims make them fit as `kind` says."""
        if self._runs is not True:
            return  # of a branch that may not be taken
        required = self._requirements
        new = required.multiple(a, b) if kind == "multiple" else required.equal(a, b, or_one=kind == "broadcast")
        if new is not None:
            message = f"{new.text}: {title(node)} {where}"
            self._findings.report_once((new.code, new.text, ""), new.code, CATALOGUE[new.code].severity, message, node)

    def graph(self, graph: Graph, inputs: Sequence[Fact | None], runs: bool | None = True) -> list[Fact]:
        """Infer a subgraph from facts of its inputs and return those of its outputs."""
        for slot, tensor in enumerate(graph.inputs):
            given = inputs[slot] if slot < len(inputs) else None
            if tensor.data is None or given is not None:
                self._facts[tensor] = given or Fact(because=f"{tensor.name!r} is not given")
                self._overridden.add(tensor)
        node, outer = self._node, self._runs
        self._runs = runs if outer is True else False if runs is False else outer
        self._infer_nodes(graph)
        self._node, self._runs = node, outer
        return [replace(self.fact(t), value=self.value(t)) for t in graph.outputs]

    # --- nodes

    def _infer_nodes(self, graph: Graph) -> None:
        for node in graph.order:
            self._go_on()
            self._budget -= 1
            if self._budget < 0:
                facts = [Fact(because="its loops nest too deeply to follow")] * len(node.outputs)
            else:
                self._node = node
                facts = self._infer_node(node)
            for tensor, fact in zip(node.outputs, facts, strict=True):
                if tensor is not None:
                    self._facts[tensor] = self._declarations.settled(tensor, fact, node)

    def _infer_node(self, node: Node) -> list[Fact]:
        """Facts of a node's outputs, one per slot."""
        body = node.subgraphs.get("function")
        if body is not None:
            facts = self.graph(body, [replace(self.fact(t), value=self.value(t)) if t else None for t in node.inputs])
            return _one_per_slot(facts, node)
        slot_dtypes = self._slot_dtypes(node)
        try:
            rule = rules.find(node.domain, node.op_type)
            if rule is None:
                raise Unknown(f"no shape rule for {node.qualified_op} (node {node.name!r})")
            result = rule(Call(node, self))
            outs = result if isinstance(result, list) else [result]
            facts = [self._output(out, dtype) for out, dtype in zip(outs, slot_dtypes)]
            return _one_per_slot(facts, node)
        except Unknown as reason:
            because = str(reason)
        except (ShapeClash, WindowError) as clash:
            because = self._report_clash("shape-clash", str(clash), node)
        except DimTooComplex:
            because = f"its dims grow too long to write (node {node.name!r})"
        except _MALFORMED as error:
            text = f"its inputs or attributes are not as the operator has them ({type(error).__name__}: {error})"
            because = self._report_clash("malformed-node", text, node)
        return [Fact(TensorType(dtype) if dtype else None, because=because) for dtype in slot_dtypes]

    def _slot_dtypes(self, node: Node) -> list[DType | None]:
        """The dtype of each output slot by the operator's schema; inputs that contradict it are reported."""
        shared = signature(node.op_type, node.since_version, node.domain) if node.since_version else None
        if shared is None:
            return [None] * len(node.outputs)
        bound, clash = shared.bind([_dtype(self.fact(t)) if t is not None else None for t in node.inputs])
        if clash:
            self._report_clash("dtype-clash", clash, node)
        return [bound.get(shared.output(slot)) for slot in range(len(node.outputs))]

    def _output(self, out: registry.Output, slot_dtype: DType | None) -> Fact:
        if isinstance(out, Fact):
            return out
        if not isinstance(out, Out):
            return Fact(out)
        if out.shape is None:
            return Fact(TensorType(out.dtype or slot_dtype), None, self._first_reason(self._node))
        sizes = [d for d in out.shape if isinstance(d, int)]
        if min(sizes, default=0) < 0:
            raise ShapeClash(f"its output would be {format_shape(out.shape)}")
        if max(sizes, default=0) >= 1 << 63:
            raise DimTooComplex("a dim of more than 63 bits")
        value = values.known(out.value)
        if value is not None and concrete(out.shape) != value.shape:
            value = None
        return Fact(TensorType(out.dtype or slot_dtype, out.shape), value)

    def _first_reason(self, node: Node | None) -> str:
        """Why the first input of a node that is not known is not."""
        reasons = (self.fact(t).because for t in node.inputs if t is not None) if node else ()
        return next(filter(None, reasons), "its rank is known only at run time")

    # --- findings

    def _report_clash(self, code: str, text: str, node: Node) -> str:
        """Report that a node cannot run; returns the message. In a branch that may not run it is a warning."""
        message = f"{title(node)}: {text}"
        if self._runs is not False:
            self._findings.report(code, Severity.ERROR if self._runs else Severity.WARNING, message, node)
        return message

    # --- results

    def _publish(self, tensor: Tensor) -> None:
        """Write what was found to the tensor; dims that depend on unknown ones become None, with the reason."""
        fact = self.fact(tensor)
        tensor.inferred_type = public_type(fact.type)
        tensor.unknown_because = self.reason(fact)
        if not tensor.unknown_because and not is_complete(tensor.inferred_type):
            tensor.unknown_because = "its type is not known in full"
        if self._introduced and not tensor.unknown_because and isinstance(fact.type, TensorType):
            for name in _symbols(fact.type):
                if self._introduced.get(name) is tensor.producer and tensor.producer is not None:
                    tensor.unknown_because = f"{name} is known only at run time"


def _one_per_slot(facts: list[Fact], node: Node) -> list[Fact]:
    count = len(node.outputs)
    missing = Fact(because=f"{node.qualified_op} has no output of that number (node {node.name!r})")
    return facts[:count] + [missing] * (count - len(facts))


def _dtype(fact: Fact) -> DType | None:
    return fact.type.dtype if isinstance(fact.type, TensorType) else None


def _shape(fact: Fact) -> tuple[object, ...] | None:
    return fact.type.shape if isinstance(fact.type, TensorType) else None


def _symbols(type_: Type | None) -> list[str]:
    if isinstance(type_, TensorType):
        return [name for dim in type_.shape or () for name in symbols_of(dim)]
    if isinstance(type_, (SequenceType, OptionalType)):
        return _symbols(type_.element)
    return _symbols(type_.value) if isinstance(type_, MapType) else []
