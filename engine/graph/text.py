"""Text of protobuf messages that need not be text: the parser hands a `string` that is not UTF-8 out as bytes."""
from __future__ import annotations

from collections.abc import Iterable

from onnx import StringStringEntryProto


def text(value: str | bytes) -> str:
    """A `string` field as text; bytes that are not UTF-8 become escapes such as ``\\xff``."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def entries(protos: Iterable[StringStringEntryProto]) -> dict[str, str]:
    """Key-value pairs, such as metadata; of a repeated key, the last value counts."""
    return {text(entry.key): text(entry.value) for entry in protos}
