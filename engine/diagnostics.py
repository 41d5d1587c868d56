"""What is wrong with a model, or worth knowing: findings, never exceptions; and the catalogue of their codes."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters: an error stops the model from running as meant, a warning may, info does not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable code, its severity, one sentence for people, and the place it concerns.

    `node` is the qualified name of a node and `tensor` that of a tensor (see `Node.qualified_name`,
    `Tensor.qualified_name`), empty where the finding concerns the whole model.
    """

    code: str
    severity: Severity
    message: str
    node: str = ""
    tensor: str = ""

    @property
    def title(self) -> str:
        """What findings of this code have in common, in a few words; the code itself where none is written."""
        rule = CATALOGUE.get(self.code)
        return rule.title if rule else self.code

    @property
    def hint(self) -> str:
        """The way on: what to do about a finding of this code; empty where nothing is written."""
        rule = CATALOGUE.get(self.code)
        return rule.hint if rule else ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A code of the catalogue: its usual severity, what it means, and what to do."""

    severity: Severity
    title: str
    hint: str


GROUP_LIMIT = 20
"""How many findings of one code people are shown before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one code and severity, in the order found."""

    code: str
    severity: Severity
    findings: tuple[Diagnostic, ...]

    @property
    def first(self) -> tuple[Diagnostic, ...]:
        """Those to show at once."""
        return self.findings if len(self.findings) <= GROUP_LIMIT + 1 else self.findings[:GROUP_LIMIT]

    @property
    def rest(self) -> int:
        """How many more there are."""
        return len(self.findings) - len(self.first)


def grouped(findings: Iterable[Diagnostic]) -> list[Group]:
    """Findings by code: errors first, then warnings, then the rest; codes in the order first found."""
    groups: dict[tuple[Severity, str], list[Diagnostic]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.code), []).append(finding)
    rank = {severity: i for i, severity in enumerate(Severity)}
    ordered = sorted(groups, key=lambda key: rank[key[0]])
    return [Group(code, severity, tuple(groups[severity, code])) for severity, code in ordered]


def in_function(findings: Iterable[Diagnostic], function: str) -> list[Diagnostic]:
    """Findings about the body of a function that nobody calls: they name the function in words, and have no place."""
    return [replace(d, message=f"in the function {function!r}: {d.message}", node="", tensor="") for d in findings]


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO

CATALOGUE: dict[str, Rule] = {
    # --- the file and its versions
    "trailing-bytes": Rule(
        _W, "Something follows the model in its file",
        "Copy or save the model again: the file was damaged, or something was appended to it."),
    "repeated-graph": Rule(
        _E, "The file holds several graphs",
        "Split the file: two models were probably written one after the other, and each opens alone."),
    "bare-graph": Rule(
        _W, "The file holds a graph without a model around it",
        "Wrap the graph in a ModelProto with its opset imports; here the newest opset is assumed."),
    "bare-tensor": Rule(
        _I, "The file holds a single tensor",
        "Nothing must be done; to feed it to a model, give it to `oinfer run --inputs` or to the Run pane."),
    "opened-beside": Rule(
        _I, "The file holds the weights of a model beside it", "Nothing must be done: that model was opened."),
    "ort-format": Rule(
        _I, "The file is in ONNX Runtime's own format",
        "Nothing must be done. The .onnx file it was made from shows the graph before ONNX Runtime optimised it."),
    "training-info": Rule(_I, "The model describes its training", "Nothing must be done: inference leaves it alone."),
    "name-not-utf8": Rule(
        _W, "Names are not UTF-8", "Rename them: ONNX asks for UTF-8, and other tools refuse or lose such names."),
    "no-ir-version": Rule(_W, "The file states no IR version", "Save the model again with a current exporter."),
    "future-ir": Rule(
        _E, "The IR version is newer than this program knows",
        "Update the program, or save the model with an older IR version."),
    "future-opset": Rule(
        _E, "An opset is newer than this program knows",
        "Update the program, or export with an older opset."),
    "undeclared-opset": Rule(
        _W, "A domain is used without an opset import",
        "Add the domain to opset_import; until then its operators are read at version 1."),
    "duplicate-opset": Rule(
        _W, "A domain is imported in different versions", "Keep one opset import per domain; the last one counts."),
    "newer-than-ir": Rule(
        _W, "The model uses what its IR version does not have yet",
        "Raise ir_version to the one named; older readers may skip the part in question without a word."),
    "duplicate-metadata": Rule(
        _I, "A metadata key stands there more than once", "Keep one entry per key; the last one counts."),
    "large-doc-string": Rule(
        _I, "A doc string is very long", "Strip it if the file should be smaller; it has no effect on results."),
    "many-nodes": Rule(
        _I, "The model has very many nodes", "Expect the layout to take longer; a subgraph or a part is quicker."),
    # --- names and links
    "missing-tensor": Rule(
        _E, "A node reads a tensor that nothing defines",
        "Correct the name, or add the node, input or initializer that should define it."),
    "output-not-produced": Rule(
        _E, "Nothing computes a graph output", "Correct the output's name, or remove it from the graph's outputs."),
    "duplicate-input": Rule(_E, "Two graph inputs have one name", "Rename or remove one of them."),
    "duplicate-output": Rule(
        _E, "A name is written twice", "Rename one of the outputs: every value has exactly one producer in ONNX."),
    "duplicate-initializer": Rule(_E, "An initializer is stored twice", "Remove or rename one of the two."),
    "duplicate-node-name": Rule(
        _I, "Several nodes have one name",
        "Nothing must be done: they are told apart here by a number; unique names help other tools."),
    "shadowed-name": Rule(
        _W, "A subgraph uses a name of the graph around it",
        "Rename the inner one: ONNX asks for unique names, and some runtimes refuse or mix up the two."),
    "no-name": Rule(_W, "Something has an empty name", "Give it a name: an empty name means that a value is left out."),
    "control-characters": Rule(
        _W, "A name holds control or direction characters",
        "Rename it: such characters are invisible, and some tools cut names at them."),
    "not-utf8": Rule(
        _I, "A string attribute is not UTF-8",
        "Nothing must be done if it holds bytes on purpose; otherwise encode the text as UTF-8."),
    # --- order
    "cycle": Rule(
        _E, "Nodes depend on each other in a cycle",
        "Break the cycle: one of the edges named must come from elsewhere, often a wrong tensor name."),
    "after-cycle": Rule(_W, "Nodes wait for a cycle", "Break the cycle; these nodes run once it is gone."),
    "unsorted": Rule(
        _W, "Nodes stand in the file before what they read",
        "Nothing must be done here; for stricter readers store the nodes in run order."),
    # --- initializers and stored data
    "initializer-not-in-inputs": Rule(
        _W, "An initializer is not listed as an input, which IR 3 asks for",
        "Raise ir_version to 4, or list the initializer as an input."),
    "initializer-dtype-mismatch": Rule(
        _E, "An initializer contradicts the dtype its input declares",
        "Make the declared element type and the stored one the same."),
    "initializer-shape-mismatch": Rule(
        _E, "An initializer contradicts the shape its input declares",
        "Make the declared shape and the stored one the same."),
    "bad-data": Rule(
        _E, "Stored data does not fit its own description",
        "Save the tensor again: shape, element type and stored bytes must agree."),
    "ambiguous-data": Rule(
        _W, "A tensor's values are stored twice", "Keep one of raw_data and the typed fields."),
    "sparse-form": Rule(
        _E, "A sparse tensor's parts do not fit each other",
        "Save it again: values [n], indices int64 of shape [n] or [n, rank], a shape without zeros."),
    "sparse-indices": Rule(
        _E, "A sparse tensor's indices are out of range or out of order",
        "Save it again with ascending indices inside its shape, each of them once."),
    "external-missing": Rule(
        _E, "A file with weights is not there", "Copy the file beside the model, then open the model again."),
    "external-path": Rule(
        _E, "External data lies outside the model's folder",
        "Move the data into the model's folder and name it by a plain relative path."),
    "external-link": Rule(
        _E, "External data is a link that leads out of the model's folder",
        "Open the model with --allow-external if you trust the place the link leads to, or copy the file here."),
    "external-range": Rule(
        _E, "External data is shorter than the tensors need, or its numbers are wrong",
        "Copy or download the data file again; offset, length and shape must agree with its size."),
    # --- operators
    "unknown-op": Rule(
        _E, "The standard has no such operator at this opset",
        "Check the operator's spelling and domain, or raise the opset import to one that has it."),
    "no-kernel": Rule(
        _E, "Nothing here can run an operator",
        "The graph can be looked at, but not run: replace the operator or decompose it when exporting."),
    "deprecated-op": Rule(
        _W, "An operator was removed from the standard by this opset",
        "Export again, so that its successor is used, or lower the opset import."),
    "wrong-arity": Rule(
        _E, "A node has too few or too many inputs or outputs",
        "Compare the node's inputs and outputs with the operator's signature at this opset."),
    "unnamed-output": Rule(
        _I, "A required output is left out", "Give the output a name; strict checkers refuse the empty one."),
    "missing-attribute": Rule(
        _E, "A required attribute is missing", "Add the attribute to the node."),
    "unknown-attribute": Rule(
        _W, "An attribute that the operator does not have",
        "Remove it or correct its spelling: it is ignored here, and other runtimes refuse it. "
        "It may belong to another opset."),
    "attribute-type": Rule(
        _E, "An attribute is of another kind than the operator has",
        "Store the attribute with the type named, such as INTS for a list of integers."),
    "attribute-form": Rule(
        _W, "An attribute is not well-formed",
        "Store it once, with a name, its type and the one field that belongs to that type."),
    "attribute-reference": Rule(
        _E, "A reference to an attribute that does not exist",
        "Declare the attribute in the function; outside functions store the value itself."),
    "body-mismatch": Rule(
        _E, "A subgraph's inputs or outputs do not fit its node",
        "Give If branches no inputs and as many outputs as the node; for Loop and Scan count state and scan values."),
    "constant-without-value": Rule(
        _E, "A Constant has no value", "Give it exactly one of value, value_float, value_ints and their like."),
    "malformed-node": Rule(
        _E, "A node is not as its operator has it",
        "Compare its inputs and attributes with the operator's documentation."),
    # --- functions
    "recursive-function": Rule(
        _E, "Functions call each other in a cycle", "Break the cycle: ONNX functions cannot be recursive."),
    "function-too-large": Rule(
        _E, "The functions stand for too many nodes",
        "Inline fewer levels; calls are shown, but not expanded and not run."),
    "function-form": Rule(
        _E, "A function's declaration is not well-formed",
        "Name each input, output and attribute once, and define each function once."),
    "function-opset": Rule(
        _W, "A function and the model read an operator differently",
        "Import the same opset in the function as in the model, or make sure that the older meaning is meant."),
    "unused-function": Rule(_I, "A function is never called", "Remove it if the file should be smaller."),
    # --- types and shapes
    "shape-clash": Rule(
        _E, "Shapes cannot work together",
        "Follow the shapes back from this node to where they stop being what you expect."),
    "dtype-clash": Rule(
        _E, "Element types cannot work together", "Insert a Cast, or store the constant in the type named."),
    "dtype-not-allowed": Rule(
        _E, "An operator is not defined for an element type",
        "Insert a Cast, or raise the opset import: later versions of operators take more types."),
    "shape-mismatch": Rule(
        _W, "The file declares another shape than the graph makes",
        "Correct or remove the value_info; the inferred shape counts here."),
    "dtype-mismatch": Rule(
        _W, "The file declares another element type than the graph makes",
        "Correct or remove the value_info; the inferred type counts here."),
    "forced-dim": Rule(
        _W, "Only one value of a symbolic dim can work",
        "Export again with that axis dynamic (usually a size baked into a constant), or feed that one size."),
    "baked-dim": Rule(
        _W, "A dim declared to follow an input is one number",
        "Export again with that axis dynamic, or declare the number."),
    "divisible-dim": Rule(
        _W, "A symbolic dim works only in certain multiples",
        "Feed sizes that divide as named; or export again, if any size should work."),
    "equal-dims": Rule(
        _I, "Symbolic dims of different names must be equal",
        "Feed equal sizes; one name for both in the file would say so."),
    "observed-mismatch": Rule(
        _W, "A run made another type than was inferred",
        "Report it with the model: inference, a kernel or the file is wrong. What the run made counts."),
    "missing-type": Rule(
        _W, "A graph input or output has no type", "Declare its element type and shape; it cannot be fed by itself."),
    "missing-rank": Rule(
        _I, "A graph input or output has no shape",
        "Declare a shape, with symbols for what is not known: shapes after it stay unknown."),
    # --- what is not needed
    "empty-graph": Rule(_W, "A graph has no nodes", "Check that the right file was exported."),
    "no-outputs": Rule(
        _W, "The graph has no outputs", "Add the tensors that matter to its outputs; without any it is of no use."),
    "passthrough-output": Rule(
        _I, "A graph output is an input or a constant",
        "Nothing must be done; some runtimes want an Identity in between."),
    "captured-output": Rule(
        _W, "A subgraph returns a value of the graph around it",
        "Put an Identity in between: ONNX Runtime refuses an outer value as a subgraph's output."),
    "unused-node": Rule(
        _I, "A node has no effect on any output", "Remove it, or add what it computes to the graph's outputs."),
    "unused-initializer": Rule(_I, "An initializer is never read", "Remove it: it only makes the file larger."),
    "unused-input": Rule(_I, "A graph input is never read", "Remove it, or check which node should read it."),
    "unused-output": Rule(
        _I, "An optional output is computed, but never read",
        "Leave its name out: the operator may then skip the work."),
    "unused-value-info": Rule(
        _I, "value_info describes tensors that the graph does not have",
        "Remove the stale entries; they have no effect."),
}  # fmt: skip
"""Every code that a finding can have. `docs/diagnostics.md` is this table for people."""
