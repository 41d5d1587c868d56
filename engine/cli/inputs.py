"""The options that say what a model is fed and who runs it, shared by `run` and `compare`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from engine import feeds as feeding
from engine.cli.model import add_model
from engine.errors import InputError
from engine.feeds import InputSpec
from engine.graph.ir import Model
from engine.providers import default_providers, provider_named
from engine.providers.base import ExecutionProvider
from engine.session import Mode
from engine.words import meant

_MAX_DIGITS = 18  # every such number is an int64


@dataclass(slots=True)
class PreparedFeeds:
    """Feeds with the sizes they were made for; `assumed` are the dims that nobody gave."""

    feeds: dict[str, np.ndarray]
    dims: dict[str, int]
    assumed: dict[str, int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_model(parser)
    parser.add_argument("--inputs", metavar="FILE", help="an .npz with the inputs by name (NAME or in:NAME), an .npy "
                        "or .pb for one input, or a folder with input_0.pb ...; the rest is generated")  # fmt: skip
    parser.add_argument("--input", metavar="NAME=SPEC", action="append", default=[], help="how one input is made: "
                        "normal[:SCALE], uniform:LOW:HIGH, integers:LOW:HIGH, arange[:START[:STEP]], tokens[:COUNT], "
                        "ones, zeros, words:A,B, a number, FILE.npz[:KEY], FILE.npy, FILE.pb, or a picture "
                        "FILE.png[:255|:signed|:imagenet]")  # fmt: skip
    add_dim(parser)
    parser.add_argument("--shape", metavar="NAME=2x3x4", action="append", default=[], help="whole shape of an input")
    parser.add_argument("--seed", type=natural, default=0, help="seed of generated inputs (default 0)")
    parser.add_argument("--providers", metavar="A,B", help="execution providers, the first choice first (default: "
                        "CUDA, Accelerate, CPU, each where available); CPU is always the last; ORT, or ORT:NAME with "
                        "its own execution provider, is used only where named")  # fmt: skip
    parser.add_argument("--place", metavar="KEY=PROVIDER", action="append", default=[], help="who is asked first for "
                        "some nodes: op:OPERATOR=PROVIDER or node:NAME=PROVIDER")  # fmt: skip
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.FAITHFUL.value, help="the graph "
                        "as stored (faithful, the default), or made over for speed")  # fmt: skip


def add_dim(parser: argparse.ArgumentParser) -> None:
    """Declare ``--dim``."""
    parser.add_argument("--dim", metavar="NAME=SIZE", action="append", default=[], help="size of a symbolic dim")


def sizes(model: Model, args: argparse.Namespace) -> dict[str, int]:
    """What ``--dim`` says, by the symbols of the inputs.

    Raises
    ------
    InputError: one that does not parse, or whose name is no input's.
    """
    known, declared = feeding.symbols(model), feeding.declared_names(model)
    texts = _pairs("--dim", args.dim, [*known, *declared])
    given = {declared.get(name, name): _parse_size(name, text) for name, text in texts.items()}
    for name in set(given) - set(known):
        listed = ", ".join(known) or "none"
        raise InputError(f"the inputs have no symbolic dim {name!r}; they have {listed}{meant(name, known)}")
    return given


def prepare(model: Model, args: argparse.Namespace) -> PreparedFeeds:
    """Make the feeds that the options ask for, and check them.

    Raises
    ------
    InputError: an option that does not parse or does not fit the model, or inputs that do not.
    """
    names = [tensor.name for tensor in model.graph.inputs]
    specs = {name: InputSpec.parse(text) for name, text in _pairs("--input", args.input, names).items()}
    shapes = {name: _parse_shape(name, text) for name, text in _pairs("--shape", args.shape, names).items()}
    given = sizes(model, args)
    from_file = feeding.name_feeds(model, feeding.load_feeds(args.inputs)) if args.inputs else {}
    from_file = {name: array for name, array in from_file.items() if name not in {*specs, *shapes}}
    shown = feeding.bound_dims(model, from_file)
    dims = feeding.fit_dims(model, feeding.default_dims(model), shown | given)
    feeds = feeding.make_feeds(model, dims, specs, args.seed, shapes, given=from_file)
    feeding.check_feeds(model, feeds)
    bound = feeding.bound_dims(model, feeds)
    settled = {*given, *shown}
    assumed = {name: size for name, size in dims.items() if name not in settled and bound.get(name, size) == size}
    return PreparedFeeds(feeds, dims | bound, assumed)


def choose_providers(names: str | None) -> list[ExecutionProvider]:
    """The providers of a comma-separated list, or the default order.

    Raises
    ------
    InputError: a name that no provider has or that stands twice, or a provider that this machine cannot run.
    """
    if names is None:
        return default_providers()
    chosen = [available_provider(name) for name in names.split(",")]
    for name, times in Counter(provider.name for provider in chosen).items():
        if times > 1:
            raise InputError(f"--providers {names}: {name} is named twice")
    return chosen


def available_provider(name: str) -> ExecutionProvider:
    """The provider of that name.

    Raises
    ------
    InputError: a name that no provider has, or a provider that this machine cannot run.
    """
    provider = provider_named(name)
    availability = provider.available()
    if not availability:
        raise InputError(f"{provider.name} is not available: {availability.reason}")
    return provider


def overrides(args: argparse.Namespace) -> dict[str, str]:
    """The placements that ``--place`` asks for.

    Raises
    ------
    InputError: one that does not say for which nodes or on whom.
    """
    chosen = {}
    for text in args.place:
        key, equals, provider = text.rpartition("=")
        if not (equals and key and provider):
            raise InputError(f"--place {text}: give op:OPERATOR=PROVIDER or node:NAME=PROVIDER")
        chosen[key] = provider
    return chosen


def positive(text: str) -> int:
    """A number of runs, at least one."""
    number = natural(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1 is needed")
    return number


def natural(text: str) -> int:
    """A number of runs, possibly none."""
    if not _is_size(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number, 0 or more")
    return int(text)


def _pairs(option: str, texts: Sequence[str], names: Iterable[str]) -> dict[str, str]:
    """NAME=VALUE arguments, parted after one of `names` where they begin so, since names may hold ``=`` too."""
    pairs: dict[str, str] = {}
    for text in texts:
        known = max((name for name in names if text.startswith(name + "=")), key=len, default="")
        name, equals, value = (known, "=", text[len(known) + 1 :]) if known else text.partition("=")
        if not equals or not name or not value:
            raise InputError(f"{option} {text}: give NAME=VALUE")
        if name in pairs:
            raise InputError(f"{option} {text}: {name!r} is given twice")
        pairs[name] = value
    return pairs


def _is_size(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MAX_DIGITS


def _parse_size(name: str, text: str) -> int:
    if not _is_size(text):
        raise InputError(f"--dim {name}={text[:40]}: a size is a whole number, 0 or more, below 10**18")
    return int(text)


def _parse_shape(name: str, text: str) -> tuple[int, ...]:
    parts = text.lower().replace(",", "x").strip("[]()").split("x")
    if text in ("scalar", "()", "[]"):
        return ()
    if not all(_is_size(part.strip()) for part in parts):
        raise InputError(f"--shape {name}={text}: a shape is written 1x3x224x224, that of a scalar ()")
    return tuple(int(part) for part in parts)
