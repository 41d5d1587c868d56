"""Source lines from the metadata of torch.onnx."""

from __future__ import annotations

import pytest

from engine.graph.ir import Graph, Node
from engine.graph.stack_traces import Frame, source_frame, source_frames


def node(trace: str) -> Node:
    made = Node(Graph("g"), "Relu", "", "n", 0)
    made.metadata = {"pkg.torch.onnx.stack_trace": trace}
    return made


TRACE = """File "src/model.py", line 83, in forward
    return self.f(x)
  File "site-packages/torch/container.py", line 253, in forward
    input = module(input)
  File "src/block.py", line 57, in forward
    y = s.pre(x)
  File "site-packages/torch/activation.py", line 143, in forward
    return F.relu(input)"""


def test_the_innermost_line_of_the_program_itself() -> None:
    assert len(source_frames(node(TRACE))) == 4
    assert source_frame(node(TRACE)) == Frame("src/block.py", 57, "forward", "y = s.pre(x)")


def test_a_library_alone() -> None:
    assert source_frame(node('File "site-packages/a.py", line 1, in f')) == Frame("site-packages/a.py", 1, "f")


@pytest.mark.parametrize("trace", ["", "nothing of the kind", 'File "x", line many, in f', "File " * 100_000])
def test_other_text(trace: str) -> None:
    assert source_frame(node(trace)) is None
