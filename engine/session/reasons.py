"""Why a node failed, in words: what kernels and the array module raise, said in terms of ONNX."""
from __future__ import annotations

import re

from engine.errors import EngineError


def reason_of(error: Exception) -> str:
    """What went wrong and what would have been right, without a full stop."""
    text = str(error).strip()
    if isinstance(error, MemoryError):
        return f"out of memory ({text})" if text else "out of memory"
    if isinstance(error, EngineError):
        return text
    if isinstance(error, ValueError) and "broadcast" in text:
        return _broadcast(text)
    return text if isinstance(error, (ValueError, IndexError)) else f"{type(error).__name__}: {text}"


def _broadcast(text: str) -> str:
    """NumPy's "operands could not be broadcast together with shapes (2,3) (4,5)" and its variants."""
    found = dict.fromkeys(re.findall(r"\((\d*(?:,\d+)*),?\)", text))
    shapes = [f"[{', '.join(shape.split(','))}]" for shape in found]
    if len(shapes) < 2:
        return text
    pairs = "from the last axis on, lengths must be equal or one of them 1"
    return f"shapes {' and '.join(shapes)} do not broadcast: {pairs}"
