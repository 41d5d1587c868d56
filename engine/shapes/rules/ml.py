"""Classical machine learning (ai.onnx.ml)."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.dims import Dim, product
from engine.dtypes import DType
from engine.graph.data import TensorData
from engine.graph.types import MapType, SequenceType, TensorType, Type
from engine.shapes.call import Call
from engine.shapes.facts import Out, ShapeClash
from engine.shapes.registry import rule

ML = "ai.onnx.ml"


@rule("Binarizer", domain=ML)
def same(call: Call) -> Out:
    """Shape and dtype of the input."""
    return Out(call.shape(0), call.dtype(0))


@rule("Imputer", domain=ML)
def imputer(call: Call) -> Out:
    """Shape and dtype of the input."""
    return Out(call.shape(0), call.dtype(0))


@rule("Normalizer", "Scaler", domain=ML)
def to_float(call: Call) -> Out:
    """The shape of the input, in float32."""
    return Out(call.shape(0), dtypes.FLOAT32)


@rule("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(call: Call) -> Out:
    """The picked columns; of a vector they make one row."""
    x = call.rank_at_least(0, 1)
    picked = product(call.shape(1))
    return Out((1, picked) if len(x) == 1 else (*x[:-1], picked), call.dtype(0))


@rule("CategoryMapper", domain=ML)
def category_mapper(call: Call) -> Out:
    """Strings to int64 or back."""
    return Out(call.shape(0), dtypes.INT64 if call.dtype(0) is dtypes.STRING else dtypes.STRING)


_VALUE_DTYPES = {"values_strings": dtypes.STRING, "values_int64s": dtypes.INT64, "values_floats": dtypes.FLOAT32}


@rule("LabelEncoder", domain=ML)
def label_encoder(call: Call) -> Out:
    """The shape of the input, in the dtype of the values mapped to."""
    attributes = call.node.attributes
    dtype: DType | None = next((t for name, t in _VALUE_DTYPES.items() if attributes.get(name)), None)
    tensor = attributes.get("values_tensor")
    if isinstance(tensor, TensorData):
        dtype = tensor.dtype
    if dtype is None:
        dtype = dtypes.INT64 if call.dtype(0) is dtypes.STRING else dtypes.STRING
    return Out(call.shape(0), dtype)


@rule("OneHotEncoder", domain=ML)
def one_hot_encoder(call: Call) -> Out:
    """A new last axis, one entry for each category."""
    attributes = call.node.attributes
    categories = attributes.get("cats_int64s") or attributes.get("cats_strings")
    if not isinstance(categories, list):
        raise ShapeClash("it lists no categories")
    return Out((*call.shape(0), len(categories)), dtypes.FLOAT32)


@rule("FeatureVectorizer", domain=ML)
def feature_vectorizer(call: Call) -> Out:
    """The inputs' columns side by side."""
    widths = call.optional_ints("inputdimensions")
    width: Dim = sum(widths) if widths else product(()) * 0
    if not widths:
        for slot in call.slots:
            width = width + call.rank_at_least(slot, 1)[-1]
    return Out((_rows(call), width), dtypes.FLOAT32)


def _rows(call: Call) -> Dim:
    """Number of samples: the first axis, or 1 where the input is one sample."""
    shape = call.rank_at_least(0, 1)
    return shape[0] if len(shape) > 1 else 1


def _labels(call: Call, *names: str) -> tuple[int, DType]:
    """Number and dtype of the class labels; attributes of ints are named first, of strings second."""
    for name, dtype in zip(names, (dtypes.INT64, dtypes.STRING)):
        labels = call.node.attributes.get(name)
        if isinstance(labels, list) and labels:
            return len(labels), dtype
    return 0, dtypes.INT64


def _classified(call: Call, dtype: DType, columns: Dim) -> list[Any]:
    return [Out((_rows(call),), dtype), Out((_rows(call), columns), dtypes.FLOAT32)]


@rule("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(call: Call) -> list[Any]:
    """A label and a score for each class, for each sample."""
    count, dtype = _labels(call, "classlabels_int64s", "classlabels_strings")
    return _classified(call, dtype, max(count, 1))


@rule("LinearClassifier", domain=ML)
def linear_classifier(call: Call) -> list[Any]:
    """A label and a score for each class, for each sample."""
    count, dtype = _labels(call, "classlabels_ints", "classlabels_strings")
    intercepts = call.attr("intercepts", [0.0])
    return _classified(call, dtype, max(count, len(intercepts)))


@rule("SVMClassifier", domain=ML)
def svm_classifier(call: Call) -> list[Any]:
    """A label, and a score for each class, or without probabilities and above two classes for each pair of them."""
    count, dtype = _labels(call, "classlabels_ints", "classlabels_strings")
    machines = call.attr("vectors_per_class", [0])
    if call.attr("prob_a", [0.0]) != [0.0] or count <= 2 or machines == [0]:
        return _classified(call, dtype, max(count, 1))
    return _classified(call, dtype, count * (count - 1) // 2)


@rule("SVMRegressor", domain=ML)
def svm_regressor(call: Call) -> Out:
    """One value for each sample."""
    return Out((_rows(call), 1), dtypes.FLOAT32)


@rule("LinearRegressor", domain=ML)
def linear_regressor(call: Call) -> Out:
    """`targets` values for each sample."""
    return Out((_rows(call), call.attr("targets", 1)), dtypes.FLOAT32)


@rule("TreeEnsembleRegressor", "TreeEnsemble", domain=ML)
def tree_ensemble_regressor(call: Call) -> Out:
    """`n_targets` values for each sample."""
    dtype = dtypes.FLOAT32 if call.node.op_type == "TreeEnsembleRegressor" else call.dtype(0)
    return Out((_rows(call), call.attr("n_targets", 1)), dtype)


@rule("ZipMap", domain=ML)
def zip_map(call: Call) -> Type:
    """A map from label to score for each sample."""
    key = dtypes.STRING if call.node.attributes.get("classlabels_strings") else dtypes.INT64
    return SequenceType(MapType(key, TensorType(dtypes.FLOAT32, ())))


@rule("CastMap", domain=ML)
def cast_map(call: Call) -> Out:
    """A row of the map's values, as dense as `max_map` where that is asked for."""
    target = {"TO_STRING": dtypes.STRING, "TO_INT64": dtypes.INT64}.get(call.attr("cast_to", "TO_FLOAT"))
    width: Dim = call.attr("max_map", 1) if call.attr("map_form", "DENSE") == "SPARSE" else call.length("count")
    return Out((1, width), target or dtypes.FLOAT32)


@rule("DictVectorizer", domain=ML)
def dict_vectorizer(call: Call) -> Out:
    """A row with a place for each word of the vocabulary."""
    vocabulary = call.node.attributes.get("string_vocabulary") or call.node.attributes.get("int64_vocabulary")
    if not isinstance(vocabulary, list):
        raise ShapeClash("it has no vocabulary")
    type_ = call.type(0)
    value = type_.value if isinstance(type_, MapType) else None
    return Out((1, len(vocabulary)), value.dtype if isinstance(value, TensorType) else None)
