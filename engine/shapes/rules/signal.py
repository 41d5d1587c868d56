"""Transforms of signals and sampling of images."""

from __future__ import annotations

from engine import dtypes
from engine.dims import Dim
from engine.shapes.call import Call, axis_in
from engine.shapes.facts import Out
from engine.shapes.registry import rule


@rule("DFT")
def dft(call: Call) -> Out:
    """Real and imaginary parts in a last axis of 2, one of 1 for a real inverse; half the bins where one-sided."""
    shape = list(call.rank_at_least(0, 2))
    slot_axis = call.node.since_version >= 20
    axis = (call.ints(2)[0] if call.has(2) else -2) if slot_axis else call.attr("axis", 1)
    axis = axis_in(axis, len(shape))
    one_sided, inverse = bool(call.attr("onesided", 0)), bool(call.attr("inverse", 0))
    length: Dim = shape[axis]
    if call.has(1):
        length = call.dim(call.elements(1)[0], "length")
    elif one_sided and inverse:
        length = (length - 1) * 2
    shape[axis] = length // 2 + 1 if one_sided and not inverse else length
    shape[-1] = 1 if one_sided and inverse else 2
    return Out(tuple(shape))


@rule("STFT")
def stft(call: Call) -> Out:
    """[batch, frames, bins, 2]."""
    signal = call.rank_at_least(0, 2)
    step = call.dim(call.elements(1)[0], "step")
    if call.has(3):
        frame = call.dim(call.elements(3)[0], "frame")
    else:
        frame = call.rank_at_least(2, 1)[0]
    bins = frame // 2 + 1 if call.attr("onesided", 1) else frame
    return Out((signal[0], (signal[1] - frame) // step + 1, bins, 2))


@rule("MelWeightMatrix")
def mel_weight_matrix(call: Call) -> Out:
    """[dft_length // 2 + 1, num_mel_bins]."""
    bins, length = (call.dim(call.elements(slot)[0], name) for slot, name in ((0, "bins"), (1, "length")))
    return Out((length // 2 + 1, bins), call.dtype_attr("output_datatype") or dtypes.FLOAT32)


@rule("GridSample")
def grid_sample(call: Call) -> Out:
    """[N, C] of the image and the places of the grid."""
    return Out(call.rank_at_least(0, 2)[:2] + call.rank_at_least(1, 2)[1:-1])


@rule("AffineGrid")
def affine_grid(call: Call) -> Out:
    """[N, places..., 2 or 3] for a target size [N, C, places...]."""
    size = [call.dim(e, f"dim{i}") for i, e in enumerate(call.elements(1))]
    return Out((size[0], *size[2:], len(size) - 2), call.dtype(0))
