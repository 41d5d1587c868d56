"""Rules about stored data that shapes alone do not tell."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from engine.checks.findings import Findings
from engine.errors import DataError
from engine.graph.data import SparseData
from engine.graph.ir import Graph, Tensor

MOST_INDICES = 1 << 20
"""Sparse constants with more are looked at only when somebody reads them: checking must not read whole files."""


def check_data(scopes: Iterable[Graph], findings: Findings) -> None:
    """Report sparse-indices: indices out of range, or not ascending."""
    for graph in scopes:
        for tensor in graph.tensors.values():
            if isinstance(tensor.data, SparseData) and not tensor.data.problem:
                _check_indices(tensor, tensor.data, findings)


def _check_indices(tensor: Tensor, data: SparseData, findings: Findings) -> None:
    dims, shape = data.dims, data.indices.dims
    if not (0 < data.indices.size <= MOST_INDICES and data.size and shape[1:] in ((), (len(dims),)) and dims):
        return
    try:
        indices = data.indices.array()
    except DataError:
        return  # told by whoever reads it
    limits = np.array(dims if indices.ndim == 2 else [min(data.size, 2**63 - 1)], np.int64)
    rows = indices.reshape(-1, len(limits))
    wrong = np.flatnonzero(((rows < 0) | (rows >= limits)).any(axis=1))
    if wrong.size:
        place = rows[wrong[0]].tolist()
        message = f"the sparse tensor {tensor.name!r} of shape {list(dims)} has a value at {place}, which is outside"
        findings.add("sparse-indices", message, tensor=tensor)
        return
    steps = np.diff(rows, axis=0)
    first = (steps != 0).argmax(axis=1)  # the first coordinate that changes must rise
    falls = np.flatnonzero(np.take_along_axis(steps, first[:, None], axis=1) <= 0)
    if falls.size:
        message = f"the indices of the sparse tensor {tensor.name!r} do not ascend from {rows[falls[0]].tolist()} on"
        findings.add("sparse-indices", message, tensor=tensor)
