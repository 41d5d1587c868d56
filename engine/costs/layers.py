"""Operation counts of operators that are whole layers: recurrence, attention, classical models, transforms."""

from __future__ import annotations

from engine.costs.cost import NotKnown, Sizes, Work
from engine.costs.formulas import ML, MS, formula
from engine.dims import Dim, product

_GATES = {"RNN": (1, 1), "GRU": (3, 14), "LSTM": (4, 18), "DynamicQuantizeLSTM": (4, 18)}
"""Gates, and operations for each hidden element and step besides products and their sums: Sigmoid 4, Tanh 1, …"""


@formula("RNN", "GRU", "LSTM")
@formula("DynamicQuantizeLSTM", domains=[MS])
def recurrent(sizes: Sizes) -> Work:
    """Each step multiplies the input and the state by the weights of every gate, and adds the products and biases."""
    x, w = sizes.input(0), sizes.input(1)
    gates, operations = _GATES[sizes.node.op_type]
    quantised = sizes.node.op_type == "DynamicQuantizeLSTM"  # weights [directions, input, gates * hidden]
    rows = w[2] if quantised else w[1]
    hidden, steps = rows // gates, x[0] * x[1]
    sums = 3 if sizes.has(3) else 1
    return steps * w[0] * rows * (x[2] + hidden), steps * w[0] * hidden * (gates * sums + operations)


# --- attention: scores of all queries with all keys, a softmax over them, and the values weighted by them


def _attended(batch: Dim, heads: Dim, queries: Dim, keys: Dim, width: Dim, v_width: Dim) -> Work:
    scores = batch * heads * queries * keys
    return scores * (width + v_width), 6 * scores


@formula("Attention")
@formula("FlexAttention", domains=["ai.onnx.preview"])
def attention(sizes: Sizes) -> Work:
    """Q, K and V as they come; the past counts with the keys."""
    q, k, v = (sizes.input(slot) for slot in range(3))
    heads: Dim
    if len(q) == 4:
        batch, heads, queries, width = q
        keys, v_width = k[2], v[3]
    else:
        heads = sizes.integer("q_num_heads", 1)
        batch, queries, width = q[0], q[1], q[2] // heads
        keys, v_width = k[1], v[2] // sizes.integer("kv_num_heads", 1)
    if sizes.has(4) and sizes.node.domain == "":
        keys = keys + sizes.input(4)[2]
    return _attended(batch, heads, queries, keys, width, v_width)


@formula("Attention", "QAttention", domains=[MS])
def packed_attention(sizes: Sizes) -> Work:
    """The input is first multiplied by the weights of Q, K and V."""
    x, w, heads = sizes.input(0), sizes.input(1), sizes.integer("num_heads", 1)
    parts: list[Dim] = [*sizes.ints("qkv_hidden_sizes")] or [w[1] // 3] * 3
    past = 8 if sizes.node.op_type == "QAttention" else 4
    keys = x[1] + sizes.input(past)[3] if sizes.has(past) else x[1]
    macs, operations = _attended(x[0], heads, x[1], keys, parts[0] // heads, parts[2] // heads)
    bias = x[0] * x[1] * w[1]
    return macs + product(x) * w[1], operations + bias


@formula("MultiHeadAttention", domains=[MS])
def multi_head_attention(sizes: Sizes) -> Work:
    """Separate or packed inputs, already projected; the past counts with the keys."""
    q, heads = sizes.input(0), sizes.integer("num_heads", 1)
    width = v_width = q[4] if len(q) == 5 else q[2] // heads
    keys = q[1]
    if sizes.has(1):
        k = sizes.input(1)
        keys = k[2] if len(k) == 4 else k[1]
    if sizes.has(2):
        v = sizes.input(2)
        v_width = v[3] if len(v) == 4 else v[2] // heads
    if sizes.has(6):
        keys = keys + sizes.input(6)[2]
    return _attended(q[0], heads, q[1], keys, width, v_width)


@formula("GroupQueryAttention", domains=[MS])
def group_query_attention(sizes: Sizes) -> Work:
    """As attention; keys are those of the cache as it leaves."""
    q, present = sizes.input(0), sizes.output(1)
    return _attended(q[0], sizes.integer("num_heads", 1), q[1], present[2], present[3], present[3])


@formula("LinearAttention")
def linear_attention(sizes: Sizes) -> Work:
    """A state [key width, value width] for each head, updated and read at every step."""
    q, state = sizes.input(0), sizes.output(1)
    return 2 * q[1] * product(state), 2 * q[1] * product(state)


# --- classical models


@formula("LinearRegressor", "LinearClassifier", domains=[ML])
def linear(sizes: Sizes) -> Work:
    """Each row times the coefficients."""
    shape, coefficients = sizes.input(0), sizes.count("coefficients")
    rows: Dim = shape[0] if len(shape) > 1 else 1
    return rows * coefficients, rows * sizes.count("intercepts")


@formula("SVMRegressor", "SVMClassifier", domains=[ML])
def support_vectors(sizes: Sizes) -> Work:
    """Each row against each support vector, then the coefficients; without vectors it is linear."""
    shape, coefficients = sizes.input(0), sizes.count("coefficients")
    rows: Dim = shape[0] if len(shape) > 1 else 1
    return rows * (sizes.count("support_vectors") + coefficients), 0


@formula("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor", domains=[ML])
def trees(sizes: Sizes) -> Work:
    """Comparisons along one path of each tree."""
    raise NotKnown("how deep its trees are walked depends on the data")


# --- transforms


@formula("DFT")
def dft(sizes: Sizes) -> Work:
    """5 n log2 n operations for each transform, as is usual for a fast Fourier transform."""
    shape = sizes.input(0)
    axis = sizes.integer("axis", 1) if sizes.node.since_version < 20 else -2
    return _transforms(product(shape[:-1]), shape[axis])


@formula("STFT")
def stft(sizes: Sizes) -> Work:
    """A window multiplied and transformed for each frame."""
    batch, frames = sizes.output()[:2]
    length = sizes.input(2)[0] if sizes.has(2) else 0
    if not length:
        raise NotKnown("the length of its frames is no shape")
    macs, operations = _transforms(batch * frames * length, length)
    return macs, operations + batch * frames * length


def _transforms(elements: Dim, length: Dim) -> Work:
    if not isinstance(length, int):
        raise NotKnown("the length of its transform is not known")
    return 0, 5 * elements * max(length - 1, 0).bit_length()
