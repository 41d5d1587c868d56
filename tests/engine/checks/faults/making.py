"""Faulty models, one fault each: how they are written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto, parser

from engine.checks import check_model
from engine.diagnostics import Diagnostic
from engine.graph.ir import Model
from engine.graph.loader import load_model_proto
from engine.shapes.infer import infer_shapes

X = "float[2,3] x"
Y = "float[2,3] y"
HEAD = 'ir_version: 8, opset_import: ["" : 17]'


def graph(body: str, inputs: str = X, outputs: str = Y, head: str = HEAD) -> ModelProto:
    """A model of the ONNX text syntax, with one graph named g."""
    return parser.parse_model(f"<{head}> g ({inputs}) => ({outputs}) {{ {body} }}")


def checked(proto: ModelProto, folder: Path | None = None) -> Model:
    model = load_model_proto(proto, str(folder) if folder else None)
    infer_shapes(model)
    check_model(model)
    return model


def findings(proto: ModelProto, folder: Path | None = None) -> list[Diagnostic]:
    return checked(proto, folder).diagnostics


@dataclass(slots=True)
class Fault:
    """A faulty model: the codes that tell of it, whether onnx.checker refuses it, and a word of the message."""

    make: Callable[[], ModelProto]
    codes: tuple[str, ...]
    refused: bool
    says: str


FAULTS: dict[str, Fault] = {}


def fault(
    *codes: str, refused: bool = True, says: str = ""
) -> Callable[[Callable[[], ModelProto]], Callable[[], ModelProto]]:
    def register(make: Callable[[], ModelProto]) -> Callable[[], ModelProto]:
        assert make.__name__ not in FAULTS
        FAULTS[make.__name__] = Fault(make, codes, refused, says)
        return make

    return register
