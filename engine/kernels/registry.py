"""How kernels are declared and found: one `Kernel` per function, keyed by (domain, operator, since_version)."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, get_args, get_type_hints

import numpy as np

from engine.errors import UnsupportedError
from engine.graph.data import SparseData, TensorData
from engine.graph.ir import Graph, Node

MICROSOFT = "com.microsoft"
ML = "ai.onnx.ml"

Value = Any
"""What flows along an edge: an array of the provider's module, a list (sequence), a dict (map), or None (absent)."""


T = TypeVar("T")


class KernelContext(Protocol):
    """What a kernel may know beyond its inputs and attributes.

    Attributes
    ----------
    xp: the array module that the inputs belong to (`numpy`, `cupy`).
    node: the node being computed.
    wanted: for each output slot of the node, whether anybody reads it.
    """

    @property
    def xp(self) -> Any: ...
    @property
    def node(self) -> Node: ...
    @property
    def wanted(self) -> tuple[bool, ...]: ...

    def run_graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Run a subgraph of the node on `inputs`, one per graph input, and return its outputs."""

    def prepared(self, name: str, make: Callable[[], T], *sources: Value) -> T:
        """``make()``, called once a session where that can't change what it gives.

        Parameters
        ----------
        name: what is made, unique for these sources within the node.
        make: may read the node's attributes and `sources`, and no other inputs.
        sources: the inputs it reads, or what was prepared of them; None for an absent one. Where one of them is no
            constant of the session, it is made anew for each call.
        """


@dataclass(frozen=True, slots=True)
class Kernel:
    """An implementation of an operator for some of its versions.

    `function(ctx, *inputs, **attributes)` returns one value, or a tuple with one value per output slot. `required` and
    `optional` name the attributes it understands: they are the function's keyword-only parameters. Attributes that a
    family shares are a `TypedDict`, taken as ``**attributes: Unpack[Shared]``.
    `host_inputs` are the slots that must be NumPy arrays on every device (shapes, axes, repeats), `host_outputs` those
    of the results that are NumPy arrays wherever the inputs lie.
    `generic` kernels use nothing but `ctx.xp` and serve every array module; others need NumPy.
    `accepts` says for a node "" or why this kernel can't take it ("no float16 kernel").
    """

    domain: str
    op_type: str
    since_versions: tuple[int, ...]
    function: Callable[..., Any]
    required: frozenset[str]
    optional: frozenset[str]
    generic: bool = True
    host_inputs: tuple[int, ...] = ()
    host_outputs: tuple[int, ...] = ()
    accepts: Callable[[Node], str] | None = None

    def refusal(self, node: Node) -> str:
        """Why this kernel cannot take the node, in words; empty when it can."""
        return self.accepts(node) if self.accepts else ""

    def bind_attributes(self, node: Node) -> dict[str, Any]:
        """The node's attributes as keyword arguments; tensors become arrays. Unknown attributes are left out.

        Raises
        ------
        UnsupportedError: an attribute that the operator requires is missing.
        """
        bound = {
            name: _plain(value) for name, value in node.attributes.items()
            if name in self.required or name in self.optional
        }  # fmt: skip
        missing = sorted(self.required - bound.keys())
        if missing:
            raise UnsupportedError(f"attribute {', '.join(missing)} of {node.qualified_op} is missing")
        return bound


def _plain(value: Any) -> Any:
    if isinstance(value, (TensorData, SparseData)):
        return value.array()
    if isinstance(value, list) and value and isinstance(value[0], (TensorData, SparseData)):
        return [v.array() for v in value]
    return value


F = TypeVar("F", bound=Callable[..., Any])

LIBRARY: list[Kernel] = []
"""Every kernel declared with `@kernel` in the modules of `engine.kernels`, in order of declaration."""


def kernel(
    op_type: str,
    *since_versions: int,
    domain: str = "",
    generic: bool = True,
    host_inputs: tuple[int, ...] = (),
    host_outputs: tuple[int, ...] = (),
    accepts: Callable[[Node], str] | None = None,
    into: list[Kernel] | None = None,
) -> Callable[[F], F]:
    """Declare a function as the kernel of `op_type` for the schema versions named (see `Kernel`).

    `into` collects the kernel elsewhere than in the shared library, for providers with kernels of their own.
    """

    def declare(function: F) -> F:
        required, optional = _attributes(function)
        target = LIBRARY if into is None else into
        target.append(Kernel(
            domain, op_type, since_versions, function, required, optional, generic, host_inputs, host_outputs, accepts
        ))  # fmt: skip
        return function

    return declare


def _attributes(function: Callable[..., Any]) -> tuple[frozenset[str], frozenset[str]]:
    """The attributes that a kernel must be given and may be given: its keywords, those of a `TypedDict` included."""
    parameters = inspect.signature(function).parameters.values()
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    required = {p.name for p in keywords if p.default is p.empty}
    optional = {p.name for p in keywords} - required
    for shared in (p for p in parameters if p.kind is p.VAR_KEYWORD):
        (group,) = get_args(get_type_hints(inspect.unwrap(function))[shared.name])
        required |= group.__required_keys__
        optional |= group.__optional_keys__
    return frozenset(required), frozenset(optional)


class KernelRegistry:
    """The kernels of one provider, found by domain, operator and the schema version that the node's opset selects."""

    def __init__(self, kernels: Iterable[Kernel] = ()) -> None:
        self._kernels: dict[tuple[str, str, int], Kernel] = {}
        self._versions: dict[tuple[str, str], set[int]] = {}
        for k in kernels:
            self.register(k)

    def register(self, kernel: Kernel) -> None:
        """Add a kernel for each of its versions; a later one replaces an earlier one."""
        for version in kernel.since_versions:
            self._kernels[kernel.domain, kernel.op_type, version] = kernel
            self._versions.setdefault((kernel.domain, kernel.op_type), set()).add(version)

    def find(self, node: Node) -> tuple[Kernel | None, str]:
        """The kernel for a node and "", or None and why there is none, in words."""
        found = self._kernels.get((node.domain, node.op_type, node.since_version))
        if found is not None:
            refusal = found.refusal(node)
            return (None, refusal) if refusal else (found, "")
        versions = self._versions.get((node.domain, node.op_type))
        if not versions:
            return None, f"no kernel for {node.qualified_op}"
        has = ", ".join(map(str, sorted(versions)))
        return None, f"no kernel for version {node.since_version} of {node.qualified_op} (has {has})"

    def __len__(self) -> int:
        return len(self._kernels)


def only_dtypes(*names: str, inputs: tuple[int, ...] = (0,)) -> Callable[[Node], str]:
    """An `accepts` that takes nodes whose named input slots, where present, have one of the dtypes."""

    def accepts(node: Node) -> str:
        for slot in inputs:
            tensor = node.inputs[slot] if slot < len(node.inputs) else None
            if tensor is None:
                continue
            if tensor.dtype is None:
                return f"dtype of {tensor.name!r} is not known before the run"
            if tensor.dtype.name not in names:
                return f"no {tensor.dtype.name} {node.op_type} kernel"
        return ""

    return accepts


def host_array(value: Value) -> np.ndarray:
    """A value as a NumPy array, wherever it lives."""
    return value.get() if hasattr(value, "get") and not isinstance(value, (np.ndarray, dict)) else np.asarray(value)
