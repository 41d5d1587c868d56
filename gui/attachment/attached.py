"""Entries of a file, placed on the nodes and tensors of a model that they name. No Qt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from engine.graph.ir import Graph, Model, Node, Tensor
from engine.words import counted
from gui.attachment.forms import ANY, KERNEL, AttachmentError, Entry, first_line, read_entries
from gui.text import one_line

MAX_NUMBERS = 100  # names of numbers; what comes after is kept as words
_BLOCKED = "_nchwc"  # what ONNX Runtime appends to the name of a value that it keeps in blocks of channels

Subject: TypeAlias = "Node | Tensor"


@dataclass(slots=True)
class Attached:
    """What a file says of a model.

    Attributes
    ----------
    numbers
        By name, the numbers of nodes and tensors.
    facts
        Everything said of a node, a tensor or a graph, by name and in words.
    about_model
        What is said of the model as a whole.
    missing
        Targets that the model has not, or has several times.
    """

    path: str
    numbers: dict[str, dict[Subject, float]] = field(default_factory=dict)
    facts: dict[Subject | Graph, dict[str, str]] = field(default_factory=dict)
    about_model: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def of_nodes(self, name: str) -> dict[Node, float]:
        """The numbers of a name by node: a node's own, else the largest of what it makes."""
        numbers = self.numbers.get(name, {})
        found = {item: value for item, value in numbers.items() if isinstance(item, Node)}
        made: dict[Node, float] = {}
        for item, value in numbers.items():
            if isinstance(item, Tensor) and item.producer is not None and item.producer not in found:
                made[item.producer] = max(value, made.get(item.producer, value))
        return made | found

    @property
    def subjects(self) -> list[Subject]:
        """The nodes and tensors that something is said of."""
        return [item for item in self.facts if isinstance(item, Node | Tensor)]

    def words(self) -> str:
        """What was read, in a sentence or two."""
        nodes = sum(isinstance(item, Node) for item in self.subjects)
        found = [counted(nodes, "node"), counted(len(self.subjects) - nodes, "tensor")]
        said = f"{', '.join(map(one_line, list(self.numbers)[:6])) or 'No numbers'}; for {' and '.join(found)}."
        if self.missing:
            names = ", ".join(one_line(name, 60) for name in self.missing[:3])
            more = ", …" if len(self.missing) > 3 else ""
            count = counted(len(self.missing), "name")
            said += f" Not placed, as the model has no such name or several: {count} ({names}{more})."
        return said


def attach(path: str, model: Model) -> Attached:
    """Read a file and find what it names.

    Raises
    ------
    AttachmentError: it says nothing of this model.
    OSError: it cannot be read.
    """
    return placed(read_entries(path), model, path)


def placed(entries: Iterable[Entry], model: Model, path: str) -> Attached:
    """Find what entries name; see `attach`."""
    attached, names, missing = Attached(path), _Names(model), dict[str, None]()
    for entry in entries:
        if entry.kind == "model":
            attached.about_model[entry.name] = _words(entry.value)
            continue
        subject = names.find(entry)
        if subject is None:
            missing[entry.target] = None
            continue
        attached.facts.setdefault(subject, {})[entry.name] = _words(entry.value)
        known = entry.name in attached.numbers or len(attached.numbers) < MAX_NUMBERS
        if isinstance(entry.value, float) and known and not isinstance(subject, Graph):
            attached.numbers.setdefault(entry.name, {})[subject] = entry.value
    attached.missing = list(missing)
    if not attached.facts and not attached.about_model:
        example = f", such as {one_line(attached.missing[0], 80)!r}" if attached.missing else ""
        raise AttachmentError(f"nothing that {Path(path).name} names is in this model{example}")
    return attached


def _words(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"


class _Names:
    """What has which name: its qualified one, or the first line of the one in the file if nothing else has it."""

    def __init__(self, model: Model) -> None:
        self._nodes: dict[str, list[Node]] = defaultdict(list)
        self._tensors: dict[str, list[Tensor]] = defaultdict(list)
        self._graphs: dict[str, list[Graph]] = defaultdict(list)
        for graph in model.graph.walk():
            self._graphs[first_line(graph.name)].append(graph)
            for node in graph.nodes:
                for name in {first_line(node.stored_name), node.name, node.qualified_name}:
                    self._nodes[name].append(node)
            for name, tensor in graph.tensors.items():
                for known in {first_line(name), graph.prefix + name}:
                    self._tensors[known].append(tensor)

    def find(self, entry: Entry) -> Subject | Graph | None:
        """The one thing that an entry is about; None where there is none, or several."""
        found = next((things for things in self._candidates(entry) if things), [])
        return found[0] if len(found) == 1 else None

    def _candidates(self, entry: Entry) -> Iterator[list[Node] | list[Tensor] | list[Graph]]:
        target = first_line(entry.target)
        if not target:
            return
        if entry.kind == "graph":
            yield self._graphs.get(target, [])
        if entry.kind in ("node", KERNEL, ANY):
            yield self._nodes.get(target, [])
        if entry.kind in ("value", "tensor", ANY):
            yield self._tensors.get(target, [])
        if entry.kind == KERNEL:  # a fused one, named after what it makes
            made = self._tensors.get(target) or self._tensors.get(target.removesuffix(_BLOCKED), [])
            yield [tensor.producer for tensor in made if tensor.producer is not None]
