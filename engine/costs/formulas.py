"""How many operations each operator's definition asks for, by the shapes of its inputs and outputs.

Conventions. An addition, a multiplication, a comparison and an elementary function such as exp count as one operation
each; a multiply-accumulate is counted apart (as one MAC, two operations). Means, variances and softmax count every pass
over the elements that their definition makes. Operators that only move, pick, convert or sort elements count none.
Padding is counted like any other element: work on it is work. Where an operator's work depends on the data (the depth
that a decision tree is walked to), nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from engine.costs.cost import Formula, NotKnown, Sizes, Work
from engine.dims import Dim, product

MS, ML = "com.microsoft", "ai.onnx.ml"

_formulas: dict[tuple[str, str], Formula] = {}


def formula(*op_types: str, domains: Iterable[str] = ("",)) -> Callable[[Formula], Formula]:
    """Declare a function as the formula of some operators."""

    def declare(function: Formula) -> Formula:
        _formulas.update({(domain, op_type): function for domain in domains for op_type in op_types})
        return function

    return declare


def find(domain: str, op_type: str) -> Formula | None:
    """The formula of an operator, or None."""
    return _formulas.get((domain, op_type))


def formula_operators() -> frozenset[tuple[str, str]]:
    """Every (domain, operator) that has a formula."""
    return frozenset(_formulas)


# --- so many operations for each element

_PER_OUTPUT: dict[int, str] = {
    0: "Cast CastLike BitCast Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace EyeLike Expand "
       "Flatten Gather GatherElements GatherND Identity ImageDecoder MaxUnpool NonMaxSuppression NonZero OneHot "
       "Optional OptionalGetElement OptionalHasElement Pad RandomNormal RandomNormalLike RandomUniform "
       "RandomUniformLike RegexFullMatch Reshape ReverseSequence ScatterElements Scatter ScatterND SequenceAt "
       "SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Size Slice SpaceToDepth "
       "Split SplitToSequence Squeeze StringConcat StringNormalizer StringSplit TensorScatter TfIdfVectorizer Tile "
       "TopK Transpose Trilu Unique Unsqueeze Upsample Where CenterCropPad Multinomial Bernoulli Dropout Col2Im "
       "MelWeightMatrix Crop MemcpyFromHost MemcpyToHost",
    1: "Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Cos Cosh "
       "CumProd CumSum Div Equal Erf Exp Floor Greater GreaterOrEqual Hardmax IsInf IsNaN Less LessOrEqual Log Mod Mul "
       "Neg Not Or Pow Reciprocal Relu Round Scale Sign Sin Sinh Sqrt Sub Tan Tanh ThresholdedRelu Xor",
    2: "Affine Clip DequantizeLinear ImageScaler LeakyRelu PRelu Range",
    3: "ScaledTanh LpNormalization RotaryEmbedding Shrink Softplus Softsign",
    4: "BatchNormalization Elu HardSigmoid QuantizeLinear RMSNormalization Sigmoid SimplifiedLayerNormalization",
    5: "Celu ParametricSoftplus Gelu HardSwish LogSoftmax MeanVarianceNormalization Mish Selu Softmax Swish SwiGLU "
       "BlackmanWindow HammingWindow HannWindow",
    6: "DynamicQuantizeLinear",
    7: "GroupNormalization InstanceNormalization LayerNormalization",
}  # fmt: skip
_PER_OUTPUT_MS: dict[int, str] = {
    0: "ExpandDims GatherND Pad Tokenizer Trilu Unique",
    2: "DequantizeLinear GatherBlockQuantized Range",
    3: "RotaryEmbedding",
    4: "QLinearConcat QLinearWhere QuantizeLinear SimplifiedLayerNormalization",
    5: "Gelu QuickGelu SkipSimplifiedLayerNormalization",
    6: "BiasGelu",
    8: "FastGelu QLinearLeakyRelu SkipLayerNormalization",
    9: "EmbedLayerNormalization QEmbedLayerNormalization QLinearAdd QLinearMul",
    10: "QLinearSigmoid",
    11: "QLinearSoftmax",
}
_PER_OUTPUT_ML: dict[int, str] = {
    0: "ArrayFeatureExtractor CastMap CategoryMapper DictVectorizer FeatureVectorizer LabelEncoder OneHotEncoder "
       "ZipMap",
    1: "Binarizer Imputer",
    2: "Scaler",
    3: "Normalizer",
}


def _per_output(operations: int) -> Formula:
    def counted(sizes: Sizes) -> Work:
        return 0, operations * sizes.elements() if operations else 0

    return counted


for _domain, _table in (("", _PER_OUTPUT), (MS, _PER_OUTPUT_MS), (ML, _PER_OUTPUT_ML)):
    for _operations, _names in _table.items():
        formula(*_names.split(), domains=[_domain])(_per_output(_operations))


_PER_INPUT: dict[int, str] = {
    1: "ArgMax ArgMin GlobalAveragePool GlobalMaxPool ReduceL1 ReduceLogSum ReduceMax ReduceMean ReduceMin ReduceProd "
       "ReduceSum",
    2: "GlobalLpPool ReduceL2 ReduceLogSumExp ReduceSumSquare",
}  # fmt: skip


def _per_input(operations: int) -> Formula:
    return lambda sizes: (0, operations * sizes.input_elements())


for _operations, _names in _PER_INPUT.items():
    formula(*_names.split())(_per_input(_operations))


@formula("Max", "Min", "Sum", "Mean")
def variadic(sizes: Sizes) -> Work:
    """One operation for each operand but the first, and for Mean the division."""
    count = sum(tensor is not None for tensor in sizes.node.inputs) - (sizes.node.op_type != "Mean")
    return 0, count * sizes.elements()


@formula("QLinearGlobalAveragePool", domains=[MS])
def qlinear_global_pool(sizes: Sizes) -> Work:
    """A sum over the input, brought to the output's scale."""
    return 0, sizes.input_elements() + 4 * sizes.elements()


# --- windows


@formula("Conv", "ConvInteger", "DeformConv", "CausalConvWithState")
@formula("FusedConv", domains=[MS])
def conv(sizes: Sizes) -> Work:
    """Each output element takes one MAC for each weight of its filter, and the bias."""
    return _convolved(sizes, weights=1, has_bias=sizes.has(2) and sizes.node.op_type != "ConvInteger")


@formula("QLinearConv", domains=["", MS])
def qlinear_conv(sizes: Sizes) -> Work:
    """As Conv, and each output element brought to its scale: multiply, round, add, clip."""
    macs, operations = _convolved(sizes, weights=3, has_bias=sizes.has(8))
    return macs, operations + 4 * sizes.elements()


def _convolved(sizes: Sizes, weights: int, has_bias: bool) -> Work:
    made = sizes.elements()
    bent = sizes.node.op_type == "FusedConv" and bool(sizes.text("activation", ""))
    return made * product(sizes.input(weights)[1:]), made * (has_bias + bent)


@formula("ConvTranspose")
@formula("ConvTransposeWithDynamicPads", domains=[MS])
def conv_transpose(sizes: Sizes) -> Work:
    """Each input element is multiplied by each weight that belongs to its channel."""
    bias_slot = 2 if sizes.node.op_type == "ConvTranspose" else 3
    bias = sizes.elements() if sizes.has(bias_slot) else 0
    return sizes.input_elements() * product(sizes.input(1)[1:]), bias


@formula("MaxPool", "AveragePool", "LpPool")
@formula("NhwcMaxPool", "QLinearAveragePool", domains=[MS])
def pool(sizes: Sizes) -> Work:
    """One operation for each place of a window, two for LpPool."""
    each = prod(sizes.ints("kernel_shape")) * (2 if sizes.node.op_type == "LpPool" else 1)
    return 0, each * sizes.elements()


@formula("LRN")
def local_response(sizes: Sizes) -> Work:
    """Squares summed over neighbouring channels, then a power and a division."""
    return 0, (2 * sizes.integer("size", 1) + 4) * sizes.elements()


@formula("MaxRoiPool")
def max_roi_pool(sizes: Sizes) -> Work:
    """How much of the image the regions cover is in the data."""
    raise NotKnown("how large its regions are is known only at run time")


@formula("RoiAlign")
def roi_align(sizes: Sizes) -> Work:
    """Bilinear samples: four MACs each."""
    ratio = sizes.integer("sampling_ratio", 0)
    if ratio < 1:
        raise NotKnown("how many samples each bin takes depends on the regions (sampling_ratio is 0)")
    return 4 * ratio * ratio * sizes.elements(), 0


@formula("Resize")
@formula("Upsample")
def resize(sizes: Sizes) -> Work:
    """Weighted neighbours: two for each axis that is scaled linearly, four where cubically; none for nearest."""
    neighbours = {"nearest": 0, "linear": 2, "bilinear": 2, "cubic": 4}.get(sizes.text("mode", "nearest"), 0)
    if not neighbours:
        return 0, 0
    scaled = sum(a is not b and a != b for a, b in zip(sizes.input(0), sizes.output(), strict=False))
    return neighbours**scaled * sizes.elements(), 0


@formula("GridSample", domains=["", MS])
def grid_sample(sizes: Sizes) -> Work:
    """As Resize, over all spatial axes."""
    neighbours = {"nearest": 0, "cubic": 4, "bicubic": 4}.get(sizes.text("mode", "linear"), 2)
    spatial = len(sizes.output()) - 2
    return (neighbours**spatial * sizes.elements(), 0) if neighbours else (0, 0)


# --- matrix products


def _product(a: int, b: int) -> Formula:
    """One MAC for each element of the result and of the axis summed over; inputs `a` and `b` are the factors."""

    def counted(sizes: Sizes) -> Work:
        left = sizes.input(a)
        inner: Dim = left[-1] if left else 1
        if sizes.integer("transA", 0) and len(left) > 1:
            inner = left[-2]
        return sizes.elements() * inner, 0

    return counted


formula("MatMul", "MatMulInteger")(_product(0, 1))
formula("MatMulInteger16", "FusedMatMul", "TransposeMatMul", domains=[MS])(_product(0, 1))


@formula("QLinearMatMul")
def qlinear_matmul(sizes: Sizes) -> Work:
    """As MatMul, and each element brought to the output's scale."""
    return sizes.elements() * sizes.input(0)[-1], 4 * sizes.elements()


@formula("MatMulIntegerToFloat", "DynamicQuantizeMatMul", domains=[MS])
def scaled_matmul(sizes: Sizes) -> Work:
    """As MatMul, with a scale, a bias if there is one, and for the dynamic one the quantisation of A."""
    dynamic = sizes.node.op_type == "DynamicQuantizeMatMul"
    bias = sizes.has(4 if dynamic else 6)
    quantised = 6 * sizes.input_elements() if dynamic else 0
    return sizes.elements() * sizes.input(0)[-1], (1 + bias) * sizes.elements() + quantised


@formula("MatMulNBits", domains=[MS])
def matmul_nbits(sizes: Sizes) -> Work:
    """As MatMul, with each weight brought back to a float."""
    inner, columns = sizes.integer("K", 0), sizes.integer("N", 0)
    return sizes.elements() * inner, 2 * inner * columns + (sizes.elements() if sizes.has(5) else 0)


@formula("Gemm")
@formula("FusedGemm", "QGemm", domains=[MS])
def gemm(sizes: Sizes) -> Work:
    """A matrix product; one operation more for each of alpha, beta and C that counts."""
    quantised = sizes.node.op_type == "QGemm"
    a = sizes.input(0)
    inner = a[0] if sizes.integer("transA", 0) else a[-1]
    alpha, beta = (sizes.node.attributes.get(name, 1.0) for name in ("alpha", "beta"))
    bias = sizes.has(6 if quantised else 2)
    each = (alpha != 1) + bias * (1 + (beta != 1)) + 4 * quantised + bool(sizes.text("activation", ""))
    return sizes.elements() * inner, each * sizes.elements()


@formula("Einsum")
def einsum(sizes: Sizes) -> Work:
    """One MAC for each combination of all letters; of one operand, at most sums."""
    left, _, _ = sizes.text("equation", "").replace(" ", "").partition("->")
    terms = left.split(",")
    if "." in left:
        raise NotKnown("its equation has an ellipsis")
    dims: dict[str, Dim] = {}
    for slot, term in enumerate(terms):
        for letter, dim in zip(term, sizes.input(slot), strict=False):
            if dims.get(letter, 1) == 1:
                dims[letter] = dim
    combinations = product(dims.values())
    return (combinations, 0) if len(terms) > 1 else (0, combinations)


@formula("Det")
@formula("Inverse", domains=[MS])
def factorised(sizes: Sizes) -> Work:
    """An elimination: n³/3 MACs for a determinant, n³ for an inverse."""
    shape = sizes.input(0)
    cubes = product(shape[:-2]) * shape[-1] * shape[-1] * shape[-1]
    return (cubes if sizes.node.op_type == "Inverse" else cubes // 3), 0


@formula("CDist", domains=[MS])
def cdist(sizes: Sizes) -> Work:
    """Differences, squares and sums over the width; a root."""
    return 0, (3 * sizes.input(0)[-1] + 1) * sizes.elements()
