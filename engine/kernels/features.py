"""Preparation of features in ai.onnx.ml: scaling, encoding, picking, and the maps that go with them."""
from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.registry import ML, KernelContext, kernel


@kernel("Scaler", 1, domain=ML, generic=False)
def scaler(
    ctx: KernelContext, x: np.ndarray, *, scale: list[float] | None = None, offset: list[float] | None = None
) -> np.ndarray:
    """``(x - offset) * scale``, in float32 (Scaler 1)."""
    y = x.astype(np.float32)
    if offset:
        y = y - np.array(offset, np.float32)
    return y * np.array(scale, np.float32) if scale else y


@kernel("Normalizer", 1, domain=ML, generic=False)
def normalizer(ctx: KernelContext, x: np.ndarray, *, norm: str = "MAX") -> np.ndarray:
    """Each row divided by its maximum, sum of magnitudes or length, in float32 (Normalizer 1).

    By the specification MAX divides by the largest element, not the largest magnitude.
    """
    y = x.astype(np.float32)
    if y.size == 0:
        return y
    if norm == "MAX":
        size = y.max(axis=-1, keepdims=True)
    elif norm == "L1":
        size = np.abs(y).sum(axis=-1, keepdims=True)
    elif norm == "L2":
        size = np.sqrt((y * y).sum(axis=-1, keepdims=True))
    else:
        raise UnsupportedError(f"norm {norm!r} is none of MAX, L1, L2")
    return y / np.where(size == 0, np.float32(1), size)


@kernel("Binarizer", 1, domain=ML, generic=False)
def binarizer(ctx: KernelContext, x: np.ndarray, *, threshold: float = 0.0) -> np.ndarray:
    """1 where x is greater than the threshold, else 0 (Binarizer 1)."""
    return (x > np.float32(threshold)).astype(x.dtype)


@kernel("Imputer", 1, domain=ML, generic=False)
def imputer(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    imputed_value_floats: list[float] | None = None,
    imputed_value_int64s: list[int] | None = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> np.ndarray:
    """One value, which may be NaN, replaced by that of its column (Imputer 1)."""
    if x.dtype.kind == "f":
        values, replaced = np.array(imputed_value_floats or [], x.dtype), x.dtype.type(replaced_value_float)
    else:
        values, replaced = np.array(imputed_value_int64s or [], x.dtype), x.dtype.type(replaced_value_int64)
    if values.size == 0:
        raise UnsupportedError("Imputer has no values for inputs of this type")
    hit = np.isnan(x) if np.isnan(replaced) else x == replaced
    return np.where(hit, values, x)


@kernel("ArrayFeatureExtractor", 1, domain=ML, generic=False)
def array_feature_extractor(ctx: KernelContext, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The named elements of the last axis (ArrayFeatureExtractor 1)."""
    picked = x[..., indices.reshape(-1)]
    return picked.reshape(1, -1) if x.ndim == 1 else picked


@kernel("FeatureVectorizer", 1, domain=ML, generic=False)
def feature_vectorizer(
    ctx: KernelContext, *inputs: np.ndarray, inputdimensions: list[int] | None = None
) -> np.ndarray:
    """The inputs side by side in float32, each cut or filled with zeros to its dimension (FeatureVectorizer 1)."""
    columns = []
    for i, x in enumerate(inputs):
        rows = (x.reshape(1, -1) if x.ndim < 2 else x.reshape(len(x), prod(x.shape[1:]))).astype(np.float32)
        width = inputdimensions[i] if inputdimensions else rows.shape[1]
        part = np.zeros((len(rows), width), np.float32)
        part[:, : rows.shape[1]] = rows[:, :width]
        columns.append(part)
    return np.concatenate(columns, axis=1)


@kernel("OneHotEncoder", 1, domain=ML, generic=False)
def one_hot_encoder(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    cats_int64s: list[int] | None = None,
    cats_strings: list[str] | None = None,
    zeros: int = 1,
) -> Any:
    """A new last axis with a 1 at the category (OneHotEncoder 1); numbers are cut to integers first.

    Raises
    ------
    UnsupportedError: an element is in no category, and `zeros` does not allow it.
    """
    if cats_strings:
        hits = _as_words(x)[..., None] == np.array(cats_strings, object)
    else:
        hits = x.astype(np.int64)[..., None] == np.array(cats_int64s or [], np.int64)
    if not zeros and not hits.any(axis=-1).all():
        raise UnsupportedError("an element is in none of the categories, and the attribute zeros is 0")
    return hits.astype(np.float32)


def _as_words(x: np.ndarray) -> np.ndarray:
    """Strings as Python strings, whatever array they come in."""
    words = np.empty(x.shape, object)
    words.reshape(-1)[:] = [v.decode() if isinstance(v, bytes) else str(v) for v in x.reshape(-1)]
    return words


def _looked_up(x: np.ndarray, table: dict[Any, Any], default: Any, dtype: Any) -> np.ndarray:
    """Each element's value in the table; NaN finds a key that is NaN."""
    keys = _as_words(x) if x.dtype.kind in "OUS" else x
    missing = next((v for k, v in table.items() if isinstance(k, float) and k != k), default)
    result = np.empty(x.shape, dtype)
    result.reshape(-1)[:] = [missing if k != k else table.get(k, default) for k in keys.reshape(-1).tolist()]
    return result


@kernel("LabelEncoder", 2, 4, domain=ML, generic=False)
def label_encoder(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    keys_floats: list[float] | None = None,
    keys_int64s: list[int] | None = None,
    keys_strings: list[str] | None = None,
    keys_tensor: np.ndarray | None = None,
    values_floats: list[float] | None = None,
    values_int64s: list[int] | None = None,
    values_strings: list[str] | None = None,
    values_tensor: np.ndarray | None = None,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: np.ndarray | None = None,
) -> np.ndarray:
    """Each element replaced by the value at its key's place (LabelEncoder 4)."""
    keys: Any = keys_strings or keys_int64s or keys_floats
    if keys_tensor is not None:
        keys = _listed(keys_tensor)
    elif keys_floats and x.dtype.kind == "f":
        keys = np.array(keys_floats, x.dtype).tolist()
    if values_tensor is not None:
        unused: Any = {"O": default_string, "f": default_float}.get(values_tensor.dtype.kind, default_int64)
        default = unused if default_tensor is None else _listed(default_tensor)[0]
        values, dtype = _listed(values_tensor), values_tensor.dtype
    elif values_strings:
        values, default, dtype = values_strings, default_string, np.dtype(object)
    elif values_int64s:
        values, default, dtype = values_int64s, default_int64, np.dtype(np.int64)
    else:
        values, default, dtype = values_floats or [], default_float, np.dtype(np.float32)
    return _looked_up(x, dict(zip(keys or [], values)), default, dtype)


def _listed(tensor: np.ndarray) -> list[Any]:
    return (_as_words(tensor) if tensor.dtype.kind in "OUS" else tensor).reshape(-1).tolist()


@kernel("LabelEncoder", 1, domain=ML, generic=False)
def label_encoder_by_index(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    classes_strings: list[str] | None = None,
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> np.ndarray:
    """Strings to their places in a list, and back (LabelEncoder 1)."""
    places = enumerate(classes_strings or [])
    if x.dtype.kind in "OUS":
        return _looked_up(x, {word: i for i, word in places}, default_int64, np.int64)
    return _looked_up(x, dict(places), default_string, object)


@kernel("CategoryMapper", 1, domain=ML, generic=False)
def category_mapper(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    cats_int64s: list[int] | None = None,
    cats_strings: list[str] | None = None,
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> np.ndarray:
    """Strings to the numbers beside them, and back (CategoryMapper 1)."""
    numbers, words = cats_int64s or [], cats_strings or []
    if x.dtype.kind in "OUS":
        return _looked_up(x, dict(zip(words, numbers)), default_int64, np.int64)
    return _looked_up(x, dict(zip(numbers, words)), default_string, object)


@kernel("ZipMap", 1, domain=ML, generic=False)
def zip_map(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    classlabels_int64s: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
) -> list[dict[Any, float]]:
    """A map from label to score for each row (ZipMap 1)."""
    labels: Any = classlabels_int64s or classlabels_strings or []
    rows = x.reshape(1, -1) if x.ndim == 1 else x
    if rows.shape[1] != len(labels):
        raise UnsupportedError(f"{rows.shape[1]} columns for {len(labels)} labels")
    return [dict(zip(labels, row)) for row in rows.tolist()]


@kernel("DictVectorizer", 1, domain=ML, generic=False)
def dict_vectorizer(
    ctx: KernelContext,
    x: Any,
    *,
    int64_vocabulary: list[int] | None = None,
    string_vocabulary: list[str] | None = None,
) -> np.ndarray:
    """The values of a map in the order of a vocabulary, zeros for what it lacks; [1, n] (DictVectorizer 1)."""
    words: Any = int64_vocabulary or string_vocabulary or []
    sample = next(iter(x.values()), 0.0)
    empty: Any = "" if isinstance(sample, str) else 0
    dtype: Any = object if isinstance(sample, str) else np.int64 if isinstance(sample, int) else np.float32
    return np.array([x.get(word, empty) for word in words], dtype).reshape(1, -1)


@kernel("CastMap", 1, domain=ML, generic=False)
def cast_map(
    ctx: KernelContext, x: Any, *, cast_to: str = "TO_FLOAT", map_form: str = "DENSE", max_map: int = 1
) -> np.ndarray:
    """The values of a map by ascending key, or each at the place that its key names; [1, n] (CastMap 1)."""
    convert: Any = {"TO_FLOAT": float, "TO_INT64": int, "TO_STRING": str}.get(cast_to)
    if convert is None:
        raise UnsupportedError(f"cast_to {cast_to!r} is none of TO_FLOAT, TO_STRING, TO_INT64")
    dtype = {float: np.float32, int: np.int64, str: object}[convert]
    if map_form == "DENSE":
        values = [convert(x[key]) for key in sorted(x)]
    else:
        values = [convert(x[key]) if key in x else convert() for key in range(max_map)]
    return np.array(values, dtype).reshape(1, -1)
