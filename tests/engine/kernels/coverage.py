"""Which operators, by the schemas, have no kernel: `python -m tests.engine.kernels.coverage` lists them.

ONNX's schemas come from the onnx package, those of com.microsoft from ONNX Runtime (the operators that it has CPU
kernels for). An operator that is left out on purpose stands below with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

import engine.kernels

Key = tuple[str, str, int]

LEFT_OUT: dict[tuple[str, str], str] = {}
"""Of the standard: nothing."""

_LLM = "the decode step of one serving stack; no file in the corpus holds it, and it changes between releases"
_LOOP = "a whole generation loop with its model in attributes: open the model inside"
_FEW = "hardly found in files: no oracle but ONNX Runtime's own code and no report of a file that needs it"

LEFT_OUT_MICROSOFT = {
    **dict.fromkeys(("BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"), _LOOP),
    **dict.fromkeys(
        (
            "BranchwiseRMSNorm", "CausalConvWithState", "DecoderMaskedMultiHeadAttention", "EngramGate", "GatedAdd",
            "GatedDeltaNet", "GatedRMSNorm", "HyperConnectionPostMix", "HyperConnectionPreMix", "LinearAttention",
            "LinearAttentionGate", "MRotaryEmbedding", "MoE", "MoEGroupRouter", "NGramHashMapping",
            "NGramRepeatBlock", "QMoE", "SparseAttention", "VarlenCausalConvWithState", "VarlenNGramHashMapping",
        ),
        _LLM,
    ),
    **dict.fromkeys(
        (
            "AttnLSTM", "BifurcationDetector", "CropAndResize", "DynamicTimeWarping", "GatherPacked", "MatMulBnb4",
            "MatMulFpQ4", "MaxpoolWithMask", "MurmurHash3", "SampleOp", "ScaledSiLU", "SparseToDenseMatMul",
            "UnfoldTensor", "WordConvEmbedding",
        ),
        _FEW,
    ),
}  # fmt: skip


def implemented() -> set[Key]:
    """(domain, operator, since_version) of every kernel."""
    return {(k.domain, k.op_type, version) for k in engine.kernels.library() for version in k.since_versions}


def standard() -> Iterator[Key]:
    """Every version of every operator that the onnx package knows."""
    for schema in onnx.defs.get_all_schemas_with_history():
        yield schema.domain, schema.name, schema.since_version


def microsoft() -> Iterator[Key]:
    """The operators of com.microsoft for which ONNX Runtime has CPU kernels."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    for definition in state.get_all_opkernel_def():
        if definition.domain == "com.microsoft" and definition.provider == "CPUExecutionProvider":
            yield definition.domain, definition.op_name, 1


def missing() -> list[Key]:
    """What has no kernel and no reason for that."""
    known = implemented()
    reasons = {*LEFT_OUT, *(("com.microsoft", name) for name in LEFT_OUT_MICROSOFT)}
    return sorted({k for k in (*standard(), *microsoft()) if k not in known and k[:2] not in reasons})


if __name__ == "__main__":
    lines = [f"{domain or 'ai.onnx'}::{name} {version}" for domain, name, version in missing()]
    print("\n".join([*lines, f"{len(lines)} without a kernel"]))  # noqa: T201
