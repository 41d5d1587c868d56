"""Rows and columns of the Initializers pane: how initializers and graph inputs were fused into one tensor each."""

from __future__ import annotations

from dataclasses import dataclass

from engine.graph.ir import Graph, Tensor, ValueSource
from engine.words import bytes_text
from gui.models.table import Column, Style
from gui.text import dtype_text, shape_of_type, shape_text

_KINDS = {
    ValueSource.INPUT: ("input", "Input: no initializer: must be fed"),
    ValueSource.OVERRIDABLE: ("overridable", "Overridable: initializer and input of one name, IR version 4 or later: "
                                             "the default may be fed over"),
    ValueSource.CONSTANT: ("constant", "Constant (IR 3): initializer and input of one name before IR version 4: "
                                              "a constant that can't be fed"),
    ValueSource.IMPLICIT_CONSTANT: ("implicit", "Implicit constant: initializer without an input: a constant"),
}  # fmt: skip


@dataclass(slots=True, eq=False)
class FusionRow:
    """An input, an initializer, or both in one tensor."""

    tensor: Tensor

    @property
    def name(self) -> str:
        return self.tensor.name

    @property
    def kind(self) -> str:
        return _KINDS[self.tensor.source][0]

    @property
    def why(self) -> str:
        return _KINDS[self.tensor.source][1]

    @property
    def disagrees(self) -> bool:
        """Whether the declared shape contradicts that of the stored data."""
        data, declared = self.tensor.data, self.tensor.stored_shape
        if data is None or declared is None:
            return False
        return len(declared) != len(data.dims) or any(
            isinstance(d, int) and d != s for d, s in zip(declared, data.dims, strict=True)
        )

    @property
    def shape(self) -> str:
        """The shape of the stored data, which decides, or what is declared where nothing is stored."""
        return shape_text(self.tensor.data.dims) if self.tensor.data else shape_of_type(self.tensor.stored_type)

    @property
    def declared(self) -> str:
        """The shape that the graph input of a stored tensor declares, where it reads differently."""
        is_input = self.tensor.source in (ValueSource.OVERRIDABLE, ValueSource.CONSTANT)
        text = shape_of_type(self.tensor.stored_type) if is_input else ""
        return "" if text == self.shape else text

    @property
    def dtype(self) -> str:
        data = self.tensor.data
        return dtype_text(data.dtype if data else self.tensor.dtype)


def fusion_rows(graph: Graph) -> list[FusionRow]:
    """True inputs first, then initializers, each in file order."""
    inputs = [t for t in graph.inputs if t.source in _KINDS]
    known = set(map(id, inputs))
    stored = [t for t in graph.tensors.values() if t.data is not None and t.producer is None and id(t) not in known]
    tensors = [*inputs, *(t for t in stored if t.source in _KINDS)]
    return [FusionRow(t) for t in sorted(tensors, key=lambda t: t.source is not ValueSource.INPUT)]


def _kind_style(row: FusionRow) -> Style:
    return Style("accent") if row.tensor.source is ValueSource.INPUT else Style("muted")


NAME, KIND, SHAPE, DECLARED, SIZE, DTYPE, USERS = range(7)
COLUMNS = (
    Column("name", lambda r: r.name),
    Column("kind", lambda r: r.kind, _kind_style, tip=lambda r: r.why),
    Column("shape", lambda r: r.shape, lambda r: Style("error" if r.disagrees else "text", mono=True),
           heading_tip="Shape of the stored data, which decides; of the declaration where nothing is stored"),
    Column("declared", lambda r: r.declared, lambda r: Style("error" if r.disagrees else "muted", mono=True),
           heading_tip="What the graph input of a stored tensor declares, where it differs"),
    Column("size", lambda r: bytes_text(r.tensor.data.nbytes) if r.tensor.data else "", Style("muted"), right=True,
           key=lambda r: r.tensor.data.nbytes if r.tensor.data else -1),
    Column("dtype", lambda r: r.dtype, Style("muted", mono=True)),
    Column("users", lambda r: str(len(r.tensor.consumers)), Style("muted"), right=True,
           key=lambda r: len(r.tensor.consumers), heading_tip="Nodes that read it"),
)  # fmt: skip
