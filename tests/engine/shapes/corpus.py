"""The shared models run at three bindings of their dims: sizes and inputs that they accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from engine import load
from engine.feeds import InputSpec, bound_dims, make_feeds, symbols
from engine.graph.ir import Model, Tensor
from engine.session import Session
from engine.shapes.infer import infer_shapes
from engine.shapes.observed import check_observed

SHARED = Path(__file__).resolve().parents[4] / "shared" / "models"
MODELS = sorted(f"{p.parent.name}/{p.name}" for d in ("real", "gen", "ml", "ops") for p in (SHARED / d).glob("*.onnx"))
SKELETONS = sorted(p.name for p in (SHARED / "skel").glob("*.onnx"))

_FIRST, _OTHER = (1, 3, 2), (7, 16, 12)
"""Sizes in the three runs: of an input's first axis, and of all others, where nothing else is said."""

SIZES: dict[str, list[dict[str, int]]] = {
    "real/silero_vad": [{"input_dim0": n, "state_dim1": n, "input_dim1": s} for n, s in ((1, 576), (3, 576), (2, 600))],
    "real/silero_vad_half": [{"batch": n, "sequence": s} for n, s in ((1, 576), (3, 576), (2, 600))],
    "real/silero_vad_op18_ifless": [{"batch": n, "sequence": s} for n, s in ((1, 576), (3, 576), (2, 600))],
    "real/ppocr_v4_det": [
        {f"p2o_DynamicDimension_{i}": size for i, size in enumerate(sizes)}
        for sizes in ((1, 64, 96), (2, 32, 64), (3, 96, 32))
    ],
    "real/ppocr_v4_rec": [{"p2o_DynamicDimension_0": n, "x_dim2": h, "p2o_DynamicDimension_1": w}
                          for n, h, w in ((1, 48, 64), (2, 48, 97), (3, 33, 40))],
    "real/ppocr_v2_cls": [{"x_dim0": n, "x_dim2": h, "x_dim3": w}
                          for n, h, w in ((1, 48, 192), (2, 64, 65), (3, 56, 100))],
    "real/deepcut": [{"unk__330": n, "unk__331": n} for n in (1, 3, 2)],
    "real/oskut_ws": [{"unk__2044": n, "unk__2045": n, "unk__2046": n} for n in (1, 3, 2)],
    "real/atspm_func_pair": [{"N": n, "T": t} for n, t in ((1, 64), (3, 33), (2, 50))],
    "gen/gpt2_kv_dyn": [
        {"batch": b, "seq": s, "past": p, "s53": s + p} for b, s, p in ((2, 5, 3), (1, 7, 0), (3, 1, 9))
    ],
    "gen/tagger_lstm_dyn": [{"batch": n, "seq": 9} for n in (1, 3, 2)],
    "gen/unet_ts": [{"batch": n, "h": h, "w": w} for n, h, w in ((1, 16, 24), (2, 32, 8), (3, 12, 20))],
    "ops/sequences": [{"N": n} for n in (7, 4, 5)],
    "ml/titanic_string_columns": [
        {f"{name}_dim0": n for name in ("age", "fare", "sex", "port")} for n in (1, 3, 2)
    ],
    "skel/full_gpt2_small.skel": [
        {"batch": b, "seq": s, "past": p, "total": s + p} for b, s, p in ((2, 5, 3), (1, 7, 0), (1, 1, 9))
    ],
}  # fmt: skip
"""Sizes of the models that do not take any: see `FOUND` in test_models.py for what inference says about them."""


SPECS = {"ops/loop_break.onnx": {"x": "ones"}}  # it adds them up until they are enough


def three_bindings(name: str, model: Model) -> list[dict[str, int]]:
    """Three sets of sizes for the input symbols; one empty set where there are no symbols."""
    given = SIZES.get(name.removesuffix(".onnx"))
    if given is not None:
        return given
    uses = symbols(model)
    if not uses:
        return [{}]
    return [
        {symbol: (_FIRST if places[0].axis == 0 else _OTHER)[run] for symbol, places in uses.items()}
        for run in range(3)
    ]


def feeds_of(name: str, model: Model, sizes: dict[str, int]) -> dict[str, Any]:
    """Inputs of those sizes, within the ranges that the model takes (inputs.json)."""
    wishes = json.loads((SHARED / "inputs.json").read_text(encoding="utf-8")).get(name, {})
    specs = {tensor: InputSpec.parse(text) for tensor, text in SPECS.get(name, {}).items()}
    given: dict[str, np.ndarray] = {}
    for tensor in model.graph.feeds:
        rank = len(tensor.inferred_shape or ())
        if tensor.name in wishes.get("range", {}):
            low, high = wishes["range"][tensor.name]
            specs[tensor.name] = InputSpec.parse(f"integers:{low}:{high}")
        elif tensor.name in wishes.get("scale", {}):
            specs[tensor.name] = InputSpec.parse(f"normal:{wishes['scale'][tensor.name]}")
        elif tensor.dtype is not None and tensor.dtype.kind == "string" and "words" in wishes:
            specs[tensor.name] = InputSpec.parse("words:" + ",".join(wishes["words"]))
        elif rank == 0 and tensor.name in wishes.get("value", {}):
            given[tensor.name] = np.asarray(wishes["value"][tensor.name], tensor.dtype and tensor.dtype.numpy)
        elif tensor.dtype is not None and tensor.dtype.kind in ("int", "uint") and rank:
            specs[tensor.name] = InputSpec.parse("integers:0:2")
    return make_feeds(model, sizes, specs, given=given)


def inferred_alone(path: Path) -> Model:
    """The model inferred from its inputs only."""
    model = loaded_bare(path)
    infer_shapes(model)
    return model


def loaded_bare(path: Path) -> Model:
    """The model without what the file declares of values that its nodes make."""
    model = load(path)
    for graph in model.graph.walk():
        for tensor in graph.tensors.values():
            if tensor.producer is not None and tensor.data is None:
                tensor.stored_type = None
    return model


def made(model: Model) -> list[Tensor]:
    """What the model's nodes make, subgraphs included."""
    return [t for node in model.nodes() for t in node.outputs if t is not None]


def wrong_at(name: str, model: Model, sizes: dict[str, int]) -> tuple[list[str], int]:
    """Values of a run, subgraphs included, that are not what was inferred; and how many values there were."""
    feeds = feeds_of(name, model, sizes)
    values = Session(model).run(feeds).values
    findings = check_observed(model, values, {**sizes, **bound_dims(model, feeds)})
    return [finding.message for finding in findings], sum(tensor.producer is not None for tensor in values)
