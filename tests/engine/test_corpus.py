"""Every model of the shared corpus: opens, sorts and infers; runs and gives ONNX Runtime's outputs.

Outputs were recorded with ONNX Runtime 1.32 on the CPU, graph optimisations off (shared/models/README.md); they must
agree within 1e-4 of the range of each output, quantised models by correlation, as that page says.
"""

from __future__ import annotations

import importlib.util
import json
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.version_converter
import pytest

from engine.cli import main
from engine.errors import ModelFormatError
from engine.feeds import default_dims, make_feeds, name_feeds
from engine.opening import open_model
from engine.session import Session

MODELS = Path(__file__).resolve().parents[2].parent / "shared" / "models"
FOLDERS = ("real", "gen", "ml", "ops")
FILES = [f"{folder}/{file.stem}" for folder in FOLDERS for file in sorted((MODELS / folder).glob("*.onnx"))]
BROKEN = [file.stem for file in sorted((MODELS / "broken").glob("*.onnx"))]
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

needs_corpus = pytest.mark.skipif(not MODELS.is_dir(), reason="needs shared/models beside the repository")

QUANTISED = {"gen/mobilenetv2_qdq_int8", "gen/mobilenetv2_qop_int8", "gen/bert_dynamic_int8", "real/minilm_l6_int8",
             "real/smart_turn_v3.2_qdq", "real/tashkeel_rawi_v2_int8", "ops/int4_blockwise"}  # fmt: skip
"""Rounding ties fall either way; only the direction of the output means something."""

FLOAT16 = {"gen/mobilenetv2_fp16", "real/slovorez_fp16"}


def recorded(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs and outputs as recorded; inputs that the file leaves out are made again."""
    path = MODELS / "expected" / f"{name.replace('/', '__')}.npz"
    if not path.exists():
        pytest.skip("no outputs of ONNX Runtime; see the tests below: " + status_of(name))
    with np.load(path) as file:
        arrays = dict(file)
    inputs = {key.removeprefix("in:"): value for key, value in arrays.items() if key.startswith("in:")}
    if not inputs and "inputs by make_inputs" in status_of(name):
        inputs = made_again(name)
    return inputs, {key: value for key, value in arrays.items() if not key.startswith("in:")}


def status_of(name: str) -> str:
    index: dict[str, dict[str, Any]] = json.loads((MODELS / "expected" / "index.json").read_text())
    return str(index[f"{name}.onnx"]["status"])


def made_again(name: str) -> dict[str, np.ndarray]:
    spec = importlib.util.spec_from_file_location("make_expected", MODELS / "make_expected.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the script leaves its list of inputs open
        spec.loader.exec_module(script)
    key = f"{name}.onnx"
    proto = onnx.load(MODELS / key, load_external_data=False)
    made: dict[str, np.ndarray] = script.make_inputs(proto, {**script.SPEC.get(key, {}), "key": key})
    return made


def range_error(actual: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference over the largest expected magnitude."""
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(actual[~finite], expected[~finite])
    difference = np.abs(actual[finite] - expected[finite]).max(initial=0)
    return float(difference / max(np.abs(expected[finite]).max(initial=0), 1e-30)) if difference else 0.0


def hold_together(name: str, output: str, actual: Any, expected: np.ndarray) -> None:
    assert isinstance(actual, np.ndarray), output
    if expected.dtype.kind == "U":
        assert actual.astype(str).tolist() == expected.tolist(), output
        return
    assert actual.dtype == expected.dtype, output
    assert actual.shape == expected.shape, output
    if name in QUANTISED:
        if expected.dtype.kind == "f" and expected.size > 1:
            correlation = np.corrcoef(actual.ravel().astype(float), expected.ravel().astype(float))[0, 1]
            assert correlation > 0.99, output
        return
    limit = 5e-3 if name in FLOAT16 else 1e-4 if expected.dtype.kind == "f" else 0
    assert range_error(actual, expected) <= limit, output


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_opens_sorts_and_infers(name: str) -> None:
    model = open_model(MODELS / f"{name}.onnx")
    assert not [d for d in model.diagnostics if d.severity == "error" and d.code != "no-kernel"]
    for graph in model.graph.walk():
        assert sorted(node.file_index for node in graph.order) == list(range(len(graph.nodes)))
        ready = {id(t) for t in graph.tensors.values() if t.producer is None}
        for node in graph.order:
            assert all(t.graph is not graph or id(t) in ready for t in node.read_tensors()), node
            ready.update(id(t) for t in node.outputs if t is not None)


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_runs_right(name: str) -> None:
    model = open_model(MODELS / f"{name}.onnx")
    inputs, outputs = recorded(name)
    result = Session(model).run(name_feeds(model, {key: as_fed(value) for key, value in inputs.items()}))
    compared = 0
    for key, expected in outputs.items():
        output = key.partition("out:")[2]
        if name == "gen/yolo_n_320_nms" and output != "output0":
            continue  # scores nearly tie, so the picks of NonMaxSuppression hang on rounding
        actual = result.outputs[output]
        if key.startswith("every"):
            actual = np.asarray(actual).reshape(-1)[:: int(key[len("every") : key.index(":")])]
        hold_together(name, output, actual, expected)
        compared += 1
    assert compared


def as_fed(array: np.ndarray) -> np.ndarray:
    return array.astype(object) if array.dtype.kind == "U" else array


@needs_corpus
def test_bfloat16_rounds_at_every_node() -> None:
    """ONNX Runtime has no bfloat16 MatMul on the CPU; NumPy computes in float32 and rounds where the graph does."""
    model = open_model(MODELS / "ops/bf16_mlp.onnx")
    feeds = make_feeds(model, {"B": 3})
    w1, w2 = (model.graph.tensors[name].data.array().astype(np.float32) for name in ("W1", "W2"))

    def rounded(array: np.ndarray) -> np.ndarray:
        return array.astype(ml_dtypes.bfloat16).astype(np.float32)

    expected = rounded(np.maximum(rounded(rounded(feeds["x"]) @ w1), 0) @ w2)
    actual = Session(model).run(feeds).outputs["y"]
    assert actual.dtype == np.float32
    assert range_error(actual, expected) < 2**-8  # one rounding step of bfloat16, should a sum fall just beside a tie


@needs_corpus
def test_opset_6_agrees_with_its_conversion_to_13() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    path = MODELS / "ops/old_opset6.onnx"
    model = open_model(path)
    feeds = make_feeds(model, {})
    converted = onnx.version_converter.convert_version(onnx.load(path), 13)
    oracle = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = oracle.run(None, feeds)
    assert range_error(Session(model).run(feeds).outputs["y"], expected) <= 1e-5


@needs_corpus
def test_strings_as_counted_by_hand() -> None:
    model = open_model(MODELS / "ops/strings.onnx")
    outputs = Session(model).run({"t": np.array(["The", "CAT", "bird", "cat", "cow"], object)}).outputs
    assert outputs["y"].tolist() == ["cat", "bird", "cat", "cow"]
    assert outputs["v"].tolist() == [2, 0, 1]


@needs_corpus
def test_random_numbers_follow_their_seed() -> None:
    model = open_model(MODELS / "ops/random_ops.onnx")
    feeds = {"x": np.zeros((4, 4), np.float32)}
    first, second = (Session(model).run(feeds).outputs["y"] for _ in range(2))
    assert np.array_equal(first, second)
    assert len(set(first.ravel().tolist())) == 16


@needs_corpus
@pytest.mark.parametrize("name", ["ml/tfidf_text", "ops/strings"])
def test_strings_agree_with_onnx_runtime_in_another_locale(name: str) -> None:
    """ONNX Runtime lacks the default locale here; in the C locale, and on ASCII, it does the same."""
    onnxruntime = pytest.importorskip("onnxruntime")
    proto = onnx.load(MODELS / f"{name}.onnx")
    for node in proto.graph.node:
        if node.op_type == "StringNormalizer":
            node.attribute.append(onnx.helper.make_attribute("locale", "C"))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    oracle = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    words = ["The cats sat", "dogs ran in the RAIN", "spain and rain"]
    feeds = {i.name: np.array(words, object).reshape(-1, *[1] * (len(i.shape) - 1)) for i in oracle.get_inputs()}
    result = Session(open_model(MODELS / f"{name}.onnx")).run(feeds)
    for ours, theirs in zip(result.outputs.values(), oracle.run(None, feeds), strict=True):
        if theirs.dtype == np.float32:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
        else:
            np.testing.assert_array_equal(ours, theirs)


SAYS = {
    "cycle": "A → B → C → A",
    "dtype_clash": "input 1 is int64, input 0 is float32",
    "duplicate_output": "by the node 'B' and given by the node 'A'",
    "empty": "0 bytes",
    "external_path_escape": "not inside the model's folder",
    "future_ir": "99",
    "future_opset": "99",
    "git_lfs_pointer": "Git LFS pointer",
    "init_shape_vs_input": "[4, 9]",
    "init_size_lie": "needs 64 bytes, and 20 are stored",
    "missing_external": "not_here.bin",
    "missing_input": "'nowhere'",
    "not_protobuf": "web page",
    "output_not_produced": "'y'",
    "self_loop": "cycle",
    "shape_clash": "multiplies [2, 4] by [5, 4]",
    "truncated": "cut off at byte",
    "two_cycles": "cycle",
    "unknown_op": "no kernel for acme.ops::FancyOp",
    "wrong_value_info": "[9, 9], but Relu 'Relu_0' makes [2, 4]",
}
"""What the message about each broken file must say."""

UNREADABLE = {"empty", "git_lfs_pointer", "not_protobuf", "truncated"}
ONLY_WARNED = {"wrong_value_info"}


@needs_corpus
@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = MODELS / "broken" / f"{name}.onnx"
    status = main(["check", str(path)])
    told = capsys.readouterr()
    assert status == (2 if name in UNREADABLE else 0 if name in ONLY_WARNED else 1)
    assert SAYS[name] in (told.err if name in UNREADABLE else told.out)
    if name in UNREADABLE:
        with pytest.raises(ModelFormatError):
            open_model(path)
    else:
        assert open_model(path).graph.nodes  # the rest is still shown


@needs_corpus
def test_two_cycles_are_both_told() -> None:
    model = open_model(MODELS / "broken" / "two_cycles.onnx")
    assert [d.code for d in model.diagnostics].count("cycle") == 2


QUICK_LIGHT = ("light_resnet50", "light_squeezenet")
OTHER_LIGHT = sorted({file.stem for file in LIGHT.glob("*.onnx")} - set(QUICK_LIGHT))


@pytest.mark.parametrize("name", [*QUICK_LIGHT, *(pytest.param(n, marks=pytest.mark.slow) for n in OTHER_LIGHT)])
def test_light_models_agree_with_onnx_runtime(name: str) -> None:
    """Of a Softmax its input is held: weights that are all alike make scores of 1e9, the last bit of which, rounded in
    each processor's matrix product in another way, decides between all and nothing."""
    onnxruntime = pytest.importorskip("onnxruntime")
    proto = onnx.load(LIGHT / f"{name}.onnx")
    held = {node.output[0]: node.input[0] for node in proto.graph.node if node.op_type == "Softmax"}
    names = [held.get(output.name, output.name) for output in proto.graph.output]
    proto.graph.ClearField("output")
    proto.graph.output.extend(onnx.ValueInfoProto(name=output) for output in names)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    oracle = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    model = open_model(LIGHT / f"{name}.onnx")
    feeds = make_feeds(model, default_dims(model))
    result = Session(model).run(feeds)
    for output, value in zip(names, oracle.run(names, feeds)):
        assert range_error(np.asarray(result.values[model.graph.tensors[output]]), value) <= 1e-4
