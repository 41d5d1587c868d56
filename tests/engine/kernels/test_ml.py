"""Operators of ai.onnx.ml against hand-worked values and ONNX Runtime."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx.numpy_helper import from_array

from engine.errors import UnsupportedError
from engine.kernels.classical_ml import _coupled
from tests.engine.kernels.oracle import check, run

rng = np.random.default_rng(29)
TRANSFORMS = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]


def floats(*shape: int) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32)


def weights(*shape: int) -> list[float]:
    return floats(*shape).ravel().tolist()


def same(op: str, *inputs: np.ndarray, version: int = 1, **options: Any) -> None:
    check(op, *inputs, domain="ai.onnx.ml", domain_opset=version, opset=17, rtol=1e-4, atol=1e-5, **options)


def ours(op: str, *inputs: np.ndarray, version: int = 1, **options: Any) -> Any:
    options = {k: from_array(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}
    return run(op, *inputs, domain="ai.onnx.ml", domain_opset=version, opset=17, **options)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_linear_models(transform: str) -> None:
    x = floats(20, 3)
    for labels in ({"classlabels_ints": [3, 7]}, {"classlabels_strings": ["a", "b"]}):
        options = {"coefficients": weights(3), "intercepts": [0.1], "post_transform": transform, **labels}
        same("LinearClassifier", x, outputs=2, **options)
    for features in (x, x.astype(np.float64), (x * 10).astype(np.int64)):
        options = {"coefficients": weights(4, 3), "intercepts": weights(4), "classlabels_ints": [4, 3, 2, 1]}
        same("LinearClassifier", features, outputs=2, post_transform=transform, **options)
    options = {"coefficients": weights(2, 3), "intercepts": weights(2), "targets": 2}
    same("LinearRegressor", x, post_transform=transform, **options)


@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_support_vector_machines(kernel: str) -> None:
    x = floats(20, 3)
    shared = {"kernel_type": kernel, "kernel_params": [0.5, 0.2, 3.0]}
    for transform in TRANSFORMS:
        two = {
            "classlabels_ints": [3, 7], "coefficients": weights(5), "rho": [0.1], "support_vectors": weights(5, 3),
            "vectors_per_class": [2, 3],
        }  # fmt: skip
        same("SVMClassifier", x, outputs=2, post_transform=transform, **two, **shared)
        four = {
            "classlabels_strings": ["x", "y", "z", "w"], "coefficients": weights(3, 9), "rho": weights(6),
            "support_vectors": weights(9, 3), "vectors_per_class": [2, 3, 1, 3],
        }  # fmt: skip
        same("SVMClassifier", x, outputs=2, post_transform=transform, **four, **shared)
        likely = {"prob_a": (-np.abs(floats(6))).tolist(), "prob_b": weights(6)}
        same("SVMClassifier", x, outputs=2, post_transform=transform, **four, **shared, **likely)
    regressor = {"coefficients": weights(4), "rho": [0.3], "support_vectors": weights(4, 3), "n_supports": 4, **shared}
    same("SVMRegressor", x, **regressor)
    same("SVMRegressor", x, one_class=1, **regressor)


def test_coupled_probabilities_of_consistent_pairs() -> None:
    """Pairs that follow from probabilities give them back, within the iteration's own stopping rule."""
    p = np.array([0.5, 0.3, 0.2])
    pairwise = p[:, None] / (p[:, None] + p) * (1 - np.eye(3))
    np.testing.assert_allclose(_coupled(pairwise[None])[0], p, atol=0.01)


def forest(trees: int, depth: int, modes: list[str]) -> tuple[dict[str, Any], list[int], list[int]]:
    """Attributes of full trees with random splits, and the tree and node of each leaf."""
    nodes = [(tree, node) for tree in range(trees) for node in range(2 ** (depth + 1) - 1)]
    inner = [node < 2**depth - 1 for _, node in nodes]
    attributes = {
        "nodes_treeids": [tree for tree, _ in nodes],
        "nodes_nodeids": [node for _, node in nodes],
        "nodes_featureids": rng.integers(0, 3, len(nodes)).tolist(),
        "nodes_modes": [str(rng.choice(modes)) if is_inner else "LEAF" for is_inner in inner],
        "nodes_values": weights(len(nodes)),
        "nodes_truenodeids": [2 * node + 1 if is_inner else 0 for (_, node), is_inner in zip(nodes, inner)],
        "nodes_falsenodeids": [2 * node + 2 if is_inner else 0 for (_, node), is_inner in zip(nodes, inner)],
        "nodes_missing_value_tracks_true": rng.integers(0, 2, len(nodes)).tolist(),
    }
    leaves = [place for place, is_inner in zip(nodes, inner) if not is_inner]
    return attributes, [tree for tree, _ in leaves], [node for _, node in leaves]


def features(kind: str) -> np.ndarray:
    x = floats(30, 3)
    if kind == "nan":
        x[::4, 1] = np.nan
    return (x * 3).astype(np.int64) if kind == "int64" else x.astype(np.float64) if kind == "double" else x


MODES = [
    ["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_GTE"], ["BRANCH_GT"],
    ["BRANCH_LEQ", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"],
]  # fmt: skip


@pytest.mark.parametrize("modes", MODES, ids=lambda modes: "+".join(modes))
@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_tree_regressor(modes: list[str], aggregate: str) -> None:
    for kind in ("float", "nan", "double"):
        nodes, trees, ids = forest(5, 3, modes)
        for targets, base in [(1, {}), (1, {"base_values": [0.5]}), (2, {})]:
            same(
                "TreeEnsembleRegressor", features(kind), version=3, target_treeids=trees, target_nodeids=ids,
                target_ids=rng.integers(0, targets, len(ids)).tolist(), target_weights=weights(len(ids)),
                n_targets=targets, aggregate_function=aggregate, **nodes, **base,
            )  # fmt: skip


def test_tree_regressor_adds_the_base_where_no_leaf_counts() -> None:
    """ONNX Runtime leaves the base out there."""
    leaf = {
        "nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0], "nodes_modes": ["LEAF"],
        "nodes_values": [0.0], "nodes_truenodeids": [0], "nodes_falsenodeids": [0], "target_treeids": [0],
        "target_nodeids": [0], "target_ids": [0], "target_weights": [4.0],
    }  # fmt: skip
    y = ours("TreeEnsembleRegressor", floats(2, 1), version=3, n_targets=2, base_values=[0.5, 0.25], **leaf)
    np.testing.assert_array_equal(y, [[4.5, 0.25], [4.5, 0.25]])


@pytest.mark.parametrize("kind", ["float", "nan", "double", "int64"])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_tree_classifier(kind: str, transform: str) -> None:
    nodes, trees, ids = forest(5, 3, ["BRANCH_LEQ"])
    for base in ({}, {"base_values": [0.1, 0.2, 0.3]}):
        same(
            "TreeEnsembleClassifier", features(kind), version=3, outputs=2, class_treeids=trees * 2,
            class_nodeids=ids * 2, class_ids=rng.integers(0, 3, 2 * len(ids)).tolist(),
            class_weights=weights(2 * len(ids)), classlabels_strings=["a", "b", "c"], post_transform=transform, **nodes,
            **base,
        )  # fmt: skip
    for positive, scored in [(False, 0), (False, 1), (True, 0), (True, 1)]:
        leaf_weights = floats(len(ids))
        for base in ({}, {"base_values": [0.1]}):
            same(
                "TreeEnsembleClassifier", features(kind), version=3, outputs=2, class_treeids=trees, class_nodeids=ids,
                class_ids=[scored] * len(ids), classlabels_int64s=[4, 9], post_transform=transform,
                class_weights=(np.abs(leaf_weights) * 0.2 if positive else leaf_weights).tolist(), **nodes, **base,
            )  # fmt: skip


def test_tree_ensemble_with_sets_and_a_bare_leaf() -> None:
    """Version 5: x in {1, 2} gives 10, else x <= 5 gives 20, else 30; a second tree is one leaf of 100."""
    y = ours(
        "TreeEnsemble", np.array([[2.0], [5.0], [6.0], [np.nan]], np.float32), version=5,
        nodes_modes=np.array([6, 0, 0], np.uint8), nodes_splits=np.array([0, 5, 0], np.float32),
        nodes_featureids=[0, 0, 0], nodes_truenodeids=[0, 1, 3], nodes_trueleafs=[1, 1, 1],
        nodes_falsenodeids=[1, 2, 3], nodes_falseleafs=[0, 1, 1], nodes_missing_value_tracks_true=[0, 1, 0],
        leaf_targetids=[0, 0, 0, 0], leaf_weights=np.array([10, 20, 30, 100], np.float32), tree_roots=[0, 2],
        membership_values=np.array([1, 2, np.nan], np.float32), n_targets=1,
    )  # fmt: skip
    np.testing.assert_array_equal(y, [[110], [120], [130], [120]])


@pytest.mark.parametrize("kind", ["float", "double", "int64"])
def test_scaling_and_picking(kind: str) -> None:
    x = features(kind)
    same("Scaler", x, scale=[1.0, 2.0, 3.0], offset=[0.5, 0.1, 0.0])
    same("Scaler", x, scale=[2.0], offset=[0.5])
    for norm in ("MAX", "L1", "L2"):
        same("Normalizer", x, norm=norm)
    same("ArrayFeatureExtractor", x, np.array([2, 0]))
    same("ArrayFeatureExtractor", x[0], np.array([2, 0]))
    np.testing.assert_array_equal(ours("Binarizer", x, threshold=0.5), (x > 0.5).astype(x.dtype))


def test_imputer() -> None:
    x = floats(4, 3)
    x[1, 1] = np.nan
    same("Imputer", x, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float("nan"))
    same("Imputer", np.array([[1, 2, 0], [0, 1, 2]]), imputed_value_int64s=[7], replaced_value_int64=0)


def test_encoders() -> None:
    words = np.array([["a", "b"], ["zz", "c"]], object)
    numbers = np.array([1, 2, 5])
    same("OneHotEncoder", words, cats_strings=["a", "b", "c"])
    same("OneHotEncoder", numbers, cats_int64s=[2, 1, 0])
    same("LabelEncoder", words, version=2, keys_strings=["a", "b"], values_int64s=[3, 4])
    same("LabelEncoder", words, version=2, keys_strings=["a", "b"], values_floats=[3.0, 4.0])
    same("LabelEncoder", numbers, version=2, keys_int64s=[1, 5], values_strings=["p", "q"])
    same("LabelEncoder", np.array([0.1, 5], np.float32), version=2, keys_floats=[0.1], values_strings=["p"])
    same("LabelEncoder", words, classes_strings=["a", "b"])
    same("LabelEncoder", numbers, classes_strings=["a", "b"])
    same("CategoryMapper", words, cats_strings=["a", "b"], cats_int64s=[5, 6])
    same("CategoryMapper", numbers, cats_strings=["a", "b"], cats_int64s=[5, 6])


def test_label_encoder_with_tensors_and_nan() -> None:
    keys, values = np.array([1.5, np.nan]), np.array([7, 8], np.int16)
    y = ours("LabelEncoder", np.array([np.nan, 1.5, 2.0]), version=4, keys_tensor=keys, values_tensor=values)
    assert y.dtype == np.int16
    np.testing.assert_array_equal(y, [8, 7, -1])


def test_one_hot_encoder_refuses_what_it_does_not_know() -> None:
    with pytest.raises(Exception, match="none of the categories"):
        ours("OneHotEncoder", np.array([9]), cats_int64s=[1], zeros=0)


def test_maps() -> None:
    rows = ours("ZipMap", np.array([[0.25, 0.75]], np.float32), classlabels_strings=["a", "b"])
    assert rows == [{"a": 0.25, "b": 0.75}]


def test_feature_vectorizer_cuts_and_fills() -> None:
    y = ours("FeatureVectorizer", np.array([[1, 2, 3]]), np.array([[4]]), inputdimensions=[2, 2])
    np.testing.assert_array_equal(y, [[1, 2, 4, 0]])


def test_tree_of_a_hostile_file_does_not_run_for_ever() -> None:
    tree = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.0, 0.0, 0.0], "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 2, 0], "target_treeids": [0], "target_nodeids": [2],
        "target_ids": [0], "target_weights": [1.0], "n_targets": 1,
    }  # fmt: skip
    with pytest.raises(UnsupportedError, match="in a circle"):
        ours("TreeEnsembleRegressor", np.array([[-1.0]], np.float32), **tree)
    with pytest.raises(UnsupportedError, match="'BRANCH_ODD' is none of BRANCH_LEQ"):
        ours("TreeEnsembleRegressor", np.array([[-1.0]], np.float32), **{**tree, "nodes_modes": ["BRANCH_ODD"] * 3})
