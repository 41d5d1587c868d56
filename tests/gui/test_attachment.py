"""Files attached to a model: read in three forms, placed by name, shown as columns, facts and colours."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

import resources
from engine.graph.ir import Model
from engine.opening import open_model as read_model
from gui.attachment.attached import attach
from gui.attachment.forms import TIME, AttachmentError, looks_attached, read_entries
from gui.attachment.write import attachment, write_attachment
from gui.background.jobs import Cancelled, Task
from gui.centre.colour_modes import FROM_FILE
from gui.panes.attached import AttachedPane
from gui.window.main_window import MainWindow
from tests.gui.conftest import NewWindow, Opener
from tests.gui.dropping import drop_files

SAMPLE = resources.path(resources.SAMPLE_MODEL)
CONV, GEMM = "/stem/conv/Conv", "/fc/Gemm"


def item(kind: str, target: str, name: str, value: object) -> dict[str, object]:
    return {"kind": kind, "target": target, "name": name, "value": value}


def written(folder: Path, metrics: object = (), metadata: object = (), name: str = "latency.json") -> Path:
    content = {"signature": "netron:attachment", "metadata": metadata, "metrics": metrics}
    (folder / name).write_text(json.dumps(content, default=list))
    return folder / name


@pytest.fixture(scope="module")
def sample() -> Model:
    return read_model(SAMPLE)


@pytest.fixture
def latency(tmp_path: Path) -> Path:
    return written(
        tmp_path,
        [item("node", CONV, "latency", 3.5), item("node", GEMM, "latency", 0.5), item("node", GEMM, "error", 1e-3),
         item("value", "image", "energy", 7), item("model", "", "accuracy", 0.91), item("node", "/gone", "latency", 1)],
        [item("node", CONV, "note", "on <b>chip</b> 3"), item("tensor", "fc.weight", "origin", "epoch 12")],
    )  # fmt: skip


# Reading


def test_netron_attachments_are_placed_by_name(sample: Model, latency: Path) -> None:
    found = attach(str(latency), sample)
    nodes = {node.name: node for node in sample.nodes()}
    tensors = sample.graph.tensors
    assert found.numbers == {
        "latency": {nodes[CONV]: 3.5, nodes[GEMM]: 0.5}, "error": {nodes[GEMM]: 1e-3},
        "energy": {tensors["image"]: 7.0},
    }  # fmt: skip
    assert found.facts[nodes[CONV]] == {"latency": "3.5", "note": "on <b>chip</b> 3"}
    assert found.facts[tensors["fc.weight"]] == {"origin": "epoch 12"}
    assert found.about_model == {"accuracy": "0.91"}
    assert found.missing == ["/gone"]
    assert found.words() == (
        "latency, error, energy; for 2 nodes and 2 tensors. "
        "Not placed, as the model has no such name or several: 1 name (/gone)."
    )


def test_what_is_written_for_netron_is_read_again(sample: Model, tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(attachment(sample, None, None)))
    found = attach(str(path), sample)
    assert found.missing == []
    assert {n.name: found.facts[n]["run order"] for n in sample.graph.order} == {
        n.name: str(n.index + 1) for n in sample.graph.order
    }


def test_one_that_nobody_wants_any_more_is_not_left(sample: Model, tmp_path: Path) -> None:
    task = Task(lambda *_: None)
    task.cancel()
    with pytest.raises(Cancelled):
        write_attachment(str(tmp_path / "own.json"), sample, None, None, task.check)
    assert not list(tmp_path.iterdir())


def test_a_name_that_two_nodes_have_is_not_guessed(tmp_path: Path) -> None:
    model = read_model(SAMPLE)
    first, second = model.graph.order[:2]
    second.stored_name = second.name = first.stored_name
    path = written(tmp_path, [item("node", first.stored_name, "latency", 1), item("node", GEMM, "latency", 2)])
    found = attach(str(path), model)
    assert [node.name for node in found.of_nodes("latency")] == [GEMM]
    assert found.missing == [first.stored_name]


def test_numbers_of_values_colour_their_producers(sample: Model, tmp_path: Path) -> None:
    conv = next(n for n in sample.nodes() if n.name == CONV)
    output = conv.outputs[0]
    assert output is not None
    metrics = [item("value", output.name, "range", -2), item("value", "image", "range", 5)]
    assert attach(str(written(tmp_path, metrics)), sample).of_nodes("range") == {conv: -2.0}


def test_onnx_runtimes_profile_gives_the_median_time_of_a_run(sample: Model, tmp_path: Path) -> None:
    """A node that runs twice in a run counts twice; the time of the first run, which is longer, has no weight."""
    events: list[dict[str, object]] = []
    for run, times in enumerate(([90, 90], [4, 6], [5, 7])):
        start = 1000 * (run + 1)
        events.append({"cat": "Session", "name": "model_run", "ts": start, "dur": 900})
        events += [
            {"cat": "Node", "name": f"{CONV}_kernel_time", "ts": start + place + 1, "dur": 1000 * time,
             "args": {"op_name": "Conv", "provider": "CUDAExecutionProvider"}}
            for place, time in enumerate(times)
        ]  # fmt: skip
    path = tmp_path / "onnxruntime_profile__1.json"
    path.write_text(json.dumps(events))
    found = attach(str(path), sample)
    (conv,) = found.subjects
    assert conv.name == CONV
    assert found.numbers == {TIME: {conv: 12.0}}
    assert found.facts[conv]["provider"] == "CUDAExecutionProvider"


def test_a_profile_of_onnx_runtime_itself(sample: Model, tmp_path: Path) -> None:
    """Fused kernels are named after what they make: their time goes to the last node that was fused."""
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    session = onnxruntime.InferenceSession(str(SAMPLE), options)
    for _ in range(2):
        session.run(None, {"image": np.zeros((1, 3, 32, 32), np.float32)})
    path = session.end_profiling()
    assert looks_attached(path)
    found = attach(path, sample)
    times = {node.name: ms for node, ms in found.of_nodes(TIME).items()}
    assert GEMM in times
    assert all(ms > 0 for ms in times.values())
    by_kernel = {entry.target for entry in read_entries(path)}
    assert len(times) == len(by_kernel) - len(found.missing)
    assert len(times) >= 10


def test_a_table_of_names_and_columns(sample: Model, tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text(f"place,Node,ms,device\n1,{CONV},2.25,gpu\n2,{GEMM},n/a,\n3,fc.weight,1,cpu\n")
    found = attach(str(path), sample)
    nodes = {node.name: node for node in sample.nodes()}
    assert found.numbers["ms"] == {nodes[CONV]: 2.25, sample.graph.tensors["fc.weight"]: 1.0}
    assert found.facts[nodes[GEMM]] == {"place": "2", "ms": "n/a"}
    assert found.facts[nodes[CONV]]["device"] == "gpu"


@pytest.mark.parametrize(("name", "content", "words"), [
    ("a.json", "{", "is no JSON"),
    ("a.json", "[" * 100_000, "nested too deeply"),
    ("a.json", '{"graph": {}}', "neither an attachment of Netron"),
    ("a.json", "[]", "no kernel times"),
    ("a.json", '"text"', "neither an attachment"),
    ("a.json", '{"signature": "netron:attachment", "metrics": {"a": 1}}', "'metrics' of the attachment is no list"),
    ("a.json", '{"signature": "netron:attachment", "metrics": [3]}', "item 0 of 'metrics'"),
    ("a.json", '{"signature": "netron:attachment", "metrics": [{"kind": "nose"}]}', "item 0 of 'metrics'"),
    ("a.json", '{"signature": "netron:attachment"}', "nothing that a.json names"),
    ("a.csv", "name\nx\n", "a column of names and one of values"),
    ("a.csv", "", "a column of names and one of values"),
    ("a.csv", "name,ms\nnobody,1\n", "nothing that a.csv names is in this model, such as 'nobody'"),
])  # fmt: skip
def test_what_says_nothing_of_the_model_is_refused_in_words(
    sample: Model, tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(AttachmentError, match=words):
        attach(str(tmp_path / name), sample)


def test_odd_values_are_kept_as_words(sample: Model, tmp_path: Path) -> None:
    values = [float("nan"), 10**400, True, None, [1, 2], "1e999", {"a": 1}]
    path = written(tmp_path, [item("node", CONV, f"m{i}", value) for i, value in enumerate(values)])
    found = attach(str(path), sample)
    assert found.numbers == {}
    assert len(found.facts[next(iter(found.subjects))]) == len(values)


@pytest.mark.parametrize("name", ["pipe.json", "pipe.csv"])
def test_a_pipe_is_refused_at_once(sample: Model, tmp_path: Path, name: str) -> None:
    """Nobody writes into it: whoever opened it would wait for ever, the window among them."""
    os.mkfifo(tmp_path / name)
    looks_attached(str(tmp_path / name))
    with pytest.raises(OSError, match="not a regular file"):
        attach(str(tmp_path / name), sample)


def test_a_device_without_an_end_is_refused(sample: Model, tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to("/dev/zero")
    with pytest.raises(OSError, match="not a regular file"):
        attach(str(tmp_path / "a.json"), sample)


def test_times_beyond_any_float_are_left_out(sample: Model, tmp_path: Path) -> None:
    event = {"cat": "Node", "name": f"{CONV}_kernel_time", "dur": 1.7e308, "ts": 1, "args": {"op_name": "Conv"}}
    (tmp_path / "p.json").write_text(json.dumps([event] * 2000))
    assert attach(str(tmp_path / "p.json"), sample).numbers == {}


# In the window


def attach_by_dialog(qtbot: QtBot, window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> AttachedPane:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    with qtbot.waitSignal(window.document.attachment.changed):
        qtbot.keyClick(window, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: not window.document.busy)
    pane = window.docks["attached"].widget()
    assert isinstance(pane, AttachedPane)
    return pane


def test_numbers_become_columns_colours_and_lines(
    qtbot: QtBot, window: MainWindow, open_model: Opener, latency: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    assert not window.toolbar.numbers.isVisibleTo(window.toolbar)
    pane = attach_by_dialog(qtbot, window, latency, monkeypatch)
    assert pane.isVisible()
    assert [column.title for column in pane.model.columns] == [
        "what", "name", "latency", "error", "energy", "note", "origin",
    ]  # fmt: skip
    cells = {row[1]: row for row in ([c.text(r) for c in pane.model.columns] for r in pane.model.shown)}
    assert cells[CONV] == ["Conv", CONV, "3.5", "", "", "on <b>chip</b> 3", ""]
    assert "1 name (/gone)" in window.message.text.text()
    legend = window.canvas.canvas.colouring.legend
    assert (legend.title, legend.low, legend.high) == ("attachment: latency", "0", "3.5")
    qtbot.keyClick(window, Qt.Key.Key_7, Qt.KeyboardModifier.AltModifier)
    assert window.canvas.canvas.colouring.legend.title == "attachment: error"
    assert window.toolbar.colours.current == ""
    window.document.select(window.document.index.nodes[CONV])
    window.document.turns.finish()
    lines = {line.label: line.value for line in window.docks["properties"].widget().list.lines}
    assert lines["note"] == "on <b>chip</b> 3"
    window.document.select(None)
    window.document.turns.finish()
    lines = {line.label: line.value for line in window.docks["properties"].widget().list.lines}
    assert lines["accuracy"] == "0.91"
    menu = window.toolbar.numbers.menu()
    menu.aboutToShow.emit()
    assert [(a.text(), a.isChecked()) for a in menu.actions()] == [
        ("latency", False), ("error", True), ("energy", False),
    ]  # fmt: skip
    menu.actions()[0].trigger()
    assert window.colour_mode == FROM_FILE + "latency"
    view = next(action.menu() for action in window.menuBar().actions() if action.text() == "&View")
    listed = next(action.menu() for action in view.actions() if "ttachment" in action.text() and action.menu())
    listed.aboutToShow.emit()
    listed.actions()[2].trigger()
    assert window.canvas.canvas.colouring.legend.title == "attachment: energy"
    window.actions_by_name["end_attachment"].trigger()
    assert window.colour_mode == "category"
    assert not pane.isVisible()


def test_a_file_dropped_on_a_model_is_attached_to_it_and_kept_when_it_is_read_anew(
    qtbot: QtBot, window: MainWindow, open_model: Opener, latency: Path
) -> None:
    open_model(SAMPLE)
    with qtbot.waitSignal(window.document.attachment.changed):
        drop_files(window, latency)
    qtbot.waitUntil(lambda: not window.document.busy)
    assert window.document.path == str(SAMPLE)
    first = window.document.attachment.found
    window.document.reload()
    qtbot.waitUntil(lambda: window.document.attachment.found not in (None, first))
    assert window.document.index.nodes[CONV] in window.document.attachment.found.numbers["latency"]
    qtbot.waitUntil(lambda: not window.document.busy)
    open_model(resources.path(resources.CONTROL_FLOW_MODEL))
    assert window.document.attachment.found is None


def test_a_bad_file_is_a_message_and_leaves_what_was_there(
    qtbot: QtBot, window: MainWindow, open_model: Opener, latency: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    attach_by_dialog(qtbot, window, latency, monkeypatch)
    found = window.document.attachment.found
    bad = written(tmp_path, [item("node", "nobody", "x", 1)], name="bad.json")
    with qtbot.waitSignal(window.document.failed):
        drop_files(window, bad)
    assert window.message.title.text() == "Could not attach bad.json"
    assert window.message.text.text() == "Nothing that bad.json names is in this model, such as 'nobody'."
    assert window.document.attachment.found is found


def test_models_in_json_are_still_opened(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"irVersion": "8", "graph": {}}')
    assert not looks_attached(str(tmp_path / "model.json"))
    assert looks_attached(str(written(tmp_path)))
    assert not looks_attached(str(SAMPLE))


def test_columns_of_the_file_can_be_hidden(
    qtbot: QtBot, window: MainWindow, open_model: Opener, latency: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_model(SAMPLE)
    pane = attach_by_dialog(qtbot, window, latency, monkeypatch)
    menu = QMenu()
    pane.view.columns.fill(menu)
    assert [a.text() for a in menu.actions()][:7] == ["what", "name", "latency", "error", "energy", "note", "origin"]
    menu.actions()[4].setChecked(False)
    assert [pane.view.isColumnHidden(column) for column in range(7)] == [False] * 4 + [True] + [False] * 2


def test_a_new_window_has_no_empty_pane_for_what_is_not_attached(
    qtbot: QtBot, window: MainWindow, open_model: Opener, latency: Path, monkeypatch: pytest.MonkeyPatch,
    new_window: NewWindow,
) -> None:  # fmt: skip
    open_model(SAMPLE)
    pane = attach_by_dialog(qtbot, window, latency, monkeypatch)
    assert pane.isVisible()
    window.close()
    again = new_window()
    assert not again.docks["attached"].isVisible()
    assert again.docks["shapes"].isVisible()
    again.close()
