"""The ONNX Runtime provider: runs maximal subgraphs whole, where that is installed; never by default."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Sequence

from engine.graph.ir import Graph, Model, Node, Tensor
from engine.kernels.registry import KernelRegistry, Value
from engine.providers.base import Availability, ExecutionProvider, TensorAllocator
from engine.providers.cpu import HostAllocator
from engine.providers.groups import Group, is_constant_node, maximal_groups
from engine.providers.ort.compiled import compile_group
from engine.providers.ort.support import execution_providers, takes

__all__ = ["OnnxRuntimeProvider", "execution_providers"]


class OnnxRuntimeProvider(ExecutionProvider):
    """Claims what ONNX Runtime has kernels for; its tensors are NumPy arrays.

    Parameters
    ----------
    execution_provider: which of ONNX Runtime's own execution providers is to be used, in short ("CoreML", "CUDA"; see
        `execution_providers`); its CPU one takes the rest.
    """

    by_default = False
    spins = True

    def __init__(self, execution_provider: str = "CPU") -> None:
        self.execution_provider = execution_provider
        self.name = "ORT" if execution_provider == "CPU" else f"ORT:{execution_provider}"
        self._model: Model | None = None

    def available(self) -> Availability:
        if importlib.util.find_spec("onnxruntime") is None:
            return Availability(False, "ONNX Runtime is not installed: pip install 'oinfer[ort]'")
        if self.execution_provider != "CPU" and self.execution_provider not in execution_providers():
            has = ", ".join(execution_providers())
            return Availability(False, f"this ONNX Runtime has no {self.execution_provider}; it has {has}")
        return Availability(True)

    def register_kernels(self, registry: KernelRegistry) -> None:
        """None: it takes nodes by `claim` alone."""

    def create_allocator(self) -> TensorAllocator:
        return HostAllocator()

    def for_session(self, model: Model) -> OnnxRuntimeProvider:
        own = OnnxRuntimeProvider(self.execution_provider)
        own._model = model
        return own

    def claim(self, graph: Graph, free: Collection[Node]) -> list[list[Node]]:
        wanted = {node for node in graph.nodes if node in free and takes(node, self.execution_provider)}
        groups = maximal_groups(graph, wanted)
        return [group for group in groups if not all(is_constant_node(node) for node in group)]

    def compile(self, group: Group, outputs: Sequence[Tensor]) -> Callable[..., Sequence[Value]]:
        assert self._model is not None, "only a session's own provider compiles"
        return compile_group(self._model, group, outputs, self.execution_provider)
