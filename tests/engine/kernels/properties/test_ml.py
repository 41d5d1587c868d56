"""Tree ensembles, linear and vector models, encoders and text over random models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx.numpy_helper import from_array

from tests.engine.kernels.properties.strategies import Draw, agree, data, examples, many, shapes

FEATURES = 4
TRANSFORM = st.sampled_from(["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def ml(op: str, *inputs: np.ndarray, version: int = 1, **options: Any) -> Any:
    return agree(op, *inputs, domain="ai.onnx.ml", domain_opset=version, opset=17, rtol=1e-4, atol=1e-4, **options)


def floats(count: int) -> st.SearchStrategy[list[float]]:
    return data((count,), low=-1, high=1).map(lambda x: x.tolist())


@st.composite
def forest(draw: Draw, leaf: str, targets: int, low: float = -1) -> dict[str, list[Any]]:
    """Attributes of a forest of up to three trees of one or two levels; `leaf` is what leaves weigh."""
    columns: dict[str, list[Any]] = {f"nodes_{name}": [] for name in (
        "treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
        "missing_value_tracks_true")}  # fmt: skip
    weights: dict[str, list[Any]] = {f"{leaf}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    mode = draw(st.sampled_from(MODES))  # ONNX Runtime mixes modes as well; one a forest is what trainers write
    for tree in range(draw(st.integers(1, 3))):
        inner = draw(st.sampled_from([1, 3]))
        for node in range(2 * inner + 1):
            is_leaf = node >= inner
            row = (tree, node, 0 if is_leaf else draw(st.integers(0, FEATURES - 1)), "LEAF" if is_leaf else mode,
                   0.0 if is_leaf else draw(st.sampled_from([-0.5, 0.0, 0.5])), 0 if is_leaf else 2 * node + 1,
                   0 if is_leaf else 2 * node + 2, draw(st.integers(0, 1)))  # fmt: skip
            for column, value in zip(columns.values(), row):
                column.append(value)
            if is_leaf:
                target = draw(st.integers(0, targets - 1))
                weight = draw(st.floats(low, 1, width=32)) or 0.5  # of nothing but zeros SOFTMAX_ZERO is undefined
                for column, value in zip(weights.values(), (tree, node, target, weight)):
                    column.append(value)
    return {**columns, **weights}


def rows(pick: Any) -> np.ndarray:
    x = pick.draw(data((5, FEATURES), low=-1, high=1)).round(1)
    x[pick.draw(data(x.shape, low=0, high=1)) < 0.1] = np.nan
    return x.astype(np.float32)


@many
@given(st.integers(1, 3), st.sampled_from(["SUM", "AVERAGE", "MIN", "MAX"]), st.data())
def test_tree_regressor(targets: int, aggregate: str, pick: Any) -> None:
    # A base value counts also where no leaf does, which ONNX Runtime forgets: docs/semantics.md.
    base = {"base_values": pick.draw(floats(targets))} if targets == 1 and pick.draw(st.booleans()) else {}
    ml("TreeEnsembleRegressor", rows(pick), n_targets=targets, aggregate_function=aggregate, **base,
       **pick.draw(forest("target", targets)))  # fmt: skip


@many
@given(st.integers(3, 4), TRANSFORM, st.booleans(), st.data())
def test_tree_classifier(classes: int, transform: str, words: bool, pick: Any) -> None:
    labels = {"classlabels_strings": [*"abcd"[:classes]]} if words else {"classlabels_int64s": [5, 3, 9, 1][:classes]}
    ml("TreeEnsembleClassifier", rows(pick), post_transform=transform, outputs=2, **labels,
       **pick.draw(forest("class", classes)))  # fmt: skip


@examples
@given(st.integers(2, 3), TRANSFORM, st.data())
def test_linear_regressor(targets: int, transform: str, pick: Any) -> None:
    x = pick.draw(data((5, FEATURES)))
    ml("LinearRegressor", x, targets=targets, coefficients=pick.draw(floats(targets * FEATURES)),
       intercepts=pick.draw(floats(targets)), post_transform=transform)  # fmt: skip


@examples
@given(st.integers(2, 4), TRANSFORM, st.data())
def test_linear_classifier(classes: int, transform: str, pick: Any) -> None:
    x = pick.draw(data((5, FEATURES)))
    ml("LinearClassifier", x, coefficients=pick.draw(floats(classes * FEATURES)), post_transform=transform, outputs=2,
       intercepts=pick.draw(floats(classes)), classlabels_ints=[4, 2, 7, 5][:classes])  # fmt: skip


@examples
@given(st.sampled_from(["LINEAR", "POLY", "RBF", "SIGMOID"]), st.integers(1, 5), st.data())
def test_svm_regressor(kind: str, vectors: int, pick: Any) -> None:
    ml("SVMRegressor", pick.draw(data((5, FEATURES), low=-1, high=1)), kernel_type=kind, kernel_params=[0.5, 0.3, 2.0],
       coefficients=pick.draw(floats(vectors)), n_supports=vectors, rho=pick.draw(floats(1)),
       support_vectors=pick.draw(floats(vectors * FEATURES)))  # fmt: skip


@examples
@given(shapes(1, 2), st.sampled_from([np.float32, np.float64, np.int64]), st.sampled_from(["MAX", "L1", "L2"]),
       st.data())  # fmt: skip
def test_scaling(shape: tuple[int, ...], dtype: Any, norm: str, pick: Any) -> None:
    x, width = pick.draw(data(shape, dtype, 0.5, 4)), shape[-1]
    ml("Scaler", x, scale=pick.draw(floats(width)), offset=pick.draw(floats(width)))
    ml("Normalizer", x, norm=norm)
    if dtype is np.float32:
        ml("Binarizer", x, threshold=pick.draw(st.floats(-2, 2, width=32)))
        ml("Imputer", np.where(x > 2, np.nan, x).astype(dtype), imputed_value_floats=pick.draw(floats(width)),
           replaced_value_float=float("nan"))  # fmt: skip


@examples
@given(shapes(1, 2), st.booleans(), st.data())
def test_encoders(shape: tuple[int, ...], words: bool, pick: Any) -> None:
    numbers = pick.draw(data(shape, np.int64, 0, 4))
    if words:
        x = np.array([f"w{n}" for n in numbers.reshape(-1)], object).reshape(shape)
        ml("LabelEncoder", x, version=2, keys_strings=["w0", "w1", "w3"], values_int64s=[7, 8, 9], default_int64=-5)
        ml("OneHotEncoder", x, cats_strings=["w0", "w2", "w9"])
        ml("CategoryMapper", x, cats_strings=["w0", "w2"], cats_int64s=[10, 20], default_int64=3)
    else:
        ml("LabelEncoder", numbers, version=2, keys_int64s=[0, 1, 3], values_floats=[0.5, 1.5, 2.5], default_float=-1.0)
        ml("OneHotEncoder", numbers, cats_int64s=[0, 2, 9])
        ml("CategoryMapper", numbers, cats_strings=["p", "q"], cats_int64s=[1, 2], default_string="none")
    ml("ArrayFeatureExtractor", numbers, pick.draw(data((3,), np.int64, 0, shape[-1] - 1)))


WORDS = ("the", "Quick", "", "brown fox", "a,b,,c", "Ünïcode", "  spaces ", "the")


def words(pick: Any, *shape: int) -> np.ndarray:
    return np.array([WORDS[n] for n in pick.draw(data(shape, np.int64, 0, 7)).reshape(-1)], object).reshape(shape)


@examples
@given(shapes(1, 2), st.sampled_from([None, ",", " "]), st.data())
def test_strings(shape: tuple[int, ...], delimiter: str | None, pick: Any) -> None:
    x, y = words(pick, *shape), words(pick, *shape[-1:])
    agree("StringConcat", x, y, opset=20)
    if delimiter is not None:  # of the empty string docs/semantics.md says why peers differ
        x = np.where(x == "", "-", x)
    limit = {"maxsplit": pick.draw(st.integers(1, 2))} if pick.draw(st.booleans()) else {}
    agree("StringSplit", x, outputs=2, opset=20, **limit, **({} if delimiter is None else {"delimiter": delimiter}))
    agree("RegexFullMatch", x, pattern=pick.draw(st.sampled_from(["[a-z]+", ".*e", "the|Quick"])), opset=20)


@examples
@given(st.sampled_from(["NONE", "LOWER", "UPPER"]), st.integers(0, 1), st.data())
def test_string_normalizer(case: str, sensitive: int, pick: Any) -> None:
    x = words(pick, 4)
    x[x == WORDS[5]] = "plain"  # the C locale, which is on every machine, knows ASCII alone
    agree("StringNormalizer", x, case_change_action=case, is_case_sensitive=sensitive, stopwords=["the"], locale="C")


@many
@given(shapes(1, 2), st.integers(0, 1), st.integers(1, 3), st.data())
def test_tokenizer(shape: tuple[int, ...], mark: int, shortest: int, pick: Any) -> None:
    patterns = pick.draw(st.sampled_from([
        {"tokenexp": "[a-zA-Z0-9_]+"}, {"tokenexp": "[a-c]"}, {"separators": [" "]}, {"separators": [",", "o"]},
        {"separators": ["[ ,]+", "e|i"]},
    ]))  # fmt: skip
    agree("Tokenizer", words(pick, *shape), domain="com.microsoft", opset=17, mark=mark, mincharnum=shortest,
          pad_value="#", **patterns)  # fmt: skip
    agree("Tokenizer", words(pick, *shape), domain="com.microsoft", opset=17, mark=mark, mincharnum=1, pad_value="#",
          **pick.draw(st.sampled_from([{"tokenexp": "."}, {"separators": [""]}])))  # fmt: skip


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@examples
@given(st.integers(1, 2), st.integers(0, 2), st.data())
def test_tf_idf(mode: str, least: int, skips: int, pick: Any) -> None:
    x = pick.draw(data((2, 8), np.int64, 0, 4))
    agree("TfIdfVectorizer", x, mode=mode, min_gram_length=least, max_gram_length=2, max_skip_count=skips,
          ngram_counts=[0, 3], ngram_indexes=[0, 1, 2, 3, 4], pool_int64s=[1, 2, 3, 1, 2, 3, 3],
          weights=[0.5, 1.0, 2.0, 3.0, 0.25])  # fmt: skip


def test_tree_ensemble_of_doubles_by_hand() -> None:
    """ONNX Runtime 1.32 takes TreeEnsemble 5; two leaves of one tree, x <= 0.5 ? 10 : 20, in float64."""
    attributes = {
        "nodes_featureids": [0], "nodes_splits": from_array(np.array([0.5])), "nodes_truenodeids": [0],
        "nodes_modes": from_array(np.array([0], np.uint8)), "nodes_trueleafs": [1], "nodes_falsenodeids": [1],
        "nodes_falseleafs": [1], "leaf_targetids": [0, 0], "leaf_weights": from_array(np.array([10.0, 20.0])),
        "tree_roots": [0], "n_targets": 1, "post_transform": 0, "aggregate_function": 1,
    }  # fmt: skip
    y = ml("TreeEnsemble", np.array([[0.5], [np.nextafter(0.5, 1)]]), version=5, **attributes)
    assert y.tolist() == [[10.0], [20.0]]
    assert y.dtype == np.float64
