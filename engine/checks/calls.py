"""Rules about single nodes: do they call their operator as the standard has it?

Source: onnx.proto and the operator schemas of `onnx.defs`, versions as the model's opsets select them.
"""
from __future__ import annotations

from collections.abc import Iterable

from engine.checks.findings import Findings, title
from engine.checks.forms import Form, Formal, form_of, kind_of
from engine.graph.ir import Function, Graph, Model, Node, Tensor
from engine.words import counted


def check_calls(model: Model, scopes: Iterable[Graph], findings: Findings) -> None:
    """Report wrong-arity, unnamed-output, missing- and unknown-attribute, attribute-type, not-utf8, body-mismatch and
    deprecated-op."""
    deprecated: dict[tuple[str, str, int], list[Node]] = {}
    for graph in scopes:
        for node in graph.nodes:
            form = form_of(node)
            if form is not None:
                if form.deprecated:
                    deprecated.setdefault((node.domain, node.op_type, node.since_version), []).append(node)
                else:
                    _check_arity(node, form, findings)
                    _check_attributes(node, form, findings)
            elif model.functions:
                function = model.functions.get((node.domain, node.op_type, node.overload))
                if function is not None:
                    _check_function_call(node, function, findings)
            if node.subgraphs:
                _check_bodies(node, findings)
            if node.attributes:
                _check_texts(node, findings)
    for (domain, op_type, version), nodes in deprecated.items():
        message = (
            f"{op_type} was removed from {domain or 'ai.onnx'} with opset {version}: {counted(len(nodes), 'node')} "
            f"{'uses' if len(nodes) == 1 else 'use'} it (first: {nodes[0].name!r})"
        )
        findings.add("deprecated-op", message, nodes[0])


# --- inputs and outputs


def _check_arity(node: Node, form: Form, findings: Findings) -> None:
    inputs, outputs = node.inputs, node.outputs
    count = len(inputs)
    if count < form.min_inputs or (form.max_inputs is not None and count > form.max_inputs):
        _report_count(node, "input", count, form.min_inputs, form.max_inputs, findings)
    count = len(outputs)
    if count < form.min_outputs or (form.max_outputs is not None and count > form.max_outputs):
        _report_count(node, "output", count, form.min_outputs, form.max_outputs, findings)
    if None in inputs:
        for slot, formal in _left_out(inputs, form.inputs):
            message = f"{title(node)} leaves out its input {slot} ({formal.name}), which is required"
            findings.add("wrong-arity", message, node)
    if None in outputs:
        for slot, formal in _left_out(outputs, form.outputs):
            findings.add("unnamed-output", f"{title(node)} leaves out its output {slot} ({formal.name})", node)


def _left_out(tensors: list[Tensor | None], formals: tuple[Formal, ...]) -> list[tuple[int, Formal]]:
    pairs = enumerate(zip(tensors, formals, strict=False))
    return [(slot, formal) for slot, (tensor, formal) in pairs if tensor is None and formal.required]


def _report_count(node: Node, noun: str, count: int, least: int, most: int | None, findings: Findings) -> None:
    if most == least:
        takes = str(least)
    elif most is None:
        takes = f"at least {least}"
    else:
        takes = f"{least} to {most}"
    verb = "takes" if noun == "input" else "makes"
    message = f"{title(node)} has {counted(count, noun)}, and version {node.since_version} {verb} {takes}"
    findings.add("wrong-arity", message, node)


# --- attributes


def _check_attributes(node: Node, form: Form, findings: Findings) -> None:
    attributes = node.attributes
    for name, value in attributes.items():
        expected = form.attributes.get(name)
        if expected is None:
            if not name.startswith("__"):  # implementation details, which the standard's own checker ignores too
                message = f"{title(node)} has an attribute {name!r}, which version {node.since_version} does not have"
                findings.add("unknown-attribute", message, node)
            continue
        kind = kind_of(value)
        if kind != expected and (kind or (value == [] and not expected.endswith("S"))):
            message = f"the attribute {name!r} of {title(node)} is {kind or 'a list'}, and {expected} is asked for"
            findings.add("attribute-type", message, node)
    if form.required and not form.required <= attributes.keys():
        for name in sorted(form.required - attributes.keys()):
            findings.add("missing-attribute", f"{title(node)} lacks the attribute {name!r}, which is required", node)


def _check_texts(node: Node, findings: Findings) -> None:
    for name, value in node.attributes.items():
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else ()
        if any(isinstance(text, str) and not text.isascii() and _has_lone_bytes(text) for text in texts):
            findings.add("not-utf8", f"the attribute {name!r} of {title(node)} holds bytes that are not UTF-8", node)


def _has_lone_bytes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


# --- model-local functions


def _check_function_call(node: Node, function: Function, findings: Findings) -> None:
    for noun, count, most in (
        ("input", len(node.inputs), len(function.body.inputs)),
        ("output", len(node.outputs), len(function.body.outputs)),
    ):
        if count > most:
            message = f"{title(node)} has {counted(count, noun)}, and the function has {most}"
            findings.add("wrong-arity", message, node)
    for name in node.attributes:
        if name not in function.attributes and name not in function.attribute_defaults and not name.startswith("__"):
            message = f"{title(node)} has an attribute {name!r}, which the function does not declare"
            findings.add("unknown-attribute", message, node)


# --- bodies of If, Loop, Scan and SequenceMap


def _check_bodies(node: Node, findings: Findings) -> None:
    if node.domain != "":
        return
    given, made = len(node.inputs), len(node.outputs)
    if node.op_type == "If":
        inputs, outputs = 0, made
    elif node.op_type == "Loop":
        inputs, outputs = max(given, 2), made + 1  # the trip number and the condition go in, a condition comes out
    elif node.op_type == "Scan":
        inputs, outputs = given - (node.since_version == 8), made  # version 8 has the sequences' lengths before
    elif node.op_type == "SequenceMap":
        inputs, outputs = given, made
    else:
        return
    for key, body in node.subgraphs.items():
        if not len(body.feeds) <= inputs <= len(body.inputs):
            message = f"{key} of {title(node)} has {counted(len(body.inputs), 'input')}, and the node needs {inputs}"
            findings.add("body-mismatch", message, node)
        if len(body.outputs) != outputs:
            message = f"{key} of {title(node)} has {counted(len(body.outputs), 'output')}, and the node needs {outputs}"
            findings.add("body-mismatch", message, node)
