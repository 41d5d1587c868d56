"""ONNX's own backend interface (`onnx.backend.base`): the standard's test suite and other people's scripts drive the
engine through `prepare(model).run(inputs)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, Device, DeviceType

from engine.errors import EngineError, InputError
from engine.graph.ir import Model
from engine.graph.loader import load_model_proto
from engine.providers import ExecutionProvider, provider_named
from engine.session import Session
from engine.shapes.infer import infer_shapes


class OInferRep(BackendRep):
    """A model ready to run."""

    def __init__(self, model: Model, providers: Sequence[ExecutionProvider]) -> None:
        self.model = model
        self.session = Session(model, providers)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Run on `inputs` and return the outputs in the graph's order.

        Parameters
        ----------
        inputs: values by position, for the inputs that must be fed first to last and then the overridable ones; or a
            mapping by name; or one array for a model with one input.

        Raises
        ------
        EngineError: of the kind that says what is wrong.
        """
        return tuple(self.session.run(self._feeds(inputs)).outputs.values())

    def _feeds(self, inputs: Any) -> dict[str, Any]:
        if isinstance(inputs, Mapping):
            return dict(inputs)
        if isinstance(inputs, np.ndarray):
            inputs = [inputs]
        graph = self.model.graph
        names = [tensor.name for tensor in graph.feeds]
        names += [t.name for t in graph.inputs if not t.is_constant and t not in graph.feeds]
        if len(inputs) > len(names):
            raise InputError(f"{len(inputs)} inputs given, and the model takes {len(names)}: {', '.join(names)}")
        return dict(zip(names, inputs))


class OInferBackend(Backend):
    """The engine as an ONNX backend; devices are CPU, and CUDA where this machine has one."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether every node of the model has a kernel here."""
        try:
            cls.prepare(model, device, **kwargs)
        except EngineError:
            return False
        return True

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> OInferRep:
        """Load, infer and place a model.

        Parameters
        ----------
        device: "CPU", "CUDA" or "CUDA:0"; nodes that the GPU cannot take run on the CPU.

        Raises
        ------
        EngineError: the model cannot be loaded or run, or there is no such device; the message says why.
        """
        providers = _providers_for(device)
        loaded = load_model_proto(model)
        infer_shapes(loaded)
        return OInferRep(loaded, providers)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Prepare and run once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node on arrays, one per non-empty input name.

        Parameters
        ----------
        kwargs: `opset_version` of the node's domain; by default the newest that the onnx package knows.
        """
        names = [name for name in node.input if name]
        arrays = [np.asarray(x) for x in ([inputs] if isinstance(inputs, np.ndarray) else inputs)]
        infos = [_value_info(name, array.dtype, array.shape) for name, array in zip(names, arrays)]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        opset = onnx.helper.make_opsetid(node.domain, kwargs.pop("opset_version", onnx.defs.onnx_opset_version()))
        graph = onnx.helper.make_graph([node], "node", infos, outputs)
        return cls.run_model(onnx.helper.make_model(graph, opset_imports=[opset]), arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether this machine has the device."""
        try:
            _providers_for(device)
        except EngineError:
            return False
        return True


def _value_info(name: str, dtype: np.dtype, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(dtype), shape)


def _providers_for(device: str) -> list[ExecutionProvider]:
    cpu = provider_named("CPU")
    try:
        parsed = Device(device)
    except (AttributeError, ValueError) as error:
        raise InputError(f"there is no device {device!r}; devices are CPU and CUDA") from error
    if parsed.type == DeviceType.CPU:
        return [cpu]
    cuda = provider_named("CUDA")
    available = cuda.available()
    if not available or parsed.device_id != 0:
        raise InputError(f"there is no device {device!r}: {available.reason or 'only CUDA:0 is used'}")
    return [cuda, cpu]


is_compatible = OInferBackend.is_compatible
prepare = OInferBackend.prepare
run_model = OInferBackend.run_model
run_node = OInferBackend.run_node
supports_device = OInferBackend.supports_device
