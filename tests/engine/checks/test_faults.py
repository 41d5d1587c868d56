"""Faulty models, one fault each: what is found is exactly that fault, and what onnx.checker refuses is found here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.checks import check_model
from engine.diagnostics import CATALOGUE
from tests.engine.checks.faults import FAULTS, checked, findings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.bin").write_bytes(np.arange(3, dtype=np.float32).tobytes())
    return tmp_path


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_told_and_nothing_else(name: str, folder: Path) -> None:
    expected = FAULTS[name]
    found = findings(expected.make(), folder)
    assert sorted(d.code for d in found) == sorted(expected.codes), [d.message for d in found]
    assert any(expected.says in d.message for d in found)
    for finding in found:
        assert finding.hint
        assert finding.severity is CATALOGUE[finding.code].severity or finding.code in ("no-name", "dtype-clash")


@pytest.mark.parametrize("name", FAULTS)
def test_onnx_checker_refuses_what_it_is_said_to_refuse(name: str, folder: Path) -> None:
    """So that "refused" above is the checker's word, and every refusal has a finding of ours beside it."""
    proto = FAULTS[name].make()
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    try:
        onnx.checker.check_model(str(path))
        refused = False
    except (onnx.checker.ValidationError, ValueError):
        refused = True
    assert refused == FAULTS[name].refused


def test_places_are_names_that_the_model_has(folder: Path) -> None:
    for fault_ in FAULTS.values():
        model = checked(fault_.make(), folder)
        nodes = {node.qualified_name for node in model.nodes()}
        tensors = {tensor.qualified_name for g in model.graph.walk() for tensor in g.tensors.values()}
        for finding in model.diagnostics:
            assert not finding.node or finding.node in nodes, finding
            assert not finding.tensor or finding.tensor in tensors, finding


def test_a_second_check_finds_the_same(folder: Path) -> None:
    for fault_ in FAULTS.values():
        model = checked(fault_.make(), folder)
        before = model.diagnostics
        check_model(model)
        assert model.diagnostics == before
