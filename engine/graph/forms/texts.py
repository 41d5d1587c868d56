"""Models written as text: protobuf JSON, protobuf text format, and ONNX's own syntax."""
from __future__ import annotations

import json
import re

import onnx
import onnx.parser
from google.protobuf import json_format, text_format

from engine.errors import ModelFormatError

MAX_TEXT = 1 << 28  # bytes; the parsers need many times as much
MAX_BRACKETS = 200  # open at a time; the parser of ONNX's syntax goes one call deeper for each

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*|=>|[{<(\[]|[}>)\]]')
_ONNX_ERROR = re.compile(r"line: (\d+) column: (\d+)\)\]\s*(?:Error context: (.*?)\n)?(.*)", re.DOTALL)


def looks_like_text(head: bytes) -> bool:
    """Whether a file that starts with `head` is text: UTF-8 without control characters."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # the head may end within a character
            return False
    return not _CONTROL.search(head)


def parse_text(data: bytes, name: str) -> tuple[onnx.ModelProto, str]:
    """The model that a text describes, and in which of the three forms.

    Raises
    ------
    ModelFormatError: it is none; the message says in which line and column.
    """
    if len(data) > MAX_TEXT:
        raise ModelFormatError(f"{name} is a text of {len(data):,} bytes, over the limit of {MAX_TEXT:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"{name} starts as text, but is not UTF-8 at byte {error.start}", error.start) from error
    start = text.lstrip()[:1]
    try:
        if start == "{":
            return _parse_json(text, name), "protobuf JSON"
        if start == "<":
            return _parse_onnx_text(text, name), "ONNX text"
        return _parse_textproto(text, name), "protobuf text"
    except RecursionError as error:
        raise ModelFormatError(f"{name} is nested too deep to be a model") from error


def _parse_json(text: str, name: str) -> onnx.ModelProto:
    try:
        model = onnx.ModelProto()
        json_format.ParseDict(json.loads(text), model, max_recursion_depth=100)
        return model
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ModelFormatError(f"{name} is not well-formed JSON: {where}: {error.msg}", error.pos) from error
    except (json_format.ParseError, ValueError, TypeError) as error:
        reason = str(error).partition("Available Fields")[0].strip().rstrip(".")
        raise ModelFormatError(f"{name} is JSON, but not of an ONNX model: {reason}") from error


def _parse_textproto(text: str, name: str) -> onnx.ModelProto:
    try:
        model = onnx.ModelProto()
        text_format.Parse(text, model)
        return model
    except text_format.ParseError as error:
        line, column = error.GetLine(), error.GetColumn()
        where = f"line {line}, column {column}: " if line else ""
        reason = re.sub(r"^\d+:\d+ : ", "", str(error))
        caffe = " (a Caffe network is written like this)" if re.search(r"^\s*layers? *\{", text, re.MULTILINE) else ""
        raise ModelFormatError(f"{name} is text, but not an ONNX model{caffe}: {where}{_short(reason)}") from error
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} is text, but not an ONNX model: {_short(str(error))}") from error


def _parse_onnx_text(text: str, name: str) -> onnx.ModelProto:
    if _bracket_depth(text) > MAX_BRACKETS:
        raise ModelFormatError(f"{name} opens more than {MAX_BRACKETS} brackets within each other: refused")
    try:
        return onnx.parser.parse_model(text)
    except Exception as error:  # the C++ parser throws several types
        raw = error.args[0] if error.args else ""
        told = raw.decode(errors="replace") if isinstance(raw, bytes) else str(raw)
        found = _ONNX_ERROR.search(told)
        if found is None:
            raise ModelFormatError(f"{name} is not an ONNX model in text form: {_short(told)}") from error
        line, column, context, reason = found.groups()
        near = f" near {_short((context or '').strip())!r}" if context else ""
        raise ModelFormatError(
            f"{name} is not an ONNX model in text form: line {line}, column {column}: {_short(reason.strip())}{near}"
        ) from error


def _bracket_depth(text: str) -> int:
    depth = deepest = 0
    for found in _TOKENS.finditer(text):
        token = found.group()
        if token in "{<([":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "}>)]":
            depth = max(depth - 1, 0)
    return deepest


def _short(told: str) -> str:
    told = " ".join(told.split())
    return told if len(told) <= 200 else told[:200] + " …"
