"""A comparison in words and numbers for the Run and Timings panes."""
from __future__ import annotations

from dataclasses import dataclass

from engine.compare import Comparison
from engine.providers.placement import refusal_lines
from engine.words import bytes_text, counted
from gui.text import ms_text

BOTH_ON_CPU = "both on CPU"  # in the place of a speed-up, which would be noise


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run in three lines, whether all agrees, and whether all outputs are finite.

    `verdict` holds the agreement of the outputs, `details` who ran what and how it was measured, `refusals` why earlier
    providers did not take nodes, a line for each reason. `speedup` is no figure where both sides did the `same`.
    """

    mixed: str
    cpu_only: str
    speedup: str
    verdict: str
    details: str
    agrees: bool
    finite: bool
    faster: bool
    same: bool
    refusals: str = ""


def report_of(comparison: Comparison) -> Report:
    """The words for a finished comparison."""
    speedup = comparison.speedup_pct
    same = comparison.is_same_work
    return Report(
        mixed=f"mixed {ms_text(comparison.mixed_ms)} ms",
        cpu_only=f"CPU only {ms_text(comparison.cpu_only_ms)} ms",
        speedup=BOTH_ON_CPU if same else f"speedup {speedup:.1f} %",
        verdict=_verdict(comparison),
        details=" · ".join(_details(comparison)),
        agrees=comparison.agree,
        finite=not comparison.nonfinite,
        faster=speedup > 0 and not same,
        same=same,
        refusals="\n".join(map(str, refusal_lines(comparison.mixed.session.placements))),
    )


def _verdict(comparison: Comparison) -> str:
    """The engine's verdict, as a sentence about the outputs where these agree."""
    if not comparison.outputs:
        return "the model has no outputs to compare"
    apart_on_the_way = comparison.agree and comparison.first_divergence is not None
    return comparison.verdict if apart_on_the_way or not comparison.agree else f"outputs agree: {comparison.verdict}"


def placement_text(comparison: Comparison) -> str:
    """Who took how many nodes: ``CUDA 11/12, CPU 1/12``."""
    placement = comparison.mixed.placement
    total = sum(placement.values())
    return ", ".join(f"{name} {count}/{total}" for name, count in placement.items())


def _details(comparison: Comparison) -> list[str]:
    mixed = comparison.mixed
    parts = [placement_text(comparison)]
    if mixed.session.optimised is not None:
        parts.append(mixed.session.optimised.words)
    if mixed.copies:
        nbytes, seconds = sum(c.nbytes for c in mixed.copies), sum(c.seconds for c in mixed.copies)
        cost = f"{bytes_text(nbytes)}, {ms_text(seconds * 1e3)} ms"
        parts.append(f"{counted(len(mixed.copies), 'tensor')} copied between devices ({cost})")
    if mixed.fallbacks:
        first = mixed.fallbacks[0]
        parts.append(
            f"{counted(len(mixed.fallbacks), 'node')} fell back to CPU ({first.node.name}: {first.reason})"
        )
    parts += comparison.notes  # before the figures: a line that is cut loses its end, and the tooltip has all
    low, high = mixed.quartiles_ms
    parts.append(f"median of {counted(len(mixed.runs_ms), 'run')}, middle half {ms_text(low)}–{ms_text(high)} ms")
    if mixed.warmup_ms:
        parts.append(f"cold run {ms_text(mixed.warmup_ms[0])} ms")
    return parts
