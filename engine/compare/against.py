"""Values from a file, made by whatever program, held against those of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from engine.agreement import Tolerances, compare_values
from engine.compare.nodes import Steps, TensorAgreement, run_order
from engine.errors import InputError
from engine.graph.ir import Model, Tensor
from engine.kernels.registry import Value
from engine.session import RunResult

_EXPECTED_NAME = re.compile(r"(?:every(\d+):)?(?:out:)?(.+)", re.DOTALL)


def expected_tensors(model: Model, against: Mapping[str, Value]) -> dict[Tensor, tuple[int, Value]]:
    """Find the tensors that expected values belong to, each with its stride over the flattened tensor.

    A name is a tensor's qualified name, or that after ``out:``, or ``everyN:out:`` where only every N-th element was
    kept. Names after ``in:`` are inputs and left out.

    Raises
    ------
    InputError: a name is no tensor of the model.
    """
    tensors = {tensor.qualified_name: tensor for graph in model.graph.walk() for tensor in graph.tensors.values()}
    found: dict[Tensor, tuple[int, Value]] = {}
    for name, value in against.items():
        if name not in tensors and name.startswith("in:"):
            continue
        match = _EXPECTED_NAME.fullmatch(name)
        stride, bare = (match[1], match[2]) if match and name not in tensors else (None, name)
        if bare not in tensors:
            raise InputError(f"the file to compare with has a value {bare!r}, and the model has no such tensor")
        found[tensors[bare]] = (int(stride or 1), value)
    if not found:
        raise InputError("the file to compare with holds no tensor of the model")
    return found


def compare_expected(
    model: Model, result: RunResult, expected: Mapping[Tensor, tuple[int, Value]], tolerances: Tolerances
) -> list[TensorAgreement]:
    """Expected values against the run's, in run order, tensors without a node first."""
    place = {node: index for index, node in enumerate(run_order(model.graph))}
    steps, outputs = Steps(model), set(model.graph.outputs)
    entries: list[TensorAgreement] = []
    for tensor, (stride, value) in expected.items():
        actual = result.outputs.get(tensor.name) if tensor in outputs else result.values.get(tensor)
        if stride > 1 and isinstance(actual, np.ndarray):
            actual = actual.reshape(-1)[::stride]
        agreement = compare_values(actual, value, tolerances, steps.of(tensor) if stride == 1 else None)
        entries.append(TensorAgreement(tensor, tensor.producer, agreement))
    return sorted(entries, key=lambda entry: place.get(entry.node, -1) if entry.node else -1)
