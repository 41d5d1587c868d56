"""The fields of the Run pane: how inputs are made, dims, providers, and errors told beside them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

import resources
from engine.graph.ir import Graph, Tensor
from engine.providers import all_providers
from gui.panes.run import RunPane
from gui.running.plan import Needs, RunPlan, default_plan, recall_plan
from gui.widgets.run.form import InputsForm
from gui.widgets.run.spec_field import SpecField
from gui.window.main_window import MainWindow
from tests.gui.conftest import Opener
from tests.gui.running_pane import SAMPLE, run, set_counts


class TestFields:
    def test_a_field_for_each_symbol_and_each_input(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.setup.dims.findChildren(QLineEdit)
        assert run_pane.setup.plan().dims == {field.accessibleName(): 1}
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, "3")
        run(qtbot, run_pane)
        feed = window.document.model.graph.feeds[0]
        assert window.document.run.observed[feed].shape[0] == 3

    def test_a_wrong_dim_is_asked_for_at_its_place(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.setup.dims.findChildren(QLineEdit)
        qtbot.waitUntil(field.isVisible)
        field.setText("many")
        qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
        assert field.accessibleName() in run_pane.failure.text()
        assert run_pane.failure.isVisible()
        assert field.hasFocus()
        assert not window.document.busy

    @pytest.mark.parametrize(
        ("text", "words"),
        [("nonsense", "says no way"), ("missing.npy", "missing.npy"), ("words:a,b", "words")],
    )
    def test_a_generator_that_cannot_work_is_told(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, text: str, words: str
    ) -> None:
        open_model(SAMPLE)
        (box,) = run_pane.setup.inputs.findChildren(SpecField)
        box.setText(text)
        with qtbot.waitSignal(run_pane.failed) as failure:
            qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
        assert words in failure.args[0]
        assert words in run_pane.failure.text()

    def test_an_input_of_wrong_shape_from_a_file(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
    ) -> None:
        open_model(SAMPLE)
        np.save(tmp_path / "x.npy", np.zeros((1, 2, 3), np.float32))
        (box,) = run_pane.setup.inputs.findChildren(SpecField)
        box.setText(str(tmp_path / "x.npy"))
        with qtbot.waitSignal(run_pane.failed) as failure:
            qtbot.mouseClick(run_pane.run_button, Qt.MouseButton.LeftButton)
        assert "[1, 2, 3]" in failure.args[0]

    def test_the_plan_is_remembered_per_model(
        self, qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane
    ) -> None:
        open_model(SAMPLE)
        (box,) = run_pane.setup.inputs.findChildren(SpecField)
        box.setText("ones")
        run_pane.setup.seed.setValue(7)
        run(qtbot, run_pane)
        open_model(resources.path(resources.CONTROL_FLOW_MODEL))
        assert run_pane.setup.seed.value() == 0
        open_model(SAMPLE)
        assert run_pane.setup.seed.value() == 7
        assert list(run_pane.setup.plan().specs.values()) == ["ones"]
        qtbot.mouseClick(run_pane.reset_button, Qt.MouseButton.LeftButton)
        assert run_pane.setup.plan() == default_plan(Needs.of(window.document.model))


class TestProviders:
    def test_each_says_why_it_is_not_available(self, run_pane: RunPane) -> None:
        providers = run_pane.setup.providers
        tips = {providers.item(i).text(): providers.item(i).toolTip() for i in range(providers.count())}
        for provider in all_providers():
            assert provider.available().reason.split(":")[0].split("'")[0] in tips[provider.name]

    def test_the_order_changes_by_keyboard(self, qtbot: QtBot, window: MainWindow, run_pane: RunPane) -> None:
        before = run_pane.setup.providers.order()
        run_pane.setup.providers.setCurrentRow(len(before) - 1)
        qtbot.keyClick(run_pane.setup.providers, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        assert run_pane.setup.providers.order() == [*before[:-2], before[-1], before[-2]]

    def test_cpu_stays_checked(self, run_pane: RunPane) -> None:
        run_pane.setup.providers.set_plan(["CPU"], [])
        assert "CPU" in run_pane.setup.providers.enabled()
        fields = run_pane.setup.providers
        item = next(fields.item(i) for i in range(3) if fields.item(i).text() == "CPU")
        assert not item.flags() & Qt.ItemFlag.ItemIsUserCheckable


def test_a_remembered_plan_is_taken_only_as_far_as_it_fits() -> None:
    import engine

    model = engine.open_model(SAMPLE)
    default = default_plan(Needs.of(model))
    assert recall_plan(model, Needs.of(model), {}) == default
    odd = {"dims": {"nowhere": 3, **dict.fromkeys(default.dims, "x")}, "specs": ["?"], "repeat": "many", "seed": 5,
           "order": ["CPU", "Nobody", 3], "enabled": []}  # fmt: skip
    recalled = recall_plan(model, Needs.of(model), odd)
    assert (recalled.dims, recalled.specs, recalled.repeat, recalled.seed) == (
        default.dims, default.specs, default.repeat, 5
    )  # fmt: skip
    assert recalled.order == ["CPU", *(name for name in default.order if name != "CPU")]
    assert recall_plan(model, Needs.of(model), asdict(RunPlan(repeat=77))).repeat == 77
    assert recall_plan(model, Needs.of(model), asdict(RunPlan(repeat=2**70, warmup=-(2**40)))) == default


class TestErrorsAtTheField:
    def test_a_typed_generator_is_checked_at_once(
        self, qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
    ) -> None:
        open_model(SAMPLE)
        (box,) = run_pane.setup.inputs.findChildren(SpecField)
        name = run_pane.document.model.graph.feeds[0].name
        box.setText("nonsense")
        assert "says no way" in run_pane.setup.inputs.error(name)
        assert box.property("invalid") == "true"
        box.setText(str(tmp_path / "gone.npy"))
        assert "does not exist" in run_pane.setup.inputs.error(name)
        box.setText("arange:0:0.5")
        assert run_pane.setup.inputs.error(name) == ""
        run(qtbot, run_pane)
        feed = run_pane.document.run.feeds[name]
        np.testing.assert_array_equal(feed.reshape(-1)[:4], [0, 0.5, 1, 1.5])

    def test_an_empty_dim_has_its_default(self, qtbot: QtBot, open_model: Opener, run_pane: RunPane) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.setup.dims.findChildren(QLineEdit)
        assert (field.text(), field.placeholderText(), run_pane.document.dims) == ("", "1", {})
        qtbot.keyClicks(field, "3")
        assert (run_pane.setup.plan().dims, run_pane.document.dims) == ({"N": 3}, {"N": 3})
        field.clear()
        assert (run_pane.setup.plan().dims, run_pane.document.dims) == ({"N": 1}, {})

    def test_a_wrong_dim_is_marked(self, qtbot: QtBot, open_model: Opener, run_pane: RunPane) -> None:
        open_model(SAMPLE)
        (field,) = run_pane.setup.dims.findChildren(QLineEdit)
        field.setText("-3")
        assert field.property("invalid") == "true"
        field.setText("2")
        assert field.property("invalid") == "false"


def test_a_dim_that_must_equal_another_follows_it(
    qtbot: QtBot, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, dim]) for n, dim in (("x", "seq"), ("m", "mask"))]
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "m"], ["y"])], "g", inputs, [helper.make_empty_tensor_value_info("y")]
    )
    path = tmp_path / "masked.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def field(name: str) -> QLineEdit:
        return next(f for f in run_pane.setup.dims.findChildren(QLineEdit) if f.accessibleName() == name)

    open_model(path)
    qtbot.keyClicks(field("seq"), "4")
    assert (field("mask").text(), field("mask").placeholderText()) == ("", "4")
    run(qtbot, run_pane)
    assert {name: array.shape for name, array in run_pane.document.run.feeds.items()} == {"x": (2, 4), "m": (2, 4)}
    open_model(path)
    assert (field("seq").text(), field("mask").text(), field("mask").placeholderText()) == ("4", "", "4")


def test_every_field_is_seen_whole_at_the_first_size_of_the_window(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    symbols = ("batch", "seq", "s53", "past_length")
    names = ("input_ids", "attention_mask", "past.0.key", "past.0.value")
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, symbols) for name in names]
    graph = helper.make_graph(
        [helper.make_node("Identity", [names[0]], ["y"])], "g", inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, symbols)],
    )  # fmt: skip
    path = tmp_path / "fields.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    open_model(path)
    for form, kind in ((run_pane.setup.dims, QLineEdit), (run_pane.setup.inputs, SpecField)):
        fields = form.findChildren(kind)
        assert len(fields) == 4
        room = form.viewport().width()
        qtbot.waitUntil(fields[0].isVisible)
        assert all(field.mapTo(form.viewport(), field.rect().topRight()).x() < room for field in fields)


def test_a_dim_beyond_an_int64_is_no_size(window: MainWindow, open_model: Opener, run_pane: RunPane) -> None:
    open_model(SAMPLE)
    field = run_pane.setup.dims._fields["N"]
    field.setText("9" * 5000)
    assert run_pane.setup.dims.invalid() == "N"
    field.setText("2")
    assert run_pane.setup.dims.dims() == {"N": 2}


def test_a_model_with_thousands_of_inputs_shows_some_and_keeps_the_rest(
    qtbot: QtBot, window: MainWindow, open_model: Opener, run_pane: RunPane, tmp_path: Path
) -> None:
    count = 2_000
    inputs = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [f"n{i}"]) for i in range(count)]
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x0"], ["y"])], "g", inputs,
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n0"])],
    )  # fmt: skip
    path = tmp_path / "wide.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    open_model(path)
    assert 0 < len(run_pane.setup.inputs.findChildren(SpecField)) <= 100
    assert 0 < len(run_pane.setup.dims.findChildren(QLineEdit)) <= 100
    plan = run_pane.setup.plan()
    assert len(plan.dims) == len(plan.specs) == count
    set_counts(run_pane, 0, 1)
    run(qtbot, run_pane)
    assert window.document.run.comparison.agree


def test_many_fields_come_a_few_at_a_time_and_lose_nothing(qtbot: QtBot) -> None:
    """Those in sight, the others when they are scrolled to; the plan holds before the last is there, and after."""
    form = InputsForm()
    qtbot.addWidget(form)
    tensors = [Tensor(f"x{i}", Graph("g")) for i in range(60)]
    specs = {tensor.name: f"uniform:0:{i + 1}" for i, tensor in enumerate(tensors)}
    form.set_inputs(tensors, specs | {"x50": "nonsense:"})
    assert len(form.findChildren(SpecField)) < 20
    assert form.specs() == specs | {"x50": "nonsense:"}
    assert form.invalid() == "x50"
    form.resize(300, 200)
    form.show()
    qtbot.waitUntil(lambda: not form._later.isActive())
    assert len(form.findChildren(SpecField)) < 30
    bar = form.verticalScrollBar()
    long = bar.maximum()
    form.focus("x50")
    assert form.error("x50") != ""
    assert 51 <= len(form._fields) < 60
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: len(form.findChildren(SpecField)) == 60)
    assert form.specs() == specs | {"x50": "nonsense:"}
    assert bar.maximum() == pytest.approx(long, rel=0.1)  # the bar has told from the first how far it goes
    form.set_inputs(tensors, specs)
    form.set_inputs(tensors[:3], {})
    assert list(form._fields) == ["x0", "x1", "x2"]
    qtbot.waitUntil(lambda: not form._later.isActive())
    assert list(form._fields) == ["x0", "x1", "x2"]
