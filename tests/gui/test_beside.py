"""Files made from a model and Netron beside it: regions that rerun, attachments, tables, a server that ends with us."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

import resources
from engine.cli import main
from gui.attachment.write import attachment
from gui.commands.model import region_nodes
from gui.output import netron, region
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener

SAMPLE = resources.path(resources.SAMPLE_MODEL)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Lets every file dialog answer with a name in a folder of this test."""

    def answer(name: str) -> Path:
        path = tmp_path / name
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
        return path

    return answer


def run(qtbot: QtBot, window: MainWindow) -> None:
    pane = window.docks["run"].widget()
    pane.setup.per_node.setChecked(True)
    with qtbot.waitSignal(window.document.run_changed):
        window.document.run_requested.emit()
    qtbot.waitUntil(lambda: not window.document.busy)


def trigger(qtbot: QtBot, window: MainWindow, name: str) -> None:
    window.actions_by_name[name].trigger()
    qtbot.waitUntil(lambda: not window.document.busy)


def test_a_region_reruns_to_what_it_made(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    """The saved part, fed what the run fed it, gives the same values here and in ONNX Runtime."""
    open_model(SAMPLE)
    run(qtbot, window)
    add = next(n for n in window.document.graph.order if n.op_type == "Add")
    window.document.select(add)
    window.canvas.canvas.light_cone(True, False)
    nodes = region_nodes(window)
    assert add in nodes
    assert len(nodes) == add.index + 1
    path = target("part.onnx")
    trigger(qtbot, window, "save_region")
    assert "part.onnx.npz" in window.message.text.text()
    with np.load(f"{path}.npz") as saved:
        feeds = {key[3:]: saved[key] for key in saved.files if key.startswith("in:")}
        (expected,) = [saved[key] for key in saved.files if key.startswith("out:")]
    assert feeds.keys() == {"image"}
    onnx.checker.check_model(str(path))
    (other,) = onnxruntime.InferenceSession(str(path)).run(None, feeds)
    np.testing.assert_allclose(expected, other, rtol=1e-4, atol=1e-5)
    values = f"{path}.npz"
    assert main(["compare", str(path), "--inputs", values, "--against", values, "--repeat", "1"]) == 0


def test_a_region_that_is_cancelled_is_not_left(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_write, write = threading.Event(), threading.Event(), region.export

    def held(*given: object) -> object:
        begun.set()
        may_write.wait()
        return write(*given)

    monkeypatch.setattr(region, "export", held)
    open_model(SAMPLE)
    window.document.select(window.document.graph.order[0])
    path = target("part.onnx")
    window.actions_by_name["save_region"].trigger()
    qtbot.waitUntil(begun.is_set)
    window.actions_by_name["cancel"].trigger()
    may_write.set()
    qtbot.waitUntil(lambda: not window.document.busy)
    assert not [file for file in path.parent.iterdir() if file.suffix != ".ini"]
    assert not window.message.isVisible()


def test_a_single_node_in_the_middle(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    run(qtbot, window)
    conv = [n for n in window.document.graph.order if n.op_type == "Conv"][4]
    window.document.select(conv)
    path = target("conv.onnx")
    trigger(qtbot, window, "save_region")
    proto = onnx.load(str(path))
    assert [n.op_type for n in proto.graph.node] == ["Conv"]
    with np.load(f"{path}.npz") as saved:
        feeds = {key[3:]: saved[key] for key in saved.files if key.startswith("in:")}
        expected = saved[f"out:{conv.outputs[0].name}"]
    (other,) = onnxruntime.InferenceSession(str(path)).run(None, feeds)
    np.testing.assert_allclose(expected, other, rtol=1e-4, atol=1e-5)


def test_a_region_before_any_run(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    path = target("part.onnx")
    trigger(qtbot, window, "save_region")
    assert "no region" in window.message.title.text()
    window.document.select(window.document.graph.order[3])
    trigger(qtbot, window, "save_region")
    assert path.exists()
    assert not Path(f"{path}.npz").exists()
    assert "Run the model first" in window.message.text.text()


def test_the_values_of_a_region_replace_nothing_that_was_not_asked_for(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    run(qtbot, window)
    window.document.select(window.document.graph.order[3])
    np.savez(tmp_path / "part.npz", mine=np.arange(3))
    target("part.onnx")
    trigger(qtbot, window, "save_region")
    with np.load(tmp_path / "part.npz") as kept:
        assert kept.files == ["mine"]


def test_a_region_never_replaces_the_model_itself(
    qtbot: QtBot, window: MainWindow, open_model: Opener, tmp_path: Path, target: Callable[[str], Path]
) -> None:
    own = tmp_path / "own.onnx"
    own.write_bytes(SAMPLE.read_bytes())
    open_model(own)
    window.document.select(window.document.graph.order[0])
    target("own.onnx")
    trigger(qtbot, window, "save_region")
    assert own.read_bytes() == SAMPLE.read_bytes()
    assert "choose another name" in window.message.text.text()


def test_an_attachment_names_what_the_file_names(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    run(qtbot, window)
    qtbot.waitUntil(lambda: window.document.costing.table is not None)
    path = target("sample.attachment.json")
    trigger(qtbot, window, "save_attachment")
    told = json.loads(path.read_text(encoding="utf-8"))
    assert told["signature"] == "netron:attachment"
    proto = onnx.load(str(SAMPLE))
    nodes = {n.name for n in proto.graph.node}
    values = {v for n in proto.graph.node for v in (*n.input, *n.output)}
    for item in (*told["metadata"], *told["metrics"]):
        known = {"node": nodes, "value": values, "model": {""}}[item["kind"]]
        assert item["target"] in known
    times = {i["target"]: i["value"] for i in told["metrics"] if i["name"] == "time (ms)"}
    assert times == {n.stored_name: float(f"{ms:.4g}") for n, ms in window.document.run.node_ms.items()}
    softmax = next(n for n in proto.graph.node if n.op_type == "Softmax")
    shapes = {i["target"]: i["value"] for i in told["metadata"] if i["name"] == "inferred"}
    assert shapes[softmax.output[0]] == "f32 N×10"


def test_an_attachment_leaves_out_what_netron_could_not_place(window: MainWindow, open_model: Opener) -> None:
    """Names that two nodes share would get the figures of one of them; expressions and NaN are no JSON numbers."""
    open_model(SAMPLE)
    model = window.document.model
    first, second = model.graph.order[:2]
    second.stored_name = first.stored_name
    told = attachment(model, None, None)
    targets = {item["target"] for item in told["metadata"] if item["kind"] == "node"}
    assert first.stored_name not in targets
    assert model.graph.order[2].stored_name in targets
    json.dumps(told, allow_nan=False)


def test_tables_as_csv(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    order = window.docks["order"].widget()
    order.view.setFocus()
    path = target("order.csv")
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [n.name for n in window.document.graph.order]
    assert [row["operator"] for row in rows][:2] == ["Conv", "BatchNormalization"]


def test_cells_with_commas_quotes_and_lines_survive(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    order = window.docks["order"].widget()
    window.document.graph.order[0].name = 'a,"b"\nc'
    path = target("order.csv")
    order.view.save_csv()
    with path.open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["name"] == 'a,"b"\nc'


def test_a_table_that_cannot_be_written(
    qtbot: QtBot, window: MainWindow, open_model: Opener, target: Callable[[str], Path]
) -> None:
    open_model(SAMPLE)
    target("none/order.csv")
    with qtbot.waitSignal(window.document.failed) as caught:
        window.docks["order"].widget().view.save_csv()
    assert caught.args[0] == "Could not save the table"


STAND_IN = """import json, os, sys, time
with open({log!r}, "w") as file:
    json.dump({{"pid": os.getpid(), "arguments": sys.argv[1:]}}, file)
if {fails!r}:
    sys.exit("no such option")
time.sleep(600)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A program in Netron's place that writes down how it was called, and stays until it is ended."""

    def install(fails: bool = False) -> Path:
        log, script = tmp_path / "called.json", tmp_path / "stand_in.py"
        script.write_text(STAND_IN.format(log=str(log), fails=fails))
        monkeypatch.setattr(netron, "command", lambda: [sys.executable, str(script)])
        return log

    return install


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def called(log: Path) -> dict[str, object] | None:
    try:
        return dict(json.loads(log.read_text()))
    except (OSError, ValueError):
        return None


def test_netron_gets_the_file_on_the_loopback_and_ends_with_us(
    qtbot: QtBot, window: MainWindow, open_model: Opener, stand_in: Callable[..., Path]
) -> None:
    log = stand_in()
    open_model(SAMPLE)
    window.netron.show_model(window.document.path)
    qtbot.waitUntil(lambda: called(log) is not None)
    told = called(log)
    path, host_flag, host, port_flag, port, browse = told["arguments"]
    assert (path, host_flag, host, port_flag, browse) == (str(SAMPLE), "--host", "127.0.0.1", "--port", "--browse")
    assert 1024 <= int(port) <= 65535
    assert is_alive(told["pid"])
    window.close()
    assert not window.netron.running
    assert not is_alive(told["pid"])


def test_netron_that_fails_says_why(qtbot: QtBot, window: MainWindow, stand_in: Callable[..., Path]) -> None:
    stand_in(fails=True)
    with qtbot.waitSignal(window.netron.failed) as caught:
        window.netron.show_model(str(SAMPLE))
    assert caught.args == ["Netron has stopped", "no such option"]


def test_without_netron(qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(netron, "command", list)
    with qtbot.waitSignal(window.netron.failed) as caught:
        window.netron.show_model(str(SAMPLE))
    assert caught.args[0] == "Netron is not installed"


def test_the_package_alone_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a program on the path, the installed package is started by a form that it understands."""
    package = tmp_path / "netron"
    package.mkdir()
    (package / "__init__.py").write_text("import sys\ndef main():\n    print('main', *sys.argv[1:])\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("shutil.which", lambda _name: None)
    netron.command.cache_clear()
    try:
        start = netron.command()
    finally:
        netron.command.cache_clear()
    told = subprocess.run([*start, "a file.onnx", "--browse"], capture_output=True, text=True, check=True)
    assert told.stdout == "main a file.onnx --browse\n"
