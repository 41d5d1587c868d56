"""Operators of ONNX Runtime's block layout (com.microsoft.nchwc): shapes are those of [N, C, ...], C rounded up.

Nothing here runs them (`engine.kernels.contrib_layout`), but files saved at its highest level hold them.
"""

from __future__ import annotations

from engine.shapes.call import Call
from engine.shapes.facts import Out
from engine.shapes.registry import rule
from engine.shapes.rules.convolution import conv_shape
from engine.shapes.rules.pooling import pool_shape

DOMAIN = "com.microsoft.nchwc"


@rule("ReorderInput", domain=DOMAIN)
def reorder_input(call: Call) -> Out:
    """From [N, C, ...] or, with `channels_last`, [N, ..., C] into blocks."""
    x = call.rank_at_least(0, 3)
    spatial = x[1:-1] if call.attr("channels_last", 0) else x[2:]
    channels = call.unknown_dim("channels", "its channels are rounded up to the block of the CPU that made the file")
    return Out((x[0], channels, *spatial), call.dtype(0))


@rule("ReorderOutput", domain=DOMAIN)
def reorder_output(call: Call) -> Out:
    """From blocks to [N, C, ...] or [N, ..., C], with as many channels as there really are."""
    n, _, *spatial = call.rank_at_least(0, 3)
    channels = call.required_int("channels")
    last = call.attr("channels_last", 0)
    return Out((n, *spatial, channels) if last else (n, channels, *spatial), call.dtype(0))


@rule("Conv", domain=DOMAIN)
def conv(call: Call) -> Out:
    """As Conv; how many channels come in is the weights' business, as both are rounded up."""
    x, w = call.rank_at_least(0, 3), call.rank_at_least(1, 3)
    return Out(conv_shape(call, (x[0], w[1] * call.attr("group", 1), *x[2:]), w), call.dtype(0))


@rule("MaxPool", "AveragePool", domain=DOMAIN)
def pool(call: Call) -> Out:
    """As the standard's."""
    return Out(pool_shape(call, call.rank_at_least(0, 3)), call.dtype(0))


@rule("GlobalMaxPool", "GlobalAveragePool", domain=DOMAIN)
def global_pool(call: Call) -> Out:
    """[N, C, 1...]."""
    x = call.rank_at_least(0, 3)
    return Out(x[:2] + (1,) * (len(x) - 2), call.dtype(0))


@rule("Upsample", domain=DOMAIN)
def upsample(call: Call) -> Out:
    """Each axis times a whole number."""
    x = call.rank_at_least(0, 3)
    scales = call.optional_ints("scales") or [1] * len(x)
    return Out(tuple(d * s for d, s in zip(x, scales, strict=True)), call.dtype(0))
