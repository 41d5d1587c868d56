"""Model, Graph, Node and Tensor: the graph as OInfer holds it, free of protobuf objects.

A graph owns its nodes and tensors. Links run both ways: a tensor knows its producer and its consumers, a node its
inputs and outputs. A node of a subgraph that reads an outer value holds the outer `Tensor` itself as its input, and
every node that owns a subgraph on the way lists that tensor in `captures`.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from engine.diagnostics import Diagnostic
from engine.dims import DimEquation, Shape
from engine.dtypes import DType
from engine.graph.types import TensorType, Type

if TYPE_CHECKING:
    from engine.graph.data import SparseData, TensorData


class ValueSource(StrEnum):
    """Where a tensor's value comes from."""

    INPUT = "input"  # a graph input that must be fed
    OVERRIDABLE = "overridable initializer"  # initializer and input of one name, IR version >= 4
    CONSTANT = "constant"  # initializer and input of one name, IR version < 4; or a Constant node's output
    IMPLICIT_CONSTANT = "implicit constant"  # initializer without an input
    COMPUTED = "computed"  # output of a node
    ABSENT = "absent"  # read, but nobody makes it


class Tensor:
    """A named value of a graph.

    Attributes
    ----------
    stored_type: the type that the file declares (value_info, input, output, or the initializer itself), or None.
    inferred_type: the type that shape inference found, or None before inference and where it is unknown.
    unknown_because: why the inferred shape is not fully known, in words; empty where it is.
    data: the stored value of a constant or initializer, read on demand.
    producer, producer_slot: the node and output slot that compute it.
    consumers: (node, input slot) pairs, nodes of subgraphs included.
    denotation, dim_denotations: what the file says the value and each of its axes stand for ("IMAGE",
        "DATA_CHANNEL"); empty where it says nothing.
    """

    __slots__ = (
        "consumers", "data", "denotation", "dim_denotations", "doc_string", "graph", "inferred_type", "metadata",
        "name", "producer", "producer_slot", "source", "stored_type", "unknown_because",
    )  # fmt: skip

    def __init__(self, name: str, graph: Graph, source: ValueSource = ValueSource.COMPUTED) -> None:
        self.name = name
        self.graph = graph
        self.source = source
        self.stored_type: Type | None = None
        self.inferred_type: Type | None = None
        self.unknown_because = ""
        self.data: TensorData | SparseData | None = None
        self.producer: Node | None = None
        self.producer_slot = 0
        self.consumers: list[tuple[Node, int]] = []
        self.denotation = ""
        self.dim_denotations: tuple[str, ...] = ()
        self.doc_string = ""
        self.metadata: dict[str, str] = {}

    @property
    def dtype(self) -> DType | None:
        """Element type: inferred where known, else as stored; None for unknown and for non-tensors."""
        for t in (self.inferred_type, self.stored_type):
            if isinstance(t, TensorType) and t.dtype is not None:
                return t.dtype
        return None

    @property
    def stored_shape(self) -> Shape | None:
        """Shape as the file declares it."""
        return self.stored_type.shape if isinstance(self.stored_type, TensorType) else None

    @property
    def inferred_shape(self) -> Shape | None:
        """Shape as inferred."""
        return self.inferred_type.shape if isinstance(self.inferred_type, TensorType) else None

    @property
    def is_constant(self) -> bool:
        """Whether its value is fixed by the file."""
        return self.source in (ValueSource.CONSTANT, ValueSource.IMPLICIT_CONSTANT)

    @property
    def qualified_name(self) -> str:
        """Name that is unique in the model: ``OUTER_NODE/ATTRIBUTE/NAME`` for tensors of subgraphs."""
        return self.graph.prefix + self.name

    def __repr__(self) -> str:
        return f"Tensor({self.qualified_name!r})"


@dataclass(frozen=True, slots=True)
class RefAttribute:
    """In a function body: the value of the calling node's attribute `name` goes here.

    `kind` is the `AttributeProto.AttributeType` that the reference declares.
    """

    name: str
    kind: int = 0


AttributeValue: TypeAlias = (
    "int | float | str | list[int] | list[float] | list[str] | TensorData | list[TensorData] | SparseData | "
    "list[SparseData] | Graph | list[Graph] | Type | list[Type] | RefAttribute"
)


class Node:
    """One operator call.

    `inputs` and `outputs` hold None for an absent optional one. `name` is never empty and unique in its graph:
    where the file has none, or one used before, it is made up (``Relu_12``) and `stored_name` keeps the file's.
    `file_index` is its place in the file, `index` its place in the run order (-1 before sorting and within cycles).
    `captures` are the outer tensors that its subgraphs read.
    """

    __slots__ = (
        "attributes", "captures", "doc_string", "domain", "file_index", "graph", "index", "inputs", "metadata", "name",
        "op_type", "outputs", "overload", "since_version", "stored_name", "subgraphs",
    )  # fmt: skip

    def __init__(self, graph: Graph, op_type: str, domain: str, name: str, file_index: int) -> None:
        self.graph = graph
        self.op_type = op_type
        self.domain = domain
        self.overload = ""
        self.name = name
        self.stored_name = name
        self.file_index = file_index
        self.index = -1
        self.since_version = 0  # of the schema that the model's opset selects; 0 where there is no schema
        self.inputs: list[Tensor | None] = []
        self.outputs: list[Tensor | None] = []
        self.attributes: dict[str, AttributeValue] = {}
        self.subgraphs: dict[str, Graph] = {}  # by attribute name, NAME[i] for lists of graphs
        self.captures: list[Tensor] = []
        self.doc_string = ""
        self.metadata: dict[str, str] = {}

    @property
    def qualified_name(self) -> str:
        """Name that is unique in the model: ``OUTER_NODE/ATTRIBUTE/NAME`` for nodes of subgraphs."""
        return self.graph.prefix + self.name

    @property
    def qualified_op(self) -> str:
        """Operator with its domain, the default domain left out: ``Conv``, ``com.microsoft::Gelu``."""
        return f"{self.domain}::{self.op_type}" if self.domain else self.op_type

    def read_tensors(self) -> Iterator[Tensor]:
        """Every tensor this node needs before it can run: its present inputs, then what its subgraphs capture."""
        for tensor in self.inputs:
            if tensor is not None:
                yield tensor
        yield from self.captures

    @property
    def opset(self) -> int:
        """The opset of its domain that is imported where it stands; 1 where none is."""
        return self.graph.opset_imports.get(self.domain, 1)

    def __repr__(self) -> str:
        return f"Node({self.qualified_name!r}, {self.qualified_op})"


class Graph:
    """Nodes and tensors of one scope: the main graph, the body of an If, Loop or Scan, or a function's body.

    `nodes` is the file order, `order` the run order (without the nodes of cycles). `tensors` finds this scope's
    tensors by name. `parent` is the enclosing graph and `owner` the node whose attribute holds this graph.
    `opset_imports` are those in force here: the model's, or a function's own. `quantization` holds, by tensor name, the
    names of the tensors with its parameters (``{"SCALE_TENSOR": …}``).
    """

    __slots__ = ("doc_string", "inputs", "metadata", "name", "nodes", "opset_imports", "order", "outputs", "owner",
                 "owner_attribute", "parent", "quantization", "tensors")  # fmt: skip

    def __init__(self, name: str, owner: Node | None = None, owner_attribute: str = "") -> None:
        self.name = name
        self.owner = owner
        self.owner_attribute = owner_attribute
        self.parent: Graph | None = owner.graph if owner else None
        self.opset_imports: dict[str, int] = self.parent.opset_imports if self.parent else {}
        self.nodes: list[Node] = []
        self.order: list[Node] = []
        self.tensors: dict[str, Tensor] = {}
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.doc_string = ""
        self.metadata: dict[str, str] = {}
        self.quantization: dict[str, dict[str, str]] = {}

    @property
    def prefix(self) -> str:
        """What qualifies the names of this scope; empty for the main graph."""
        return f"{self.owner.qualified_name}/{self.owner_attribute}/" if self.owner else ""

    @property
    def outermost(self) -> Graph:
        """The graph around all others that this one stands in: the model's, or a function's body as a template.

        By owners, since the body of a called function has no `parent`: it sees nothing of its caller.
        """
        graph = self
        while graph.owner is not None:
            graph = graph.owner.graph
        return graph

    @property
    def feeds(self) -> list[Tensor]:
        """The inputs that must be fed."""
        return [t for t in self.inputs if t.source is ValueSource.INPUT]

    def find(self, name: str) -> Tensor | None:
        """The tensor that `name` means here: of this scope, else of the nearest enclosing one."""
        graph: Graph | None = self
        while graph is not None:
            tensor = graph.tensors.get(name)
            if tensor is not None:
                return tensor
            graph = graph.parent
        return None

    def walk(self) -> Iterator[Graph]:
        """This graph and every subgraph below it, outer before inner, in file order."""
        yield self
        for node in self.nodes:
            for sub in node.subgraphs.values():
                yield from sub.walk()

    def walk_stored(self, called: set[tuple[str, str, str]] | None = None) -> Iterator[Graph]:
        """As `walk`, but of each function's body the copy of one call alone: so often does the file hold it.

        `called` are the functions that have been met before.
        """
        called = set() if called is None else called
        yield self
        for node in self.nodes:
            function = (node.domain, node.op_type, node.overload)
            if "function" in node.subgraphs:
                if function in called:
                    continue
                called.add(function)
            for sub in node.subgraphs.values():
                yield from sub.walk_stored(called)

    def __repr__(self) -> str:
        return f"Graph({self.prefix + self.name!r}, {len(self.nodes)} nodes)"


@dataclass(slots=True)
class Function:
    """A model-local function: a graph template whose nodes may hold `RefAttribute`s (onnx.proto `FunctionProto`)."""

    domain: str
    name: str
    overload: str
    body: Graph
    attributes: tuple[str, ...] = ()  # without a default
    attribute_defaults: dict[str, AttributeValue] = field(default_factory=dict)
    opset_imports: dict[str, int] = field(default_factory=dict)
    doc_string: str = ""
    metadata: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Model:
    """A loaded model file. `path` is None for models made in memory, `data_paths` are the files beside it that its
    weights are in; `form` is what the file is where it is no binary ONNX model, in words; `diagnostics` grows as phases
    find things.

    `dim_equations` must hold of the sizes of the inputs' dims for the model to run, as far as shape inference came
    upon them.
    """

    ir_version: int
    graph: Graph
    path: str | None = None
    form: str = ""
    data_paths: list[str] = field(default_factory=list)
    opset_imports: dict[str, int] = field(default_factory=dict)
    producer_name: str = ""
    producer_version: str = ""
    domain: str = ""
    model_version: int = 0
    doc_string: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    functions: dict[tuple[str, str, str], Function] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    timings_ms: dict[str, float] = field(default_factory=dict)
    dim_equations: list[DimEquation] = field(default_factory=list)

    @property
    def format(self) -> str:
        """What the file is, in words: ``ONNX IR 8``, or ``ORT format 6, ONNX IR 8``."""
        return ", ".join(filter(None, (self.form, f"ONNX IR {self.ir_version}")))

    def nodes(self) -> Iterator[Node]:
        """Every node, subgraphs included, in file order."""
        for graph in self.graph.walk():
            yield from graph.nodes
