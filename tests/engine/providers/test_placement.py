"""Placement: the user's own choices, refusals kept, and refusals in lines to show."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from engine.errors import InputError
from engine.providers import CPUProvider
from engine.providers.placement import Placement, Placer, refusal_lines
from engine.session import Session
from tests.engine.session.models import ToyProvider, chain, model_of, node_named, value

X = np.array([-1.0, 4.0], np.float32)


def place(model: object, **overrides: str) -> dict[str, Placement]:
    placer = Placer([ToyProvider(), CPUProvider()])
    placed = placer.place(model.graph, {k.replace("_", ":", 1): v for k, v in overrides.items()})  # type: ignore[attr-defined]
    return {node.name: placement for node, placement in placed.items()}


def told(placement: Placement) -> tuple[str, list[tuple[str, str]]]:
    assert placement.provider is not None
    return placement.provider.name, [(r.provider, r.reason) for r in placement.refusals]


def test_an_operator_can_be_given_to_another_provider() -> None:
    placed = place(chain("Neg", "Abs", "Neg"), op_Neg="cpu")
    assert told(placed["Neg_0"]) == ("CPU", [("Toy", "set aside: CPU was chosen for it")])
    assert told(placed["Abs_1"]) == ("CPU", [("Toy", "no kernel for Abs")])


def test_a_node_counts_more_than_its_operator() -> None:
    placed = place(chain("Neg", "Abs", "Neg"), op_Neg="CPU", node_Neg_2="Toy")
    assert told(placed["Neg_0"])[0] == "CPU"
    assert told(placed["Neg_2"]) == ("Toy", [])


def test_who_cannot_take_it_declines_and_the_others_are_asked() -> None:
    placed = place(chain("Neg", "Abs"), op_Abs="Toy")
    assert told(placed["Abs_1"]) == ("CPU", [("Toy", "no kernel for Abs")])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [({"op:Conv": "CPU"}, "no operator 'Conv'"), ({"node:there": "CPU"}, "no node 'there'"),
     ({"op:Neg": "TPU"}, "'TPU', and the providers of this run are Toy, CPU"), ({"Neg": "CPU"}, "names no nodes")],
)  # fmt: skip
def test_choices_that_say_nothing(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Session(chain("Neg"), [ToyProvider()], overrides=overrides)


def test_overrides_change_who_runs_and_not_what_comes_out() -> None:
    model = chain("Neg", "Abs", "Neg")
    session = Session(model, [ToyProvider()], overrides={"node:Neg_2": "CPU"})
    result = session.run({"x": X})
    assert result.outputs["y"].tolist() == [-1, -4]
    assert [c.tensor.name for c in result.copies] == ["x", "t0"]


def test_refusals_in_lines() -> None:
    """One Erf in float16 among twelve nodes (cases.md, 39)."""
    nodes = [helper.make_node("Neg", ["x"], ["a0"], "n0"), *(
        helper.make_node("Neg", [f"a{i}"], [f"a{i + 1}"], f"n{i + 1}") for i in range(10)
    ), helper.make_node("Erf", ["a10"], ["y"], "erf")]  # fmt: skip
    half = TensorProto.FLOAT16
    model = model_of(nodes, [value("x", half, [2])], [value("y", half, [2])])
    session = Session(model, [ToyProvider()])
    (line,) = refusal_lines(session.placements)
    assert str(line) == "CPU: Erf (Toy: no kernel for Erf)"
    assert line.to_json() == {"provider": "Toy", "reason": "no kernel for Erf", "taker": "CPU", "nodes": ["erf"]}
    assert session.placements[node_named(model, "erf")].refusals[0].reason == "no kernel for Erf"
    result = session.run({"x": np.float16([1, 2])}, keep="none")
    assert [(c.tensor.name, c.nbytes) for c in result.copies] == [("x", 4), ("a10", 4)]


def test_two_nodes_of_one_operator_share_a_line() -> None:
    lines = refusal_lines(Session(chain("Abs", "Neg", "Abs", "Exp"), [ToyProvider()]).placements)
    told = [str(line) for line in lines]
    assert told == ["CPU: Abs ×2 (Toy: no kernel for Abs)", "CPU: Exp (Toy: no kernel for Exp)"]
