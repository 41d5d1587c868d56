"""The bundled models are valid, small, reproducible and run elsewhere too."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import resources

SCRIPT = Path(resources.__file__).parent / "models" / "make_samples.py"
MODELS = (resources.SAMPLE_MODEL, resources.CONTROL_FLOW_MODEL)


@pytest.mark.parametrize("name", MODELS)
def test_sample_is_valid_and_small(name: str) -> None:
    path = resources.path(name)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert path.stat().st_size < 300_000


@pytest.mark.parametrize("name", MODELS)
def test_sample_is_what_the_script_makes(name: str) -> None:
    made = runpy.run_path(str(SCRIPT))[Path(name).stem]()
    shipped = onnx.load(resources.path(name))
    assert [n.name for n in made.graph.node] == [n.name for n in shipped.graph.node]
    for ours, theirs in zip(made.graph.initializer, shipped.graph.initializer, strict=True):
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(ours), onnx.numpy_helper.to_array(theirs))


def test_classifier_gives_probabilities_for_any_batch() -> None:
    session = onnxruntime.InferenceSession(resources.path(resources.SAMPLE_MODEL), providers=["CPUExecutionProvider"])
    images = np.random.default_rng(0).normal(size=(3, 3, 32, 32)).astype(np.float32)
    (probabilities,) = session.run(None, {"image": images})
    assert probabilities.shape == (3, 10)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)


def test_control_flow_takes_both_branches_and_settles_early() -> None:
    session = onnxruntime.InferenceSession(
        resources.path(resources.CONTROL_FLOW_MODEL), providers=["CPUExecutionProvider"]
    )
    x = np.abs(np.random.default_rng(0).normal(size=(2, 8))).astype(np.float32)
    results = [session.run(None, {"x": sign * x}) for sign in (np.float32(1), np.float32(-1))]
    for _, changes in results:
        assert 1 < len(changes) < 20
        assert (changes[:-1] > 1e-3).all()
        assert changes[-1] <= 1e-3
    # A sigmoid stays below 1; softplus does not have to.
    assert sum(bool((scores < 1).all()) for scores, _ in results) == 1


def test_icon_is_drawn(qapp: object) -> None:
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(str(resources.path(resources.APP_ICON)))
    assert renderer.isValid()
    image = QImage(64, 64, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    assert image.pixelColor(0, 0).alpha() == 0
    assert len({image.pixel(x, y) for x in range(64) for y in range(64)}) > 50


def test_missing_resource_says_what_to_do() -> None:
    with pytest.raises(FileNotFoundError, match="reinstall"):
        resources.path("models/none.onnx")
