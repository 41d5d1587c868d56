"""What the user set up for a run; `Settings.inputs_of` remembers it per model."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from engine.errors import InputError
from engine.feeds import InputSpec, SymbolUse, default_dims, default_specs, symbols
from engine.graph.ir import Model
from engine.providers import all_providers, default_providers, provider_named
from engine.providers.overrides import override_keys
from engine.session import Mode

T = TypeVar("T")


_LARGEST = 2**31 - 1
"""Of the numbers in the fields."""


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
    steps: how often the model runs before what is measured, the measured run included, fed back as `feedback` says.
    feedback: in the text form of `parse_feedback`.
    overrides: provider names by ``op:OPERATOR`` or ``node:NAME``, as `Session` takes them.
    mode: of the chosen providers' side, ``faithful`` or ``fast``.
    """

    order: list[str] = field(default_factory=lambda: provider_names())
    enabled: list[str] = field(default_factory=lambda: [provider.name for provider in default_providers()])
    dims: dict[str, int] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)
    warmup: int = 2
    repeat: int = 10
    seed: int = 0
    per_node: bool = True
    steps: int = 1
    feedback: str = "auto"
    overrides: dict[str, str] = field(default_factory=dict)
    mode: str = Mode.FAITHFUL.value

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


def provider_names() -> list[str]:
    """Every provider in default order, those that are never the default last."""
    return [provider.name for provider in all_providers()]


def is_provider(name: str) -> bool:
    """Whether a name is a provider's, or ``ORT:CHOICE``; whether there is such a choice is not looked up."""
    return name.partition(":")[0] in provider_names()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a model asks of a plan: its symbolic dims with the places that use them, and what suits these and its inputs
    if nobody says otherwise. Thousands of inputs take a while, so it is made where the model is opened."""

    symbols: dict[str, list[SymbolUse]] = field(default_factory=dict)
    dims: dict[str, int] = field(default_factory=dict)
    specs: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> Needs:
        """Those of a model; slow for thousands of inputs."""
        specs = {name: str(spec) for name, spec in default_specs(model).items()}
        return cls(symbols(model), default_dims(model), specs)


def default_plan(needs: Needs) -> RunPlan:
    """A plan that suits the model, nothing remembered."""
    return RunPlan(dims=dict(needs.dims), specs=dict(needs.specs))


def recall_plan(model: Model, needs: Needs, remembered: Mapping[str, Any]) -> RunPlan:
    """The plan that `asdict` made of an earlier one, as far as it still fits the model and this machine."""
    default = default_plan(needs)
    told = {
        entry.name: remembered[entry.name] for entry in fields(default)
        if _is_like(remembered.get(entry.name), getattr(default, entry.name))
    }  # fmt: skip
    plan = replace(default, **told)
    plan.dims = default.dims | _fitting(plan.dims, default.dims, int)
    plan.specs = default.specs | _fitting(plan.specs, default.specs, str)
    plan.order = _merged(plan.order, default.order)
    plan.enabled = [name for name in plan.order if name in plan.enabled and _usable(name)] or default.enabled
    plan.overrides = _fitting_overrides(model, plan.overrides)
    plan.mode = plan.mode if plan.mode in list(Mode) else default.mode
    return plan


def _is_like(value: object, default: object) -> bool:
    """Whether a remembered value is of the right type, and no number that a field cannot hold."""
    return type(value) is type(default) and not (isinstance(value, int) and abs(value) > _LARGEST)


def _fitting(wanted: Mapping[str, T], known: Mapping[str, T], kind: type[T]) -> dict[str, T]:
    """Those of the names that are known, as far as their values are what they ought to be."""
    return {name: value for name, value in wanted.items() if name in known and isinstance(value, kind)}


def _usable(name: str) -> bool:
    """Whether the provider is available; of ONNX Runtime's choices only whether that itself is, since asking for more
    would import it."""
    return bool(provider_named(name.partition(":")[0]).available())


def _fitting_overrides(model: Model, wanted: Mapping[str, Any]) -> dict[str, str]:
    """Those of nodes and operators that the model has, to providers that there are."""
    known = {key for node in model.nodes() for key in override_keys(node)}
    return {key: name for key, name in wanted.items() if key in known and isinstance(name, str) and is_provider(name)}


def _merged(wanted: Sequence[object], known: Sequence[str]) -> list[str]:
    """`wanted` as far as they are providers, then what it does not mention."""
    first = [name for name in wanted if isinstance(name, str) and is_provider(name)]
    return first + [name for name in known if name not in first]
