"""Documentation of operators: the right version, every operator of the standard, hostile text as it stands."""

from __future__ import annotations

from pathlib import Path

import onnx.defs
import pytest
from pytestqt.qtbot import QtBot

from engine import open_model
from engine.graph.ir import Graph, Model, Node
from gui.facts.markup import Block, BlockKind, blocks_of
from gui.facts.operator_docs import attribute_docs, documentation
from gui.facts.schemas import input_name
from gui.widgets.doc_view import DocView


def node(op_type: str, version: int, domain: str = "") -> Node:
    made = Node(Graph("g"), op_type, domain, "n", 0)
    made.since_version = version
    return made


def terms(blocks: list[Block]) -> dict[str, str]:
    return {block.text: block.note for block in blocks if block.kind is BlockKind.TERM}


def test_the_version_that_is_asked_for() -> None:
    old, new = documentation(node("Softmax", 1), None), documentation(node("Softmax", 13), None)
    assert old[0] == Block(BlockKind.TITLE, "Softmax", "ai.onnx, since version 1")
    assert terms(old)["axis"] == "int, default 1"
    assert terms(new)["axis"] == "int, default -1"
    assert new[-1].text == "1, 11, [13]"


def test_inputs_types_and_options() -> None:
    found = terms(documentation(node("Conv", 22), None))
    assert (found["W"], found["B"]) == ("T", "T, optional")
    assert found["T"] == "bf16, f16, f32, f64"
    assert found["auto_pad"] == "string, default 'NOTSET'"
    assert terms(documentation(node("Concat", 13), None))["axis"] == "int, required"


def test_every_operator_of_the_standard_reads() -> None:
    for schema in onnx.defs.get_all_schemas_with_history():
        blocks = documentation(node(schema.name, schema.since_version, schema.domain), None)
        assert blocks[0].text == schema.name
        assert set(schema.attributes) <= terms(blocks).keys()
        assert all("<br" not in block.text for block in blocks), schema.name


def test_kernels_stand_in_outside_the_standard() -> None:
    gelu = node("FastGelu", 1, "com.microsoft")
    blocks = documentation(gelu, None)
    assert "tanh" in blocks[1].text
    assert terms(blocks) == {"x": "", "bias": "optional"}
    assert (input_name(gelu, 0), input_name(gelu, 1)) == ("x", "bias")
    assert {doc.name: doc.default for doc in attribute_docs(node("QuickGelu", 1, "com.microsoft"))} == {"alpha": 1.702}
    assert "Neither" in documentation(node("Nothing", 1, "com.acme"), None)[1].text


def test_functions_of_the_model(shared: Path) -> None:
    model = open_model(shared / "models/ops/functions.onnx")
    call = next(n for n in model.graph.order if (n.domain, n.op_type, n.overload) in model.functions)
    blocks = documentation(call, model)
    function = model.functions[call.domain, call.op_type, call.overload]
    assert blocks[0].note.endswith("a function of this model")
    assert {t.name for t in function.body.inputs} <= terms(blocks).keys()
    assert input_name(call, 0) == function.body.inputs[0].name


def test_markup() -> None:
    text = """
      A **bold** word, [a link](https://x/y(1)), `code` and &lt;tag&gt;.
      More of it.

      - first
        goes on
      - second

      # Title
      ```
      x = 1
        y
      ```
      """
    assert list(blocks_of(text)) == [
        Block(BlockKind.TEXT, "A bold word, a link, `code` and <tag>. More of it."),
        Block(BlockKind.ITEM, "first goes on"),
        Block(BlockKind.ITEM, "second"),
        Block(BlockKind.HEADING, "Title"),
        Block(BlockKind.CODE, "x = 1\n  y"),
    ]
    assert list(blocks_of("")) == []
    assert list(blocks_of("```\nunclosed")) == [Block(BlockKind.CODE, "unclosed")]


@pytest.mark.parametrize("text", ["<img src='file:///etc/passwd'>", "<b>not bold</b><script>x</script>"])
def test_hostile_text_is_text(qtbot: QtBot, text: str) -> None:
    view = DocView("test")
    qtbot.addWidget(view)
    view.set_blocks([Block(BlockKind.TITLE, text, text), Block(BlockKind.TEXT, text), Block(BlockKind.CODE, text)])
    assert view.toPlainText().count(text) == 4


def test_a_model_without_functions(shared: Path) -> None:
    model: Model = open_model(shared / "models/gen/mnist_ts.onnx")
    assert documentation(model.graph.order[0], model)[0].text == "Conv"
