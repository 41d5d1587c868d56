"""Optionals, strings and images."""

from __future__ import annotations

from typing import Any

from engine import dtypes
from engine.dims import Dim
from engine.graph.types import OptionalType, Type
from engine.shapes.call import Call
from engine.shapes.facts import Fact, Out
from engine.shapes.registry import rule


@rule("Optional")
def optional(call: Call) -> Type:
    """An optional of the input, or an empty one of the attribute's type."""
    if call.has(0):
        return OptionalType(call.type(0))
    declared: Any = call.node.attributes.get("type")
    return OptionalType(declared)


@rule("OptionalHasElement")
def optional_has_element(call: Call) -> Out:
    """Whether there is one, as a bool scalar."""
    return Out((), dtypes.BOOL)


@rule("OptionalGetElement")
def optional_get_element(call: Call) -> Fact:
    """What is in it."""
    fact = call.fact(0)
    return Fact(fact.type.element if isinstance(fact.type, OptionalType) else fact.type, None, fact.because)


@rule("StringNormalizer")
def string_normalizer(call: Call) -> Out:
    """The input without its stop words, an unknown number less."""
    shape = call.shape(0)
    if not call.attr("stopwords", [""]) or "stopwords" not in call.node.attributes:
        return Out(shape, dtypes.STRING)
    return Out((*shape[:-1], call.length("count")), dtypes.STRING)


@rule("TfIdfVectorizer")
def tf_idf_vectorizer(call: Call) -> Out:
    """A count for each n-gram index, for each row."""
    width: Dim = max(call.required_ints("ngram_indexes"), default=-1) + 1
    return Out((*call.shape(0)[:-1], width), dtypes.FLOAT32)


@rule("StringConcat")
def string_concat(call: Call) -> Out:
    """Two operands broadcast."""
    return Out(call.broadcast(call.shape(0), call.shape(1)), dtypes.STRING)


@rule("StringSplit")
def string_split(call: Call) -> list[Any]:
    """The words of each element along a new axis, as long as the longest, and how many there are."""
    shape = call.shape(0)
    return [Out((*shape, call.length("words")), dtypes.STRING), Out(shape, dtypes.INT64)]


@rule("RegexFullMatch")
def regex_full_match(call: Call) -> Out:
    """Whether each element matches."""
    return Out(call.shape(0), dtypes.BOOL)


@rule("ImageDecoder")
def image_decoder(call: Call) -> Out:
    """[height, width, channels] of an encoded image."""
    channels = 1 if call.attr("pixel_format", "RGB") == "Grayscale" else 3
    return Out((call.length("height"), call.length("width"), channels), dtypes.UINT8)
