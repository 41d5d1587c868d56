"""Tree ensembles of ai.onnx.ml: all rows descend all trees at once, one level a step."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np

from engine.errors import UnsupportedError
from engine.kernels.registry import ML, KernelContext, kernel
from engine.kernels.scores import labels_of, transformed, two_columns

_MODES = {
    name: code
    for code, name in enumerate(
        ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"]
    )
}
_COMPARE = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
_MEMBER, _LEAF = 6, 7

_ROW_BUDGET = 1 << 21
"""Rows are taken in batches of about this many (row, tree, target) triples."""

_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass(slots=True)
class Forest:
    """The nodes of all trees in one numbering. A leaf is its own child either way.

    `leaf` is the row of a node in `weights` and `present` [leaves, targets], 0 for nodes that are no leaf: row 0 is
    empty. `members` holds for each node of mode MEMBER the values that go to its true branch; `kinds` are the modes in
    use.
    """

    roots: np.ndarray
    feature: np.ndarray
    mode: np.ndarray
    threshold: np.ndarray
    on_true: np.ndarray
    on_false: np.ndarray
    missing_true: np.ndarray
    leaf: np.ndarray
    weights: np.ndarray
    present: np.ndarray
    members: dict[int, np.ndarray]
    kinds: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = [int(m) for m in np.unique(self.mode) if m != _LEAF]

    def aggregate(self, x: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
        """The leaves' weights put together for each row [N, targets], and whether any leaf had one."""
        rows, targets = x.shape[0], self.weights.shape[1]
        scores = np.zeros((rows, targets), self.weights.dtype)
        found = np.zeros((rows, targets), bool)
        step = max(1, _ROW_BUDGET // max(len(self.roots) * targets, 1))
        for start in range(0, rows, step):
            leaves = self.leaf[self._descend(x[start : start + step])]
            weights, present = self.weights[leaves], self.present[leaves]
            found[start : start + step] = present.any(axis=1)
            scores[start : start + step] = _gather(weights, present, how)
        if how == "AVERAGE":
            scores /= max(len(self.roots), 1)
        return scores, found

    def _descend(self, x: np.ndarray) -> np.ndarray:
        """The leaf that each row reaches in each tree, [N, trees]."""
        at = np.repeat(self.roots[None], x.shape[0], axis=0)
        rows = np.arange(x.shape[0])[:, None]
        for _ in range(len(self.mode) + 1):
            values = x[rows, self.feature[at]]
            goes = self._compare(values, at) | (np.isnan(values) & self.missing_true[at])
            following = np.where(goes, self.on_true[at], self.on_false[at])
            if np.array_equal(following, at):
                return at
            at = following
        raise UnsupportedError("the nodes of a tree follow each other in a circle")

    def _compare(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        kinds, threshold, result = self.kinds, self.threshold[at], np.zeros(at.shape, bool)
        for kind in kinds:
            holds = self._is_member(values, at) if kind == _MEMBER else _COMPARE[kind](values, threshold)
            result = holds if len(kinds) == 1 else np.where(self.mode[at] == kind, holds, result)
        return result

    def _is_member(self, values: np.ndarray, at: np.ndarray) -> np.ndarray:
        holds = np.zeros(at.shape, bool)
        for node, members in self.members.items():
            here = at == node
            if here.any():
                holds[here] = np.isin(values[here], members)
        return holds


def _gather(weights: np.ndarray, present: np.ndarray, how: str) -> Any:
    if how in ("SUM", "AVERAGE"):
        return weights.sum(axis=1, dtype=weights.dtype)
    if how not in ("MIN", "MAX"):
        raise UnsupportedError(f"aggregate_function {how!r} is none of SUM, AVERAGE, MIN, MAX")
    reduce, neutral = (np.min, np.inf) if how == "MIN" else (np.max, -np.inf)
    return np.where(present.any(axis=1), reduce(np.where(present, weights, neutral), axis=1), 0)


class _TreeNodes(TypedDict):
    """Attributes that the operators before TreeEnsemble must have: for each node of each tree its place and test."""

    nodes_treeids: list[int]
    nodes_nodeids: list[int]
    nodes_featureids: list[int]
    nodes_modes: list[str]
    nodes_truenodeids: list[int]
    nodes_falsenodeids: list[int]


class TreeNodes(_TreeNodes, total=False):
    """With those that they may have, and that change values."""

    nodes_values: list[float]
    nodes_values_as_tensor: Any
    nodes_missing_value_tracks_true: list[int]


def _mode(name: str) -> int:
    if name not in _MODES:
        raise UnsupportedError(f"the node mode {name!r} is none of {', '.join(_MODES)}")
    return _MODES[name]


@dataclass(slots=True)
class _NodeLists:
    """The nodes of the operators before TreeEnsemble, and the lists that give leaves their weights."""

    nodes: TreeNodes
    weight_tree: Sequence[int]
    weight_node: Sequence[int]
    weight_target: Sequence[int]
    weight: Any

    def forest(self, targets: int) -> Forest:
        """The forest these lists describe."""
        nodes = self.nodes
        tree, node, true, false = (
            np.array(ids, np.int64) for ids in (
                nodes["nodes_treeids"], nodes["nodes_nodeids"], nodes["nodes_truenodeids"], nodes["nodes_falsenodeids"]
            )
        )  # fmt: skip
        span = int(node.max(initial=0)) + 1
        keys = tree * span + node
        order = np.argsort(keys)
        places = _Places(keys[order], order, span)
        mode = np.array([_mode(name) for name in nodes["nodes_modes"]], np.int8)
        own, is_leaf = np.arange(len(keys)), mode == _LEAF
        on_true, on_false = (
            np.where(is_leaf, own, places.find(tree, np.where(is_leaf, node, ids))) for ids in (true, false)
        )
        values = _either(nodes.get("nodes_values_as_tensor"), nodes.get("nodes_values"))
        threshold = np.asarray(values, getattr(values, "dtype", np.float32))
        missing = np.array(nodes.get("nodes_missing_value_tracks_true") or np.zeros(len(keys)), bool)
        _, first = np.unique(tree, return_index=True)
        leaf, weights, present = self._leaves(places, len(keys), targets)
        return Forest(
            _roots(tree, np.sort(first), on_true, on_false), np.array(nodes["nodes_featureids"], np.int64), mode,
            threshold, on_true, on_false, missing, leaf, weights, present, {},
        )  # fmt: skip

    def _leaves(self, places: _Places, count: int, targets: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        nodes = places.find(np.array(self.weight_tree, np.int64), np.array(self.weight_node, np.int64))
        named, rows = np.unique(nodes, return_inverse=True)
        leaf = np.zeros(count, np.int64)
        leaf[named] = np.arange(1, len(named) + 1)
        values = np.asarray(self.weight, getattr(self.weight, "dtype", np.float32))
        weights = np.zeros((len(named) + 1, targets), values.dtype)
        target = np.array(self.weight_target, np.int64)
        np.add.at(weights, (rows + 1, target), values)
        present = np.zeros(weights.shape, bool)
        present[rows + 1, target] = True
        return leaf, weights, present


def _roots(tree: np.ndarray, first: np.ndarray, on_true: np.ndarray, on_false: np.ndarray) -> np.ndarray:
    """The node of each tree that is no node's child; the first of a tree where the lists leave it open."""
    own = np.arange(len(tree))
    is_child = np.zeros(len(tree), bool)
    for child in (on_true, on_false):
        is_child[child[child != own]] = True
    free = own[~is_child]
    found, at = np.unique(tree[free], return_index=True)
    roots = dict(zip(found.tolist(), free[at].tolist()))
    return np.array([roots.get(int(tree[i]), int(i)) for i in first], np.int64)


@dataclass(slots=True)
class _Places:
    """Finds nodes by their tree and number: sorted keys ``tree * span + node``, and where each stands in the lists."""

    keys: np.ndarray
    order: np.ndarray
    span: int

    def find(self, tree: np.ndarray, node: np.ndarray) -> Any:
        """The place of each node in the lists."""
        wanted = tree * self.span + node
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        if len(wanted) and not (len(self.keys) and np.array_equal(self.keys[at], wanted)):
            raise UnsupportedError("the tree ensemble refers to a node that it does not list")
        return self.order[at]


def _floats(x: np.ndarray) -> np.ndarray:
    """Features [N, F] as floats; integers and half floats as float32."""
    x = x.reshape(1, -1) if x.ndim == 1 else x
    return x if x.dtype == np.float64 else x.astype(np.float32, copy=False)


def _either(tensor: Any, values: Any) -> Any:
    return tensor if tensor is not None else values


@kernel("TreeEnsembleRegressor", 1, 3, 5, domain=ML, generic=False)
def tree_ensemble_regressor(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    target_treeids: list[int],
    target_nodeids: list[int],
    target_ids: list[int],
    target_weights: list[float] | None = None,
    target_weights_as_tensor: Any = None,
    base_values: list[float] | None = None,
    base_values_as_tensor: Any = None,
    n_targets: int | None = None,
    aggregate_function: str = "SUM",
    post_transform: str = "NONE",
    **nodes: Unpack[TreeNodes],
) -> Any:
    """Leaf weights of all trees put together for each row of x [N, F]; float32 [N, targets] (version 3)."""

    def forest_of() -> Forest:
        targets = n_targets or max(target_ids, default=0) + 1
        weights = _either(target_weights_as_tensor, target_weights)
        return _NodeLists(nodes, target_treeids, target_nodeids, target_ids, weights).forest(targets)

    forest = ctx.prepared("forest", forest_of)
    scores, _ = forest.aggregate(_floats(x), aggregate_function)
    base = _either(base_values_as_tensor, base_values)
    if base is not None and len(base):
        scores = scores + np.asarray(base, scores.dtype)
    return transformed(scores, post_transform).astype(np.float32, copy=False)


@kernel("TreeEnsembleClassifier", 1, 3, 5, domain=ML, generic=False)
def tree_ensemble_classifier(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    class_treeids: list[int],
    class_nodeids: list[int],
    class_ids: list[int],
    class_weights: list[float] | None = None,
    class_weights_as_tensor: Any = None,
    base_values: list[float] | None = None,
    base_values_as_tensor: Any = None,
    classlabels_int64s: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
    post_transform: str = "NONE",
    **nodes: Unpack[TreeNodes],
) -> tuple[np.ndarray, np.ndarray]:
    """Label [N] and scores [N, classes] of each row of x [N, F] (version 3).

    Two classes whose leaves all weigh one of them are a binary problem: the other class's score follows from it, and
    the second label wins above 0, or above 0.5 where no weight is negative (as in ONNX Runtime).
    """
    labels: Any = classlabels_int64s or classlabels_strings or []
    weights = _either(class_weights_as_tensor, class_weights)

    def forest_of() -> Forest:
        lists = _NodeLists(nodes, class_treeids, class_nodeids, class_ids, weights)
        return lists.forest(max(len(labels), max(class_ids, default=0) + 1))

    forest = ctx.prepared("forest", forest_of)
    scores, found = forest.aggregate(_floats(x), "SUM")
    base = np.asarray(_either(_either(base_values_as_tensor, base_values), ()), scores.dtype)
    if len(labels) <= 2 and len(base) <= 1 and len(ctx.prepared("classes", lambda: set(class_ids))) == 1:
        scored = class_ids[0]
        margin = scores[:, scored] + (base[0] if len(base) and scored == 0 else 0)
        positive = ctx.prepared("positive", lambda: bool(np.min(weights, initial=0) >= 0))
        wins = margin > (0.5 if positive and len(labels) == 2 else 0)
        if len(labels) < 2:
            named = labels_of(np.zeros(1, int), labels or [1])[0]
            return np.where(wins, named, "" if isinstance(named, str) else 0), margin[:, None].astype(np.float32)
        table = transformed(scores, post_transform) if scored else two_columns(margin, post_transform, positive)
        return labels_of(wins.astype(int), labels), table.astype(np.float32, copy=False)
    scores, found = (scores + base, np.ones_like(found)) if len(base) else (scores, found)
    # A class that no leaf mentions has no score to win with.
    choice = np.where(found, scores, -np.inf).argmax(axis=1) if scores.size else np.zeros(len(scores), int)
    return labels_of(choice, labels), transformed(scores, post_transform).astype(np.float32, copy=False)


@kernel("TreeEnsemble", 5, domain=ML, generic=False)
def tree_ensemble(
    ctx: KernelContext,
    x: np.ndarray,
    *,
    nodes_featureids: list[int],
    nodes_modes: np.ndarray,
    nodes_splits: np.ndarray,
    nodes_truenodeids: list[int],
    nodes_trueleafs: list[int],
    nodes_falsenodeids: list[int],
    nodes_falseleafs: list[int],
    leaf_targetids: list[int],
    leaf_weights: np.ndarray,
    tree_roots: list[int],
    nodes_missing_value_tracks_true: list[int] | None = None,
    membership_values: np.ndarray | None = None,
    n_targets: int = 1,
    aggregate_function: int = 1,
    post_transform: int = 0,
) -> Any:
    """Leaf weights of all trees put together for each row of x [N, F], [N, targets] in its dtype (version 5)."""

    def forest_of() -> Forest:
        nodes, leaves = len(nodes_featureids), len(leaf_targetids)
        own = np.arange(nodes, nodes + leaves)
        on_true, on_false = (
            np.concatenate([np.where(np.array(is_leaf, bool), np.array(ids) + nodes, ids), own])
            for is_leaf, ids in ((nodes_trueleafs, nodes_truenodeids), (nodes_falseleafs, nodes_falsenodeids))
        )
        weights = np.zeros((leaves + 1, n_targets), leaf_weights.dtype)
        weights[np.arange(1, leaves + 1), leaf_targetids] = leaf_weights
        present = np.zeros(weights.shape, bool)
        present[np.arange(1, leaves + 1), leaf_targetids] = True
        mode = np.concatenate([nodes_modes.astype(np.int8), np.full(leaves, _LEAF, np.int8)])
        return Forest(
            roots=np.array(tree_roots, np.int64),
            feature=np.concatenate([np.array(nodes_featureids, np.int64), np.zeros(leaves, np.int64)]),
            mode=mode,
            threshold=np.concatenate([nodes_splits, np.zeros(leaves, nodes_splits.dtype)]),
            on_true=on_true,
            on_false=on_false,
            missing_true=_padded_flags(nodes_missing_value_tracks_true, nodes + leaves),
            leaf=np.concatenate([np.zeros(nodes, np.int64), np.arange(1, leaves + 1)]),
            weights=weights,
            present=present,
            members=_members(mode, membership_values),
        )

    forest = ctx.prepared("forest", forest_of)
    scores, _ = forest.aggregate(x if x.ndim == 2 else x.reshape(1, -1), _AGGREGATES[aggregate_function])
    return transformed(scores, _TRANSFORMS[post_transform]).astype(x.dtype, copy=False)


def _padded_flags(flags: list[int] | None, length: int) -> np.ndarray:
    result = np.zeros(length, bool)
    result[: len(flags or ())] = flags or ()
    return result


def _members(mode: np.ndarray, values: np.ndarray | None) -> dict[int, np.ndarray]:
    """The values of each MEMBER node, in order of the nodes; NaN ends each node's."""
    nodes = np.flatnonzero(mode == _MEMBER)
    if not len(nodes) or values is None:
        return {}
    ends = np.flatnonzero(np.isnan(values))
    parts = np.split(values, ends)
    return {int(node): part[~np.isnan(part)] for node, part in zip(nodes, parts)}
