"""Whole models on mixed providers, through the stand-ins: the same outputs as on the CPU, and who took what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.agreement import compare_values
from engine.graph.ir import Model
from engine.providers import AccelerateProvider, CUDAProvider, ExecutionProvider
from engine.session import RunResult, Session
from engine.shapes.infer import infer_shapes
from tests.engine.providers.conftest import Standin
from tests.engine.providers.fake_cupy import FakeCuPy

MODELS = ["gen/mnist_ts", "gen/resnet18_nofold_ts", "gen/mobilenetv2_ts", "gen/unet_ts", "gen/gpt2_kv_dyn",
          "gen/bert_tiny_ts", "gen/if_loop_ts", "ops/loop_scan", "ops/sequences", "real/silero_vad"]  # fmt: skip


def load(shared: Path, name: str) -> tuple[Model, dict[str, Any]]:
    """A model of the corpus, and the inputs its expected outputs were made with."""
    model = engine.load(str(shared / "models" / f"{name}.onnx"))
    infer_shapes(model)
    with np.load(shared / "models" / "expected" / f"{name.replace('/', '__')}.npz") as file:
        return model, {key.removeprefix("in:"): file[key] for key in file.files if key.startswith("in:")}


def run(model: Model, feeds: dict[str, Any], *providers: ExecutionProvider) -> tuple[Session, RunResult]:
    session = Session(model, providers)
    return session, session.run(feeds)


def assert_same(mixed: RunResult, cpu: RunResult) -> None:
    assert mixed.outputs.keys() == cpu.outputs.keys()
    for name, value in cpu.outputs.items():
        agreement = compare_values(mixed.outputs[name], value)
        assert agreement.agrees, f"{name}: {agreement}"


@pytest.mark.parametrize("name", MODELS)
def test_cuda(shared: Path, name: str) -> None:
    model, feeds = load(shared, name)
    _, on_cpu = run(model, feeds)
    session, mixed = run(model, feeds, CUDAProvider(FakeCuPy()))
    assert_same(mixed, on_cpu)
    assert mixed.fallbacks == []
    assert all(isinstance(value, np.ndarray | list | None) for value in mixed.values.values())
    placed = [p for p in session.placements.values() if p.provider]
    assert sum(p.provider is not session.providers[0] for p in placed) == sum(bool(p.refusals) for p in placed)


@pytest.mark.parametrize("name", MODELS)
def test_accelerate(shared: Path, name: str, accelerate: Standin) -> None:
    model, feeds = load(shared, name)
    _, on_cpu = run(model, feeds)
    session, mixed = run(model, feeds, AccelerateProvider(accelerate.path))
    assert_same(mixed, on_cpu)
    assert mixed.fallbacks == []
    assert mixed.copies == []  # both work on host memory
    if name == "gen/gpt2_kv_dyn":
        taken = {node.op_type for node, p in session.placements.items() if p.provider is session.providers[0]}
        assert {"MatMul", "Add", "Tanh"} <= taken
        assert accelerate.calls("cblas_sgemm") >= 25


def test_copies_are_those_that_the_placement_needs(shared: Path) -> None:
    """mnist lies on the device whole: what its nodes read from the host goes up once each, nothing comes down."""
    model, feeds = load(shared, "gen/mnist_ts")
    cupy = FakeCuPy()
    _, mixed = run(model, feeds, CUDAProvider(cupy))
    read = {t for node in model.graph.nodes for t in node.inputs if t is not None and t.producer is None}
    up = [copy for copy in mixed.copies if copy.target == "cuda:0"]
    down = [copy for copy in mixed.copies if copy.source == "cuda:0"]
    assert {copy.tensor for copy in up} == read
    assert len(up) == len(read) == cupy.uploads
    assert {copy.tensor for copy in down} == set(model.graph.outputs)
    assert {copy.nbytes for copy in down} == {mixed.outputs[t.name].nbytes for t in model.graph.outputs}


def failing_functions(cupy: FakeCuPy) -> Iterator[str]:
    """What a run of resnet18 called, but for the transfers."""
    yield from (name for name in cupy.calls if name not in ("synchronize", "asarray"))


def test_a_failure_anywhere_falls_back_to_the_cpu(shared: Path) -> None:
    model, feeds = load(shared, "gen/resnet18_nofold_ts")
    _, on_cpu = run(model, feeds)
    healthy = FakeCuPy()
    run(model, feeds, CUDAProvider(healthy))
    names = list(failing_functions(healthy))
    assert "matmul" in names
    for name in names:
        cupy = FakeCuPy()
        cupy.fail(name)
        _, mixed = run(model, feeds, CUDAProvider(cupy))
        assert_same(mixed, on_cpu)
        assert len(mixed.fallbacks) == 1, name
        assert mixed.fallbacks[0].provider == "CUDA"
        assert "cudaErrorIllegalAddress" in mixed.fallbacks[0].reason


def test_a_device_too_small_for_the_model(shared: Path) -> None:
    model, feeds = load(shared, "gen/resnet18_nofold_ts")
    _, on_cpu = run(model, feeds)
    _, mixed = run(model, feeds, CUDAProvider(FakeCuPy(memory_limit=1_500_000)))
    assert_same(mixed, on_cpu)
    assert mixed.fallbacks
    assert all("the GPU is out of memory" in fallback.reason for fallback in mixed.fallbacks)
