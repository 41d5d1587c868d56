"""Operator categories with their colours and glyphs, and the colours of the canvas in both themes. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING

from gui.comparing.changes import ADDED, CHANGED, GAP, INSIDE, WEIGHTS

if TYPE_CHECKING:
    from gui.look.theme import Theme


class ColourBy(StrEnum):
    """What boxes are coloured by, and so what the values by node are."""

    CATEGORY = "category"  # none are needed
    DTYPE = "dtype"  # none are needed
    PROVIDER = "provider"  # names of providers
    PLAN = "plan"  # the same before a run
    TIME = "time"  # milliseconds
    ERROR = "error"  # relative differences
    CHANGE = "change"  # kinds of change
    NUMBER = "number"  # any numbers, or a `QColor` each


class Category(Enum):
    """What kind of work an operator does: label, header colour (holds white text in both themes), glyph."""

    LAYER = ("Layer", "#2b67b1", "▦")
    ACTIVATION = ("Activation", "#b0483f", "ƒ")
    NORMALISATION = ("Normalisation, reduction", "#27775c", "Σ")
    POOLING = ("Pooling, resampling", "#577427", "▽")
    SHAPE = ("Shape, movement", "#846638", "⇄")
    ARITHMETIC = ("Arithmetic, comparison", "#5560c4", "±")
    QUANTISATION = ("Quantisation, casts", "#926116", "◧")
    CONTROL = ("Control, sequence", "#7a3fc0", "◇")
    IO = ("Input, output, constant", "#656b78", "○")
    GROUP = ("Module", "#1f6f8b", "▣")
    OTHER = ("Other operators", "#4a5568", "□")

    def __init__(self, label: str, colour: str, glyph: str) -> None:
        self.label = label
        self.colour = colour
        self.glyph = glyph


CATEGORIES = list(Category)

_OPERATORS = {
    Category.LAYER: """Conv ConvInteger ConvTranspose DeformConv CausalConvWithState Gemm MatMul MatMulInteger Einsum
        GRU LSTM RNN Attention LinearAttention FlexAttention RotaryEmbedding QLinearConv QLinearMatMul
        LinearClassifier LinearRegressor SVMClassifier SVMRegressor TreeEnsemble TreeEnsembleClassifier
        TreeEnsembleRegressor FusedConv FusedMatMul FusedGemm MatMulNBits MatMulBnb4 QGemm QAttention MultiHeadAttention
        GroupQueryAttention PackedAttention DecoderMaskedMultiHeadAttention MatMulIntegerToFloat NhwcConv QMoE MoE
        DynamicQuantizeMatMul DynamicQuantizeLSTM EmbedLayerNormalization""",
    Category.ACTIVATION: """Celu Clip Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish PRelu Relu Selu
        Shrink Sigmoid Softmax Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu FastGelu BiasGelu QuickGelu
        QLinearSigmoid QLinearLeakyRelu QLinearSoftmax BiasSoftmax""",
    Category.NORMALISATION: """BatchNormalization GroupNormalization InstanceNormalization LayerNormalization
        RMSNormalization LRN LpNormalization MeanVarianceNormalization Dropout ArgMax ArgMin ReduceL1 ReduceL2
        ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare TopK Mean
        CumProd CumSum NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss Normalizer Scaler Imputer
        SkipLayerNormalization SimplifiedLayerNormalization SkipSimplifiedLayerNormalization QLinearReduceMean""",
    Category.POOLING: """AffineGrid AveragePool GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample LpPool MaxPool
        MaxRoiPool MaxUnpool Resize RoiAlign Upsample QLinearAveragePool QLinearGlobalAveragePool NhwcMaxPool""",
    Category.SHAPE: """CenterCropPad Col2Im Compress Concat ConstantOfShape DepthToSpace Expand EyeLike Flatten Gather
        GatherElements GatherND Identity NonMaxSuppression NonZero OneHot Pad Range Reshape ReverseSequence Scatter
        ScatterElements ScatterND Shape Size Slice SpaceToDepth Split Squeeze TensorScatter Tile Transpose Trilu Unique
        Unsqueeze ArrayFeatureExtractor FeatureVectorizer DictVectorizer OneHotEncoder LabelEncoder CategoryMapper
        QLinearConcat GatherBlockQuantized""",
    Category.ARITHMETIC: """Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr
        BitwiseXor Ceil Cos Cosh Det Div Equal Erf Exp Floor Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Log Max
        Min Mod Mul Neg Not Or Pow Reciprocal Round Sign Sin Sinh Sqrt Sub Sum Tan Where Xor DFT STFT BlackmanWindow
        HammingWindow HannWindow MelWeightMatrix Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform
        RandomUniformLike Binarizer QLinearAdd QLinearMul Adagrad Adam Gradient Momentum""",
    Category.QUANTISATION: """BitCast Cast CastLike CastMap DequantizeLinear DynamicQuantizeLinear QuantizeLinear""",
    Category.CONTROL: """If Loop Scan SequenceMap ConcatFromSequence Optional OptionalGetElement OptionalHasElement
        SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence ZipMap
        RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer Tokenizer ImageDecoder""",
    Category.IO: "Constant",
}
_CATEGORY = {op: category for category, ops in _OPERATORS.items() for op in ops.split()}
_DOMAINS = frozenset({"", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"})


def category_of(op_type: str, domain: str) -> Category:
    """Category of an operator; `OTHER` for unknown ones and for domains of other people."""
    return _CATEGORY.get(op_type, Category.OTHER) if domain in _DOMAINS else Category.OTHER


@dataclass(frozen=True, slots=True)
class CanvasColours:
    """Colours of the canvas as #rrggbb; operator headers come from `Category`."""

    background: str
    body: str  # of boxes
    border: str
    pill: str  # graph inputs and outputs
    frame: str  # inside of opened modules
    chip: str  # names that stand for long lines
    edge: str
    text: str
    muted: str
    header_text: str
    accent: str  # selection and inferred shapes
    hover: str
    found: str  # results of a search
    error: str
    copied: str  # lines along which tensors go from device to device
    panel: str  # minimap and legend
    quiet: str  # headers without a value in the current colouring
    netron_other: str  # header of an operator that Netron has no category for


def canvas_colours(theme: Theme) -> CanvasColours:
    """Colours of the canvas in a theme of the application."""
    return CanvasColours(
        background=theme.canvas,
        body=theme.raised,
        border="#414754" if theme.dark else "#cfd5df",
        pill=theme.field,
        frame="#20242d" if theme.dark else "#f1f4f9",
        chip="#2a3140" if theme.dark else "#e4ebf6",
        edge="#69727f" if theme.dark else "#838c9b",
        text=theme.text,
        muted=theme.muted,
        header_text="#ffffff",
        accent=theme.accent,
        hover="#4c6c9c" if theme.dark else "#6c9aea",
        found=theme.warning,
        error=theme.error,
        copied="#f472b6" if theme.dark else "#be185d",
        panel=theme.raised,
        quiet="#3d434e" if theme.dark else NO_VALUE,
        netron_other="#555b66" if theme.dark else NETRON_OTHER,
    )


# For colouring by provider or dtype: dark enough for white text, told apart by people who see no red or green.
SERIES = ("#2b67b1", "#926116", "#27775c", "#7a3fc0", "#b0483f", "#43727e", "#846638", "#5560c4")
PROVIDER_COLOURS: Mapping[str, str] = {
    "CPU": "#55658a",
    "Accelerate": "#7a3fc0",
    "CUDA": "#27775c",
    "ONNX Runtime": "#2b67b1",
}
CHANGE_COLOURS: Mapping[str, str] = {
    ADDED: "#27775c", CHANGED: "#926116", WEIGHTS: "#2b67b1", GAP: "#b0483f", INSIDE: "#846638",
}  # fmt: skip
NO_VALUE = "#6f747e"  # header of a node that has no value in the current colouring
RAMP = ("#5a6b86", "#6f6a9e", "#9c5b86", "#b84f55", "#c2410c")  # from little to much

# Netron's categories (netron.md, section 2), for people who want its colours; operators of none are dark grey.
_NETRON: Mapping[str, tuple[str, str]] = {
    "Layer": ("#335588", "Conv ConvInteger ConvTranspose Gemm GRU LSTM RNN FusedConv"),
    "Activation": ("#702921", """Clip Elu HardSigmoid HardSwish LeakyRelu LogSoftmax PRelu Relu Selu Sigmoid Softmax
        Softplus Softsign Tanh ThresholdedRelu QuickGelu"""),
    "Pool": ("#335533", """AveragePool MaxPool LpPool GlobalAveragePool GlobalLpPool GlobalMaxPool MaxRoiPool"""),
    "Normalization": ("#335544", """BatchNormalization InstanceNormalization LayerNormalization LRN LpNormalization
        SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization"""),
    "Dropout": ("#454770", "Dropout"),
    "Shape": ("#6c4f47", "Flatten Reshape Tile"),
    "Tensor": ("#593b42", "Concat Pad Slice Split"),
    "Transform": ("#335544", "Gather RotaryEmbedding Squeeze Transpose Unsqueeze"),
    "Data": ("#555555", "Crop ImageScaler Upsample"),
    "Attention": ("#783c00", """Attention DecoderAttention DecoderMaskedMultiHeadAttention
        DecoderMaskedSelfAttention GroupQueryAttention LongformerAttention MultiHeadAttention PackedAttention
        PackedMultiHeadAttention PagedAttention QAttention QOrderedAttention SparseAttention"""),
}  # fmt: skip
_NETRON_COLOUR = {op: colour for colour, ops in _NETRON.values() for op in ops.split()}
NETRON_OTHER = "#333333"


def netron_colour(op_type: str, domain: str) -> str:
    """Netron's colour of an operator."""
    return _NETRON_COLOUR.get(op_type, NETRON_OTHER) if domain in _DOMAINS else NETRON_OTHER
