"""What the user set up for a run; `Settings.inputs_of` remembers it per model."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from engine.errors import InputError
from engine.feeds import InputSpec, default_dims, default_specs
from engine.graph.ir import Model
from engine.providers import all_providers, default_providers


@dataclass(slots=True)
class RunPlan:
    """How to run a model.

    Attributes
    ----------
    order: names of all providers, in the user's order.
    enabled: names of those to use; CPU runs what no other takes, named or not.
    dims: a size for each symbolic dim of the inputs.
    specs: how each input is made, in the text form of `InputSpec`.
    per_node: compare every tensor of the two sides, not the outputs alone.
    """

    order: list[str] = field(default_factory=lambda: [provider.name for provider in all_providers()])
    enabled: list[str] = field(default_factory=lambda: [provider.name for provider in default_providers()])
    dims: dict[str, int] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    warmup: int = 2
    repeat: int = 10
    seed: int = 0
    per_node: bool = True

    @property
    def providers(self) -> list[str]:
        """Names of the providers to use, in order."""
        return [name for name in self.order if name in self.enabled]

    def input_specs(self) -> dict[str, InputSpec]:
        """The generators, parsed.

        Raises
        ------
        InputError: one of them says no way to make an input; `input_name` names the input.
        """
        parsed = {}
        for name, text in self.specs.items():
            try:
                parsed[name] = InputSpec.parse(text)
            except InputError as error:
                raise InputError(f"input {name!r}: {error}", name) from error
        return parsed


def default_plan(model: Model) -> RunPlan:
    """A plan that suits the model, nothing remembered."""
    specs = {name: str(spec) for name, spec in default_specs(model).items()}
    return RunPlan(dims=default_dims(model), specs=specs)


def recall_plan(model: Model, remembered: Mapping[str, Any]) -> RunPlan:
    """The plan that `asdict` made of an earlier one, as far as it still fits the model and this machine."""
    plan = default_plan(model)
    for entry in fields(RunPlan):
        value, default = remembered.get(entry.name), getattr(plan, entry.name)
        if type(value) is not type(default):
            continue
        if isinstance(value, dict):
            kind = int if entry.name == "dims" else str
            default.update((k, v) for k, v in value.items() if k in default and isinstance(v, kind))
        elif entry.name == "order":
            plan.order = _merged(value, plan.order)
        elif entry.name == "enabled":
            plan.enabled = [p.name for p in all_providers() if p.available() and p.name in value] or plan.enabled
        else:
            setattr(plan, entry.name, value)
    return plan


def _merged(wanted: Sequence[object], known: Sequence[str]) -> list[str]:
    """`wanted` as far as known, then what it does not mention."""
    first = [name for name in wanted if isinstance(name, str) and name in known]
    return first + [name for name in known if name not in first]
