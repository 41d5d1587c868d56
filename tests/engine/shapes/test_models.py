"""Inference on whole models: what is known, and that it is what runs. ONNX Runtime is the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from engine import dtypes, load
from engine.dims import Expr
from engine.errors import NodeError
from engine.graph.ir import Model
from engine.graph.types import TensorType
from engine.shapes.bind import Binder
from engine.shapes.facts import is_complete
from engine.shapes.infer import infer_shapes
from tests.counting import calls
from tests.engine.shapes.corpus import MODELS, SKELETONS, inferred_alone, made, three_bindings, wrong_at

OPEN = {
    # Squeezed only where the sequence gives one frame: the rank itself depends on the input's length.
    "real/silero_vad.onnx": "the branches of",
    "real/silero_vad_half.onnx": "the branches of",
    # A sequence of parts of 2, 2 and, of an odd length, 1.
    "ops/sequences.onnx": "the parts of",
}
"""The models in which not all can be known before the run, with the reason that inference must give."""

RUN_BY_ORT = [
    "real/silero_vad.onnx", "real/silero_vad_half.onnx", "real/silero_vad_op18_ifless.onnx", "real/magika_v3_3.onnx",
    "real/ppocr_v2_cls.onnx", "real/ppocr_v4_rec.onnx", "real/attacut_sc.onnx", "real/tashkeel_rawi_v2_int8.onnx",
    "gen/gpt2_kv_dyn.onnx", "gen/bert_ort_transformer_opt.onnx", "gen/yolo_n_320_nms.onnx", "gen/unet_ts.onnx",
    "gen/swin_part_ts.onnx", "gen/vit_ts.onnx", "gen/tagger_lstm_dyn.onnx", "gen/mobilenetv2_qop_int8.onnx",
    "gen/if_loop_ts.onnx", "ml/knn.onnx", "ml/isolation_forest.onnx", "ml/gp_regressor.onnx", "ops/loop_scan.onnx",
    "ops/sequences.onnx", "ops/functions.onnx",
]  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_all_that_can_be_known_is(shared: Path, name: str) -> None:
    model = inferred_alone(shared / "models" / name)
    open_ = [t for t in made(model) if not is_complete(t.inferred_type)]
    assert all(t.unknown_because for t in open_)
    if name in OPEN:
        assert open_
        assert all(OPEN[name] in t.unknown_because for t in open_)
    else:
        assert not open_, [(t.name, t.unknown_because) for t in open_[:3]]


FOUND = {
    "gen/gpt2_kv_dyn.onnx": ["equal-dims past + seq and s53 must be equal, or one of them 1"],
    "gen/tagger_lstm_dyn.onnx": [
        "divisible-dim batch*seq must be a multiple of 9",
        "shape-mismatch the file declares 'val_238' as [9, batch, 192], but Reshape 'node_Reshape_296' makes "
        "[9, (batch*seq)//9, 192]",
    ],
    "gen/unet_ts.onnx": [
        "equal-dims 2*(h//4) and h//2 must be equal", "equal-dims 2*(w//4) and w//2 must be equal",
        "divisible-dim h must be a multiple of 4", "divisible-dim w must be a multiple of 4",
    ],
    "real/deepcut.onnx": ["equal-dims unk__330 and unk__331 must be equal"],
    "real/oskut_ws.onnx": [
        "equal-dims unk__2044 and unk__2045 must be equal", "equal-dims unk__2044 and unk__2046 must be equal",
    ],
    "real/ppocr_v4_det.onnx": [
        f"equal-dims (p2o_DynamicDimension_{i} + {2**k - 1})//{2**k} and "
        f"{2**(5 - k)}*((p2o_DynamicDimension_{i} + 31)//32) must be equal, or one of them 1"
        for k in (4, 3, 2) for i in (2, 1)
    ],
    "real/ppocr_v4_rec.onnx": ["forced-dim x_dim2 can only be 33 to 80"],
    "ml/titanic_string_columns.onnx": [
        "equal-dims age_dim0 and fare_dim0 must be equal", "equal-dims sex_dim0 and port_dim0 must be equal",
        "equal-dims age_dim0 and sex_dim0 must be equal",
    ],
}  # fmt: skip
"""What inference finds in the models, each of it true: other sizes fail."""


@pytest.mark.parametrize("name", SKELETONS)
def test_skeletons_are_known(shared: Path, name: str) -> None:
    model = inferred_alone(shared / "models" / "skel" / name)
    assert [t.name for t in made(model) if not is_complete(t.inferred_type)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_runs_make_what_is_inferred(shared: Path, name: str) -> None:
    """Every value, those of subgraphs included, at three sizes of every dim."""
    model = inferred_alone(shared / "models" / name)
    for sizes in three_bindings(name, model):
        wrong, checked = wrong_at(name, model, sizes)
        assert wrong == []
        assert checked


def test_bound_dims_decide_the_rest(shared: Path) -> None:
    """What is open in silero_vad_half follows from the length of its input."""
    model = load(shared / "models" / "real" / "silero_vad_half.onnx")
    infer_shapes(model, {"batch": 1, "sequence": 576})
    assert [t.name for t in made(model) if not is_complete(t.inferred_type)] == []


@pytest.mark.parametrize("name", MODELS)
def test_findings(shared: Path, name: str) -> None:
    model = load(shared / "models" / name)
    before = len(model.diagnostics)
    infer_shapes(model)
    found = [f"{d.code} {d.message}" for d in model.diagnostics[before:]]
    expected = FOUND.get(name, [])
    assert len(found) == len(expected), found
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True)), found


REFUSED = {
    "gen/gpt2_kv_dyn.onnx": {"batch": 2, "seq": 5, "past": 3, "s53": 5},
    "gen/tagger_lstm_dyn.onnx": {"batch": 1, "seq": 8},
    "gen/unet_ts.onnx": {"batch": 1, "h": 18, "w": 24},
    "real/deepcut.onnx": {"unk__330": 2, "unk__331": 3},
    "real/oskut_ws.onnx": {"unk__2044": 2, "unk__2045": 2, "unk__2046": 3},
    "real/ppocr_v4_det.onnx": {f"p2o_DynamicDimension_{i}": size for i, size in enumerate((1, 64, 40))},
    "real/ppocr_v4_rec.onnx": {"p2o_DynamicDimension_0": 1, "x_dim2": 32, "p2o_DynamicDimension_1": 64},
    "ml/titanic_string_columns.onnx": {"age_dim0": 2, "fare_dim0": 3, "sex_dim0": 2, "port_dim0": 2},
}
"""Sizes against what inference finds of each model in `FOUND`."""


@pytest.mark.parametrize("name", FOUND)
def test_sizes_against_the_findings_fail(shared: Path, name: str) -> None:
    model = inferred_alone(shared / "models" / name)
    with pytest.raises(NodeError):
        wrong_at(name, model, REFUSED[name])


def stored_path(shared: Path, name: str) -> Path:
    return shared / "models" / "expected" / f"{name.replace('/', '__').removesuffix('.onnx')}.npz"


def stored_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The inputs and the outputs stored in a file of expected values."""
    with np.load(path) as arrays:
        inputs = {k[3:]: arrays[k] for k in arrays.files if k.startswith("in:")}
        return inputs, {k[4:]: arrays[k] for k in arrays.files if k.startswith("out:")}


def symbols_bound(model: Model, shapes: dict[str, tuple[int, ...]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for tensor in model.graph.feeds:
        for dim, size in zip(tensor.inferred_shape or (), shapes.get(tensor.name, ())):
            if isinstance(dim, Expr) and dim.symbols() == (str(dim),):
                found.setdefault(str(dim), size)
    return found


def contradictions(model: Model, observed: dict[str, np.ndarray], bindings: dict[str, int]) -> list[str]:
    """Values whose observed dtype or shape is not what was inferred."""
    binder, wrong = Binder(bindings), []
    for name, array in observed.items():
        type_ = binder.type(model.graph.tensors[name].inferred_type)
        if not isinstance(type_, TensorType):
            continue
        shape = type_.shape if type_.shape is not None else array.shape
        fits = len(shape) == array.ndim and all(
            not isinstance(d, int) or d == size for d, size in zip(shape, array.shape)
        )
        if not fits or (type_.dtype and type_.dtype is not dtypes.from_numpy(array.dtype)):
            wrong.append(f"{name}: inferred {type_}, observed {array.dtype}{list(array.shape)}")
    return wrong


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ops/random_ops.onnx"])
def test_outputs_have_the_inferred_shapes(shared: Path, name: str) -> None:
    stored = stored_path(shared, name)
    if not stored.is_file():
        pytest.skip("no expected outputs are stored for it")
    feeds, outputs = stored_arrays(stored)
    if not feeds or not outputs:
        pytest.skip("its expected outputs are stored without inputs or cut")
    model = inferred_alone(shared / "models" / name)
    assert contradictions(model, outputs, symbols_bound(model, {k: v.shape for k, v in feeds.items()})) == []


@pytest.mark.parametrize("name", RUN_BY_ORT)
def test_values_have_the_inferred_shapes(shared: Path, name: str) -> None:
    """Every value of the main graph, as ONNX Runtime computes it with optimisations off."""
    ort = pytest.importorskip("onnxruntime")
    path = shared / "models" / name
    feeds, _ = stored_arrays(stored_path(shared, name))
    proto = onnx.load(path)
    known = {o.name for o in proto.graph.output}
    exposed = [o for node in proto.graph.node for o in node.output if o and o not in known]
    proto.graph.output.extend(onnx.ValueInfoProto(name=o) for o in exposed)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 2
    session = ort.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    results: dict[str, Any] = dict(zip(names, session.run(names, feeds)))
    observed = {k: v for k, v in results.items() if isinstance(v, np.ndarray)}
    model = inferred_alone(path)
    assert contradictions(model, observed, symbols_bound(model, {k: v.shape for k, v in feeds.items()})) == []


@pytest.mark.parametrize("name", ["real/oskut_ws", "real/silero_vad", "ops/dag_5000"])
def test_costs_a_few_hundred_calls_a_node(shared: Path, name: str) -> None:
    """The largest of the real models, and 5,000 nodes in one chain of operators: 90 to 135 calls a node."""
    model = load(shared / "models" / f"{name}.onnx")
    assert calls(lambda: infer_shapes(model)) < 300 * sum(len(graph.nodes) for graph in model.graph.walk())


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("dtype_clash", "dtype-clash", ("int64", "float32")),
        ("shape_clash", "shape-clash", ("[2, 4]", "[5, 4]")),
        ("wrong_value_info", "shape-mismatch", ("[9, 9]", "[2, 4]")),
    ],
)
def test_broken_models_are_told_what_is_wrong(shared: Path, name: str, code: str, words: tuple[str, ...]) -> None:
    model = load(shared / "models" / "broken" / f"{name}.onnx")
    infer_shapes(model)
    (finding,) = [d for d in model.diagnostics if d.code == code]
    assert finding.node
    assert all(word in finding.message for word in words)
