"""Recurrent layers."""

from __future__ import annotations

from typing import Any

from engine.dims import Dim
from engine.shapes.call import Call
from engine.shapes.facts import KnownShape, Out
from engine.shapes.registry import rule


@rule("RNN", "GRU", "LSTM")
def recurrent(call: Call) -> list[Any]:
    """Y [seq, directions, batch, hidden] and last states [directions, batch, hidden]; batch first with layout 1."""
    return recurrent_outputs(call, call.rank_at_least(0, 3), call.known_shape(2))


def recurrent_outputs(call: Call, x: tuple[Dim, ...], r: tuple[Dim, ...] | None) -> list[Any]:
    """Outputs of a recurrent layer for an input x and recurrence weights r [directions, gates * hidden, hidden]."""
    directions = 2 if call.attr("direction", "forward") == "bidirectional" else 1
    hidden: Dim = call.attr("hidden_size", 0)
    if not hidden:
        hidden = r[-1] if r else call.unknown_dim("hidden", "neither hidden_size nor the weights tell it")
    dtype = call.dtype(0)
    y: KnownShape
    last: KnownShape
    if call.attr("layout", 0):
        batch, sequence = x[0], x[1]
        y, last = (batch, sequence, directions, hidden), (batch, directions, hidden)
    else:
        sequence, batch = x[0], x[1]
        y, last = (sequence, directions, batch, hidden), (directions, batch, hidden)
    return [Out(y, dtype), Out(last, dtype), Out(last, dtype)]
