"""Files that ONNX Runtime optimised and saved: their fused operators run here and give what it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import CannotRunError
from engine.opening import open_model
from engine.session import Session

ort = pytest.importorskip("onnxruntime")


def optimised(source: Path, target: Path, level: Any) -> Any:
    """The session of ONNX Runtime that saved the optimised file."""
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(target)
    options.log_severity_level = 4
    options.add_session_config_entry("session.x64quantprecision", "1")  # it would saturate where there is no VNNI
    return ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(("name", "fused"), [
    ("gen/bert_ts", {"FusedMatMul", "BiasGelu", "FusedGemm"}), ("gen/mobilenetv3ish_ts", {"FusedConv"}),
    ("gen/gpt2_kv_dyn", {"FastGelu", "SkipLayerNormalization"}), ("real/spindle_detector_eeg", {"Gelu", "QuickGelu"}),
    ("gen/bert_dynamic_int8", {"DynamicQuantizeMatMul", "MatMulIntegerToFloat"}), ("gen/vit_ts", {"BiasGelu"}),
    ("real/ppocr_v4_rec", {"LayerNormalization"}), ("ops/matmulnbits", {"MatMulNBits"}),
])  # fmt: skip
def test_fused_operators_agree(name: str, fused: set[str], shared: Path, tmp_path: Path) -> None:
    source, target = shared / "models" / f"{name}.onnx", tmp_path / "optimised.onnx"
    with np.load(shared / "models" / "expected" / f"{name.replace('/', '__')}.npz") as recorded:
        feeds = {key.removeprefix("in:"): recorded[key] for key in recorded.files if key.startswith("in:")}
    oracle = optimised(source, target, ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED)
    model = open_model(target)
    assert fused <= {node.op_type for node in model.graph.nodes}
    result = Session(model).run(feeds)
    for output, theirs in zip(oracle.get_outputs(), oracle.run(None, feeds)):
        ours = np.asarray(result.outputs[output.name])
        assert np.abs(ours - theirs).max() <= 1e-4 * max(np.abs(theirs).max(), 1e-6), output.name


def test_block_layouts_are_refused_with_the_way_out(shared: Path, tmp_path: Path) -> None:
    target = tmp_path / "optimised.onnx"
    optimised(shared / "models/gen/mobilenetv2_ts.onnx", target, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
    model = open_model(target)
    if not any(node.domain == "com.microsoft.nchwc" for node in model.graph.nodes):
        pytest.skip("ONNX Runtime has no block layout for this CPU")
    with pytest.raises(CannotRunError, match="at the level ORT_ENABLE_EXTENDED"):
        Session(model)
