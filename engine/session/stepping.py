"""A model run step by step: what it puts out in one step is fed to it in the next (KV caches, LSTM states, tokens)."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import InputError
from engine.graph.ir import Model, Tensor
from engine.kernels.registry import Value
from engine.session.keep import Keep
from engine.session.observers import Observer
from engine.session.session import RunResult, Session

ARGMAX, GROW = "argmax", "grow"


@dataclass(frozen=True, slots=True)
class Feedback:
    """How an input of the next step is made.

    Attributes
    ----------
    input: its name.
    output: of the last step, handed on; "" where the input itself grows.
    how: "" as it is; "argmax" the place of the largest element of the last row, as a token is chosen from logits
        [batch, sequence, vocabulary]; "grow" the input with a 1 added along its last axis, as an attention mask is.
    """

    input: str
    output: str = ""
    how: str = ""

    def __str__(self) -> str:
        """The text form that `parse_feedback` reads."""
        if self.how == GROW:
            return f"{self.input}+=1"
        return f"{self.output}:{self.how}={self.input}" if self.how else f"{self.output}={self.input}"


def parse_feedback(text: str, model: Model) -> list[Feedback]:
    """Read ``OUT=IN``, ``OUT:argmax=IN`` or ``IN+=1``, several parted by commas; ``auto`` means `suggest_feedback`.

    Raises
    ------
    InputError: a part is none of these, or names what the model does not have.
    """
    found: list[Feedback] = []
    for part in (part.strip() for part in text.split(",")):
        if part == "auto":
            found += suggest_feedback(model)
        elif part.endswith("+=1"):
            found.append(Feedback(part.removesuffix("+=1"), how=GROW))
        else:
            made, equals, wanted = part.partition("=")
            name, colon, how = made.rpartition(":")
            if colon and how == ARGMAX:
                made = name
            if not (equals and made and wanted):
                raise InputError(f"{part!r} feeds nothing back; write OUT=IN, OUT:argmax=IN, IN+=1 or auto")
            found.append(Feedback(wanted, made, ARGMAX if colon and how == ARGMAX else ""))
    _check(found, model)
    return found


def _check(feedback: Iterable[Feedback], model: Model) -> None:
    inputs, outputs = ({t.name for t in tensors} for tensors in (model.graph.inputs, model.graph.outputs))
    for entry in feedback:
        if entry.input not in inputs:
            raise InputError(f"the model has no input {entry.input!r} to feed back to", entry.input)
        if entry.how != GROW and entry.output not in outputs:
            raise InputError(f"the model has no output {entry.output!r} to feed back")


_STATE_WORDS = re.compile(
    r"present|past|key_values|new|next|prev(?:ious)?|initial|init|cur(?:rent)?|out(?:put)?|in(?:put)?"
)


def suggest_feedback(model: Model) -> list[Feedback]:
    """Outputs that look like the next value of an input: equal but for words such as ``present`` and ``past``, ``N``
    and ``0``, of one dtype and rank."""
    states: dict[str, list[Tensor]] = {}
    for tensor in model.graph.feeds:
        states.setdefault(_stem(tensor.name), []).append(tensor)
    found: list[Feedback] = []
    for output in model.graph.outputs:
        matching = [t for t in states.get(_stem(output.name), ()) if _alike(t, output)]
        if len(matching) == 1 and matching[0].name not in {entry.input for entry in found}:
            found.append(Feedback(matching[0].name, output.name))
    return found


def _stem(name: str) -> str:
    """A name without what tells a state's next value from its last one."""
    bare = re.sub(r"(?<=[a-z])(?:N|n|0)$", "", name)
    return re.sub(r"[^a-z0-9]+", "", _STATE_WORDS.sub("", bare.lower()))


def _alike(one: Tensor, other: Tensor) -> bool:
    if one.dtype is not other.dtype:
        return False
    shapes = one.inferred_shape or one.stored_shape, other.inferred_shape or other.stored_shape
    return shapes[0] is None or shapes[1] is None or len(shapes[0]) == len(shapes[1])


def run_steps(
    session: Session, feeds: Mapping[str, Value], steps: int, feedback: Sequence[Feedback],
    observer: Observer | None = None, keep: Keep | str | None = None,
) -> Iterator[tuple[Mapping[str, Value], RunResult]]:  # fmt: skip
    """Run the session `steps` times; gives what each step was fed and what it gave.

    Raises
    ------
    InputError, NodeError, RunCancelled: as `Session.run`; what is fed back is checked as what was fed first.
    """
    fed = dict(feeds)
    for _ in range(steps):
        result = session.run(fed, observer, keep)
        yield fed, result
        fed = {**fed, **{entry.input: _next(entry, fed, result) for entry in feedback}}


def _next(entry: Feedback, fed: Mapping[str, Value], result: RunResult) -> Value:
    if entry.how == GROW:
        if entry.input not in fed:
            raise InputError(f"input {entry.input!r} is to grow and is not fed", entry.input)
        value = np.asarray(fed[entry.input])
        return np.concatenate([value, np.ones((*value.shape[:-1], 1), value.dtype)], axis=-1)
    value = result.outputs[entry.output]
    if entry.how != ARGMAX:
        return value
    scores = np.asarray(value)
    last = scores[..., -1:, :] if scores.ndim > 1 else scores
    chosen = np.argmax(last, axis=-1)
    return chosen.astype(np.asarray(fed[entry.input]).dtype if entry.input in fed else np.int64)
