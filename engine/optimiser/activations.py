"""Activations: those written out in several operators made one, and those behind a convolution made part of it."""
from __future__ import annotations

from math import isclose, sqrt

from engine.graph.ir import Node, Tensor
from engine.kernels.activations import FLOAT_MAX
from engine.kernels.registry import MICROSOFT
from engine.optimiser.rewriting import Rewriting, constant_number, constant_value, only_reader, other_operand


def fuse_activations(work: Rewriting) -> None:
    """Recognise Gelu, Swish and HardSwish in the operators that exporters write for them; a Gelu adds its bias."""
    for node in work.nodes():
        rule = _RULES.get(node.op_type) if not node.domain and _is_float32(node.outputs[0]) else None
        if rule is not None:
            rule(work, node)
    for node in work.nodes():
        if node.op_type == "Gelu" and _is_float32(node.outputs[0]):
            _bias_gelu(work, node)


def _gelu(work: Rewriting, erf: Node) -> None:
    """``0.5 * x * (1 + erf(x / sqrt(2)))``, multiplied in any order."""
    scaled = erf.inputs[0].producer if erf.inputs[0] is not None else None
    x = None if scaled is None else _scaled_by(scaled, 1 / sqrt(2))
    plus_one = _reader_with(erf, "Add", 1.0)
    product = None if plus_one is None else only_reader(plus_one.outputs[0])
    if scaled is None or x is None or plus_one is None or product is None or not _is(product, "Mul"):
        return
    other = other_operand(product, plus_one.outputs[0])
    middle = [product, plus_one, erf, scaled]
    if other is x:
        final = _reader_with(product, "Mul", 0.5)
    elif constant_number(other) == 0.5:
        final = only_reader(product.outputs[0])
        if final is None or not _is(final, "Mul") or other_operand(final, product.outputs[0]) is not x:
            return
    else:
        half = None if other is None else other.producer
        if half is None or _scaled_by(half, 0.5) is not x:
            return
        final, middle = product, [plus_one, erf, scaled, half]
    if final is not None:
        work.become(final, ("Gelu", MICROSOFT, 1), [x], middle, "became one Gelu")


def _bias_gelu(work: Rewriting, gelu: Node) -> None:
    """``gelu(x + bias)`` with a constant vector along the last axis."""
    add = gelu.inputs[0].producer if gelu.inputs[0] is not None else None
    exact = gelu.attributes.get("approximate", "none") == "none"
    if not exact or add is None or not _is(add, "Add") or only_reader(add.outputs[0]) is not gelu:
        return
    for bias in add.inputs:
        x, value = other_operand(add, bias), constant_value(bias)
        if bias is not None and x is not None and value is not None and value.shape == (_last_dim(x),):
            work.become(gelu, ("BiasGelu", MICROSOFT, 1), [x, bias], [add], "became one: the Gelu adds the bias")
            return


def _last_dim(tensor: Tensor) -> object:
    return tensor.inferred_shape[-1] if tensor.inferred_shape else None


def _swish(work: Rewriting, sigmoid: Node) -> None:
    """``x * sigmoid(x)``."""
    product, x = only_reader(sigmoid.outputs[0]), sigmoid.inputs[0]
    if product is None or x is None or not _is(product, "Mul"):
        return
    if other_operand(product, sigmoid.outputs[0]) is x:
        work.become(product, ("QuickGelu", MICROSOFT, 1), [x], [sigmoid], "became one Swish", alpha=1.0)


def _hard_swish(work: Rewriting, clip: Node) -> None:
    """``x * clip(x + 3, 0, 6) / 6``, divided before or after."""
    add = clip.inputs[0].producer if clip.inputs[0] is not None else None
    x = None if add is None or not _is(add, "Add") else _operand_beside(add, 3.0)
    next_one = only_reader(clip.outputs[0])
    if add is None or x is None or next_one is None or _bounds(clip) != (0.0, 6.0):
        return
    if _is(next_one, "Mul") and other_operand(next_one, clip.outputs[0]) is x:
        final = only_reader(next_one.outputs[0])
        fits = final is not None and _scaled_by(final, 1 / 6) is next_one.outputs[0]
    else:
        final = only_reader(next_one.outputs[0]) if _scaled_by(next_one, 1 / 6) is clip.outputs[0] else None
        fits = final is not None and _is(final, "Mul") and other_operand(final, next_one.outputs[0]) is x
    if final is None or not fits:
        return
    if clip.opset >= 14:
        work.become(final, ("HardSwish", "", 14), [x], [next_one, clip, add], "became one HardSwish")
        return
    gate = work.renew(clip)  # a sixth of what it was
    work.become(final, ("Mul", "", 7), [x, gate], [next_one], "became one Mul")
    work.become(clip, ("HardSigmoid", "", 6), [x], [add], "became one HardSigmoid", alpha=1 / 6, beta=0.5)


_RULES = {"Erf": _gelu, "Sigmoid": _swish, "Clip": _hard_swish}


def fuse_into_convolutions(work: Rewriting) -> None:
    """Let a Conv add another tensor and apply an activation to its result while that lies in the cache."""
    for node in work.nodes():
        if not _is(node, "Conv") or not _is_float32(node.outputs[0]):
            continue
        added = only_reader(node.outputs[0])
        other = None if added is None or not _is(added, "Add") else other_operand(added, node.outputs[0])
        has_sum = added is not None and other is not None and _same_shape(other, node.outputs[0])
        activation = only_reader(added.outputs[0]) if has_sum and added is not None else added
        told = None if activation is None else _activation(activation)
        if activation is None or told is None:
            continue
        if has_sum and added is not None and other is not None:
            work.set_input(node, 3, other)
            work.take_over(node, added, "became one: the convolution adds too")
        work.take_over(node, activation, f"became one: the convolution applies {activation.op_type}")
        node.op_type, node.domain, node.since_version = "FusedConv", MICROSOFT, 1
        node.attributes = {**node.attributes, "activation": activation.op_type}
        if told:
            node.attributes["activation_params"] = told


def _activation(node: Node) -> list[float] | None:
    """The parameters of an activation that FusedConv knows, or None for other operators."""
    if node.domain or node.op_type not in _PARAMETERS:
        return None
    if node.op_type == "Clip":
        bounds = _bounds(node)
        return None if bounds is None else list(bounds)
    stated = [node.attributes.get(name, default) for name, default in _PARAMETERS[node.op_type].items()]
    return [value for value in stated if isinstance(value, float)]


_PARAMETERS: dict[str, dict[str, float]] = {
    "Relu": {}, "Sigmoid": {}, "Tanh": {}, "Clip": {}, "LeakyRelu": {"alpha": 0.01},
    "HardSigmoid": {"alpha": 0.2, "beta": 0.5},
}  # fmt: skip


def _bounds(clip: Node) -> tuple[float, float] | None:
    """The bounds of a Clip that are fixed, least first; None where they are not or where the least is the greater."""
    if clip.since_version < 11:
        stated = [clip.attributes.get("min", -FLOAT_MAX), clip.attributes.get("max", FLOAT_MAX)]
    else:
        given = [*clip.inputs[1:], None, None][:2]
        limits = zip(given, (float("-inf"), float("inf")))
        stated = [limit if tensor is None else constant_number(tensor) or 0.0 for tensor, limit in limits]
        if any(tensor is not None and constant_number(tensor) is None for tensor in given):
            return None
    low, high = (value for value in stated if isinstance(value, float))
    return (low, high) if low <= high else None


def _is(node: Node, op_type: str) -> bool:
    """Whether a node is this operator of the standard's, with today's broadcasting."""
    return node.op_type == op_type and not node.domain and (op_type == "Conv" or node.since_version >= 7)


def _is_float32(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.dtype is not None and tensor.dtype.name == "float32"


def _same_shape(a: Tensor, b: Tensor | None) -> bool:
    """Whether two tensors are known to have one shape."""
    return b is not None and a.inferred_shape is not None and a.inferred_shape == b.inferred_shape


def _operand_beside(node: Node, number: float) -> Tensor | None:
    """The operand of a node whose other operand is this number."""
    for tensor in node.inputs:
        value = constant_number(other_operand(node, tensor))
        if value is not None and isclose(value, number, rel_tol=1e-4):
            return tensor
    return None


def _reader_with(node: Node, op_type: str, number: float) -> Node | None:
    """The only reader of a node's result, where it is this operator with this number as the other operand."""
    reader = only_reader(node.outputs[0])
    if reader is None or not _is(reader, op_type):
        return None
    return reader if _operand_beside(reader, number) is node.outputs[0] else None


def _scaled_by(node: Node, factor: float) -> Tensor | None:
    """What a node multiplies by this factor, or divides by its inverse."""
    if _is(node, "Mul"):
        return _operand_beside(node, factor)
    if _is(node, "Div") and len(node.inputs) == 2:
        divisor = constant_number(node.inputs[1])
        return node.inputs[0] if divisor is not None and isclose(divisor, 1 / factor, rel_tol=1e-4) else None
    return None
