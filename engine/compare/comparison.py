"""What a comparison found, in figures and in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.agreement import Agreement, Tolerances
from engine.compare.nodes import TensorAgreement
from engine.compare.nonfinite import NonFinite
from engine.compare.opinion import SecondOpinion
from engine.compare.side import Side

SAME_PATH = "every node is on CPU in both: the difference in time is noise"


@dataclass(slots=True)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    tolerances: what was allowed.
    outputs: how the graph's outputs of the mixed side compare with those of the CPU, by name.
    nodes: the same for every tensor that nodes computed, in run order; None unless asked for.
    against: how the mixed side compares with the values given; None unless given.
    nonfinite: which outputs of the mixed side hold NaN or infinities, in words; empty where all are finite.
    first_nonfinite: in the mixed side; only with `nodes`.
    second_opinion: how another runtime's values compare with both; None unless asked for.
    notes: what is worth knowing about how it was done.
    """

    mixed: Side
    cpu_only: Side
    tolerances: Tolerances
    outputs: dict[str, Agreement]
    nonfinite: str = ""
    nodes: list[TensorAgreement] | None = None
    against: list[TensorAgreement] | None = None
    first_nonfinite: NonFinite | None = None
    second_opinion: SecondOpinion | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def mixed_ms(self) -> float:
        """Median of the mixed side's runs."""
        return self.mixed.median_ms

    @property
    def cpu_only_ms(self) -> float:
        """Median of the CPU side's runs."""
        return self.cpu_only.median_ms

    @property
    def speedup_pct(self) -> float:
        """How much of the CPU's time the mixed side saves, in percent; negative where it is slower."""
        return (self.cpu_only_ms - self.mixed_ms) / self.cpu_only_ms * 100 if self.cpu_only_ms else 0.0

    @property
    def is_same_work(self) -> bool:
        """Whether both sides did the same, so that their times differ by noise alone."""
        return set(self.mixed.placement) <= {"CPU"} and self.mixed.session.optimised is None

    @property
    def agree(self) -> bool:
        """Whether all outputs agree, and all values with those given."""
        given = [entry.agreement for entry in self.against or ()]
        return all(agreement.agrees for agreement in (*self.outputs.values(), *given))

    @property
    def first_divergence(self) -> TensorAgreement | None:
        """The first tensor in run order beyond its tolerance: against the values given, else against the CPU."""
        entries = [*(self.against or ()), *(self.nodes or ())]
        return next((entry for entry in entries if not entry.agreement.agrees), None)

    @property
    def verdict(self) -> str:
        """In one line: equal, within which noise, or wrong and from where on; what is equal can be NaN all the same."""
        first = self.first_divergence
        if self.agree:
            words = _noise_in_words([*self.outputs.values(), *(e.agreement for e in self.against or ())])
            words = "; ".join(filter(None, (words, self.nonfinite)))
            if first is None:
                return words
            return f"outputs agree ({words}); on the way {_divergence_in_words(first)}{self._after_a_step(first)}"
        if first is not None:
            return _divergence_in_words(first) + self._after_a_step(first)
        name, agreement = next((n, a) for n, a in self.outputs.items() if not a.agrees)
        return f"output {name!r}: {_difference_in_words(agreement)}"

    def _after_a_step(self, first: TensorAgreement) -> str:
        """A quantisation step that came before a divergence, since one explains it."""
        for entry in self.nodes or ():
            if entry is first:
                return ""
            if entry.agreement.steps and entry.node is not None:
                return f", after {entry.node.qualified_name}, which is {entry.agreement.words}"
        return ""

    def to_json(self) -> dict[str, Any]:
        """The comparison under the keys that docs/cli.md names."""
        divergence, nonfinite = self.first_divergence, self.first_nonfinite
        report: dict[str, Any] = {
            "mixed_ms": self.mixed_ms,
            "cpu_only_ms": self.cpu_only_ms,
            "speedup_pct": self.speedup_pct,
            "agree": self.agree,
            "verdict": self.verdict,
            "tolerances": {"rtol": dict(self.tolerances.rtol), "steps": self.tolerances.steps},
            "outputs": {name: agreement.to_json() for name, agreement in self.outputs.items()},
            "mixed": self.mixed.to_json(),
            "cpu_only": self.cpu_only.to_json(),
            "notes": self.notes,
        }
        if self.nodes is not None:
            report["nodes"] = [entry.to_json() for entry in self.nodes]
            report["first_nonfinite"] = nonfinite.to_json() if nonfinite else None
        if self.against is not None:
            report["against"] = [entry.to_json() for entry in self.against]
        if self.second_opinion is not None:
            report["second_opinion"] = self.second_opinion.to_json()
        if self.nodes is not None or self.against is not None:
            report["first_divergence"] = divergence.to_json() if divergence else None
        return report


def _noise_in_words(agreements: list[Agreement]) -> str:
    """The verdict on values that agree: the largest of their differences."""
    worst = max(agreements, key=lambda a: (a.level or 0.0, a.steps or 0), default=None)
    if worst is None or all(agreement.equal for agreement in agreements):
        return "equal to the last bit"
    if worst.steps or worst.level is None:
        return worst.words
    return f"{worst.words} ({worst.level:.0e} of {worst.tolerance.rtol:.0e} allowed)"


def _divergence_in_words(first: TensorAgreement) -> str:
    where = (first.node or first.tensor).qualified_name
    text = f"{_difference_in_words(first.agreement)} from {where} on"
    return f"{text}; {first.note}" if first.note else text


def _difference_in_words(agreement: Agreement) -> str:
    """What is the matter with a value that does not agree: ``beyond the tolerance of 1e-04, within TF32 noise``."""
    if agreement.noise:
        return f"beyond the tolerance of {agreement.tolerance.rtol:.0e}, {agreement.words},"
    if agreement.level is None and agreement.reason and not agreement.steps:
        return f"wrong ({agreement.reason})"
    return agreement.words
