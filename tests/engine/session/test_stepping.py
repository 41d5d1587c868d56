"""Models run step by step: states fed back, masks that grow, tokens chosen; what is suggested by names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from engine.errors import InputError
from engine.graph.ir import Model
from engine.session import Feedback, Session, parse_feedback, run_steps, suggest_feedback
from tests.engine.providers import corpus
from tests.engine.session.models import model_of, value

ONE = {"x": np.array([1], np.float32), "state": np.zeros(1, np.float32)}


def counter() -> Model:
    """stateN = state + x."""
    return model_of([helper.make_node("Add", ["state", "x"], ["stateN"])], [value("x", shape=[1]),
                    value("state", shape=[1])], [value("stateN", shape=[1])])  # fmt: skip


def test_a_state_goes_round() -> None:
    model = counter()
    feedback = suggest_feedback(model)
    assert feedback == [Feedback("state", "stateN")]
    steps = list(run_steps(Session(model), ONE, 4, feedback))
    assert [float(result.outputs["stateN"][0]) for _, result in steps] == [1, 2, 3, 4]
    assert [float(fed["state"][0]) for fed, _ in steps] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("inputs", "outputs", "pairs"),
    [
        (["past.0.k", "past.0.v"], ["present.0.k", "present.0.v"],
         {"past.0.k": "present.0.k", "past.0.v": "present.0.v"}),
        (["past_key_values.3.key"], ["present.3.key"], {"past_key_values.3.key": "present.3.key"}),
        (["h0", "c0"], ["hn", "cn"], {"h0": "hn", "c0": "cn"}),
        (["input", "state"], ["output", "stateN"], {"input": "output", "state": "stateN"}),
        (["x"], ["y"], {}),
    ],
)  # fmt: skip
def test_states_are_found_by_name(inputs: list[str], outputs: list[str], pairs: dict[str, str]) -> None:
    nodes = [helper.make_node("Neg", [i], [o]) for i, o in zip(inputs, outputs)]
    model = model_of(nodes, [value(i, shape=[2]) for i in inputs], [value(o, shape=[2]) for o in outputs])
    assert {entry.input: entry.output for entry in suggest_feedback(model)} == pairs


def test_types_must_fit() -> None:
    nodes = [helper.make_node("Cast", ["past"], ["present"], to=TensorProto.INT64)]
    model = model_of(nodes, [value("past", shape=[2])], [value("present", TensorProto.INT64, [2])])
    assert suggest_feedback(model) == []


def test_text_forms() -> None:
    model = counter()
    read = parse_feedback("stateN=state, x+=1", model)
    assert read == [Feedback("state", "stateN"), Feedback("x", how="grow")]
    assert [str(entry) for entry in read] == ["stateN=state", "x+=1"]
    assert parse_feedback("stateN:argmax=state", model) == [Feedback("state", "stateN", "argmax")]
    assert parse_feedback("auto", model) == suggest_feedback(model)


@pytest.mark.parametrize(
    ("text", "message"),
    [("state", "feeds nothing back"), ("stateN=nowhere", "no input 'nowhere'"),
     ("nothing=state", "no output 'nothing'"), ("=state", "feeds nothing back")],
)  # fmt: skip
def test_text_that_says_nothing(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_feedback(text, counter())


def test_text_generation_with_a_cache_is_the_same_as_without(shared: Path) -> None:
    """gpt2 token by token, its cache fed back, against the whole sequence at once."""
    model, _ = corpus.load(shared, "gen/gpt2_kv_dyn")
    session = Session(model)

    def feeds(ids: list[int]) -> dict[str, np.ndarray]:
        cache = {t.name: np.zeros((1, 6, 0, 32), np.float32) for t in model.graph.inputs if t.name.startswith("past")}
        return {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64), **cache}

    feedback = parse_feedback("auto,logits:argmax=input_ids,attention_mask+=1", model)
    assert len(feedback) == 10
    steps = list(run_steps(session, feeds([7, 11, 13]), 4, feedback, keep="none"))
    tokens = [int(fed["input_ids"][0, -1]) for fed, _ in steps]
    assert steps[3][0]["past.0.k"].shape == (1, 6, 5, 32)
    whole = session.run(feeds([7, 11, 13, *tokens[1:]]), keep="none").outputs["logits"]
    assert np.argmax(whole[0, 2:5], axis=-1).tolist() == tokens[1:]
    np.testing.assert_allclose(steps[3][1].outputs["logits"][0, -1], whole[0, -1], atol=2e-4)
