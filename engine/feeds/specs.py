"""How one input is made up: a generator with its parameters, its text form, and the default for an input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite, prod

import numpy as np

from engine.dtypes import DType
from engine.errors import InputError
from engine.graph.ir import Tensor
from engine.graph.types import TensorType

KINDS = (
    "normal", "uniform", "integers", "arange", "tokens", "ones", "zeros", "constant", "words", "file", "image",
)  # fmt: skip
_FILE_ENDINGS = (".npz", ".npy", ".pb")
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".gif", ".ppm", ".tif", ".tiff")
_VOCABULARY = 1000
_WORDS = ("cat", "dog", "bird", "the")
_SAMPLE_RATES = ("sr", "sample_rate", "sampling_rate")


@dataclass(frozen=True, slots=True)
class InputSpec:
    """A generator of one input.

    Attributes
    ----------
    kind: ``normal`` (mean 0, standard deviation `scale`), ``uniform`` (in [`low`, `high`)), ``integers`` (in [`low`,
        `high`)), ``arange`` (from `low` on in steps of `scale`), ``tokens`` (whole numbers below `high`, or below the
        rows of the table that the input indexes where `high` is 0), ``ones``, ``zeros``, ``constant`` (`low`
        everywhere), ``words`` (drawn from `words`), ``file``, ``image``.
    path, key: of ``file``: an .npz, .npy or .pb file, and the array in it ("" for the input's own name); of ``image``:
        a picture, and how its pixels are scaled (see `engine.feeds.images`).
    """

    kind: str = "normal"
    low: float = 0.0
    high: float = 1.0
    scale: float = 1.0
    path: str = ""
    key: str = ""
    words: tuple[str, ...] = _WORDS

    @classmethod
    def parse(cls, text: str) -> InputSpec:
        """Read the text form: ``normal[:SCALE]``, ``uniform:LOW:HIGH``, ``integers:LOW:HIGH``, ``ones``, ``zeros``,
        ``arange[:START[:STEP]]``, ``tokens[:COUNT]``, ``words:A,B,C``, a number, ``true``, ``false``, a file
        ``PATH.npz[:KEY]``, ``PATH.npy``, ``PATH.pb``, or a picture ``PATH.png[:SCALING]``.

        Raises
        ------
        InputError: the text is none of these.
        """
        kind, _, rest = text.partition(":")
        for file_kind, endings in (("file", _FILE_ENDINGS), ("image", _IMAGE_ENDINGS)):
            path, key = _split_key(text, endings)
            if path.lower().endswith(endings):
                return cls(file_kind, path=path, key=key)
        if kind == "words":
            return cls("words", words=tuple(rest.split(",")) if rest else _WORDS)
        if text.lower() in ("true", "false"):
            return cls("constant", low=float(text.lower() == "true"))
        try:
            numbers = [float(part) for part in rest.split(":")] if rest else []
            if kind == "normal" and len(numbers) <= 1:
                return cls("normal", scale=numbers[0] if numbers else 1.0)
            if kind in ("uniform", "integers") and len(numbers) == 2:
                return _ranged(kind, *numbers)
            if kind == "arange" and len(numbers) <= 2:
                start, step = (*numbers, *(0.0, 1.0)[len(numbers) :])
                return cls("arange", low=start, scale=step)
            if kind == "tokens" and len(numbers) <= 1:
                return _ranged("tokens", 0.0, *numbers) if numbers and numbers[0] else cls("tokens", high=0.0)
            if kind in ("ones", "zeros") and not numbers:
                return cls(kind)
            return cls("constant", low=_exact(text))
        except ValueError:
            raise InputError(
                f"{text!r} says no way to make an input; use normal[:SCALE], uniform:LOW:HIGH, integers:LOW:HIGH, "
                "arange[:START[:STEP]], tokens[:COUNT], ones, zeros, words:A,B, a number, a file .npz[:KEY], .npy, .pb "
                "or a picture"
            ) from None

    def __str__(self) -> str:
        """The text form that `parse` reads."""
        if self.kind in ("file", "image"):
            return f"{self.path}:{self.key}" if self.key else self.path
        if self.kind == "words":
            return "words:" + ",".join(self.words)
        if self.kind in ("uniform", "integers"):
            return f"{self.kind}:{_number(self.low)}:{_number(self.high)}"
        if self.kind == "arange":
            start = f":{_number(self.low)}" if self.low or self.scale != 1 else ""
            return f"arange{start}" + (f":{_number(self.scale)}" if self.scale != 1 else "")
        if self.kind == "tokens":
            return f"tokens:{_number(self.high)}" if self.high else "tokens"
        if self.kind == "normal":
            return "normal" if self.scale == 1 else f"normal:{_number(self.scale)}"
        return _number(self.low) if self.kind == "constant" else self.kind


def _number(value: float) -> str:
    return str(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)


def _exact(text: str) -> float:
    """The number written; a whole one that int64 holds as an int, since a float rounds it beyond 2**53.

    Raises
    ------
    ValueError: the text is no number.
    """
    if text.lstrip("+-").isdecimal() and -(2**63) <= int(text) < 2**63:
        return int(text)
    return float(text)


def _ranged(kind: str, low: float, high: float) -> InputSpec:
    written = f"tokens:{high:g}" if kind == "tokens" else f"{kind}:{low:g}:{high:g}"
    if not (isfinite(low) and isfinite(high) and low < high):
        raise InputError(f"{written} is an empty range; LOW must be less than HIGH")
    if kind == "uniform" and not isfinite(high - low):
        raise InputError(f"{written} is too wide a range")
    if kind != "uniform" and not (low >= -(2.0**63) and high <= 2.0**63):
        raise InputError(f"{written} leaves the range of int64")
    return InputSpec(kind, low=low, high=high)


def _split_key(text: str, endings: tuple[str, ...]) -> tuple[str, str]:
    """Path and key: the key follows the ending, so that colons in either do no harm."""
    for ending in endings:
        path, found, key = text.partition(ending + ":")
        if found:
            return path + ending, key
    return text, ""


def default_spec(tensor: Tensor) -> InputSpec:
    """The generator that suits an input's dtype, name and use: indices stay inside the table they index."""
    name, dtype = tensor.name.lower(), tensor.dtype
    if dtype is None or dtype.kind in ("float", "complex"):
        return InputSpec("normal")
    if dtype.kind == "string":
        return InputSpec("words")
    if dtype.kind == "bool" or "mask" in name:
        return InputSpec("ones")
    if name in _SAMPLE_RATES:
        return InputSpec("constant", low=16000)
    if "type_id" in name or "segment" in name:
        return InputSpec("zeros")
    rows = _table_rows(tensor)
    if rows:
        return InputSpec("integers", low=0, high=rows)
    if dtype.name == "uint8":
        return InputSpec("integers", low=0, high=256)  # pixels, bytes
    return InputSpec("integers", low=0, high=4)


def settled(spec: InputSpec, tensor: Tensor) -> InputSpec:
    """The spec with what it leaves to the model filled in: how many tokens there are."""
    if spec.kind != "tokens" or spec.high:
        return spec
    return replace(spec, high=float(_table_rows(tensor) or _VOCABULARY))


def _table_rows(tensor: Tensor) -> int | None:
    """Rows of the smallest constant table that the input indexes, directly or through a cast or reshape."""
    found: list[int] = []
    queue, seen = [tensor], {id(tensor)}
    while queue:
        for node, slot in queue.pop().consumers:
            if node.op_type == "Gather" and slot == 1 and node.inputs[0] is not None:
                table = node.inputs[0].stored_type
                axis = node.attributes.get("axis", 0)
                shape = table.shape if isinstance(table, TensorType) else None
                rows = shape[axis] if shape and isinstance(axis, int) and -len(shape) <= axis < len(shape) else None
                if isinstance(rows, int) and rows > 0:
                    found.append(rows)
            elif node.op_type in ("Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten") and slot == 0:
                for output in node.outputs:
                    if output is not None and id(output) not in seen:
                        seen.add(id(output))
                        queue.append(output)
    return min(found, default=None)


def generate(
    spec: InputSpec, name: str, dtype: DType, shape: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """An array of `dtype` and `shape` as `spec` says; integers are rounded and kept inside the dtype's range.

    Raises
    ------
    InputError: the generator does not suit the dtype (words for numbers, numbers for strings).
    """
    if (spec.kind == "words") != (dtype.kind == "string"):
        raise InputError(f"input {name!r} holds {dtype} values; {spec.kind!r} does not make these", name)
    if dtype.kind == "string":
        return np.asarray(rng.choice(np.array(spec.words, dtype=object), shape), dtype=object).reshape(shape)
    values: np.ndarray
    if spec.kind == "normal":
        values = rng.standard_normal(shape) * spec.scale
    elif spec.kind == "uniform":
        values = rng.uniform(spec.low, spec.high, shape)
    elif spec.kind in ("integers", "tokens"):
        values = rng.integers(int(spec.low), max(int(spec.high), int(spec.low) + 1), shape)
    elif spec.kind == "arange":
        values = (spec.low + spec.scale * np.arange(prod(shape))).reshape(shape)
    else:
        values = np.full(shape, {"ones": 1, "zeros": 0}.get(spec.kind, spec.low))
    return _cast(values, dtype)


def _cast(values: np.ndarray, dtype: DType) -> np.ndarray:
    if dtype.kind not in ("int", "uint"):
        return values.astype(dtype.numpy)
    low = -(1 << dtype.bits - 1) if dtype.kind == "int" else 0
    high = low + (1 << dtype.bits) - 1
    if values.dtype.kind == "f":
        if dtype.bits == 64:
            high = int(np.nextafter(float(high), 0))  # float64 rounds the top of the range up, out of it
        values = np.rint(values)
    inside = np.clip(values, low, high)
    return np.asarray(inside.astype(np.int64) if dtype.bits < 8 else inside).astype(dtype.numpy)
