"""Which inputs and outputs of an operator share a dtype, by its schema in the ONNX standard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import onnx

from engine.dtypes import DType
from engine.graph.schemas import element_type, schema_of


@dataclass(frozen=True, slots=True)
class Signature:
    """Type parameters of an operator: one per input slot and per output slot, the last one repeating if `variadic`.

    `only` gives the dtype of a parameter that allows a single one. A parameter "" constrains nothing.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    variadic_input: bool
    variadic_output: bool
    only: dict[str, DType]

    def input(self, slot: int) -> str:
        """Type parameter of an input slot."""
        return _at(self.inputs, slot, self.variadic_input)

    def output(self, slot: int) -> str:
        """Type parameter of an output slot."""
        return _at(self.outputs, slot, self.variadic_output)

    def bind(self, inputs: Sequence[DType | None]) -> tuple[dict[str, DType], str]:
        """The dtype of each parameter under these input dtypes, and the first disagreement in words, or ""."""
        bound: dict[str, DType] = dict(self.only)
        seen: dict[str, int] = {}
        clash = ""
        for slot, dtype in enumerate(inputs):
            parameter = self.input(slot)
            if dtype is None or not parameter:
                continue
            known = bound.setdefault(parameter, dtype)
            if known is not dtype and not clash:
                other = f"input {seen[parameter]} is {known}" if parameter in seen else f"it must be {known}"
                clash = f"input {slot} is {dtype}, {other}"
            seen.setdefault(parameter, slot)
        return bound, clash


def _at(parameters: tuple[str, ...], slot: int, variadic: bool) -> str:
    if slot < len(parameters):
        return parameters[slot]
    return parameters[-1] if variadic and parameters else ""


@cache
def signature(op_type: str, since_version: int, domain: str) -> Signature | None:
    """The signature of an operator's schema; None where the standard has none."""
    schema = schema_of(op_type, since_version, domain)
    if schema is None:
        return None
    only = {}
    for constraint in schema.type_constraints:
        allowed = [element_type(text) for text in constraint.allowed_type_strs]
        if len(allowed) == 1 and allowed[0] is not None:
            only[constraint.type_param_str] = allowed[0]

    def parameters(formals: Sequence[onnx.defs.OpSchema.FormalParameter]) -> tuple[str, ...]:
        found = []
        for formal in formals:
            dtype = element_type(formal.type_str)
            if dtype is not None:
                only[formal.type_str] = dtype
            shared = formal.is_homogeneous and not formal.type_str.startswith(("seq(", "optional(", "map("))
            found.append(formal.type_str if shared else "")
        return tuple(found)

    inputs, outputs = parameters(schema.inputs), parameters(schema.outputs)
    return Signature(inputs, outputs, _is_variadic(schema.inputs), _is_variadic(schema.outputs), only)


def _is_variadic(formals: Sequence[onnx.defs.OpSchema.FormalParameter]) -> bool:
    return bool(formals) and formals[-1].option is onnx.defs.OpSchema.FormalParameterOption.Variadic
