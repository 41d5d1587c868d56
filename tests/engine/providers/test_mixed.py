"""Whole models on mixed providers, through the stand-ins: the same outputs as on the CPU, and who took what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.agreement import compare_values
from engine.errors import CannotRunError, DeviceError
from engine.graph.ir import Model, Node
from engine.kernels.registry import Kernel, KernelRegistry
from engine.providers import AccelerateProvider, CUDAProvider, ExecutionProvider
from engine.providers.placement import SHAPES_STAY
from engine.session import Observer, RunResult, Session, TimingObserver
from tests.engine.providers import corpus
from tests.engine.providers.conftest import Standin
from tests.engine.providers.fake_cupy import FakeCuPy

ON_ACCELERATE = [
    "gen/mnist_ts", "gen/resnet18_nofold_ts", "gen/mobilenetv2_ts", "gen/unet_ts", "gen/gpt2_kv_dyn",
    "gen/yolo_n_320_nms", "gen/bert_tiny_ts", "gen/if_loop_ts", "ops/sequences", "real/silero_vad",
]  # fmt: skip
TIED = {"gen/yolo_n_320_nms": {"output0"}}
"""Outputs that can be held against others; random weights make nearly equal scores, and the pick among them is luck."""

WITH_TABLES = {"Resize"}
"""Operators whose kernels put tables of their own on the device."""

FAILED = "cudaErrorLaunchFailure: planted"


def assert_same(name: str, mixed: RunResult, cpu: RunResult) -> None:
    assert mixed.outputs.keys() == cpu.outputs.keys()
    for output in TIED.get(name, cpu.outputs):
        agreement = compare_values(mixed.outputs[output], cpu.outputs[output])
        assert agreement.agrees, f"{output}: {agreement}"


def edges(copies: Sequence[Any]) -> list[tuple[str, str, str]]:
    return sorted((copy.tensor.qualified_name, copy.source, copy.target) for copy in copies)


@pytest.mark.parametrize("name", corpus.names())
def test_cuda(shared: Path, name: str) -> None:
    """Same outputs as on the CPU, transfers as the placement predicts, weights once."""
    model, feeds = corpus.load(shared, name)
    cupy = FakeCuPy()
    session = Session(model, [CUDAProvider(cupy)])
    first = session.run(feeds, keep="none")
    assert_same(name, first, corpus.on_cpu(shared, name))
    assert first.fallbacks == []
    for placement in session.placements.values():
        on_host = placement.provider is session.providers[1]
        assert bool(placement.refusals) == on_host
    uploads, downloads = cupy.uploads, cupy.downloads
    brings_tables = any(node.op_type in WITH_TABLES for node in model.nodes())
    assert sum(copy.target == "cuda:0" for copy in first.copies) == uploads or brings_tables
    assert sum(copy.source == "cuda:0" for copy in first.copies) == downloads
    planned = session.planned_copies()
    constants = {copy.tensor for copy in planned if copy.once}
    if not corpus.branches(model):
        assert edges(first.copies) == edges(planned)
    second = session.run(feeds, keep="none")
    assert_same(name, second, first)
    assert not constants & {copy.tensor for copy in second.copies}
    if not corpus.branches(model):
        assert edges(second.copies) == edges([copy for copy in planned if not copy.once])
        every_run = sum(not copy.once for copy in planned if copy.target == "cuda:0")
        assert cupy.uploads - uploads == every_run or brings_tables


@pytest.mark.parametrize("name", ["gen/bert_tiny_ts", "gen/gpt2_kv_dyn", "gen/vit_dyn", "gen/swin_part_ts"])
def test_shapes_and_waits_stay_off_the_device(shared: Path, name: str) -> None:
    """Nothing is read back from the device but the outputs and what the CPU alone can compute."""
    model, feeds = corpus.load(shared, name)
    cupy = FakeCuPy()
    session = Session(model, [CUDAProvider(cupy)])
    result = session.run(feeds, keep="none")
    assert cupy.reads == 0
    shapes = {node for node, p in session.placements.items() if any(r.reason == SHAPES_STAY for r in p.refusals)}
    down = {copy.tensor for copy in result.copies if copy.source == "cuda:0"} - set(model.graph.outputs)
    assert not down & {tensor for node in shapes for tensor in node.inputs}


def test_an_observed_run_keeps_everything_and_waits_once(shared: Path) -> None:
    """Values come to the host at the end; times are read off the device's events then, not after each node."""
    model, feeds = corpus.load(shared, "gen/resnet18_nofold_ts")
    cupy, waits = FakeCuPy(), []

    class Watch(Observer):
        def after_node(self, node: Node, *_: Any) -> None:
            waits.append(cupy.calls["synchronize"] + cupy.calls["Event.synchronize"] + cupy.downloads)

    timing = TimingObserver()
    session = Session(model, [CUDAProvider(cupy)])
    result = session.run(feeds, Watch())
    assert set(waits) == {0}
    assert len(result.values) == len({t for n in model.graph.nodes for t in (*n.inputs, *n.outputs)})
    assert all(isinstance(value, np.ndarray) for value in result.values.values())
    session.run(feeds, timing, keep="none")
    timing.end_run()
    assert set(timing.seconds) == set(model.graph.nodes)
    assert all(seconds > 0 for (seconds,) in timing.seconds.values())


def test_sessions_have_streams_of_their_own(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/mnist_ts")
    cupy = FakeCuPy()
    provider = CUDAProvider(cupy)
    one, other = Session(model, [provider]), Session(model, [provider])
    for session in (one, other, one):
        session.run(feeds)
    assert cupy.calls["Stream"] == 2
    assert cupy.streams == []


@pytest.mark.parametrize("name", ON_ACCELERATE)
def test_accelerate(shared: Path, name: str, accelerate: Standin) -> None:
    model, feeds = corpus.load(shared, name)
    session = Session(model, [AccelerateProvider(accelerate.path)])
    mixed = session.run(feeds, keep="none")
    assert_same(name, mixed, corpus.on_cpu(shared, name))
    assert mixed.fallbacks == []
    assert mixed.copies == []  # both work on host memory
    assert session.planned_copies() == []
    if name == "gen/gpt2_kv_dyn":
        taken = {node.op_type for node, p in session.placements.items() if p.provider is session.providers[0]}
        assert {"MatMul", "Add", "Tanh"} <= taken
        assert accelerate.calls("cblas_sgemm") >= 25


class FailsAt(CUDAProvider):
    """CUDA whose device fails at one node."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(FakeCuPy())

    def for_session(self, model: Model) -> ExecutionProvider:
        return self

    def register_kernels(self, registry: KernelRegistry) -> None:
        failing = self._failing

        class Wrapping(KernelRegistry):
            def register(self, kernel: Kernel) -> None:
                registry.register(failing(kernel))

        super().register_kernels(Wrapping())

    def _failing(self, kernel: Kernel) -> Kernel:
        def function(ctx: Any, *inputs: Any, **attributes: Any) -> Any:
            if ctx.node.qualified_name == self.node:
                raise DeviceError(FAILED)
            return kernel.function(ctx, *inputs, **attributes)

        return replace(kernel, function=function)


def on_device(model: Model) -> list[str]:
    placements = Session(model, [CUDAProvider(FakeCuPy())]).placements
    return [node.qualified_name for node in model.graph.order
            if (p := placements[node]).kernel is not None and p.provider is not None and p.provider.name == "CUDA"
            and node.op_type != "Constant"]  # fmt: skip


def quick_first(names: list[str]) -> list[Any]:
    """The names, large models marked as slow."""
    large = ("real/", "gen/mobilenet", "gen/vit", "gen/unet", "ml/iso")
    return [pytest.param(n, marks=[pytest.mark.slow] if n.startswith(large) else []) for n in names]


@pytest.mark.parametrize(
    "name", quick_first([n for n in corpus.names() if n not in ("ops/dag_5000", "gen/yolo_n_320_nms")])
)
def test_a_device_that_fails_at_any_node(shared: Path, name: str) -> None:
    """Right outputs all the same, and the node is named; every node of small models, a few of each large one."""
    model, feeds = corpus.load(shared, name)
    nodes = on_device(model)
    step = max(1, len(nodes) // 4) if len(nodes) > 30 else 1
    for node in nodes[::step]:
        mixed = Session(model, [FailsAt(node)]).run(feeds, keep="none")
        assert_same(name, mixed, corpus.on_cpu(shared, name))
        assert {(f.node.qualified_name, f.provider, f.reason) for f in mixed.fallbacks} == {(node, "CUDA", FAILED)}


def test_a_device_too_small_for_the_model(shared: Path) -> None:
    name = "gen/resnet18_nofold_ts"
    model, feeds = corpus.load(shared, name)
    mixed = Session(model, [CUDAProvider(FakeCuPy(memory_limit=1_500_000))]).run(feeds)
    assert_same(name, mixed, corpus.on_cpu(shared, name))
    assert mixed.fallbacks
    assert all("the GPU is out of memory" in fallback.reason for fallback in mixed.fallbacks)


def test_a_device_that_cannot_even_be_started(shared: Path) -> None:
    model, feeds = corpus.load(shared, "gen/mnist_ts")
    cupy = FakeCuPy()
    cupy.cuda.Stream = None
    with pytest.raises(CannotRunError, match="CUDA cannot start: CuPy: TypeError"):
        Session(model, [CUDAProvider(cupy)]).run(feeds)


def test_blas_is_held_to_one_thread_whoever_computes(shared: Path, accelerate: Standin) -> None:
    """NumPy's BLAS under another provider's kernels would wait for threads that the CPU's kernels keep busy."""
    import threadpoolctl

    model, feeds = corpus.load(shared, "gen/mnist_ts")
    Session(model, [AccelerateProvider(accelerate.path)]).run(feeds)
    pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
    assert {pool["num_threads"] for pool in pools} <= {1}
