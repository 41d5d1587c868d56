"""Every model of the shared corpus: opens, sorts and infers; runs and gives ONNX Runtime's outputs.

Outputs were recorded with ONNX Runtime 1.32 on the CPU, graph optimisations off (shared/models/README.md); they must
agree within 1e-4 of the range of each output, quantised models by correlation, as that page says.
"""

from __future__ import annotations

import importlib.util
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import engine
from engine.errors import CannotRunError, ModelFormatError
from engine.feeds import make_feeds, name_feeds
from engine.graph.ir import Model
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

LACKS_KERNELS = {
}  # fmt: skip
"""Models that cannot run yet, with the first operator they lack."""


def opened(path: Path) -> Model:
    model = engine.load(path)
    engine.infer(model)
    return model


def recorded(name: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs and outputs as recorded; inputs that the file leaves out are made again."""
    path = MODELS / "expected" / f"{name.replace('/', '__')}.npz"
    if not path.exists():
        pytest.skip("ONNX Runtime gave nothing to compare with: " + status_of(name))
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
    model = opened(MODELS / f"{name}.onnx")
    assert not [d for d in model.diagnostics if d.severity == "error"]
    for graph in model.graph.walk():
        assert sorted(node.file_index for node in graph.order) == list(range(len(graph.nodes)))
        ready = {id(t) for t in graph.tensors.values() if t.producer is None}
        for node in graph.order:
            assert all(t.graph is not graph or id(t) in ready for t in node.read_tensors()), node
            ready.update(id(t) for t in node.outputs if t is not None)


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_runs_right(name: str) -> None:
    model = opened(MODELS / f"{name}.onnx")
    if name in LACKS_KERNELS:
        with pytest.raises(CannotRunError, match=LACKS_KERNELS[name]):
            Session(model)
        pytest.skip(f"no kernel yet for {LACKS_KERNELS[name]}")
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
@pytest.mark.parametrize("name", ["ops/random_ops", "ops/bf16_mlp", "ops/old_opset6", "ops/strings"])
def test_runs_what_onnx_runtime_gave_nothing_for(name: str) -> None:
    model = opened(MODELS / f"{name}.onnx")
    feeds = make_feeds(model, engine.feeds.default_dims(model))
    result = Session(model).run(feeds)
    assert set(result.outputs) == {t.name for t in model.graph.outputs}


SAYS = {
    "cycle": "A → B → C → A",
    "dtype_clash": "int64",
    "duplicate_output": "two nodes",
    "empty": "0 bytes",
    "external_path_escape": "not inside the model's folder",
    "future_ir": "99",
    "future_opset": "99",
    "git_lfs_pointer": "Git LFS pointer",
    "init_shape_vs_input": "[4, 9]",
    "init_size_lie": "20",
    "missing_external": "not",
    "missing_input": "",
    "not_protobuf": "web page",
    "output_not_produced": "",
    "self_loop": "cycle",
    "shape_clash": "[2, 4]",
    "truncated": "cut short",
    "two_cycles": "cycle",
    "unknown_op": "",
    "wrong_value_info": "[9, 9]",
}
"""What the message about each broken file must say."""

UNREADABLE = {"empty", "git_lfs_pointer", "not_protobuf", "truncated"}


@needs_corpus
@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_told_within_a_second(name: str) -> None:
    start = time.perf_counter()
    if name in UNREADABLE:
        with pytest.raises(ModelFormatError) as error:
            engine.load(MODELS / "broken" / f"{name}.onnx")
        told = str(error.value)
    else:
        model = opened(MODELS / "broken" / f"{name}.onnx")
        assert model.graph.nodes
        told = "\n".join(d.message for d in model.diagnostics)
    assert time.perf_counter() - start < 1
    assert told
    assert SAYS[name] in told


def test_two_cycles_are_both_told() -> None:
    if not MODELS.is_dir():
        pytest.skip("needs shared/models beside the repository")
    model = opened(MODELS / "broken" / "two_cycles.onnx")
    assert [d.code for d in model.diagnostics].count("cycle") == 2


@pytest.mark.parametrize("name", ["light_resnet50", "light_squeezenet"])
def test_light_models_agree_with_onnx_runtime(name: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    path = LIGHT / f"{name}.onnx"
    model = opened(path)
    feeds = make_feeds(model, engine.feeds.default_dims(model))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    oracle = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    expected = dict(zip([o.name for o in oracle.get_outputs()], oracle.run(None, feeds)))
    result = Session(model).run(feeds)
    for output, value in expected.items():
        assert range_error(np.asarray(result.outputs[output]), value) <= 1e-4
